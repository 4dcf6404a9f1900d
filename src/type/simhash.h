/*-------------------------------------------------------------------------
 *
 * simhash.h
 *	  C representation of the SQL types simhash and simhash_ball.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_SIMHASH_H
#define SIMHASH_TYPE_SIMHASH_H

#include "fmgr.h"

#include "bits/distance.h"

/*
 * The customary distance of near-duplicates: the radius of the operator %, and
 * the default distance of an index.
 */
#define SIMHASH_NEAR_RADIUS	3

/* support function of the fingerprint column of an index: the fingerprint of a value */
#define SIMHASH_FINGERPRINT_PROC	2

/* or its bands: words of 64 bits in a fingerprint of type simhash_bits, each the band of a table */
#define SIMHASH_BANDS_PROC			3

/*
 * The strategy numbers of operators in an operator class of the access method; what
 * they mean is for shidx_meaning to say.  From SIMHASH_STRATEGY_WITHIN on a number says
 * the radius of an operator that is true where two fingerprints differ in at most so
 * many bits.  The numbers stand in the catalogs of every database, so they cannot change.
 */
#define SIMHASH_STRATEGY_EQUAL		1	/* of any column */
#define SIMHASH_STRATEGY_BALL		2	/* the fingerprint lies in the ball */
#define SIMHASH_STRATEGY_DISTANCE	3	/* ORDER BY */
#define SIMHASH_STRATEGY_WITHIN		4	/* of radius 0 */
#define SIMHASH_STRATEGY_BAND		100 /* times n, plus r, where a class makes
										 * bands: one of the first n is shared
										 * within r bits */
#define SIMHASH_STRATEGY_EIGHTH		10000	/* of simhash_bits: fewer than an
											 * eighth of the bits differ */

/* a fingerprint is passed by value */
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
	ShFingerprint center;
	int32		radius;
	int32		unused;			/* zero, so that equal balls are equal bytes */
} SimhashBall;

#define DatumGetSimhashBall(X)		((SimhashBall *) DatumGetPointer(X))
#define SimhashBallGetDatum(X)		PointerGetDatum(X)
#define PG_GETARG_SIMHASH_BALL(n)	DatumGetSimhashBall(PG_GETARG_DATUM(n))

static inline SimhashBall
simhash_make_ball(ShFingerprint center, int32 radius)
{
	SimhashBall ball = {0};

	ball.center = center;
	ball.radius = radius;
	return ball;
}

/* a new ball, palloc'd */
static inline SimhashBall *
simhash_new_ball(ShFingerprint center, int32 radius)
{
	SimhashBall *ball = palloc(sizeof(SimhashBall));

	*ball = simhash_make_ball(center, radius);
	return ball;
}

#endif							/* SIMHASH_TYPE_SIMHASH_H */
