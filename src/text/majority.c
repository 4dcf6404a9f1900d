/*-------------------------------------------------------------------------
 *
 * majority.c
 *	  Which bits are set in more than half of many 64-bit numbers.
 *
 * The 64 counters lie bit-sliced in 64-bit words, and so one logical operation
 * works on one digit of all of them.  A full adder takes five operations and,
 * with the numbers added up 16 at a time, about one of them is needed for
 * each number.  The final comparison is bit-sliced as well.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/majority.h"

/* numbers that are added in one go, 2^GROUP_DIGITS */
#define GROUP_SIZE		16
#define GROUP_DIGITS	4

static void add_carry(ShTextMajority *majority, int digit, uint64 carry);

/*
 * Full adder: *digit + a + b, whose low digit goes to *digit; returns the carry.
 */
static inline uint64
add_digits(uint64 *digit, uint64 a, uint64 b)
{
	uint64		half = *digit ^ a;
	uint64		carry = (*digit & a) | (half & b);

	*digit = half ^ b;
	return carry;
}

/*
 * Add up 2^level numbers, the digits of whose sum are added to digits[0 ..
 * level - 1]; returns the carry, of weight 2^level.
 */
static pg_attribute_always_inline uint64
add_pair(uint64 *digits, const uint64 *numbers)
{
	return add_digits(&digits[0], numbers[0], numbers[1]);
}

static pg_attribute_always_inline uint64
add_four(uint64 *digits, const uint64 *numbers)
{
	uint64		a = add_pair(digits, numbers);
	uint64		b = add_pair(digits, numbers + 2);

	return add_digits(&digits[1], a, b);
}

static pg_attribute_always_inline uint64
add_eight(uint64 *digits, const uint64 *numbers)
{
	uint64		a = add_four(digits, numbers);
	uint64		b = add_four(digits, numbers + 4);

	return add_digits(&digits[2], a, b);
}

static pg_attribute_always_inline uint64
add_sixteen(uint64 *digits, const uint64 *numbers)
{
	uint64		a = add_eight(digits, numbers);
	uint64		b = add_eight(digits, numbers + 8);

	return add_digits(&digits[3], a, b);
}

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
	int			i = 0;

	for (; i + GROUP_SIZE <= nnumbers; i += GROUP_SIZE)
		add_carry(majority, GROUP_DIGITS,
				  add_sixteen(majority->digits, &numbers[i]));
	for (; i < nnumbers; i++)
		add_carry(majority, 0, numbers[i]);
	majority->count += nnumbers;
}

/*
 * Add 2^digit to the counters whose bit is set in carry.
 */
static void
add_carry(ShTextMajority *majority, int digit, uint64 carry)
{
	while (carry != 0)
	{
		uint64		sum = majority->digits[digit];

		majority->digits[digit] = sum ^ carry;
		carry &= sum;
		digit++;
	}
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
	 * A counter exceeds count / 2 if and only if it exceeds that rounded down.
	 * The highest digit in which they differ decides, so let each digit
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
