/*-------------------------------------------------------------------------
 *
 * same_check.h
 *	  Checking pairs of rows by the condition "same".
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_SAME_CHECK_H
#define SIMHASH_BATCH_SAME_CHECK_H

#include "utils/snapshot.h"

#include "batch/row_check.h"

extern ShBatchRowCheck *shbatch_same_check_begin(const ShRowsHeaps *heaps, Snapshot snapshot,
												 const char *text);

#endif							/* SIMHASH_BATCH_SAME_CHECK_H */
