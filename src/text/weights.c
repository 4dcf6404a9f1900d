/*-------------------------------------------------------------------------
 *
 * weights.c
 *	  Finding the bits with the greater weight in weighted 64-bit numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "text/weights.h"

/* absolute weights must be less than this */
#define WEIGHT_LIMIT		ldexp(1, 63)

/* such that twice a sum, and the difference of two sums, can be computed */
#define MAX_MAGNITUDE		(((uint128) 1 << 126) - 1)

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

/*
 * Add a number with a weight, which may be 0.  All zeros are a valid initial
 * state.
 *
 * Raises ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if the sums become too large.
 */
void
shtext_weights_add(ShTextWeights *weights, uint64 number, int128 weight)
{
	weights->magnitude = shtext_add_magnitudes(weights->magnitude,
											   shtext_absolute(weight));
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
	weights->magnitude = shtext_add_magnitudes(weights->magnitude,
											   others->magnitude);
	weights->total += others->total;
	for (int i = 0; i < SHBITS_WIDTH; i++)
		weights->ones[i] += others->ones[i];
}

/*
 * Add up sums of absolute weights.
 *
 * Raises ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if the result is too large, or an
 * argument is.
 */
uint128
shtext_add_magnitudes(uint128 a, uint128 b)
{
	if (a > MAX_MAGNITUDE || b > MAX_MAGNITUDE - a)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("sum of weights is out of range")));
	return a + b;
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
		shtext_absolute(weights->total) > weights->magnitude)
		return false;
	for (int i = 0; i < SHBITS_WIDTH; i++)
	{
		if (shtext_absolute(weights->ones[i]) > weights->magnitude ||
			shtext_absolute(weights->total - weights->ones[i]) >
			weights->magnitude - shtext_absolute(weights->ones[i]))
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
