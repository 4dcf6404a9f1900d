/*-------------------------------------------------------------------------
 *
 * result.h
 *	  The rows that a function returns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_RESULT_H
#define SIMHASH_BATCH_RESULT_H

#include "access/htup.h"
#include "nodes/execnodes.h"

#define SHBATCH_RESULT_COLUMNS	8

typedef struct ShBatchResult
{
	Tuplestorestate *store;
	TupleDesc	desc;
	bool		nulls[SHBATCH_RESULT_COLUMNS];	/* columns null in all rows */
	HeapTuple	tuple;			/* the last row; NULL if rows vary in layout */
	uint32		offsets[SHBATCH_RESULT_COLUMNS];	/* of its columns */
} ShBatchResult;

extern void shbatch_result_begin(ShBatchResult *result, ReturnSetInfo *info);
extern void shbatch_result_set_null(ShBatchResult *result, int column);
extern void shbatch_result_add(ShBatchResult *result, const Datum *values);

#endif							/* SIMHASH_BATCH_RESULT_H */
