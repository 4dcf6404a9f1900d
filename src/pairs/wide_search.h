/*-------------------------------------------------------------------------
 *
 * wide_search.h
 *	  Finding all pairs within a distance among wide fingerprints in memory, or
 *	  between two sets of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WIDE_SEARCH_H
#define SIMHASH_PAIRS_WIDE_SEARCH_H

#include "pairs/wide_bucket.h"

/* some keys of a bucket */
typedef struct ShPairsWideSet
{
	ShPairsWideBucket *wide;
	size_t		start;
	size_t		count;
} ShPairsWideSet;

/*
 * Parts to search, each within a radius.  Without any, all pairs are compared.
 */
typedef struct ShPairsWidePlan
{
	int			nparts;
	int			parts[SHBITS_MAX_PARTS];
	int			radii[SHBITS_MAX_PARTS];
} ShPairsWidePlan;

typedef struct ShPairsWideSearch
{
	int			width;			/* of the fingerprints, in bits */
	int			nwords;
	int			distance;
	ShPairsFoundFunction found; /* called with numbers of keys of a and b */
	ShPairsReportFunction report;
	void	   *arg;

	/* the current search */
	ShPairsWideSet a;
	ShPairsWideSet b;			/* the same as a, if among */
	bool		among;
	ShPairsWidePlan plan;
	int			part;			/* number of the current one in the plan */
	uint32		checked;		/* candidates since the last interval */
	MemoryContext context;		/* for the search of a part */
	ShPairs		pairs;
} ShPairsWideSearch;

extern void shpairs_wide_search_init(ShPairsWideSearch *search, int width, int distance,
									 ShPairsFoundFunction found,
									 ShPairsReportFunction report, void *arg);
extern void shpairs_wide_search_pairs(ShPairsWideSearch *search, ShPairsWideSet set);
extern void shpairs_wide_search_matches(ShPairsWideSearch *search, ShPairsWideSet a,
										ShPairsWideSet b);

#endif							/* SIMHASH_PAIRS_WIDE_SEARCH_H */
