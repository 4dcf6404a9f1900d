/*-------------------------------------------------------------------------
 *
 * wide_parallel.h
 *	  Searching for pairs of wide fingerprints with parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WIDE_PARALLEL_H
#define SIMHASH_PAIRS_WIDE_PARALLEL_H

#include "pairs/wide_search.h"

extern bool shpairs_wide_parallel(ShPairsWideSearch *search, int *workers);

#endif							/* SIMHASH_PAIRS_WIDE_PARALLEL_H */
