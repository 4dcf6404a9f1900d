/*-------------------------------------------------------------------------
 *
 * weights.h
 *	  Finding the bits with the greater weight in weighted 64-bit numbers.
 *
 * A weight is an integer, in units of 2^-32, so that sums are exact and do not
 * depend on the order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_WEIGHTS_H
#define SIMHASH_TEXT_WEIGHTS_H

#include "bits/distance.h"

#define SHTEXT_WEIGHT_BITS	32

/* the weight 1 */
#define SHTEXT_WEIGHT_ONE	((int128) 1 << SHTEXT_WEIGHT_BITS)

typedef struct ShTextWeights
{
	uint128		magnitude;		/* sum of the absolute weights */
	int128		total;			/* sum of the weights */
	int128		ones[SHBITS_WIDTH]; /* of the numbers that have the bit set */
} ShTextWeights;

static inline uint128
shtext_absolute(int128 x)
{
	return x < 0 ? -(uint128) x : (uint128) x;
}

extern int128 shtext_weight(double weight);
extern void shtext_weights_add(ShTextWeights *weights, uint64 number,
							   int128 weight);
extern void shtext_weights_combine(ShTextWeights *weights,
								   const ShTextWeights *others);
extern uint128 shtext_add_magnitudes(uint128 a, uint128 b);
extern bool shtext_weights_are_possible(const ShTextWeights *weights);
extern bool shtext_weights_result(const ShTextWeights *weights,
								  ShFingerprint *result);

#endif							/* SIMHASH_TEXT_WEIGHTS_H */
