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

#include "access/htup_details.h"
#include "catalog/partition.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parse_collate.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "dedup/progress.h"
#include "dedup/rows.h"
#include "index/sort.h"

/*
 * the most items: the sort has two columns more, for the row and the caller's
 * number
 */
#define MAX_KEEP_ITEMS	(MaxTupleAttributeNumber - 2)

/* items of the list; the expressions are those of rows of the table */
typedef struct KeepList
{
	ShDupClause clause;
	int			nitems;
	Node	  **expressions;
	Oid		   *operators;		/* "less than" of the order */
	Oid		   *collations;
	bool	   *nulls_first;
} KeepList;

static const ShDupClause keep_clause = {
	.argument = "keep",
	.prefix = "SELECT ORDER BY ",
	.kind = "an ORDER BY list",
	.hint = "Write what follows ORDER BY in a query, such as 'length(body) DESC, id'."
};

/*
 * Reject a list that could not be sorted by.  To analyze it takes time that
 * grows with the square of its length, and obeys no cancel.
 */
static void
refuse_many(const List *items)
{
	if (list_length(items) > MAX_KEEP_ITEMS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"keep\" has too many items"),
				 errdetail("It has %d, and can have at most %d.",
						   list_length(items), MAX_KEEP_ITEMS)));
}

/*
 * Get the sort items of the query, which must have nothing else.
 */
static List *
parse_list(ParseState *pstate, const ShDupClause *clause)
{
	SelectStmt *select = shdup_clause_parse(pstate, clause);
	List	   *items = select->sortClause;

	select->sortClause = NIL;
	shdup_clause_refuse_rest(pstate, clause, select);
	shdup_clause_refuse_subqueries(pstate, clause, (Node *) items);
	refuse_many(items);
	return items;
}

/*
 * Reject expressions that give no order.
 */
static void
refuse_no_order(ParseState *pstate, Node *expression)
{
	if (!contain_var_clause(expression))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an item of \"keep\" is the same for all rows"),
				 errhint("Name a column of the table.  A number does not stand for a column."),
				 parser_errposition(pstate, exprLocation(expression))));
}

/*
 * Analyze the items of the list.
 */
static void
analyze_list(ParseState *pstate, Relation table, KeepList *keep, List *items)
{
	List	   *targets = NIL;
	List	   *clauses;
	ListCell   *cell;

	clauses = transformSortClause(pstate, items, &targets, EXPR_KIND_ORDER_BY, true);

	keep->nitems = 0;
	keep->expressions = palloc(list_length(clauses) * sizeof(Node *));
	keep->operators = palloc(list_length(clauses) * sizeof(Oid));
	keep->collations = palloc(list_length(clauses) * sizeof(Oid));
	keep->nulls_first = palloc(list_length(clauses) * sizeof(bool));
	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, cell);
		Node	   *expression = get_sortgroupclause_expr(clause, targets);
		int			i = keep->nitems++;

		shdup_clause_check(pstate, &keep->clause, expression);
		refuse_no_order(pstate, expression);
		assign_expr_collations(pstate, expression);
		keep->collations[i] = exprCollation(expression);
		keep->operators[i] = clause->sortop;
		keep->nulls_first[i] = clause->nulls_first;
		keep->expressions[i] = shcompat_expand_generated_columns(expression, table, 1);
	}
}

/*
 * Read the text of an ORDER BY list over the columns of a table, which is open.
 *
 * Reports an error, with its position, if the text is not such a list,
 * contains anything that is not allowed, or names columns on which the current
 * user lacks SELECT.  The text must live as long as the result.
 */
static KeepList *
parse_keep(Relation table, const char *text)
{
	ErrorContextCallback context;
	ParseState *pstate = make_parsestate(NULL);
	KeepList   *keep = palloc(sizeof(KeepList));
	ParseNamespaceItem *item;
	List	   *items;

	keep->clause = keep_clause;
	keep->clause.text = text;

	shdup_clause_start_parsing(&context, &keep->clause);

	items = parse_list(pstate, &keep->clause);
	item = addRangeTableEntryForRelation(pstate, table, AccessShareLock, NULL, false, true);
	addNSItemToQuery(pstate, item, true, true, true);
	analyze_list(pstate, table, keep, items);
	shcompat_check_permissions(pstate);

	shdup_clause_stop(&context);
	free_parsestate(pstate);
	return keep;
}

struct ShDupOrder
{
	const ShDupHeaps *heaps;
	Snapshot	snapshot;
	const KeepList *keep;		/* NULL: by number only */

	/* values are the caller's numbers for the rows */
	ShIdxSort  *by_row;

	/* to evaluate the items of the list for rows of a table */
	const ShDupHeap *current;	/* NULL: the named one */
	EState	   *estate;
	ExprState **items;

	/* columns: items of the list, row, caller's number */
	Tuplesortstate *by_keep;
	TupleTableSlot *slot;
};

static Relation
named_table(const ShDupOrder *order)
{
	return order->heaps->sides[0].named.heap;
}

/*
 * The items of the list, for rows of a table; NULL: of the named one.
 */
static List *
items_for(const ShDupOrder *order, const ShDupHeap *heap)
{
	List	   *items = NIL;

	for (int i = 0; i < order->keep->nitems; i++)
		items = lappend(items, order->keep->expressions[i]);
	if (heap != NULL && heap->relation != named_table(order))
		items = map_partition_varattnos(items, 1, heap->relation, named_table(order));
	return items;
}

/*
 * Prepare to evaluate the items of the list for rows of a table or, with NULL,
 * only check whether they can be evaluated.
 */
static void
enter_ordered_heap(ShDupOrder *order, const ShDupHeap *heap)
{
	MemoryContext old;
	List	   *items;

	order->estate = CreateExecutorState();
	old = MemoryContextSwitchTo(order->estate->es_query_cxt);
	items = items_for(order, heap);
	order->items = palloc(order->keep->nitems * sizeof(ExprState *));
	for (int i = 0; i < order->keep->nitems; i++)
		order->items[i] = ExecPrepareExpr(list_nth(items, i), order->estate);
	MemoryContextSwitchTo(old);
	order->current = heap;
}

static void
try_items(ShDupOrder *order)
{
	enter_ordered_heap(order, NULL);
	FreeExecutorState(order->estate);
}

/* run an action with an error context that names the list */
static void
with_context(ShDupOrder *order, void (*action) (ShDupOrder *order))
{
	ErrorContextCallback context;

	shdup_clause_start_evaluating(&context, &order->keep->clause);
	action(order);
	shdup_clause_stop(&context);
}

/*
 * Begin to put rows in order: by the list in the text, if there is one, and
 * then by number.  The tables must be open until the end, and the snapshot registered
 * since before the rows were read from their indexes.
 *
 * Reports an error if the text is no such list (parse_keep), or if the current
 * user lacks EXECUTE on functions in it.
 */
ShDupOrder *
shdup_order_begin(const ShDupHeaps *heaps, Snapshot snapshot, const char *keep)
{
	ShDupOrder *order = palloc0(sizeof(ShDupOrder));

	order->heaps = heaps;
	order->snapshot = snapshot;
	order->by_row = shidx_sort_begin(maintenance_work_mem);
	if (keep != NULL)
	{
		order->keep = parse_keep(named_table(order), keep);
		with_context(order, try_items);
	}
	return order;
}

/*
 * Add a row that the snapshot sees, with the caller's number for it.
 */
void
shdup_order_add(ShDupOrder *order, ShPairsRow row, uint32 number)
{
	shidx_sort_add(order->by_row, row, number);
}

/*
 * Begin the sort by the list.
 */
static void
begin_by_keep(ShDupOrder *order)
{
	const KeepList *keep = order->keep;
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
										  TUPLESORT_RANDOMACCESS);
	order->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

/*
 * Evaluate the items of the list for all rows, which are sorted by table.
 */
static void
add_rows(ShDupOrder *order)
{
	const KeepList *keep = order->keep;
	TupleTableSlot *sorted = MakeSingleTupleTableSlot(order->slot->tts_tupleDescriptor,
													  &TTSOpsVirtual);
	ShDupRowReader reader;
	double		nread = 0;
	ShIdxSortItem item;

	shdup_reader_begin(&reader, order->heaps, order->snapshot);
	order->current = NULL;
	while (shidx_sort_next(order->by_row, &item))
	{
		ExprContext *context;

		CHECK_FOR_INTERRUPTS();
		shdup_read(&reader, item.key);
		if (reader.heap != order->current)
		{
			if (order->current != NULL)
				FreeExecutorState(order->estate);
			enter_ordered_heap(order, reader.heap);
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
		shdup_progress_entries(++nread);
	}

	if (order->current != NULL)
		FreeExecutorState(order->estate);
	shdup_reader_end(&reader);
	ExecDropSingleTupleTableSlot(sorted);
}

static void
sort_by_keep(ShDupOrder *order)
{
	begin_by_keep(order);
	add_rows(order);
	shidx_sort_end(order->by_row);
	order->by_row = NULL;
	tuplesort_performsort(order->by_keep);
}

/*
 * All rows have been added: sort them.  Runs the functions of the list.
 */
void
shdup_order_sort(ShDupOrder *order)
{
	/* with a scheme of one block, keys are not permuted */
	shidx_sort_start_table(order->by_row, &shbits_make_scheme(1, 0)->tables[0]);
	if (order->keep != NULL)
		with_context(order, sort_by_keep);
}

/*
 * Return the next row.  Returns false after the last.
 */
bool
shdup_order_next(ShDupOrder *order, ShPairsRow *row, uint32 *number)
{
	if (order->keep == NULL)
	{
		ShIdxSortItem item;

		if (!shidx_sort_next(order->by_row, &item))
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
 * Begin again before the first row.
 */
void
shdup_order_again(ShDupOrder *order)
{
	if (order->by_keep != NULL)
		tuplesort_rescan(order->by_keep);
	else
		shidx_sort_start_table(order->by_row, &shbits_make_scheme(1, 0)->tables[0]);
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
	pfree(order);
}
