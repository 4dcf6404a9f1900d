/*-------------------------------------------------------------------------
 *
 * candidates.h
 *	  Matches waiting to be returned by an ordered scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_CANDIDATES_H
#define SIMHASH_INDEX_CANDIDATES_H

#include "storage/itemptr.h"
#include "utils/logtape.h"
#include "utils/palloc.h"
#include "utils/tuplesort.h"

#include "bits/distance.h"

typedef struct ShIdxCandidate
{
	ShFingerprint fp;
	ItemPointerData tid;
	uint16		distance;		/* from the first center */
} ShIdxCandidate;

typedef struct ShIdxCandidates
{
	int			ncenters;		/* at least 1 while there are candidates */
	ShFingerprint *centers;		/* candidates are sorted by distances from
								 * these */
	MemoryContext context;		/* of what follows */

	/* in memory */
	int64		max;			/* how many fit in work_mem */
	int64		count;
	int64		capacity;
	ShIdxCandidate *array;
	int64		counts[SHBITS_WIDTH + 1];	/* at each distance */
	int64		sorted;			/* the first ones of the array */
	int64		next;			/* of these */

	/* on tapes; NULL while all are in memory */
	LogicalTapeSet *tape_set;
	LogicalTape *tapes[SHBITS_WIDTH + 1];	/* by distance, NULL if empty */
	LogicalTape *reading;		/* the one that is returned without sorting */
	Tuplesortstate *sort;		/* of a tape that does not fit in memory */
	bytea	   *key;			/* sort key */
} ShIdxCandidates;

extern void shidx_candidates_begin(ShIdxCandidates *candidates, int max_centers);
extern void shidx_forget_candidates(ShIdxCandidates *candidates);
extern void shidx_add_candidate(ShIdxCandidates *candidates, ShFingerprint fp,
								ItemPointerData tid, int distance);
extern void shidx_drop_beyond(ShIdxCandidates *candidates, int distance);
extern void shidx_sort_candidates(ShIdxCandidates *candidates, int distance);
extern bool shidx_next_candidate(ShIdxCandidates *candidates, ShFingerprint *fp, ItemPointer tid);

#endif							/* SIMHASH_INDEX_CANDIDATES_H */
