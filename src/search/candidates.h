/*-------------------------------------------------------------------------
 *
 * candidates.h
 *	  Matches waiting to be returned by an ordered scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_CANDIDATES_H
#define SIMHASH_SEARCH_CANDIDATES_H

#include "storage/itemptr.h"

#include "sort/entrysort.h"

typedef struct ShFndCandidate
{
	ShFingerprint fp;
	ItemPointerData tid;
	uint16		distance;		/* from the first center */
} ShFndCandidate;

typedef struct ShFndCandidates
{
	int			ncenters;		/* at least 1 while there are candidates */
	ShFingerprint *centers;		/* candidates are sorted by distances from
								 * these */
	MemoryContext context;		/* of what follows */

	/* in memory */
	int64		max;			/* how many may be */
	int64		count;
	int64		capacity;
	ShFndCandidate *array;
	int64		counts[SHBITS_WIDTH + 1];	/* at each distance */
	int64		sorted;			/* the first ones of the array */
	int64		next;			/* of these */

	ShSort	   *sort;			/* of all on disk; NULL while in memory */
} ShFndCandidates;

extern void shfnd_candidates_begin(ShFndCandidates *candidates, int max_centers);
extern void shfnd_forget_candidates(ShFndCandidates *candidates);
extern void shfnd_add_candidate(ShFndCandidates *candidates, ShFingerprint fp,
								ItemPointerData tid, int distance);
extern void shfnd_drop_beyond(ShFndCandidates *candidates, int distance);
extern void shfnd_sort_candidates(ShFndCandidates *candidates, int distance);
extern bool shfnd_next_candidate(ShFndCandidates *candidates, ShFingerprint *fp, ItemPointer tid);

#endif							/* SIMHASH_SEARCH_CANDIDATES_H */
