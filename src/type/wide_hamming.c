/*-------------------------------------------------------------------------
 *
 * wide_hamming.c
 *	  Hamming distance of wide fingerprints, conditions on it, and the lesser
 *	  of two.
 *
 * The distance of fingerprints of different widths is an error, so none of
 * these functions is leakproof.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_bits_hamming);
PG_FUNCTION_INFO_V1(simhash_bits_within);
PG_FUNCTION_INFO_V1(simhash_bits_near);
PG_FUNCTION_INFO_V1(simhash_bits_smaller);
PG_FUNCTION_INFO_V1(simhash_bits_larger);

/* the distance of the first two arguments of a call */
static inline int
distance_of_args(FunctionCallInfo fcinfo)
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
	PG_RETURN_INT32(distance_of_args(fcinfo));
}

/*
 * simhash_within(a simhash_bits, b simhash_bits, radius integer) -> boolean
 */
Datum
simhash_bits_within(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= PG_GETARG_INT32(2));
}

/*
 * simhash_bits % simhash_bits -> boolean
 *
 * Fewer than an eighth of the bits differ: fewer bits than there are bytes.
 */
Datum
simhash_bits_near(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) < shtype_bits_bytes(PG_GETARG_SIMHASH_BITS(0)));
}

static int
compare(const bytea *a, const bytea *b)
{
	return shtype_compare_bytes(shtype_bits_data(a), shtype_bits_bytes(a),
								shtype_bits_data(b), shtype_bits_bytes(b));
}

/*
 * simhash_bits_smaller(simhash_bits, simhash_bits) -> simhash_bits
 */
Datum
simhash_bits_smaller(PG_FUNCTION_ARGS)
{
	bytea	   *a = PG_GETARG_SIMHASH_BITS(0);
	bytea	   *b = PG_GETARG_SIMHASH_BITS(1);

	PG_RETURN_BYTEA_P(compare(a, b) <= 0 ? a : b);
}

/*
 * simhash_bits_larger(simhash_bits, simhash_bits) -> simhash_bits
 */
Datum
simhash_bits_larger(PG_FUNCTION_ARGS)
{
	bytea	   *a = PG_GETARG_SIMHASH_BITS(0);
	bytea	   *b = PG_GETARG_SIMHASH_BITS(1);

	PG_RETURN_BYTEA_P(compare(a, b) >= 0 ? a : b);
}
