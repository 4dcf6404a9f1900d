/*-------------------------------------------------------------------------
 *
 * result.c
 *	  The rows that a function returns, as they are found or all at once.
 *
 * All rows have the same layout, since the same of their columns are null, and
 * mostly none is of variable length.  So a row is formed once, and for further
 * rows only the values are filled in.  For millions of rows, forming each of them
 * takes as long as finding them.
 *
 * In FROM, the server stores all rows of a function before it uses the first
 * one, and prefers to get them all at once, which is faster.  In a select list
 * it takes rows one by one, and may stop before the last, as for a LIMIT or a
 * cursor.  In that case no row is made before it is fetched.
 *
 * Between two rows the state holds open relations, a registered snapshot and
 * perhaps files, but no pin or lock on a buffer.  If the query stops early, or
 * is executed again, a callback ends the call.  After an error there is no
 * callback, and the resource owner of the query's portal releases everything.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

#include "batch/result.h"

/*
 * Form the row into which values are filled, unless a column is of variable length.
 */
static void
form_row(ShBatchResult *result)
{
	TupleDesc	desc = result->desc;
	Datum		values[SHBATCH_RESULT_COLUMNS];
	uint64		zeros[4] = {0};
	uint32		offset = 0;

	result->tuple = NULL;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (result->nulls[i])
			continue;
		if (column->attlen < 0)
			return;
		Assert(column->attlen <= sizeof(zeros));
		values[i] = column->attbyval ? (Datum) 0 : PointerGetDatum(zeros);
		offset = att_align_nominal(offset, column->attalign);
		result->offsets[i] = offset;
		offset += column->attlen;
	}
	result->tuple = heap_form_tuple(desc, values, result->nulls);
	Assert(result->tuple->t_len == result->tuple->t_data->t_hoff + offset);
}

/*
 * Begin to return rows in the tuplestore of the call.
 */
void
shbatch_result_begin(ShBatchResult *result, ReturnSetInfo *info)
{
	Assert(info->setDesc->natts <= SHBATCH_RESULT_COLUMNS);
	result->store = info->setResult;
	result->desc = info->setDesc;
	memset(result->nulls, false, sizeof(result->nulls));
	form_row(result);
}

/*
 * Let a column be null in all rows, of which none has been returned.
 */
void
shbatch_result_set_null(ShBatchResult *result, int column)
{
	result->nulls[column] = true;
	form_row(result);
}

/*
 * Return a row.  Values of columns that are null in all rows are ignored.
 */
void
shbatch_result_add(ShBatchResult *result, const Datum *values)
{
	char	   *row;

	if (result->tuple == NULL)
	{
		tuplestore_putvalues(result->store, result->desc, (Datum *) values, result->nulls);
		return;
	}
	row = (char *) result->tuple->t_data + result->tuple->t_data->t_hoff;
	for (int i = 0; i < result->desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(result->desc, i);
		char	   *place = row + result->offsets[i];

		if (result->nulls[i])
			continue;
		if (column->attbyval)
			store_att_byval(place, values[i], column->attlen);
		else
			memcpy(place, DatumGetPointer(values[i]), column->attlen);
	}
	tuplestore_puttuple(result->store, result->tuple);
}

/* state of a call that returns row by row */
typedef struct RowByRow
{
	const ShBatchProducer *producer;
	void	   *state;
} RowByRow;

/* does the caller want rows one by one? */
static bool
wants_rows(const ReturnSetInfo *info)
{
	return info != NULL && IsA(info, ReturnSetInfo) &&
		(info->allowedModes & SFRM_ValuePerCall) != 0 &&
		(info->allowedModes & SFRM_Materialize_Preferred) == 0;
}

static void
return_all(FunctionCallInfo fcinfo, const ShBatchProducer *producer)
{
	ShBatchResult result;
	Datum		values[SHBATCH_RESULT_COLUMNS];
	bool		nulls[SHBATCH_RESULT_COLUMNS] = {0};
	void	   *state;

	InitMaterializedSRF(fcinfo, 0);
	shbatch_result_begin(&result, (ReturnSetInfo *) fcinfo->resultinfo);
	state = producer->begin(fcinfo, &result);
	if (state == NULL)
		return;
	while (producer->next(state, values, nulls))
		shbatch_result_add(&result, values);
	producer->end(state);
}

static void
stop(Datum arg)
{
	RowByRow   *call = (RowByRow *) DatumGetPointer(arg);

	call->producer->end(call->state);
}

/*
 * Begin to return row by row.  If there is nothing to do, call->user_fctx is NULL.
 */
static void
begin_rows(FunctionCallInfo fcinfo, FuncCallContext *context, const ShBatchProducer *producer)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
	RowByRow   *call = palloc(sizeof(RowByRow));
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	context->tuple_desc = BlessTupleDesc(desc);
	call->producer = producer;
	call->state = producer->begin(fcinfo, NULL);
	context->user_fctx = call->state != NULL ? call : NULL;
	if (call->state != NULL)
		RegisterExprContextCallback(info->econtext, stop, PointerGetDatum(call));
	MemoryContextSwitchTo(old);
}

static bool
next_row(FuncCallContext *context, Datum *values, bool *nulls)
{
	RowByRow   *call = context->user_fctx;
	MemoryContext old;
	bool		found;

	if (call == NULL)
		return false;
	old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
	found = call->producer->next(call->state, values, nulls);
	MemoryContextSwitchTo(old);
	return found;
}

/*
 * Return the rows of a producer, in the mode that the caller of the function
 * wants.
 */
Datum
shbatch_return(FunctionCallInfo fcinfo, const ShBatchProducer *producer)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	FuncCallContext *context;
	Datum		values[SHBATCH_RESULT_COLUMNS];
	bool		nulls[SHBATCH_RESULT_COLUMNS] = {0};

	if (!wants_rows(info))
	{
		return_all(fcinfo, producer);
		return (Datum) 0;
	}

	if (SRF_IS_FIRSTCALL())
		begin_rows(fcinfo, SRF_FIRSTCALL_INIT(), producer);
	context = SRF_PERCALL_SETUP();
	if (next_row(context, values, nulls))
		SRF_RETURN_NEXT(context,
						HeapTupleGetDatum(heap_form_tuple(context->tuple_desc, values, nulls)));
	if (context->user_fctx != NULL)
	{
		UnregisterExprContextCallback(info->econtext, stop, PointerGetDatum(context->user_fctx));
		stop(PointerGetDatum(context->user_fctx));
	}
	SRF_RETURN_DONE(context);
}
