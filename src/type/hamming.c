/*-------------------------------------------------------------------------
 *
 * hamming.c
 *	  Hamming distance, and conditions on it.
 *
 * The functions of simhash raise no error and reveal nothing about their
 * arguments except by their results, so they are leakproof.  Those of simhash_bits
 * are not: the distance of fingerprints of different widths is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits/distance.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_hamming);
PG_FUNCTION_INFO_V1(simhash_within);
PG_FUNCTION_INFO_V1(simhash_near);
PG_FUNCTION_INFO_V1(simhash_near_6);
PG_FUNCTION_INFO_V1(simhash_near_10);
PG_FUNCTION_INFO_V1(simhash_bits_hamming);
PG_FUNCTION_INFO_V1(simhash_bits_within);
PG_FUNCTION_INFO_V1(simhash_bits_near);
PG_FUNCTION_INFO_V1(simhash_radius_int2);
PG_FUNCTION_INFO_V1(simhash_radius_int4);
PG_FUNCTION_INFO_V1(simhash_radius_int8);
PG_FUNCTION_INFO_V1(simhash_radius_float8);

/* the distance of the first two arguments of a call */
static inline int
distance_of_args(FunctionCallInfo fcinfo)
{
	return shbits_distance(PG_GETARG_SIMHASH(0), PG_GETARG_SIMHASH(1));
}

/*
 * hamming(simhash, simhash) -> simhash_distance
 */
Datum
simhash_hamming(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(distance_of_args(fcinfo));
}

/*
 * simhash_within(a simhash, b simhash, radius integer) -> boolean
 */
Datum
simhash_within(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= PG_GETARG_INT32(2));
}

/*
 * simhash % simhash -> boolean
 */
Datum
simhash_near(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= SIMHASH_NEAR_RADIUS);
}

/*
 * simhash <%> simhash -> boolean
 */
Datum
simhash_near_6(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= 6);
}

/*
 * simhash <<%>> simhash -> boolean
 */
Datum
simhash_near_10(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= 10);
}

static inline int
bits_distance_of_args(FunctionCallInfo fcinfo)
{
	bytea	   *a = PG_GETARG_SIMHASH_BITS(0);
	bytea	   *b = PG_GETARG_SIMHASH_BITS(1);

	return shtype_bits_distance(shtype_bits_data(a), shtype_bits_bytes(a),
								shtype_bits_data(b), shtype_bits_bytes(b));
}

/*
 * hamming(simhash_bits, simhash_bits) -> simhash_distance
 */
Datum
simhash_bits_hamming(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(bits_distance_of_args(fcinfo));
}

/*
 * simhash_within(a simhash_bits, b simhash_bits, radius integer) -> boolean
 */
Datum
simhash_bits_within(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(bits_distance_of_args(fcinfo) <= PG_GETARG_INT32(2));
}

/*
 * simhash_bits % simhash_bits -> boolean
 *
 * Fewer than an eighth of the bits differ: fewer bits than there are bytes.
 */
Datum
simhash_bits_near(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(bits_distance_of_args(fcinfo) < shtype_bits_bytes(PG_GETARG_SIMHASH_BITS(0)));
}

/*
 * simhash_radius(bound bigint, strict boolean) -> integer
 *
 * The radius of the ball of all distances that are <= bound, or < bound if
 * strict, whatever the type of the bound.  Distances are 0..4096, of wide
 * fingerprints, so every bound has such a radius in -1..4096, -1 being the empty
 * ball.
 */
static int32
integer_radius(int64 bound, bool strict)
{
	/* bring it into range first: subtracting from the least bigint overflows */
	bound = Max(bound, -1);
	bound = Min(bound, SIMHASH_BITS_MAX_WIDTH + 1);
	if (strict)
		bound--;

	return (int32) Max(-1, Min(bound, SIMHASH_BITS_MAX_WIDTH));
}

Datum
simhash_radius_int2(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(integer_radius(PG_GETARG_INT16(0), PG_GETARG_BOOL(1)));
}

Datum
simhash_radius_int4(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(integer_radius(PG_GETARG_INT32(0), PG_GETARG_BOOL(1)));
}

Datum
simhash_radius_int8(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(integer_radius(PG_GETARG_INT64(0), PG_GETARG_BOOL(1)));
}

/* NaN is greater than all numbers, as in the server's comparisons. */
Datum
simhash_radius_float8(PG_FUNCTION_ARGS)
{
	float8		bound = PG_GETARG_FLOAT8(0);
	bool		strict = PG_GETARG_BOOL(1);

	if (isnan(bound) || bound > SIMHASH_BITS_MAX_WIDTH)
		PG_RETURN_INT32(SIMHASH_BITS_MAX_WIDTH);
	if (bound < 0)
		PG_RETURN_INT32(-1);
	PG_RETURN_INT32(strict ? (int32) ceil(bound) - 1 : (int32) floor(bound));
}
