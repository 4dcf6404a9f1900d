/*-------------------------------------------------------------------------
 *
 * result.c
 *	  The rows that a function returns.
 *
 * All rows have the same layout, since the same of their columns are null, and
 * mostly none is of variable length.  So a row is formed once, and for further
 * rows only the values are filled in.  For millions of rows, forming each of them
 * takes as long as finding them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
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
