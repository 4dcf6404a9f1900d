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
 * The list refers to the columns of the named table, and rows are read as its rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "dedup/progress.h"
#include "dedup/rows.h"
#include "index/sort.h"

static const ShDupClause keep_clause = {
	.argument = "keep",
	.prefix = "SELECT ORDER BY ",
	.kind = "an ORDER BY list",
	.hint = "Write what follows ORDER BY in a query, such as 'length(body) DESC, id'."
};

struct ShDupOrder
{
	/* what comes first, of each number of the caller's; or NULL */
	const uint32 *groups;

	/* values are the caller's numbers for the rows */
	ShIdxSort  *by_row;

	/* the items of a list, unless there are none, to be computed from rows */
	int			nitems;
	ShDupClause clause;
	const Query *query;			/* of the list */
	EState	   *estate;
	ExprState **items;
	ShDupRowReader reader;

	/*
	 * columns: the group if it counts, items of the list, row, caller's
	 * number
	 */
	Tuplesortstate *by_keep;
	TupleTableSlot *slot;
};

/*
 * Begin the sort by the list, whose result can be read more than once if it is to be read
 * twice.
 */
static void
begin_by_keep(ShDupOrder *order, bool twice)
{
	const Query *query = order->query;
	int			first_item = order->groups != NULL;
	int			nkeys = first_item + order->nitems + 1;
	TupleDesc	desc = CreateTemplateTupleDesc(nkeys + 1);
	AttrNumber *columns = palloc(nkeys * sizeof(AttrNumber));
	Oid		   *operators = palloc(nkeys * sizeof(Oid));
	Oid		   *collations = palloc0(nkeys * sizeof(Oid));
	bool	   *nulls_first = palloc0(nkeys * sizeof(bool));

	for (int i = 0; i < nkeys; i++)
		columns[i] = i + 1;
	if (order->groups != NULL)
	{
		TupleDescInitEntry(desc, 1, NULL, INT8OID, -1, 0);
		operators[0] = Int8LessOperator;
	}
	for (int i = 0; i < order->nitems; i++)
	{
		int			key = first_item + i;
		SortGroupClause *item = list_nth_node(SortGroupClause, query->sortClause, i);
		Node	   *expression = get_sortgroupclause_expr(item, query->targetList);

		TupleDescInitEntry(desc, key + 1, NULL, exprType(expression), exprTypmod(expression), 0);
		operators[key] = item->sortop;
		collations[key] = exprCollation(expression);
		nulls_first[key] = item->nulls_first;
	}
	TupleDescInitEntry(desc, nkeys, NULL, INT8OID, -1, 0);
	operators[nkeys - 1] = Int8LessOperator;
	TupleDescInitEntry(desc, nkeys + 1, NULL, INT4OID, -1, 0);
	shcompat_finish_tuple_desc(desc);

	order->by_keep = tuplesort_begin_heap(desc, nkeys, columns, operators, collations,
										  nulls_first, maintenance_work_mem, NULL,
										  twice ? TUPLESORT_RANDOMACCESS : TUPLESORT_NONE);
	order->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

/*
 * Read the text of an ORDER BY list over the columns of a table, and prepare to compute
 * its items.  Reports an error if it is no such list, or if the current user lacks SELECT
 * on columns or EXECUTE on functions in it.
 */
static void
prepare_list(ShDupOrder *order, Relation table, const char *text)
{
	ErrorContextCallback context;
	Query	   *query;
	MemoryContext old;

	order->clause = keep_clause;
	order->clause.text = text;

	order->query = query = shdup_clause_analyze(&order->clause, table, list_make1(NULL));
	order->nitems = list_length(query->sortClause);

	shdup_clause_start_evaluating(&context, &order->clause);
	order->estate = CreateExecutorState();
	old = MemoryContextSwitchTo(order->estate->es_query_cxt);
	order->items = palloc(order->nitems * sizeof(ExprState *));
	for (int i = 0; i < order->nitems; i++)
	{
		SortGroupClause *item = list_nth_node(SortGroupClause, query->sortClause, i);
		Node	   *expression = get_sortgroupclause_expr(item, query->targetList);

		order->items[i] = ExecInitExpr(shdup_clause_plan(&order->clause, table, 1, expression), NULL);
	}
	MemoryContextSwitchTo(old);
	shdup_clause_stop(&context);
}

/*
 * Begin to put rows in order: by the list in the text, if there is one, and
 * then by number.  The tables must be open until the end, and the snapshot registered
 * since before the rows were read from their indexes.
 *
 * Reports an error as prepare_list does.
 */
ShDupOrder *
shdup_order_begin(const ShDupHeaps *heaps, Snapshot snapshot, const char *keep)
{
	ShDupOrder *order = palloc0(sizeof(ShDupOrder));

	if (keep != NULL)
	{
		prepare_list(order, heaps->sides[0].named.heap, keep);
		shdup_reader_begin(&order->reader, heaps, 0, snapshot);
	}
	return order;
}

/*
 * Begin to add rows.  With groups, the rows of the lowest one come first; there is one for
 * each of the caller's numbers, and they must remain.
 */
void
shdup_order_start(ShDupOrder *order, const uint32 *groups)
{
	order->groups = groups;
	order->by_row = shidx_sort_begin_grouped(maintenance_work_mem,
											 groups != NULL && order->nitems == 0);
}

/* the group of one of the caller's numbers; 0 if there are none */
static inline uint32
group_of(const ShDupOrder *order, uint32 number)
{
	return order->groups != NULL ? order->groups[number] : 0;
}

/*
 * Add a row that the snapshot sees, with the caller's number for it.
 */
void
shdup_order_add(ShDupOrder *order, ShPairsRow row, uint32 number)
{
	shidx_sort_add_grouped(order->by_row, order->nitems == 0 ? group_of(order, number) : 0,
						   row, number);
}

/*
 * Compute the items of the list for all rows, which are sorted by table, and sort them.
 */
static void
sort_by_keep(ShDupOrder *order)
{
	int			ncolumns = order->slot->tts_tupleDescriptor->natts;
	int			first_item = order->groups != NULL;
	TupleTableSlot *sorted = MakeSingleTupleTableSlot(order->slot->tts_tupleDescriptor,
													  &TTSOpsVirtual);
	ExprContext *context = GetPerTupleExprContext(order->estate);
	double		nread = 0;
	ShIdxSortItem item;

	while (shidx_sort_next(order->by_row, &item))
	{
		CHECK_FOR_INTERRUPTS();
		context->ecxt_scantuple = shdup_read(&order->reader, item.key);
		ExecClearTuple(sorted);
		memset(sorted->tts_isnull, false, ncolumns);
		sorted->tts_values[0] = Int64GetDatum(group_of(order, (uint32) item.value));
		for (int i = first_item; i < ncolumns - 2; i++)
			sorted->tts_values[i] = ExecEvalExprSwitchContext(order->items[i - first_item], context,
															  &sorted->tts_isnull[i]);
		sorted->tts_values[ncolumns - 2] = Int64GetDatum((int64) item.key);
		sorted->tts_values[ncolumns - 1] = Int32GetDatum((int32) item.value);
		ExecStoreVirtualTuple(sorted);
		tuplesort_puttupleslot(order->by_keep, sorted);
		ResetExprContext(context);
		shdup_progress_entries(++nread);
	}
	shdup_reader_release(&order->reader);
	ExecDropSingleTupleTableSlot(sorted);
	shidx_sort_end(order->by_row);
	order->by_row = NULL;
	tuplesort_performsort(order->by_keep);
}

/*
 * All rows have been added: sort them, to be read once or twice.  Runs the functions of
 * the list.
 */
void
shdup_order_sort(ShDupOrder *order, bool twice)
{
	ErrorContextCallback context;

	shidx_sort_start(order->by_row);
	if (order->nitems == 0)
		return;
	shdup_clause_start_evaluating(&context, &order->clause);
	begin_by_keep(order, twice);
	sort_by_keep(order);
	shdup_clause_stop(&context);
}

/*
 * Return the next row.  Returns false after the last.
 */
bool
shdup_order_next(ShDupOrder *order, ShPairsRow *row, uint32 *number)
{
	if (order->nitems == 0)
	{
		ShIdxSortItem item;

		if (!shidx_sort_next(order->by_row, &item))
			return false;
		*row = item.key;
		*number = (uint32) item.value;
	}
	else
	{
		int			ncolumns = order->slot->tts_tupleDescriptor->natts;
		bool		isnull;

		if (!tuplesort_gettupleslot(order->by_keep, true, false, order->slot, NULL))
			return false;
		*row = (uint64) DatumGetInt64(slot_getattr(order->slot, ncolumns - 1, &isnull));
		*number = (uint32) DatumGetInt32(slot_getattr(order->slot, ncolumns, &isnull));
	}
	return true;
}

/*
 * Begin again before the first row.
 */
void
shdup_order_again(ShDupOrder *order)
{
	if (order->by_keep != NULL)
		tuplesort_rescan(order->by_keep);
	else
		shidx_sort_start(order->by_row);
}

/*
 * Free memory and files.
 */
void
shdup_order_end(ShDupOrder *order)
{
	if (order->by_row != NULL)
		shidx_sort_end(order->by_row);
	if (order->by_keep != NULL)
	{
		ExecDropSingleTupleTableSlot(order->slot);
		tuplesort_end(order->by_keep);
	}
	if (order->nitems > 0)
	{
		shdup_reader_end(&order->reader);
		FreeExecutorState(order->estate);
	}
	pfree(order);
}
