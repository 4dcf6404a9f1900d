/*-------------------------------------------------------------------------
 *
 * near_rows.h
 *	  The rows that have a near-duplicate, in an order, and the neighbors of
 *	  their fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_NEAR_ROWS_H
#define SIMHASH_BATCH_NEAR_ROWS_H

#include "batch/members.h"
#include "batch/neighbors.h"
#include "rows/row_order.h"

typedef struct ShBatchNearRows
{
	ShBatchMembers members;
	ShBatchNeighbors neighbors; /* of elements of the members */
	double		count;			/* of rows, once sorted */
	ShRowsOrder *order;
	BufFile    *ordered;		/* the rows in order, if they had to be read
								 * before, or NULL */
} ShBatchNearRows;

extern void shbatch_near_rows_begin(ShBatchNearRows *near, ShRows *rows, double most,
									int nwords, const char *keep);
extern void shbatch_near_rows_sort(ShBatchNearRows *near);
extern bool shbatch_near_rows_next(ShBatchNearRows *near, ShPairsRow *row, uint32 *element);
extern void shbatch_near_rows_end(ShBatchNearRows *near);

#endif							/* SIMHASH_BATCH_NEAR_ROWS_H */
