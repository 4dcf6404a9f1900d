/*-------------------------------------------------------------------------
 *
 * kept_rows.h
 *	  The rows that are kept, and the keeper of another row among them, if the
 *	  condition "same" decides.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_KEPT_ROWS_H
#define SIMHASH_BATCH_KEPT_ROWS_H

#include "batch/neighbors.h"
#include "batch/row_check.h"
#include "batch/union_find.h"

typedef struct ShBatchKeptRows ShBatchKeptRows;

extern ShBatchKeptRows *shbatch_kept_begin(const ShBatchUnionFind *elements,
										   ShBatchNeighbors *neighbors, ShBatchRowCheck *check);
extern void shbatch_kept_add(ShBatchKeptRows *kept, uint32 element, ShPairsRow row);
extern bool shbatch_kept_find(ShBatchKeptRows *kept, uint32 element, ShPairsRow row,
							  ShPairsRow *keeper, int *distance);

#endif							/* SIMHASH_BATCH_KEPT_ROWS_H */
