/*-------------------------------------------------------------------------
 *
 * bucket_search.h
 *	  Finding all pairs within a distance in a bucket, or between two buckets.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_BUCKET_SEARCH_H
#define SIMHASH_PAIRS_BUCKET_SEARCH_H

#include "pairs/pairs.h"
#include "pairs/word_plan.h"

/* the keys of a bucket, sorted by a word, and its different values */
typedef struct ShPairsSorted
{
	const ShPairsBucket *bucket;
	ShIdxSortItem *items;		/* a value and a number of a key */
	ShIdxSortItem *scratch;
	size_t		count;			/* of different values */
	ShPermuted *values;			/* ascending */
	uint32	   *starts;			/* of each among the items */
} ShPairsSorted;

typedef struct ShPairsSearch
{
	ShPairsFoundFunction found; /* called with numbers of keys of a and b */
	ShPairsReportFunction report;
	void	   *arg;
	ShPairsShared *shared;		/* with other processes: of each word; or NULL */
	ShPairsSets sets;
	ShPairsWordPlan plan;

	int			word;			/* the current one of the plan */
	double		fraction;		/* words that this process has done */
	ShPairsSorted sorted[2];	/* of each set, with several words */
	ShPairsSorted *sorted_b;	/* one of them */
	uint32		checked;		/* candidates since the last interval */
	MemoryContext context;		/* with several words: for the current one */
	ShPairs		pairs;
} ShPairsSearch;

extern void shpairs_search_init(ShPairsSearch *search, int width, int distance,
								ShPairsFoundFunction found, ShPairsReportFunction report,
								void *arg);
extern void shpairs_search_set(ShPairsSearch *search, const ShPairsBucket *a,
							   const ShPairsBucket *b);
extern void shpairs_search_report(ShPairsSearch *search);
extern void shpairs_search_planned(ShPairsSearch *search);

/* together.c */
extern void shpairs_search(ShPairsSearch *search, const ShPairsBucket *a,
						   const ShPairsBucket *b, int *workers);

#endif							/* SIMHASH_PAIRS_BUCKET_SEARCH_H */
