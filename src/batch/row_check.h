/*-------------------------------------------------------------------------
 *
 * row_check.h
 *	  Evaluating the condition "same" for pairs of rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_CHECK_H
#define SIMHASH_BATCH_ROW_CHECK_H

#include "postgres.h"

#include "batch/same_condition.h"
#include "batch/tables.h"

typedef struct ShBatchRowCheck ShBatchRowCheck;

extern ShBatchRowCheck *shbatch_check_begin(const ShBatchTables *tables, Snapshot snapshot,
											const ShBatchSameCondition *same);
extern bool shbatch_check_rows(ShBatchRowCheck *check, uint64 a, uint64 b);
extern void shbatch_check_end(ShBatchRowCheck *check);

#endif							/* SIMHASH_BATCH_ROW_CHECK_H */
