/*-------------------------------------------------------------------------
 *
 * wide_ball_compare.c
 *	  Equality and hashing of balls of wide fingerprints, and hashing of these.
 *
 * Balls are compared as pairs of center and radius, like those of simhash_ball.
 * simhash_bits itself is compared by the server's functions for bytea.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "type/hash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_bits_hash_value);
PG_FUNCTION_INFO_V1(simhash_bits_hash_value_extended);
PG_FUNCTION_INFO_V1(simhash_bits_ball_eq);
PG_FUNCTION_INFO_V1(simhash_bits_ball_ne);
PG_FUNCTION_INFO_V1(simhash_bits_ball_hash);
PG_FUNCTION_INFO_V1(simhash_bits_ball_hash_extended);

/*
 * Are the two balls of a call equal?  Hash joins ask so, and need the memory back.
 */
static bool
equal_args(FunctionCallInfo fcinfo)
{
	SimhashBitsBall *a = PG_GETARG_SIMHASH_BITS_BALL(0);
	SimhashBitsBall *b = PG_GETARG_SIMHASH_BITS_BALL(1);
	bool		equal = VARSIZE_ANY(a) == VARSIZE_ANY(b) && a->radius == b->radius &&
		memcmp(a->center, b->center, shtype_ball_bytes(a)) == 0;

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return equal;
}

Datum
simhash_bits_ball_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(equal_args(fcinfo));
}

Datum
simhash_bits_ball_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!equal_args(fcinfo));
}

/*
 * The hash of the fingerprint of a call.  Like comparisons, it gives memory back.
 */
static uint64
hash_fingerprint(FunctionCallInfo fcinfo, uint64 seed)
{
	bytea	   *fp = PG_GETARG_SIMHASH_BITS(0);
	uint64		hash = shtype_hash_seeded(shtype_bits_data(fp), shtype_bits_bytes(fp), seed);

	PG_FREE_IF_COPY(fp, 0);
	return hash;
}

Datum
simhash_bits_hash_value(PG_FUNCTION_ARGS)
{
	return UInt32GetDatum((uint32) hash_fingerprint(fcinfo, 0));
}

Datum
simhash_bits_hash_value_extended(PG_FUNCTION_ARGS)
{
	return UInt64GetDatum(hash_fingerprint(fcinfo, (uint64) PG_GETARG_INT64(1)));
}

/*
 * The hash of the ball of a call.
 */
static uint64
hash_ball(FunctionCallInfo fcinfo, uint64 seed)
{
	SimhashBitsBall *ball = PG_GETARG_SIMHASH_BITS_BALL(0);
	uint32		radius = pg_hton32(ball->radius);
	uint64		hash = shtype_hash_seeded(&radius, sizeof(radius), seed);

	hash = shtype_hash_seeded(ball->center, shtype_ball_bytes(ball), hash);
	PG_FREE_IF_COPY(ball, 0);
	return hash;
}

Datum
simhash_bits_ball_hash(PG_FUNCTION_ARGS)
{
	return UInt32GetDatum((uint32) hash_ball(fcinfo, 0));
}

Datum
simhash_bits_ball_hash_extended(PG_FUNCTION_ARGS)
{
	return UInt64GetDatum(hash_ball(fcinfo, (uint64) PG_GETARG_INT64(1)));
}
