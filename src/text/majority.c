/*-------------------------------------------------------------------------
 *
 * majority.c
 *	  Which bits are set in more than half of many 64-bit numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/majority.h"

/*
 * Start with no number.
 */
void
shtext_majority_init(ShTextMajority *majority)
{
	memset(majority, 0, sizeof(*majority));
}

/*
 * Add numbers.
 */
void
shtext_majority_add(ShTextMajority *majority, const uint64 *numbers,
					int nnumbers)
{
	shtext_kernels()->count_bits(majority->digits, numbers, nnumbers);
	majority->count += nnumbers;
}

/*
 * How many of the numbers have that bit set.
 */
uint64
shtext_majority_counter(const ShTextMajority *majority, int bit)
{
	uint64		result = 0;

	for (int d = 0; d < SHTEXT_COUNTER_DIGITS; d++)
		result |= ((majority->digits[d] >> bit) & 1) << d;
	return result;
}

/*
 * The bits that are set in more than half of the numbers; not those that are
 * set in exactly half.
 */
uint64
shtext_majority_result(const ShTextMajority *majority)
{
	uint64		half = majority->count / 2;
	uint64		greater = 0;

	/*
	 * A counter exceeds count / 2 if and only if it exceeds that rounded
	 * down. The highest digit in which they differ decides, so let each digit
	 * overrule those below it.
	 */
	for (int d = 0; d < SHTEXT_COUNTER_DIGITS; d++)
	{
		if (half & (UINT64CONST(1) << d))
			greater &= majority->digits[d];
		else
			greater |= majority->digits[d];
	}
	return greater;
}
