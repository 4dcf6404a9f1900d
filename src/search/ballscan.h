/*-------------------------------------------------------------------------
 *
 * ballscan.h
 *	  Reading all entries within a ball.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_BALLSCAN_H
#define SIMHASH_SEARCH_BALLSCAN_H

#include "utils/snapshot.h"

#include "bits/probe.h"
#include "btree/ahead.h"
#include "btree/leaf.h"
#include "search/group_keys.h"
#include "type/simhash.h"

/* matches of one leaf */
typedef struct ShFndMatches
{
	int			count;
	ShFingerprint fps[SHBT_MAX_ENTRIES];	/* not permuted */
	uint16		positions[SHBT_MAX_ENTRIES];	/* on the leaf */
	ItemPointerData tids[SHBT_MAX_ENTRIES];
} ShFndMatches;

typedef struct ShFndBallScan
{
	Relation	index;
	ShBitsScheme *scheme;		/* of each part */
	int			nparts;			/* of a fingerprint */
	int			part;			/* the one that is read */
	Snapshot	snapshot;		/* NULL if no rows are looked at */
	bool		keep_pin;		/* of the leaf of the last matches */
	bool		skip_dead;		/* entries that are marked as dead */

	ShFndGroups groups;			/* the groups to read */
	double		leaves_per_table;	/* of one group, on average; or of all */

	/* how the ball is searched; good for plan_radius */
	int			plan_radius;	/* -1: no plan yet, or not one for a ball */
	ShBitsProbePlan plan;

	/* where we are */
	int64		allowance;		/* about how many more pages may be read; at 0
								 * the ball ends, complete or not */
	SimhashBall ball;
	int			probe;
	bool		started;		/* the probe has read a page */
	const uint32 *group;		/* the current one, unless all are read */
	const uint32 *groups_end;
	ShPermuted	query;			/* center of the ball, permuted for the
								 * probe's table */
	ShPermuted	from;			/* where its range begins on the next page */
	BlockNumber block;			/* of the last page that was read */
	XLogRecPtr	lsn;			/* its LSN, if it had matches */
	BlockNumber right;
	ShBtKey		high;
	uint64		width;			/* of its key range within the last group */
	Buffer		pin;			/* that page, if keep_pin */

	/* where the probes begin that have not been read; in their order */
	int			aim;			/* of the next one */
	int			naims;
	ShBtAim    *aims;
} ShFndBallScan;

extern void shfnd_ball_begin(ShFndBallScan *scan, Relation index, ShBitsScheme *scheme);
extern void shfnd_ball_set_part(ShFndBallScan *scan, int part);
extern void shfnd_ball_set_groups(ShFndBallScan *scan, const ShFndGroups *groups);
extern double shfnd_ball_leaves(const ShFndBallScan *scan);
extern void shfnd_ball_plan(ShFndBallScan *scan, int radius);
extern void shfnd_ball_start(ShFndBallScan *scan, SimhashBall ball);
extern bool shfnd_ball_plan_ring(ShFndBallScan *scan, int inner, int radius);
extern void shfnd_ball_start_ring(ShFndBallScan *scan, SimhashBall ball);
extern void shfnd_ball_start_table(ShFndBallScan *scan, SimhashBall ball);
extern void shfnd_ball_narrow(ShFndBallScan *scan, int radius);
extern bool shfnd_ball_next(ShFndBallScan *scan, ShFndMatches *matches);
extern void shfnd_ball_mark_dead(ShFndBallScan *scan, const ShFndMatches *matches,
								 const uint16 *dead, int ndead);
extern void shfnd_ball_release(ShFndBallScan *scan);
extern bool shfnd_ball_pin(ShFndBallScan *scan, ShFingerprint fp, ItemPointerData tid);

#endif							/* SIMHASH_SEARCH_BALLSCAN_H */
