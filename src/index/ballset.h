/*-------------------------------------------------------------------------
 *
 * ballset.h
 *	  Many balls: in which of them does a fingerprint lie?
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BALLSET_H
#define SIMHASH_INDEX_BALLSET_H

#include "bits/scheme.h"
#include "type/simhash.h"

/* up to this many balls are compared one by one */
#define SHIDX_FEW_BALLS			16

/* larger balls are not listed by blocks */
#define SHIDX_NARROW_RADIUS		6

/* balls listed by some bits of their centers */
typedef struct ShIdxBallBlock
{
	int			shift;			/* the lowest bit of the block */
	uint64		mask;			/* of its bits, after the shift */
	int		   *starts;			/* where each value's list starts in members */
	int		   *members;		/* positions of balls, each list ascending */
} ShIdxBallBlock;

typedef struct ShIdxBallIndex
{
	int			nblocks;		/* 0 if no balls are listed by blocks */
	ShIdxBallBlock blocks[SHIDX_NARROW_RADIUS + 1];
	int			ncenters;		/* of the other balls */
	ShFingerprint *centers;
	int		   *places;			/* positions of these balls */
	int			radius;			/* the largest one of them */
} ShIdxBallIndex;

typedef struct ShIdxBallSet
{
	int			nballs;
	SimhashBall *balls;			/* sorted by center; all centers differ */
	bool		points;			/* all radii are 0 */
	ShIdxBallIndex *index;		/* NULL if there are only a few, or points */
} ShIdxBallSet;

/* is this the ball, of those that a fingerprint lies in? */
typedef bool (*ShIdxBallTest) (int ball, void *arg);

/* the cost of finding everything that lies in some balls */
typedef struct ShIdxBallsPlan
{
	bool		table;			/* a table is read from end to end */
	double		ranges;
	double		pages;
	double		comparing;		/* cost of comparing entries with balls, in
								 * pages */
} ShIdxBallsPlan;

extern void shidx_make_ball_set(ShIdxBallSet *set);
extern bool shidx_in_balls(const ShIdxBallSet *set, int nballs, ShFingerprint fp);
extern bool shidx_find_ball(const ShIdxBallSet *set, int nballs, ShFingerprint fp,
							ShIdxBallTest test, void *arg);
extern void shidx_count_radii(const ShIdxBallSet *set, int *counts);
extern double shidx_comparing_work(const ShIdxBallSet *set);
extern double shidx_usual_work(const int *counts);
extern void shidx_plan_balls_by_table(const int *counts, double work,
									  double leaves_per_table, ShIdxBallsPlan *plan);
extern void shidx_plan_balls(const int *counts, double work, const ShBitsScheme *scheme,
							 double leaves_per_table, ShIdxBallsPlan *plan);

#endif							/* SIMHASH_INDEX_BALLSET_H */
