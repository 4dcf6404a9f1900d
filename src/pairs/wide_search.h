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

#include "pairs/wide_plan.h"

typedef struct ShPairsWideSearch
{
	ShPairsFoundFunction found; /* called with numbers of keys of a and b */
	ShPairsReportFunction report;
	void	   *arg;
	ShPairsPollFunction poll;	/* called while slices are searched, or NULL */
	void	   *poll_arg;
	ShPairsWideSets sets;
	ShPairsWidePlan plan;

	/* the current part */
	int			part;			/* number in the plan */
	size_t		na;				/* different values in a */
	size_t		nb;
	uint32		checked;		/* candidates since the last interval */
	MemoryContext context;		/* for the search of a part */
	ShPairs		pairs;
	ShPairsSlices *slices;		/* or NULL: it is searched as a whole */
} ShPairsWideSearch;

extern void shpairs_wide_search_init(ShPairsWideSearch *search, int width, int distance,
									 ShPairsFoundFunction found,
									 ShPairsReportFunction report, void *arg);
extern void shpairs_wide_search_plan(ShPairsWideSearch *search, ShPairsWideSet a,
									 ShPairsWideSet b, bool among);
extern void shpairs_wide_search_use_plan(ShPairsWideSearch *search, ShPairsWideSet a,
										 ShPairsWideSet b, bool among,
										 const ShPairsWidePlan *plan);
extern void shpairs_wide_search_run(ShPairsWideSearch *search);
extern int	shpairs_wide_sliced_parts(const ShPairsWideSearch *search);
extern int	shpairs_wide_begin_slices(ShPairsWideSearch *search, int number);
extern void shpairs_wide_search_slice(ShPairsWideSearch *search, int slice);
extern void shpairs_wide_end_slices(ShPairsWideSearch *search);

#endif							/* SIMHASH_PAIRS_WIDE_SEARCH_H */
