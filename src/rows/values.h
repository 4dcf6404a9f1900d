/*-------------------------------------------------------------------------
 *
 * values.h
 *	  Comparing rows by the columns before the fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_VALUES_H
#define SIMHASH_ROWS_VALUES_H

#include "executor/tuptable.h"

#include "rows/heaps.h"

typedef struct ShRowsValues ShRowsValues;

/* kinds have 16 bits */
#define SHROWS_MAX_KINDS	0x10000

extern List *shrows_values_expressions(Relation index);
extern ShRowsValues *shrows_values_begin(const ShRowsHeaps *heaps);
extern Size shrows_values_least_width(const ShRowsValues *values);
extern bool shrows_values_have_fixed_width(const ShRowsValues *values);
extern void shrows_values_set_limit(ShRowsValues *values, Size limit);
extern void shrows_values_enter(ShRowsValues *values, const ShRowsHeap *heap);
extern void shrows_values_leave(ShRowsValues *values);
extern bool shrows_values_kind(ShRowsValues *values, const ShRowsHeap *heap,
							   uint32 group, TupleTableSlot *row, uint32 *kind);
extern void shrows_values_forget(ShRowsValues *values, const uint32 *kept);
extern Size shrows_values_memory(const ShRowsValues *values);
extern void shrows_values_end(ShRowsValues *values);

#endif							/* SIMHASH_ROWS_VALUES_H */
