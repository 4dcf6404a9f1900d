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
extern void shpairs_find_pairs(ShPairs *pairs, const ShPermuted *a, size_t na,
							   const ShPermuted *b, size_t nb);

#endif							/* SIMHASH_PAIRS_PAIRS_H */
