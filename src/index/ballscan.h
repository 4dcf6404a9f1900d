/*-------------------------------------------------------------------------
 *
 * ballscan.h
 *	  Reading all entries within a ball.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BALLSCAN_H
#define SIMHASH_INDEX_BALLSCAN_H

#include "utils/snapshot.h"

#include "bits/probe.h"
#include "btree/leaf.h"
#include "index/group_keys.h"
#include "type/simhash.h"

/* matches of one leaf */
typedef struct ShIdxMatches
{
	int			count;
	ShFingerprint fps[SHBT_MAX_ENTRIES];	/* not permuted */
	uint16		positions[SHBT_MAX_ENTRIES];	/* on the leaf */
	ItemPointerData tids[SHBT_MAX_ENTRIES];
} ShIdxMatches;

typedef struct ShIdxBallScan
{
	Relation	index;
	ShBitsScheme *scheme;		/* of each part */
	int			nparts;			/* of a fingerprint */
	int			first_tree;		/* of the part that is read */
	Snapshot	snapshot;		/* NULL if no rows are looked at */
	bool		keep_pin;		/* of the leaf of the last matches */
	bool		skip_dead;		/* entries that are marked as dead */

	ShIdxGroups groups;			/* the groups to read */
	double		leaves_per_table;	/* of one group, on average; or of all */

	/* how the ball is searched; good for plan_radius */
	int			plan_radius;	/* -1: no plan yet, or not one for a ball */
	ShBitsProbePlan plan;

	/* where we are */
	int64		allowance;		/* about how many more pages may be read; at 0
								 * the ball ends, complete or not */
	bool		nulls;			/* read the null fingerprints, not a ball */
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
} ShIdxBallScan;

extern void shidx_ball_begin(ShIdxBallScan *scan, Relation index, ShBitsScheme *scheme);
extern void shidx_ball_set_part(ShIdxBallScan *scan, int part);
extern void shidx_ball_set_groups(ShIdxBallScan *scan, const ShIdxGroups *groups);
extern void shidx_ball_count_leaves(ShIdxBallScan *scan);
extern double shidx_ball_leaves(const ShIdxBallScan *scan);
extern void shidx_ball_plan(ShIdxBallScan *scan, int radius);
extern void shidx_ball_start(ShIdxBallScan *scan, SimhashBall ball);
extern bool shidx_ball_plan_ring(ShIdxBallScan *scan, int inner, int radius);
extern void shidx_ball_start_ring(ShIdxBallScan *scan, SimhashBall ball);
extern void shidx_ball_start_table(ShIdxBallScan *scan, SimhashBall ball);
extern void shidx_ball_narrow(ShIdxBallScan *scan, int radius);
extern void shidx_ball_start_nulls(ShIdxBallScan *scan);
extern bool shidx_ball_next(ShIdxBallScan *scan, ShIdxMatches *matches);
extern void shidx_ball_mark_dead(ShIdxBallScan *scan, const ShIdxMatches *matches,
								 const uint16 *dead, int ndead);
extern void shidx_ball_release(ShIdxBallScan *scan);

#endif							/* SIMHASH_INDEX_BALLSCAN_H */
