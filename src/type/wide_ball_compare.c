/*-------------------------------------------------------------------------
 *
 * wide_ball_compare.c
 *	  Order, equality and hashing of balls of wide fingerprints.
 *
 * They are compared as pairs, by center and then by radius, like those of
 * simhash_ball.  simhash_bits itself is compared by the server's functions for
 * bytea.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_bits_ball_eq);
PG_FUNCTION_INFO_V1(simhash_bits_ball_ne);
PG_FUNCTION_INFO_V1(simhash_bits_ball_lt);
PG_FUNCTION_INFO_V1(simhash_bits_ball_le);
PG_FUNCTION_INFO_V1(simhash_bits_ball_gt);
PG_FUNCTION_INFO_V1(simhash_bits_ball_ge);
PG_FUNCTION_INFO_V1(simhash_bits_ball_cmp);
PG_FUNCTION_INFO_V1(simhash_bits_ball_hash);
PG_FUNCTION_INFO_V1(simhash_bits_ball_hash_extended);

/* the hashed bytes: the radius and the center */
#define HASHED(ball)	((const unsigned char *) &(ball)->radius)
#define HASHED_SIZE(ball)	(VARSIZE(ball) - offsetof(SimhashBitsBall, radius))

/*
 * Compare the two balls of a call.  Indexes do so, and need the memory back.
 */
static int
compare_args(FunctionCallInfo fcinfo)
{
	SimhashBitsBall *a = PG_GETARG_SIMHASH_BITS_BALL(0);
	SimhashBitsBall *b = PG_GETARG_SIMHASH_BITS_BALL(1);
	int			order = shtype_compare_bytes(a->center, shtype_ball_bytes(a),
											 b->center, shtype_ball_bytes(b));

	if (order == 0)
		order = (a->radius > b->radius) - (a->radius < b->radius);
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return order;
}

Datum
simhash_bits_ball_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) == 0);
}

Datum
simhash_bits_ball_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) != 0);
}

Datum
simhash_bits_ball_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) < 0);
}

Datum
simhash_bits_ball_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) <= 0);
}

Datum
simhash_bits_ball_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) > 0);
}

Datum
simhash_bits_ball_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) >= 0);
}

Datum
simhash_bits_ball_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_args(fcinfo));
}

Datum
simhash_bits_ball_hash(PG_FUNCTION_ARGS)
{
	SimhashBitsBall *ball = PG_GETARG_SIMHASH_BITS_BALL(0);
	uint32		hash = hash_bytes(HASHED(ball), HASHED_SIZE(ball));

	PG_FREE_IF_COPY(ball, 0);
	return UInt32GetDatum(hash);
}

Datum
simhash_bits_ball_hash_extended(PG_FUNCTION_ARGS)
{
	SimhashBitsBall *ball = PG_GETARG_SIMHASH_BITS_BALL(0);
	uint64		seed = DatumGetUInt64(PG_GETARG_DATUM(1));
	uint64		hash = hash_bytes_extended(HASHED(ball), HASHED_SIZE(ball), seed);

	PG_FREE_IF_COPY(ball, 0);
	return UInt64GetDatum(hash);
}
