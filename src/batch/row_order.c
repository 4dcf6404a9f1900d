/*-------------------------------------------------------------------------
 *
 * row_order.c
 *	  Rows in the order in which they are kept.
 *
 * The rows are first sorted by TID.  If that is not the order, they are then read
 * from the table in it, each page but once, and what the order goes by is sorted
 * by the server's general sort.  Each of the two sorts goes to disk beyond
 * maintenance_work_mem.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/bufmgr.h"
#include "utils/tuplesort.h"

#include "batch/heap_page.h"
#include "batch/progress.h"
#include "batch/row_order.h"
#include "btree/page.h"
#include "sort/entrysort.h"

struct ShBatchRowOrder
{
	Relation	table;
	Snapshot	snapshot;
	const ShBatchKeepList *keep;	/* NULL: by TID alone */

	/* values are the numbers of the rows */
	ShSort	   *by_tid;

	/* to evaluate the items of the list */
	EState	   *estate;
	ExprState **items;

	/* columns: items of the list, TID, number */
	Tuplesortstate *by_keep;
	TupleTableSlot *slot;
};

/*
 * Prepare to evaluate the items of the list.
 */
static void
prepare_items(ShBatchRowOrder *order)
{
	const ShBatchKeepList *keep = order->keep;

	order->estate = CreateExecutorState();
	order->items = palloc(keep->nitems * sizeof(ExprState *));
	for (int i = 0; i < keep->nitems; i++)
		order->items[i] = ExecPrepareExpr((Expr *) keep->expressions[i], order->estate);
}

/* what is done for the items of the list: its errors tell what they are about */
static void
with_context(ShBatchRowOrder *order, void (*action) (ShBatchRowOrder *order))
{
	ErrorContextCallback context;

	context.callback = shbatch_keep_context;
	context.arg = (void *) order->keep;
	context.previous = error_context_stack;
	error_context_stack = &context;
	action(order);
	error_context_stack = context.previous;
}

/*
 * Begin to put rows of a table in order: by the list, if there is one, and where
 * that makes no difference by TID.  The table must be open until the end, and the
 * snapshot registered since before the TIDs were read.
 *
 * Reports an error if the current user may not execute functions of the list.
 */
ShBatchRowOrder *
shbatch_order_begin(Relation table, Snapshot snapshot, const ShBatchKeepList *keep)
{
	ShBatchRowOrder *order = palloc0(sizeof(ShBatchRowOrder));

	order->table = table;
	order->snapshot = snapshot;
	order->keep = keep;
	order->by_tid = shsort_begin(maintenance_work_mem);
	if (keep != NULL)
		with_context(order, prepare_items);
	return order;
}

/*
 * Add a row that the snapshot sees, by its TID and a number that the caller has
 * for it.
 */
void
shbatch_order_add(ShBatchRowOrder *order, uint64 tid, uint32 number)
{
	shsort_add(order->by_tid, tid, number);
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
	columns[nitems] = nitems + 1;
	operators[nitems] = Int8LessOperator;

	order->by_keep = tuplesort_begin_heap(desc, nitems + 1, columns, operators, collations,
										  nulls_first, maintenance_work_mem, NULL,
										  TUPLESORT_NONE);
	order->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

/*
 * Read a row that the snapshot sees into a slot.  The buffer is the last one that was
 * read, if any, and becomes that of the row's page.
 */
static void
read_row(ShBatchRowOrder *order, uint64 tid, TupleTableSlot *row, Buffer *buffer)
{
	if (shbatch_is_heap(order->table))
	{
		*buffer = ReleaseAndReadBuffer(*buffer, order->table, (BlockNumber) (tid >> 16));
		shbatch_heap_page_slot(order->table, *buffer, tid, row);
	}
	else
	{
		ItemPointerData pointer;

		shbt_int_to_tid(tid, &pointer);
		if (!table_tuple_fetch_row_version(order->table, &pointer, order->snapshot, row))
			elog(ERROR, "row (%u,%u) of table \"%s\" has disappeared",
				 ItemPointerGetBlockNumber(&pointer), ItemPointerGetOffsetNumber(&pointer),
				 RelationGetRelationName(order->table));
	}
}

/*
 * Evaluate the items of the list for all rows, which are sorted by TID.
 */
static void
add_rows(ShBatchRowOrder *order)
{
	const ShBatchKeepList *keep = order->keep;
	ExprContext *context = GetPerTupleExprContext(order->estate);
	TupleTableSlot *row = table_slot_create(order->table, NULL);
	TupleTableSlot *sorted = MakeSingleTupleTableSlot(order->slot->tts_tupleDescriptor,
													  &TTSOpsVirtual);
	Buffer		buffer = InvalidBuffer;
	double		nread = 0;
	ShSortItem	item;

	context->ecxt_scantuple = row;
	while (shsort_next(order->by_tid, &item))
	{
		CHECK_FOR_INTERRUPTS();
		read_row(order, item.key, row, &buffer);
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
		shbatch_progress_entries(++nread);
	}

	if (BufferIsValid(buffer))
		ReleaseBuffer(buffer);
	ExecDropSingleTupleTableSlot(row);
	ExecDropSingleTupleTableSlot(sorted);
}

static void
sort_by_keep(ShBatchRowOrder *order)
{
	begin_by_keep(order);
	add_rows(order);
	shsort_end(order->by_tid);
	order->by_tid = NULL;
	tuplesort_performsort(order->by_keep);
}

/*
 * All rows have been added: sort them.  Runs the functions of the list.
 */
void
shbatch_order_sort(ShBatchRowOrder *order)
{
	/* by a table of one block: in the order of what was added */
	shsort_start_table(order->by_tid, &shbits_make_scheme(1, 0)->tables[0]);
	if (order->keep != NULL)
		with_context(order, sort_by_keep);
}

/*
 * The next row.  Returns false after the last.
 */
bool
shbatch_order_next(ShBatchRowOrder *order, uint64 *tid, uint32 *number)
{
	if (order->keep == NULL)
	{
		ShSortItem	item;

		if (!shsort_next(order->by_tid, &item))
			return false;
		*tid = item.key;
		*number = (uint32) item.value;
	}
	else
	{
		bool		isnull;

		if (!tuplesort_gettupleslot(order->by_keep, true, false, order->slot, NULL))
			return false;
		*tid = (uint64) DatumGetInt64(slot_getattr(order->slot, order->keep->nitems + 1, &isnull));
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
	if (order->by_tid != NULL)
		shsort_end(order->by_tid);
	if (order->by_keep != NULL)
	{
		ExecDropSingleTupleTableSlot(order->slot);
		tuplesort_end(order->by_keep);
	}
	if (order->estate != NULL)
		FreeExecutorState(order->estate);
	pfree(order);
}
