/*-------------------------------------------------------------------------
 *
 * row_order.h
 *	  Rows in the order in which they are kept.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_ORDER_H
#define SIMHASH_BATCH_ROW_ORDER_H

#include "postgres.h"

#include "batch/keep_list.h"
#include "batch/tables.h"

typedef struct ShBatchRowOrder ShBatchRowOrder;

extern ShBatchRowOrder *shbatch_order_begin(const ShBatchTables *tables, Snapshot snapshot,
											const ShBatchKeepList *keep);
extern void shbatch_order_add(ShBatchRowOrder *order, uint64 row, uint32 number);
extern void shbatch_order_sort(ShBatchRowOrder *order);
extern bool shbatch_order_next(ShBatchRowOrder *order, uint64 *row, uint32 *number);
extern void shbatch_order_end(ShBatchRowOrder *order);

#endif							/* SIMHASH_BATCH_ROW_ORDER_H */
