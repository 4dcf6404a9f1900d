/*-------------------------------------------------------------------------
 *
 * majority.c
 *	  Finding the bits that are set in more than half of many 64-bit numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/majority.h"

/*
 * Initialize, without numbers.
 */
void
shtext_majority_init(ShTextMajority *majority)
{
	memset(majority, 0, sizeof(*majority));
}

/*
 * Add numbers to the counters.
 */
void
shtext_majority_add(ShTextMajority *majority, const uint64 *numbers,
					int nnumbers)
{
	shtext_kernels->count_bits(majority->digits, numbers, nnumbers);
	majority->count += nnumbers;
}

/*
 * The bits that are set in more than half of the numbers; not those that are
 * set in exactly half.
 */
uint64
shtext_majority_result(const ShTextMajority *majority)
{
	/* a counter exceeds the half if and only if it exceeds that rounded down */
	return shtext_counters_above(majority->digits, SHTEXT_COUNTER_DIGITS,
								 majority->count / 2);
}

/*
 * Which of 64 bit-sliced counters exceed a limit?
 */
uint64
shtext_counters_above(const uint64 *digits, int ndigits, uint64 limit)
{
	uint64		above = 0;

	/*
	 * The highest digit in which a counter differs from the limit decides, so
	 * each digit overrules those below it.
	 */
	Assert(ndigits == 64 || limit >> ndigits == 0);
	for (int d = 0; d < ndigits; d++)
	{
		if (limit & (UINT64CONST(1) << d))
			above &= digits[d];
		else
			above |= digits[d];
	}
	return above;
}
