/*-------------------------------------------------------------------------
 *
 * matches.h
 *	  Reading what a scan looks for, in any order or nearest first.
 *
 * What this declares is defined in balls.c, matches.c and nearest.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_MATCHES_H
#define SIMHASH_INDEX_MATCHES_H

#include "access/skey.h"
#include "storage/itemptr.h"
#include "utils/snapshot.h"

#include "bits/probe.h"
#include "index/leaf.h"
#include "index/query.h"
#include "index/sort.h"
#include "index/tree.h"
#include "type/simhash.h"

/* matches of one leaf */
typedef struct ShIdxMatches
{
	int			count;
	ShFingerprint fps[SHIDX_MAX_ENTRIES];	/* not permuted */
	uint16		positions[SHIDX_MAX_ENTRIES];	/* on the leaf */
	ItemPointerData tids[SHIDX_MAX_ENTRIES];
} ShIdxMatches;

/* the reading of all entries within a ball, one leaf at a time */
typedef struct ShIdxBallScan
{
	Relation	index;
	const ShIdxGeometry *geometry;
	int			part;			/* the one that is read; behind the last one
								 * the tree of null fingerprints, all in one
								 * ball */
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
	SimhashBall ball;
	int			probe;
	bool		started;		/* the probe has read a page */
	const uint32 *group;		/* the current one, */
	const uint32 *groups_end;
	uint32		reached;		/* which is here if none can be left out */
	ShPermuted	query;			/* center of the ball, permuted for the
								 * probe's table */
	ShPermuted	from;			/* where its range begins on the next page */
	BlockNumber block;			/* of the last page that was read */
	XLogRecPtr	lsn;			/* its LSN, if it had matches */
	BlockNumber right;
	ShIdxKey	high;
	uint64		width;			/* of its key range within the last group */
	Buffer		pin;			/* that page, if keep_pin */

	/*
	 * where the probes begin that have not been read, in their order: those
	 * of this ball, or of those of all parts
	 */
	bool		of_all_parts;
	int			aim;			/* of the next one */
	int			naims;
	ShIdxAim   *aims;
} ShIdxBallScan;

/* balls.c */
extern void shidx_ball_begin(ShIdxBallScan *scan, Relation index, const ShIdxGeometry *geometry);
extern void shidx_ball_set_groups(ShIdxBallScan *scan, ShIdxGroups *groups,
								  bool has_condition);
extern double shidx_ball_leaves(const ShIdxBallScan *scan);
extern void shidx_ball_look_ahead(ShIdxBallScan *scan, const ShIdxBalls *parts);
extern void shidx_ball_start(ShIdxBallScan *scan, SimhashBall ball);
extern bool shidx_ball_start_ring(ShIdxBallScan *scan, SimhashBall ball, int inner, int radius,
								  double allowance);
extern void shidx_ball_start_table(ShIdxBallScan *scan, SimhashBall ball);
extern bool shidx_ball_next(ShIdxBallScan *scan, ShIdxMatches *matches);
extern void shidx_ball_mark_dead(ShIdxBallScan *scan, const ShIdxMatches *matches,
								 const uint16 *dead, int ndead);
extern void shidx_ball_release(ShIdxBallScan *scan);
extern bool shidx_ball_pin(ShIdxBallScan *scan, ShFingerprint fp, ItemPointerData tid);

/* the reading of what a query looks for, in no particular order */
typedef struct ShIdxReader
{
	ShIdxQuery *query;
	ShIdxBallScan ballscan;
	uint64	   *nsearches;		/* counts searches for EXPLAIN; or NULL */

	/*
	 * what is read: the balls of a part of the query, or what the caller
	 * names
	 */
	const ShIdxBalls *balls;	/* NULL: what the caller names */
	int			ball;			/* the one that is read */
	bool		first_part;		/* none has been read to its end */

	/* if a row may be met twice, all matches, to return each once */
	bool		collects;		/* they have yet to be read */
	ShIdxSort  *sort;			/* NULL if they are returned as they are read */
	ShIdxSortItem last;			/* the last one returned */

	/* or, of bands, the rows that have been returned, as long as memory allows */
	bool		remembers;
	struct rows_hash *returned; /* NULL before the first one */

	/* matches on the last leaf, or the next ones of all */
	ShIdxMatches matches;
	int			next;			/* the next of them, for shidx_next_match */

	/* those on the last leaf whose rows turned out to be dead */
	int			ndead;
	uint16		dead[SHIDX_MAX_ENTRIES];
} ShIdxReader;

/* matches.c */
extern void shidx_reader_begin(ShIdxReader *reader, ShIdxQuery *query);
extern void shidx_reader_prepare(ShIdxReader *reader, Snapshot snapshot, bool skip_dead,
								 uint64 *nsearches, bool wants_cost);
extern void shidx_reader_release(ShIdxReader *reader);
extern void shidx_start_query(ShIdxReader *reader, bool distinct);
extern bool shidx_start_ring(ShIdxReader *reader, SimhashBall ball, int inner, int radius,
							 double allowance);
extern void shidx_start_table(ShIdxReader *reader, SimhashBall ball);
extern void shidx_start_nulls(ShIdxReader *reader);
extern bool shidx_next_matches(ShIdxReader *reader);
extern bool shidx_pin_match(ShIdxReader *reader, int match);

/*
 * Shall the leaf of the last matches stay pinned?
 */
static inline void
shidx_reader_keep_pins(ShIdxReader *reader, bool keep_pins)
{
	reader->ballscan.keep_pin = keep_pins;
}

/*
 * Move to the next match.  Returns its position in reader->matches, or -1
 * after the last one.
 */
static inline int
shidx_next_match(ShIdxReader *reader)
{
	if (reader->next >= reader->matches.count && !shidx_next_matches(reader))
		return -1;
	return reader->next++;
}

/*
 * Note that the row of the last match is dead to all transactions.
 */
static inline void
shidx_match_is_dead(ShIdxReader *reader)
{
	Assert(reader->next > 0 && reader->ndead < reader->next);
	if (reader->sort == NULL)
		reader->dead[reader->ndead++] = reader->next - 1;
}

/* what nearest.c keeps of an ordered scan */
typedef struct ShIdxOrdered ShIdxOrdered;

extern ShIdxOrdered *shidx_ordered_begin(ShIdxReader *reader);
extern bool shidx_ordered_start(ShIdxOrdered *ordered, ScanKey orderby, bool *exact);
extern bool shidx_ordered_next(ShIdxOrdered *ordered, bool want_pin, ShFingerprint *fp,
							   ItemPointer tid);
extern void shidx_ordered_release(ShIdxOrdered *ordered);

#endif							/* SIMHASH_INDEX_MATCHES_H */
