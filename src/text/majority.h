/*-------------------------------------------------------------------------
 *
 * majority.h
 *	  Which bits are set in more than half of many 64-bit numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_MAJORITY_H
#define SIMHASH_TEXT_MAJORITY_H

#include "postgres.h"

/* digits of a counter, in base 2: enough for any number of numbers */
#define SHTEXT_COUNTER_DIGITS	64

/*
 * 64 counters, one for each bit, written in base 2 and turned by 90 degrees: bit i of
 * digits[d] is the digit of weight 2^d of counter i.
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

#endif							/* SIMHASH_TEXT_MAJORITY_H */
