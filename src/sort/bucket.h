/*-------------------------------------------------------------------------
 *
 * bucket.h
 *	  Sorting more items than fit in memory, by distribution.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SORT_BUCKET_H
#define SIMHASH_SORT_BUCKET_H

#include "utils/logtape.h"

#include "bits/scheme.h"
#include "sort/itemtape.h"
#include "sort/radix.h"

typedef struct ShSortBuckets ShSortBuckets;

extern ShSortBuckets *shsort_buckets_begin(LogicalTapeSet *tapes, bool grouped, Size memory);
extern void shsort_buckets_start(ShSortBuckets *buckets, LogicalTape **rows, int nrows,
								 ShSortSummary summary, const ShBitsTable *table);
extern size_t shsort_buckets_next(ShSortBuckets *buckets, ShSortItems *items);
extern void shsort_buckets_end(ShSortBuckets *buckets);

#endif							/* SIMHASH_SORT_BUCKET_H */
