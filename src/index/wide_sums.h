/*-------------------------------------------------------------------------
 *
 * wide_sums.h
 *	  The distances of rows, added up from those of the parts of their
 *	  fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_WIDE_SUMS_H
#define SIMHASH_INDEX_WIDE_SUMS_H

#include "btree/page.h"

typedef struct ShIdxSums ShIdxSums;

/*
 * Is a row with this distance wanted?
 */
typedef bool (*ShIdxWanted) (ShBtRow row, int distance, void *arg);

extern ShIdxSums *shidx_sums_begin(Size memory, double expected_rows, int max_distance);
extern void shidx_sums_add(ShIdxSums *sums, ShFingerprint center, int count,
						   const ShFingerprint *fps, const ItemPointerData *tids);
extern void shidx_sums_sort(ShIdxSums *sums, ShIdxWanted wanted, void *arg);
extern bool shidx_sums_next(ShIdxSums *sums, ShBtRow *row, int *distance);
extern void shidx_sums_end(ShIdxSums *sums);

#endif							/* SIMHASH_INDEX_WIDE_SUMS_H */
