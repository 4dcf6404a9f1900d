/*-------------------------------------------------------------------------
 *
 * pairs.h
 *	  Finding all pairs within a distance among some keys, or between two sets
 *	  of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_PAIRS_H
#define SIMHASH_PAIRS_PAIRS_H

#include "index/sort.h"
#include "pairs/tiles.h"

/* into how many slices several processes divide a part */
#define SHPAIRS_SLICES		64

/*
 * Another process should take part if what is left costs more than this many times
 * what dividing the keys costs: to read them takes about twice as long as that.
 */
#define SHPAIRS_WORTH_READING	4

/*
 * A search of the same keys by several processes, in shared memory.
 */
typedef struct ShPairsSlices
{
	int			nparts;			/* 0 if there are no pairs */
	double		cost_of_dividing;	/* all keys by a part, */
	double		cost_of_slice[SHBITS_WIDTH];	/* and of each slice of it */
	ShPairsParts plan;
	ShPermuted	bounds[SHPAIRS_SLICES]; /* first key of each slice but the
										 * first, where all pairs are compared */
} ShPairsSlices;

/* most keys of a set that can be searched */
#define SHPAIRS_MAX_KEYS		(PG_UINT32_MAX / 2)

/*
 * The most memory that a key of one word takes during a search, in bytes: the key and
 * its position twice, and less than one element in a list of cells; and what one of
 * several words takes in addition, to be sorted by a word (bucket_search.c).
 */
#define SHPAIRS_BYTES_PER_KEY	(2 * sizeof(ShPermuted) + 3 * sizeof(uint32))
#define SHPAIRS_BYTES_TO_SORT	(2 * sizeof(ShIdxSortItem) + sizeof(ShPermuted) + sizeof(uint32))

static inline Size
shpairs_search_bytes(int nwords)
{
	return SHPAIRS_BYTES_PER_KEY + (nwords > 1 ? SHPAIRS_BYTES_TO_SORT : 0);
}

extern void shpairs_init(ShPairs *pairs, int distance,
						 ShPairsFoundFunction found, ShPairsReportFunction report,
						 void *arg);
extern void shpairs_find_pairs(ShPairs *pairs, const ShPermuted *keys, size_t count);
extern void shpairs_find_matches(ShPairs *pairs, const ShPermuted *a, size_t na,
								 const ShPermuted *b, size_t nb);
extern void shpairs_begin_slices(ShPairs *pairs, const ShPermuted *a, size_t na,
								 const ShPermuted *b, size_t nb);
extern bool shpairs_plan_slices(ShPairs *pairs, ShPairsSlices *slices);
extern void shpairs_search_slice(ShPairs *pairs, const ShPairsSlices *slices, int part, int slice);
extern void shpairs_end_slices(ShPairs *pairs);

#endif							/* SIMHASH_PAIRS_PAIRS_H */
