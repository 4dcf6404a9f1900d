/*-------------------------------------------------------------------------
 *
 * row_order.h
 *	  Rows in the order in which they are kept.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_ROW_ORDER_H
#define SIMHASH_ROWS_ROW_ORDER_H

#include "utils/snapshot.h"

#include "rows/heaps.h"

typedef struct ShRowsOrder ShRowsOrder;

extern ShRowsOrder *shrows_order_begin(const ShRowsHeaps *heaps, Snapshot snapshot,
									   const char *keep);
extern void shrows_order_add(ShRowsOrder *order, ShPairsRow row, uint32 number);
extern void shrows_order_sort(ShRowsOrder *order);
extern bool shrows_order_next(ShRowsOrder *order, ShPairsRow *row, uint32 *number);
extern void shrows_order_end(ShRowsOrder *order);

#endif							/* SIMHASH_ROWS_ROW_ORDER_H */
