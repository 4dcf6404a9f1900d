/*-------------------------------------------------------------------------
 *
 * row_check.h
 *	  Checking pairs of rows whose fingerprints are near: by the operator of the
 *	  operator class of an index, and by the condition "same".
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_CHECK_H
#define SIMHASH_BATCH_ROW_CHECK_H

#include "utils/snapshot.h"

#include "rows/heaps.h"

typedef struct ShBatchRowCheck ShBatchRowCheck;

extern ShBatchRowCheck *shbatch_class_check_begin(const ShRowsHeaps *heaps, Snapshot snapshot,
												  double similarity, ShBatchRowCheck *next);
extern ShBatchRowCheck *shbatch_same_check_begin(const ShRowsHeaps *heaps, Snapshot snapshot,
												 const char *text);
extern bool shbatch_check_rows(ShBatchRowCheck *check, ShPairsRow a, ShPairsRow b);
extern void shbatch_check_release(ShBatchRowCheck *check);
extern void shbatch_check_end(ShBatchRowCheck *check);

#endif							/* SIMHASH_BATCH_ROW_CHECK_H */
