/*-------------------------------------------------------------------------
 *
 * wide_finder.h
 *	  Finding all pairs within a distance among wide fingerprints, or between two
 *	  sides, group by group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WIDE_FINDER_H
#define SIMHASH_PAIRS_WIDE_FINDER_H

#include "pairs/finder.h"
#include "pairs/wide_input.h"

typedef struct ShPairsWideFinder ShPairsWideFinder;
typedef struct ShPairsWideMatchFinder ShPairsWideMatchFinder;

extern ShPairsWideFinder *shpairs_wide_begin(ShPairsWideInput *input, int distance,
											 int workers, ShPairsSink *sink);
extern bool shpairs_wide_next(ShPairsWideFinder *finder);
extern void shpairs_wide_end(ShPairsWideFinder *finder);
extern ShPairsWideMatchFinder *shpairs_wide_match_begin(ShPairsWideInput *a, ShPairsWideInput *b,
														int distance, int workers,
														ShPairsMatchFunction found, void *arg);
extern bool shpairs_wide_match_next(ShPairsWideMatchFinder *finder);
extern void shpairs_wide_match_end(ShPairsWideMatchFinder *finder);

#endif							/* SIMHASH_PAIRS_WIDE_FINDER_H */
