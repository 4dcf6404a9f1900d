/*-------------------------------------------------------------------------
 *
 * row_check.c
 *	  Evaluating the condition "same" for pairs of rows.
 *
 * A row is checked against one candidate after the other.  Its values are read
 * from the table once for all of them, and values stored out of line or
 * compressed are also fetched only once.
 *
 * The condition refers to the columns of the named table.  The columns of its
 * partitions may have other numbers, so their rows are converted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/sysattr.h"
#include "access/tupconvert.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"

#include "batch/row_check.h"
#include "batch/row_reader.h"
#include "index/progress.h"
#include "compat.h"

/* in place of the number of a row: none has been read */
#define NO_ROW		PG_UINT64_MAX

/* one of the two rows */
typedef struct Side
{
	ShBatchRowReader reader;
	TupleConversionMap **maps;	/* by number of table: to rows of the named
								 * one; NULL if not needed */
	bool	   *mapped;			/* is the map known? */
	TupleTableSlot *converted;
} Side;

struct ShBatchRowCheck
{
	const ShBatchSameCondition *same;
	TupleDesc	desc;			/* of the named table */
	EState	   *estate;
	ExprState  *condition;
	Side		a;
	Side		b;

	/* row a, with the values that the condition needs */
	uint64		row;
	Bitmapset  *columns;		/* numbers from 0 */
	TupleTableSlot *values;
	MemoryContext context;		/* of fetched values */
};

static void
begin_side(ShBatchRowCheck *check, Side *side, const ShBatchTables *tables, Snapshot snapshot)
{
	shbatch_row_reader_begin(&side->reader, tables, snapshot);
	side->maps = palloc0(tables->count * sizeof(TupleConversionMap *));
	side->mapped = palloc0(tables->count * sizeof(bool));
	side->converted = MakeSingleTupleTableSlot(check->desc, &TTSOpsVirtual);
}

static void
end_side(Side *side)
{
	ExecDropSingleTupleTableSlot(side->converted);
	shbatch_row_reader_end(&side->reader);
}

/*
 * Prepare the condition.  Reports an error if the current user lacks EXECUTE
 * on functions in it.
 */
static void
prepare_condition(ShBatchRowCheck *check)
{
	ErrorContextCallback context;
	Expr	   *expression;
	MemoryContext old;

	shbatch_clause_start_evaluating(&context, &check->same->clause);
	old = MemoryContextSwitchTo(check->estate->es_query_cxt);
	expression = expression_planner((Expr *) copyObject(check->same->expression));
	ChangeVarNodes((Node *) expression, SHBATCH_SAME_A, OUTER_VAR, 0);
	ChangeVarNodes((Node *) expression, SHBATCH_SAME_B, INNER_VAR, 0);
	check->condition = ExecInitExpr(expression, NULL);
	MemoryContextSwitchTo(old);
	shbatch_clause_stop(&context);
}

/*
 * Find the columns of row a that the condition needs.
 */
static void
find_columns(ShBatchRowCheck *check)
{
	Bitmapset  *offset = NULL;
	int			column = -1;

	pull_varattnos(check->same->expression, SHBATCH_SAME_A, &offset);
	if (bms_is_member(-FirstLowInvalidHeapAttributeNumber, offset))
	{
		/* the whole row */
		check->columns = check->desc->natts > 0 ?
			bms_add_range(NULL, 0, check->desc->natts - 1) : NULL;
		return;
	}
	while ((column = bms_next_member(offset, column)) >= 0)
	{
		int			number = column + FirstLowInvalidHeapAttributeNumber;

		if (number > 0)
			check->columns = bms_add_member(check->columns, number - 1);
	}
}

/*
 * Begin to check rows of the tables, which must be open until the end.  The
 * snapshot must be registered since before the rows were read from their
 * indexes.
 */
ShBatchRowCheck *
shbatch_check_begin(const ShBatchTables *tables, Snapshot snapshot,
					const ShBatchSameCondition *same)
{
	ShBatchRowCheck *check = palloc0(sizeof(ShBatchRowCheck));

	check->same = same;
	check->desc = RelationGetDescr(tables->sides[0].named.heap);
	check->estate = CreateExecutorState();
	prepare_condition(check);
	find_columns(check);
	begin_side(check, &check->a, tables, snapshot);
	begin_side(check, &check->b, tables, snapshot);
	check->row = NO_ROW;
	check->values = MakeSingleTupleTableSlot(check->desc, &TTSOpsVirtual);
	check->context = AllocSetContextCreate(CurrentMemoryContext, "simhash row to check",
										   ALLOCSET_DEFAULT_SIZES);
	return check;
}

/*
 * Read a row, as one of the named table.  The result is valid until the next
 * row of this side is read.
 */
static TupleTableSlot *
read_row(ShBatchRowCheck *check, Side *side, uint64 row)
{
	TupleTableSlot *slot;
	int			number;

	shbatch_read_row(&side->reader, row);
	slot = side->reader.slot;
	number = side->reader.table->number;
	if (!side->mapped[number])
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(side->maps));

		side->maps[number] = convert_tuples_by_name(slot->tts_tupleDescriptor, check->desc);
		side->mapped[number] = true;
		MemoryContextSwitchTo(old);
	}
	if (side->maps[number] == NULL)
		return slot;
	execute_attr_map_slot(side->maps[number]->attrMap, slot, side->converted);
	side->converted->tts_tableOid = slot->tts_tableOid;
	side->converted->tts_tid = slot->tts_tid;
	return side->converted;
}

/*
 * Read row a, with the values that the condition needs.
 */
static void
read_a(ShBatchRowCheck *check, uint64 row)
{
	TupleTableSlot *slot = read_row(check, &check->a, row);
	TupleTableSlot *values = check->values;
	MemoryContext old;
	int			column = -1;

	ExecClearTuple(values);
	MemoryContextReset(check->context);
	memset(values->tts_isnull, true, check->desc->natts * sizeof(bool));
	old = MemoryContextSwitchTo(check->context);
	while ((column = bms_next_member(check->columns, column)) >= 0)
	{
		Datum		value = slot_getattr(slot, column + 1, &values->tts_isnull[column]);

		if (!values->tts_isnull[column] && TupleDescAttr(check->desc, column)->attlen == -1 &&
			VARATT_IS_EXTENDED(DatumGetPointer(value)))
			value = PointerGetDatum(detoast_attr((struct varlena *) DatumGetPointer(value)));
		values->tts_values[column] = value;
	}
	MemoryContextSwitchTo(old);
	ExecStoreVirtualTuple(values);
	values->tts_tableOid = slot->tts_tableOid;
	values->tts_tid = slot->tts_tid;
	check->row = row;
}

/*
 * Does the condition hold for rows a and b?  Null counts as false.  To check a
 * row against several others, call this with the same a.
 *
 * Runs functions of the condition, as the current user.
 */
bool
shbatch_check_rows(ShBatchRowCheck *check, uint64 a, uint64 b)
{
	ErrorContextCallback error_context;
	ExprContext *context = GetPerTupleExprContext(check->estate);
	bool		isnull;
	bool		result;

	CHECK_FOR_INTERRUPTS();
	shbatch_clause_start_evaluating(&error_context, &check->same->clause);
	if (a != check->row)
		read_a(check, a);
	context->ecxt_outertuple = check->values;
	context->ecxt_innertuple = read_row(check, &check->b, b);
	result = DatumGetBool(ExecEvalExprSwitchContext(check->condition, context, &isnull)) &&
		!isnull;
	ResetExprContext(context);
	shbatch_clause_stop(&error_context);
	shidx_progress_checked();
	return result;
}

void
shbatch_check_end(ShBatchRowCheck *check)
{
	end_side(&check->a);
	end_side(&check->b);
	ExecDropSingleTupleTableSlot(check->values);
	MemoryContextDelete(check->context);
	FreeExecutorState(check->estate);
	pfree(check);
}
