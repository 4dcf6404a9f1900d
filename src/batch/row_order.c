/*-------------------------------------------------------------------------
 *
 * row_order.c
 *	  Rows in the order in which they are kept.
 *
 * The rows are first sorted by number, that is, by table and TID.  If the
 * order is given by a list, they are then read from their tables in this
 * order, each page only once, and the items of the list are sorted by
 * tuplesort.  Each of the two sorts goes to disk beyond maintenance_work_mem.
 *
 * The list refers to the columns of the named table.  The columns of its
 * partitions may have other numbers, so the items are adapted to each
 * partition.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/partition.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/tuplesort.h"

#include "batch/row_order.h"
#include "batch/row_reader.h"
#include "index/progress.h"
#include "compat.h"
#include "sort/entrysort.h"

struct ShBatchRowOrder
{
	const ShBatchTables *tables;
	Snapshot	snapshot;
	const ShBatchKeepList *keep;	/* NULL: by number only */

	/* values are the caller's numbers for the rows */
	ShSort	   *by_row;

	/* to evaluate the items of the list for rows of a table */
	const ShBatchTable *current;	/* NULL: the named one */
	EState	   *estate;
	ExprState **items;

	/* columns: items of the list, row, caller's number */
	Tuplesortstate *by_keep;
	TupleTableSlot *slot;
};

static Relation
named_table(const ShBatchRowOrder *order)
{
	return order->tables->sides[0].named.heap;
}

/*
 * The items of the list, for rows of a table; NULL: of the named one.
 */
static List *
items_for(const ShBatchRowOrder *order, const ShBatchTable *table)
{
	List	   *items = NIL;

	for (int i = 0; i < order->keep->nitems; i++)
		items = lappend(items, order->keep->expressions[i]);
	if (table != NULL && table->heap != named_table(order))
		items = map_partition_varattnos(items, 1, table->heap, named_table(order));
	return items;
}

/*
 * Prepare to evaluate the items of the list for rows of a table or, with NULL,
 * only check whether they can be evaluated.
 */
static void
enter_table(ShBatchRowOrder *order, const ShBatchTable *table)
{
	MemoryContext old;
	List	   *items;

	order->estate = CreateExecutorState();
	old = MemoryContextSwitchTo(order->estate->es_query_cxt);
	items = items_for(order, table);
	order->items = palloc(order->keep->nitems * sizeof(ExprState *));
	for (int i = 0; i < order->keep->nitems; i++)
		order->items[i] = ExecPrepareExpr(list_nth(items, i), order->estate);
	MemoryContextSwitchTo(old);
	order->current = table;
}

static void
try_items(ShBatchRowOrder *order)
{
	enter_table(order, NULL);
	FreeExecutorState(order->estate);
}

/* run an action with an error context that names the list */
static void
with_context(ShBatchRowOrder *order, void (*action) (ShBatchRowOrder *order))
{
	ErrorContextCallback context;

	shbatch_clause_start_evaluating(&context, &order->keep->clause);
	action(order);
	shbatch_clause_stop(&context);
}

/*
 * Begin to put rows in order: by the list, if there is one, and then by
 * number.  The tables must be open until the end, and the snapshot registered
 * since before the rows were read from their indexes.
 *
 * Reports an error if the current user lacks EXECUTE on functions in the list.
 */
ShBatchRowOrder *
shbatch_order_begin(const ShBatchTables *tables, Snapshot snapshot, const ShBatchKeepList *keep)
{
	ShBatchRowOrder *order = palloc0(sizeof(ShBatchRowOrder));

	order->tables = tables;
	order->snapshot = snapshot;
	order->keep = keep;
	order->by_row = shsort_begin(maintenance_work_mem);
	if (keep != NULL)
		with_context(order, try_items);
	return order;
}

/*
 * Add a row that the snapshot sees, with the caller's number for it.
 */
void
shbatch_order_add(ShBatchRowOrder *order, uint64 row, uint32 number)
{
	shsort_add(order->by_row, row, number);
}

/*
 * Begin the sort by the list.
 */
static void
begin_by_keep(ShBatchRowOrder *order)
{
	const ShBatchKeepList *keep = order->keep;
	int			nitems = keep->nitems;
	TupleDesc	desc = CreateTemplateTupleDesc(nitems + 2);
	AttrNumber *columns = palloc((nitems + 1) * sizeof(AttrNumber));
	Oid		   *operators = palloc((nitems + 1) * sizeof(Oid));
	Oid		   *collations = palloc0((nitems + 1) * sizeof(Oid));
	bool	   *nulls_first = palloc0((nitems + 1) * sizeof(bool));

	for (int i = 0; i < nitems; i++)
	{
		TupleDescInitEntry(desc, i + 1, NULL, exprType(keep->expressions[i]),
						   exprTypmod(keep->expressions[i]), 0);
		columns[i] = i + 1;
		operators[i] = keep->operators[i];
		collations[i] = keep->collations[i];
		nulls_first[i] = keep->nulls_first[i];
	}
	TupleDescInitEntry(desc, nitems + 1, NULL, INT8OID, -1, 0);
	TupleDescInitEntry(desc, nitems + 2, NULL, INT4OID, -1, 0);
	shcompat_finish_tuple_desc(desc);
	columns[nitems] = nitems + 1;
	operators[nitems] = Int8LessOperator;

	order->by_keep = tuplesort_begin_heap(desc, nitems + 1, columns, operators, collations,
										  nulls_first, maintenance_work_mem, NULL,
										  TUPLESORT_NONE);
	order->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

/*
 * Evaluate the items of the list for all rows, which are sorted by table.
 */
static void
add_rows(ShBatchRowOrder *order)
{
	const ShBatchKeepList *keep = order->keep;
	TupleTableSlot *sorted = MakeSingleTupleTableSlot(order->slot->tts_tupleDescriptor,
													  &TTSOpsVirtual);
	ShBatchRowReader reader;
	double		nread = 0;
	ShSortItem	item;

	shbatch_row_reader_begin(&reader, order->tables, order->snapshot);
	order->current = NULL;
	while (shsort_next(order->by_row, &item))
	{
		ExprContext *context;

		CHECK_FOR_INTERRUPTS();
		shbatch_read_row(&reader, item.key);
		if (reader.table != order->current)
		{
			if (order->current != NULL)
				FreeExecutorState(order->estate);
			enter_table(order, reader.table);
		}
		context = GetPerTupleExprContext(order->estate);
		context->ecxt_scantuple = reader.slot;
		ExecClearTuple(sorted);
		for (int i = 0; i < keep->nitems; i++)
			sorted->tts_values[i] = ExecEvalExprSwitchContext(order->items[i], context,
															  &sorted->tts_isnull[i]);
		sorted->tts_values[keep->nitems] = Int64GetDatum((int64) item.key);
		sorted->tts_values[keep->nitems + 1] = Int32GetDatum((int32) item.value);
		sorted->tts_isnull[keep->nitems] = sorted->tts_isnull[keep->nitems + 1] = false;
		ExecStoreVirtualTuple(sorted);
		tuplesort_puttupleslot(order->by_keep, sorted);
		ResetExprContext(context);
		shidx_progress_entries(++nread);
	}

	if (order->current != NULL)
		FreeExecutorState(order->estate);
	shbatch_row_reader_end(&reader);
	ExecDropSingleTupleTableSlot(sorted);
}

static void
sort_by_keep(ShBatchRowOrder *order)
{
	begin_by_keep(order);
	add_rows(order);
	shsort_end(order->by_row);
	order->by_row = NULL;
	tuplesort_performsort(order->by_keep);
}

/*
 * All rows have been added: sort them.  Runs the functions of the list.
 */
void
shbatch_order_sort(ShBatchRowOrder *order)
{
	/* with a scheme of one block, keys are not permuted */
	shsort_start_table(order->by_row, &shbits_make_scheme(1, 0)->tables[0]);
	if (order->keep != NULL)
		with_context(order, sort_by_keep);
}

/*
 * Return the next row.  Returns false after the last.
 */
bool
shbatch_order_next(ShBatchRowOrder *order, uint64 *row, uint32 *number)
{
	if (order->keep == NULL)
	{
		ShSortItem	item;

		if (!shsort_next(order->by_row, &item))
			return false;
		*row = item.key;
		*number = (uint32) item.value;
	}
	else
	{
		bool		isnull;

		if (!tuplesort_gettupleslot(order->by_keep, true, false, order->slot, NULL))
			return false;
		*row = (uint64) DatumGetInt64(slot_getattr(order->slot, order->keep->nitems + 1, &isnull));
		*number = (uint32) DatumGetInt32(slot_getattr(order->slot, order->keep->nitems + 2,
													  &isnull));
	}
	return true;
}

/*
 * Free memory and files.
 */
void
shbatch_order_end(ShBatchRowOrder *order)
{
	if (order->by_row != NULL)
		shsort_end(order->by_row);
	if (order->by_keep != NULL)
	{
		ExecDropSingleTupleTableSlot(order->slot);
		tuplesort_end(order->by_keep);
	}
	pfree(order);
}
