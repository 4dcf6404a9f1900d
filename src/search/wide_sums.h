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

extern ShFndSums *shfnd_sums_begin(Size memory, BlockNumber nblocks, int nparts, int reach);
extern void shfnd_sums_add(ShFndSums *sums, ShFingerprint center, int count,
						   const ShFingerprint *fps, const ItemPointerData *tids);
extern void shfnd_sums_drop(ShFndSums *sums, ShBtRow row);
extern void shfnd_sums_sort(ShFndSums *sums);
extern bool shfnd_sums_next(ShFndSums *sums, ShBtRow *row, int *distance);
extern void shfnd_sums_end(ShFndSums *sums);

#endif							/* SIMHASH_SEARCH_WIDE_SUMS_H */
