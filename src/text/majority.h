/*-------------------------------------------------------------------------
 *
 * majority.h
 *	  Finding the bits that are set in more than half of many 64-bit numbers, or
 *	  in those with more than half of the weight.
 *
 * Both structures begin with all zeros.  A weight is an integer, in units of
 * 2^-32, so that sums are exact and do not depend on the order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_MAJORITY_H
#define SIMHASH_TEXT_MAJORITY_H

#include "bits/distance.h"

/* digits of a counter, in base 2: enough for any number of numbers */
#define SHTEXT_COUNTER_DIGITS	64

/*
 * 64 counters, one for each bit of the numbers.  They are bit-sliced: bit i of
 * digits[d] is the digit of weight 2^d of counter i.
 */
typedef struct ShTextMajority
{
	uint64		count;			/* numbers added */
	uint64		digits[SHTEXT_COUNTER_DIGITS];
} ShTextMajority;

#define SHTEXT_WEIGHT_BITS	32

/* the weight 1 */
#define SHTEXT_WEIGHT_ONE	((int128) 1 << SHTEXT_WEIGHT_BITS)

typedef struct ShTextWeights
{
	uint128		magnitude;		/* sum of the absolute weights */
	int128		total;			/* sum of the weights */
	int128		ones[SHBITS_WIDTH]; /* of the numbers that have the bit set */
} ShTextWeights;

/* A consumer of hashes, whose state is a ShTextMajority. */
extern void shtext_majority_add(void *majority, const uint64 *numbers, int nnumbers);
extern uint64 shtext_majority_result(const ShTextMajority *majority);

extern int128 shtext_weight(double weight);
extern uint128 shtext_add_magnitude(uint128 magnitude, int128 weight);
extern void shtext_weights_add(ShTextWeights *weights, uint64 number, int128 weight);
extern void shtext_weights_combine(ShTextWeights *weights, const ShTextWeights *others);
extern bool shtext_weights_are_possible(const ShTextWeights *weights);
extern bool shtext_weights_result(const ShTextWeights *weights, ShFingerprint *result);

#endif							/* SIMHASH_TEXT_MAJORITY_H */
