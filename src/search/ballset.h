/*-------------------------------------------------------------------------
 *
 * ballset.h
 *	  Many balls: in which of them does a fingerprint lie?
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_BALLSET_H
#define SIMHASH_SEARCH_BALLSET_H

#include "type/simhash.h"

/* up to this many balls are compared one by one */
#define SHFND_FEW_BALLS			16

/* larger balls are not listed by blocks */
#define SHFND_NARROW_RADIUS		6

/* balls listed by some bits of their centers */
typedef struct ShFndBallBlock
{
	int			shift;			/* the lowest bit of the block */
	uint64		mask;			/* of its bits, after the shift */
	int		   *starts;			/* where each value's list starts in members */
	int		   *members;		/* positions of balls, each list ascending */
} ShFndBallBlock;

typedef struct ShFndBallIndex
{
	int			nblocks;		/* 0 if no balls are listed by blocks */
	ShFndBallBlock blocks[SHFND_NARROW_RADIUS + 1];
	int			ncenters;		/* of the other balls */
	ShFingerprint *centers;
	int		   *places;			/* positions of these balls */
	int			radius;			/* the largest one of them */
} ShFndBallIndex;

typedef struct ShFndBallSet
{
	int			nballs;
	SimhashBall *balls;			/* sorted by center; all centers differ */
	bool		points;			/* all radii are 0 */
	ShFndBallIndex *index;		/* NULL if there are only a few, or points */
} ShFndBallSet;

/* is this the ball, of those that a fingerprint lies in? */
typedef bool (*ShFndBallTest) (int ball, void *arg);

extern void shfnd_make_ball_set(ShFndBallSet *set);
extern bool shfnd_in_balls(const ShFndBallSet *set, int nballs, ShFingerprint fp);
extern bool shfnd_find_ball(const ShFndBallSet *set, int nballs, ShFingerprint fp,
							ShFndBallTest test, void *arg);
extern void shfnd_count_radii(const ShFndBallSet *set, int *counts);
extern double shfnd_comparing_work(const ShFndBallSet *set);
extern double shfnd_expected_work(const int *counts);

#endif							/* SIMHASH_SEARCH_BALLSET_H */
