/*-------------------------------------------------------------------------
 *
 * ball_compare.c
 *	  Equality and hashing of balls.
 *
 * Balls are compared as pairs of center and radius, and not as sets:
 * (1,-1) and (2,-2) differ although both are empty, and so do (1,64) and
 * (2,65) although both contain everything.  So equal balls have the same text
 * form, as REPLICA IDENTITY FULL expects.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "type/hash.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_ball_eq);
PG_FUNCTION_INFO_V1(simhash_ball_ne);
PG_FUNCTION_INFO_V1(simhash_ball_hash);
PG_FUNCTION_INFO_V1(simhash_ball_hash_extended);

/*
 * Are the two balls of a call equal?
 */
static inline bool
equal_args(FunctionCallInfo fcinfo)
{
	const SimhashBall *a = PG_GETARG_SIMHASH_BALL(0);
	const SimhashBall *b = PG_GETARG_SIMHASH_BALL(1);

	return a->center == b->center && a->radius == b->radius;
}

Datum
simhash_ball_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(equal_args(fcinfo));
}

Datum
simhash_ball_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!equal_args(fcinfo));
}

static uint64
hash_of(const SimhashBall *ball, uint64 seed)
{
	uint64		center = pg_hton64(ball->center);
	uint32		radius = pg_hton32(ball->radius);

	seed = shtype_hash_seeded(&radius, sizeof(radius), seed);
	return shtype_hash_seeded(&center, sizeof(center), seed);
}

Datum
simhash_ball_hash(PG_FUNCTION_ARGS)
{
	return UInt32GetDatum((uint32) hash_of(PG_GETARG_SIMHASH_BALL(0), 0));
}

Datum
simhash_ball_hash_extended(PG_FUNCTION_ARGS)
{
	return UInt64GetDatum(hash_of(PG_GETARG_SIMHASH_BALL(0), (uint64) PG_GETARG_INT64(1)));
}
