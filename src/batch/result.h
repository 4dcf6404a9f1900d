/*-------------------------------------------------------------------------
 *
 * result.h
 *	  The rows that a function returns, as they are found or all at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_RESULT_H
#define SIMHASH_BATCH_RESULT_H

#include "access/htup.h"
#include "fmgr.h"
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

/*
 * The callbacks of such a function.  Its state is allocated in a memory
 * context that lives as long as the call.
 */
typedef struct ShBatchProducer
{
	/*
	 * Begin a call.  All its rows are added to the result or, if that is
	 * NULL, returned one by one by next.  Returns NULL if there is nothing to
	 * do.
	 */
	void	   *(*begin) (FunctionCallInfo fcinfo, ShBatchResult *result);

	/*
	 * Put the values of the next row that has not been added into values[],
	 * and set nulls[], which is false, where a value is null. They are valid
	 * until the next call.  Returns false after the last.
	 */
	bool		(*next) (void *state, Datum *values, bool *nulls);

	/* End the call, whether there was more to return or not. */
	void		(*end) (void *state);
} ShBatchProducer;

extern Datum shbatch_return(FunctionCallInfo fcinfo, const ShBatchProducer *producer);

#endif							/* SIMHASH_BATCH_RESULT_H */
