/*-------------------------------------------------------------------------
 *
 * together.h
 *	  Searching buckets for pairs, with parallel workers if that is worth while.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_TOGETHER_H
#define SIMHASH_PAIRS_TOGETHER_H

#include "pairs/bucket_search.h"

extern void shpairs_search(ShPairsSearch *search, const ShPairsBucket *a,
						   const ShPairsBucket *b, int *workers);

#endif							/* SIMHASH_PAIRS_TOGETHER_H */
