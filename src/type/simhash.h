/*-------------------------------------------------------------------------
 *
 * simhash.h
 *	  C representation of the SQL types simhash and simhash_ball.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_SIMHASH_H
#define SIMHASH_TYPE_SIMHASH_H

#include "postgres.h"

#include "fmgr.h"

#include "bits/distance.h"

/*
 * The customary distance of near-duplicates: the radius of the operator %, and
 * the default distance of an index.
 */
#define SIMHASH_NEAR_RADIUS	3

/* a fingerprint is a uint64, passed by value */
#define DatumGetSimhash(X)			DatumGetUInt64(X)
#define SimhashGetDatum(X)			UInt64GetDatum(X)
#define PG_GETARG_SIMHASH(n)		DatumGetSimhash(PG_GETARG_DATUM(n))
#define PG_RETURN_SIMHASH(x)		return SimhashGetDatum(x)

/*
 * A ball holds every fingerprint that differs from the center in at most
 * radius bits: none if radius < 0, all if radius >= SHBITS_WIDTH.
 */
typedef struct SimhashBall
{
	uint64		centre;
	int32		radius;
	int32		unused;			/* zero, so that equal balls are equal bytes */
} SimhashBall;

#define DatumGetSimhashBall(X)		((SimhashBall *) DatumGetPointer(X))
#define SimhashBallGetDatum(X)		PointerGetDatum(X)
#define PG_GETARG_SIMHASH_BALL(n)	DatumGetSimhashBall(PG_GETARG_DATUM(n))

static inline SimhashBall
simhash_make_ball(uint64 centre, int32 radius)
{
	SimhashBall ball = {0};

	ball.centre = centre;
	ball.radius = radius;
	return ball;
}

/* a new ball, palloc'd */
static inline SimhashBall *
simhash_new_ball(uint64 centre, int32 radius)
{
	SimhashBall *ball = palloc(sizeof(SimhashBall));

	*ball = simhash_make_ball(centre, radius);
	return ball;
}

#endif							/* SIMHASH_TYPE_SIMHASH_H */
