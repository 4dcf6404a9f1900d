/*-------------------------------------------------------------------------
 *
 * majority.h
 *	  Finding the bits that are set in more than half of many 64-bit numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_MAJORITY_H
#define SIMHASH_TEXT_MAJORITY_H

#include "text/text_kernels.h"

/*
 * 64 counters, one for each bit, bit-sliced as the kernels keep them.
 */
typedef struct ShTextMajority
{
	uint64		count;			/* numbers added */
	uint64		digits[SHTEXT_COUNTER_DIGITS];
} ShTextMajority;

extern void shtext_majority_init(ShTextMajority *majority);
extern void shtext_majority_add(ShTextMajority *majority,
								const uint64 *numbers, int nnumbers);
extern uint64 shtext_majority_result(const ShTextMajority *majority);
extern uint64 shtext_counters_above(const uint64 *digits, int ndigits,
									uint64 limit);

#endif							/* SIMHASH_TEXT_MAJORITY_H */
