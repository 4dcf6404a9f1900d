/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  State of a scan of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_SCAN_H
#define SIMHASH_INDEX_SCAN_H

#include "postgres.h"

#include "access/relscan.h"

#include "index/ballscan.h"
#include "type/simhash.h"

/* a condition: the fingerprint lies in one of these balls */
typedef struct ShIdxCondition
{
	int			nballs;
	SimhashBall *balls;			/* by centre, which are all different */
	bool		points;			/* all radii are 0 */
} ShIdxCondition;

/* a match that waits for its turn in an ordered scan */
typedef struct ShIdxCandidate
{
	uint64		fp;
	ItemPointerData tid;
	uint16		distance;		/* from the first centre */
} ShIdxCandidate;

/* what an ordered scan knows; see ordered.c */
typedef struct ShIdxOrdered
{
	int			ncentres;
	uint64	   *centres;		/* of the ORDER BY keys that are not null */
	int			reach;			/* no match is farther away */
	int			next;			/* nearer matches have been returned or
								 * collected */
	bool		collect_all;	/* all that the first condition finds at once */
	bool		streaming;		/* the matches at distance next, as they come */
	int			counted;		/* histogram reaches so far; -1: there is none */
	int64		histogram[SHBITS_WIDTH + 1];
	int64		batch;			/* about how many to collect next */
	MemoryContext context;		/* of the candidates */
	ShIdxCandidate *candidates;
	int64		ncandidates;
	int64		capacity;
	int64		max_candidates; /* what work_mem holds */
	int64		next_candidate;
} ShIdxOrdered;

typedef struct ShIdxScanData
{
	/* what is asked for */
	bool		nothing;		/* no row can match */
	bool		nulls;			/* rows with a null fingerprint */
	bool		non_nulls;		/* rows with one that meets all conditions */
	int			nconditions;
	ShIdxCondition *conditions; /* the first one drives an unordered scan */
	MemoryContext context;		/* of the balls */

	/* where we are */
	bool		begun;			/* the first page has been asked for */
	bool		ordered;		/* rows come by distance: see nearest */
	bool		at_nulls;
	int			ball;			/* of the first condition */
	ShIdxBallScan ballscan;
	int			next_match;
	ShIdxMatches matches;
	ShIdxOrdered *nearest;		/* NULL if there are no ORDER BY keys */

	/* what an index-only scan returns */
	IndexTuple	tuple;
	IndexTuple	null_tuple;
	Buffer		pin;			/* page of the last candidate returned */
} ShIdxScanData;

typedef ShIdxScanData *ShIdxScan;

/* conditions.c */
extern void shidx_read_keys(IndexScanDesc scan);
extern bool shidx_meets(const ShIdxScanData *so, int from, uint64 fp);
extern bool shidx_in_balls(const ShIdxCondition *condition, int nballs, uint64 fp);

/* scan.c */
extern void shidx_start_matches(ShIdxScan so);
extern bool shidx_next_matches(ShIdxScan so);

/* ordered.c */
extern void shidx_ordered_begin(IndexScanDesc scan);
extern bool shidx_ordered_start(IndexScanDesc scan);
extern bool shidx_ordered_next(IndexScanDesc scan, bool want_pin, uint64 *fp, ItemPointer tid);
extern void shidx_ordered_release(ShIdxScan so);
extern void shidx_ordered_end(IndexScanDesc scan);

#endif							/* SIMHASH_INDEX_SCAN_H */
