/*-------------------------------------------------------------------------
 *
 * result.c
 *	  The rows that a function returns.
 *
 * All rows have the same layout, since none of their columns is null or of
 * variable length.  So a row is formed once, and for further rows only the
 * values are filled in.  For millions of rows, forming each of them takes as
 * long as finding them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "utils/tuplestore.h"

#include "batch/result.h"

/*
 * Begin to return rows in the tuplestore of the call.
 */
void
shbatch_result_begin(ShBatchResult *result, ReturnSetInfo *info)
{
	TupleDesc	desc = info->setDesc;
	Datum		values[SHBATCH_RESULT_COLUMNS];
	bool		nulls[SHBATCH_RESULT_COLUMNS] = {0};
	uint64		zeros[4] = {0};
	uint32		offset = 0;

	Assert(desc->natts <= SHBATCH_RESULT_COLUMNS);
	result->store = info->setResult;
	result->desc = desc;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		Assert(column->attlen > 0 && column->attlen <= sizeof(zeros));
		values[i] = column->attbyval ? (Datum) 0 : PointerGetDatum(zeros);
		offset = att_align_nominal(offset, column->attalign);
		result->offsets[i] = offset;
		offset += column->attlen;
	}
	result->tuple = heap_form_tuple(desc, values, nulls);
	Assert(result->tuple->t_len == result->tuple->t_data->t_hoff + offset);
}

/*
 * Return a row.  No value is null.
 */
void
shbatch_result_add(ShBatchResult *result, const Datum *values)
{
	char	   *row = (char *) result->tuple->t_data + result->tuple->t_data->t_hoff;

	for (int i = 0; i < result->desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(result->desc, i);
		char	   *place = row + result->offsets[i];

		if (column->attbyval)
			store_att_byval(place, values[i], column->attlen);
		else
			memcpy(place, DatumGetPointer(values[i]), column->attlen);
	}
	tuplestore_puttuple(result->store, result->tuple);
}
