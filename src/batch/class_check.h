/*-------------------------------------------------------------------------
 *
 * class_check.h
 *	  Checking pairs of rows by the operator of an operator class.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_CLASS_CHECK_H
#define SIMHASH_BATCH_CLASS_CHECK_H

#include "utils/snapshot.h"

#include "batch/row_check.h"

extern ShBatchRowCheck *shbatch_class_check_begin(const ShRowsHeaps *heaps, Snapshot snapshot);

#endif							/* SIMHASH_BATCH_CLASS_CHECK_H */
