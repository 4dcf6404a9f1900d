/*-------------------------------------------------------------------------
 *
 * ball_compare.c
 *	  Order, equality and hashing of balls.
 *
 * Balls are compared as pairs, by center and then by radius, and not as sets:
 * (1,-1) and (2,-2) differ although both are empty, and so do (1,64) and
 * (2,65) although both contain everything.  So equal balls have the same text
 * form, as unique constraints and REPLICA IDENTITY FULL expect.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_ball_eq);
PG_FUNCTION_INFO_V1(simhash_ball_ne);
PG_FUNCTION_INFO_V1(simhash_ball_lt);
PG_FUNCTION_INFO_V1(simhash_ball_le);
PG_FUNCTION_INFO_V1(simhash_ball_gt);
PG_FUNCTION_INFO_V1(simhash_ball_ge);
PG_FUNCTION_INFO_V1(simhash_ball_cmp);
PG_FUNCTION_INFO_V1(simhash_ball_hash);
PG_FUNCTION_INFO_V1(simhash_ball_hash_extended);

/* the hashed bytes: the center and the radius, without a gap between them */
#define HASHED_SIZE		offsetof(SimhashBall, unused)

/*
 * Compare the two balls of a call.
 */
static inline int
compare_args(FunctionCallInfo fcinfo)
{
	const SimhashBall *a = PG_GETARG_SIMHASH_BALL(0);
	const SimhashBall *b = PG_GETARG_SIMHASH_BALL(1);

	if (a->center != b->center)
		return a->center < b->center ? -1 : 1;
	return (a->radius > b->radius) - (a->radius < b->radius);
}

Datum
simhash_ball_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) == 0);
}

Datum
simhash_ball_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) != 0);
}

Datum
simhash_ball_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) < 0);
}

Datum
simhash_ball_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) <= 0);
}

Datum
simhash_ball_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) > 0);
}

Datum
simhash_ball_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) >= 0);
}

Datum
simhash_ball_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_args(fcinfo));
}

Datum
simhash_ball_hash(PG_FUNCTION_ARGS)
{
	SimhashBall *ball = PG_GETARG_SIMHASH_BALL(0);

	return UInt32GetDatum(hash_bytes((const unsigned char *) ball, HASHED_SIZE));
}

Datum
simhash_ball_hash_extended(PG_FUNCTION_ARGS)
{
	SimhashBall *ball = PG_GETARG_SIMHASH_BALL(0);
	uint64		seed = DatumGetUInt64(PG_GETARG_DATUM(1));

	return UInt64GetDatum(hash_bytes_extended((const unsigned char *) ball,
											  HASHED_SIZE, seed));
}
