/*-------------------------------------------------------------------------
 *
 * majority.c
 *	  Finding the bits that are set in more than half of many 64-bit numbers, or
 *	  in those with more than half of the weight.
 *
 * As the counters are bit-sliced, one logical operation works on a digit of all
 * of them.  A full adder takes five, and with the numbers added up 16 at a
 * time, about one is needed for each number.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "text/majority.h"

/* numbers that are added in one go, 2^GROUP_DIGITS */
#define GROUP_SIZE			16
#define GROUP_DIGITS		4

/* absolute weights must be less than this */
#define WEIGHT_LIMIT		ldexp(1, 63)

/* such that twice a sum, and the difference of two sums, can be computed */
#define MAX_MAGNITUDE		(((uint128) 1 << 126) - 1)

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
 * Add four numbers to digits[0 .. 1], or eight to digits[0 .. 2]; returns the
 * carry, of weight 4 or 8.
 */
static inline uint64
add_four(uint64 *digits, const uint64 *numbers)
{
	uint64		a = add_digits(&digits[0], numbers[0], numbers[1]);
	uint64		b = add_digits(&digits[0], numbers[2], numbers[3]);

	return add_digits(&digits[1], a, b);
}

static inline uint64
add_eight(uint64 *digits, const uint64 *numbers)
{
	uint64		a = add_four(digits, numbers);
	uint64		b = add_four(digits, numbers + 4);

	return add_digits(&digits[2], a, b);
}

/*
 * Add 2^digit to the counters whose bit is set in carry.
 */
static inline void
add_carry(uint64 *digits, int digit, uint64 carry)
{
	for (; carry != 0; digit++)
	{
		uint64		sum = digits[digit];

		digits[digit] = sum ^ carry;
		carry &= sum;
	}
}

void
shtext_majority_add(void *majority, const uint64 *numbers, int nnumbers)
{
	ShTextMajority *counters = majority;
	uint64	   *digits = counters->digits;
	int			i = 0;

	for (; i + GROUP_SIZE <= nnumbers; i += GROUP_SIZE)
	{
		uint64		a = add_eight(digits, &numbers[i]);
		uint64		b = add_eight(digits, &numbers[i + 8]);

		add_carry(digits, GROUP_DIGITS, add_digits(&digits[3], a, b));
	}
	for (; i < nnumbers; i++)
		add_carry(digits, 0, numbers[i]);
	counters->count += nnumbers;
}

/*
 * The bits that are set in more than half of the numbers; not those that are
 * set in exactly half.
 */
uint64
shtext_majority_result(const ShTextMajority *majority)
{
	/* a counter exceeds the half if and only if it exceeds that rounded down */
	uint64		limit = majority->count / 2;
	uint64		above = 0;

	/*
	 * The highest digit in which a counter differs from the limit decides, so
	 * each digit overrules those below it.
	 */
	for (int d = 0; d < SHTEXT_COUNTER_DIGITS; d++)
	{
		if (limit & (UINT64CONST(1) << d))
			above &= majority->digits[d];
		else
			above |= majority->digits[d];
	}
	return above;
}

/*
 * A weight as an integer: rounded to the nearest multiple of 2^-32, ties to
 * even.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if it is not a finite number, and
 * ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if it is too large.
 */
int128
shtext_weight(double weight)
{
	if (isnan(weight) || isinf(weight))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight must be a finite number")));
	if (fabs(weight) >= WEIGHT_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("weight is out of range"),
				 errdetail("The absolute value of a weight must be less than 2^63.")));

	return (int128) rint(ldexp(weight, SHTEXT_WEIGHT_BITS));
}

static uint128
absolute(int128 x)
{
	return x < 0 ? -(uint128) x : (uint128) x;
}

/*
 * Add up sums of absolute weights, of which either may be anything.
 *
 * Raises ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if the result is too large.
 */
static uint128
add_magnitudes(uint128 a, uint128 b)
{
	if (a > MAX_MAGNITUDE || b > MAX_MAGNITUDE - a)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("sum of weights is out of range")));
	return a + b;
}

/*
 * The sum of some absolute weights and that of another weight, with the same
 * error.
 */
uint128
shtext_add_magnitude(uint128 magnitude, int128 weight)
{
	return add_magnitudes(magnitude, absolute(weight));
}

/*
 * Add a number with a weight, which may be 0.
 *
 * Raises ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if the sums become too large.
 */
void
shtext_weights_add(ShTextWeights *weights, uint64 number, int128 weight)
{
	weights->magnitude = shtext_add_magnitude(weights->magnitude, weight);
	weights->total += weight;
	for (int i = 0; i < SHBITS_WIDTH; i++)
		weights->ones[i] += weight & -(int128) ((number >> i) & 1);
}

/*
 * Add sums to others, with the same error.
 */
void
shtext_weights_combine(ShTextWeights *weights, const ShTextWeights *others)
{
	weights->magnitude = add_magnitudes(weights->magnitude, others->magnitude);
	weights->total += others->total;
	for (int i = 0; i < SHBITS_WIDTH; i++)
		weights->ones[i] += others->ones[i];
}

/*
 * Can any numbers and weights have these sums?
 *
 * For each bit, the numbers that have it and those that do not add up to the
 * total, and neither sum exceeds that of the absolute weights.
 */
bool
shtext_weights_are_possible(const ShTextWeights *weights)
{
	if (weights->magnitude > MAX_MAGNITUDE ||
		absolute(weights->total) > weights->magnitude)
		return false;
	for (int i = 0; i < SHBITS_WIDTH; i++)
	{
		uint128		ones = absolute(weights->ones[i]);

		if (ones > weights->magnitude ||
			absolute(weights->total - weights->ones[i]) > weights->magnitude - ones)
			return false;
	}
	return true;
}

/*
 * Set each bit for which the numbers that have it outweigh those that do not.
 * Returns false if no number has a weight, so that there is no result.
 */
bool
shtext_weights_result(const ShTextWeights *weights, ShFingerprint *result)
{
	*result = 0;
	for (int i = 0; i < SHBITS_WIDTH; i++)
	{
		if (2 * weights->ones[i] > weights->total)
			*result |= UINT64CONST(1) << i;
	}
	return weights->magnitude > 0;
}
