/*-------------------------------------------------------------------------
 *
 * wide_sums.h
 *	  The distances of rows, added up from those of the parts of their
 *	  fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_WIDE_SUMS_H
#define SIMHASH_SEARCH_WIDE_SUMS_H

#include "btree/page.h"

typedef struct ShFndSums ShFndSums;

/*
 * Is a row with this distance wanted?
 */
typedef bool (*ShFndWanted) (ShBtRow row, int distance, void *arg);

extern ShFndSums *shfnd_sums_begin(Size memory, double expected_rows, int max_distance);
extern void shfnd_sums_add(ShFndSums *sums, ShFingerprint center, int count,
						   const ShFingerprint *fps, const ItemPointerData *tids);
extern void shfnd_sums_sort(ShFndSums *sums, ShFndWanted wanted, void *arg);
extern bool shfnd_sums_next(ShFndSums *sums, ShBtRow *row, int *distance);
extern void shfnd_sums_end(ShFndSums *sums);

#endif							/* SIMHASH_SEARCH_WIDE_SUMS_H */
