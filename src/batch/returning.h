/*-------------------------------------------------------------------------
 *
 * returning.h
 *	  Functions that return rows as they are found, or all at once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_RETURNING_H
#define SIMHASH_BATCH_RETURNING_H

#include "postgres.h"

#include "fmgr.h"

#include "batch/result.h"

/*
 * What such a function does.  Its state is made in a memory context that lives as
 * long as it is needed.
 */
typedef struct ShBatchProducer
{
	/*
	 * Begin a call, all of whose rows are to be added to the result; or, if
	 * that is NULL, of which next returns one after the other.  Returns NULL
	 * if there is nothing to do.
	 */
	void	   *(*begin) (FunctionCallInfo fcinfo, ShBatchResult *result);

	/*
	 * Put the values of the next row that has not been added into values[],
	 * which point to what stays until the next call.  Returns false after the
	 * last.
	 */
	bool		(*next) (void *state, Datum *values);

	/* End the call, whether there was more to return or not. */
	void		(*end) (void *state);
} ShBatchProducer;

extern Datum shbatch_return(FunctionCallInfo fcinfo, const ShBatchProducer *producer);

#endif							/* SIMHASH_BATCH_RETURNING_H */
