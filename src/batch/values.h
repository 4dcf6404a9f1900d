/*-------------------------------------------------------------------------
 *
 * values.h
 *	  Comparing rows by the columns before the fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_VALUES_H
#define SIMHASH_BATCH_VALUES_H

#include "postgres.h"

#include "executor/tuptable.h"

#include "batch/tables.h"

typedef struct ShBatchValues ShBatchValues;

/* kinds have 16 bits */
#define SHBATCH_MAX_KINDS	0x10000

extern ShBatchValues *shbatch_values_begin(const ShBatchTables *tables);
extern Size shbatch_values_least_width(const ShBatchValues *values);
extern bool shbatch_values_have_fixed_width(const ShBatchValues *values);
extern void shbatch_values_set_limit(ShBatchValues *values, Size limit);
extern void shbatch_values_enter(ShBatchValues *values, const ShBatchTable *table);
extern void shbatch_values_leave(ShBatchValues *values);
extern bool shbatch_values_kind(ShBatchValues *values, const ShBatchTable *table,
								uint32 group, TupleTableSlot *row, uint32 *kind);
extern void shbatch_values_forget(ShBatchValues *values, const uint32 *kept);
extern Size shbatch_values_memory(const ShBatchValues *values);
extern void shbatch_values_end(ShBatchValues *values);

#endif							/* SIMHASH_BATCH_VALUES_H */
