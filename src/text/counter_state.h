/*-------------------------------------------------------------------------
 *
 * counter_state.h
 *	  Transition states of simhash_agg and simhash_weighted_agg, as a bytea.
 *
 * Partial states may be combined on another machine, of another architecture
 * or with another release of the extension, so the layout is fixed:
 *
 *	offset	bytes
 *		 0		3	"sim"
 *		 3		1	version of the layout: 1
 *		 4		8	number of the rows that are counted: all of weight 1, less
 *					those that were moved to the sums
 *		12		192	how many of these have each bit set, bit-sliced: bit i of
 *					word d is the digit of weight 2^d of the counter of bit i
 *
 * and if there is a row of another weight, or there were too many for the
 * counters, the sums of the rest as shtext_weights_add makes them:
 *
 *	   204		16	sum of the absolute weights
 *	   220		16	sum of the weights
 *	   236		1024	for each bit, sum of the weights of rows that have it set
 *
 * All numbers have their least significant byte first.  The sums are integers
 * of two's complement, in units of 2^-32.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_COUNTER_STATE_H
#define SIMHASH_TEXT_COUNTER_STATE_H

#include "bits/distance.h"

extern bytea *shtext_counter_state_make(void);
extern void shtext_counter_state_check(const bytea *state);
extern void shtext_counter_state_verify(const bytea *state);
extern bytea *shtext_counter_state_add(bytea *state, uint64 hash);
extern bytea *shtext_counter_state_add_weighted(bytea *state, uint64 hash,
												int128 weight);
extern bytea *shtext_counter_state_combine(bytea *state, const bytea *other);
extern bool shtext_counter_state_result(const bytea *state, ShFingerprint *result);

#endif							/* SIMHASH_TEXT_COUNTER_STATE_H */
