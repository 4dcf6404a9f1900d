/*-------------------------------------------------------------------------
 *
 * bucket.h
 *	  Sorting more items than fit in memory, by distribution.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SORT_BUCKET_H
#define SIMHASH_SORT_BUCKET_H

#include "postgres.h"

#include "utils/logtape.h"

#include "bits/scheme.h"
#include "sort/radix.h"

typedef struct ShSortBuckets ShSortBuckets;

extern void shsort_write_item(LogicalTape *tape, ShSortItem item);
extern ShSortBuckets *shsort_buckets_begin(LogicalTapeSet *tapes, LogicalTape **rows, int nrows,
										   double count, const ShBitsTable *table, Size memory);
extern bool shsort_buckets_next(ShSortBuckets *buckets, ShSortItem *item);
extern void shsort_buckets_end(ShSortBuckets *buckets);

#endif							/* SIMHASH_SORT_BUCKET_H */
