/*-------------------------------------------------------------------------
 *
 * same_check.c
 *	  Checking pairs of rows by the condition "same".
 *
 * A row is checked against one candidate after the other.  Its values are read
 * from the table once for all of them, and values stored out of line or
 * compressed are also fetched only once.  The condition refers to the columns of
 * the named table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"

#include "batch/checked_row.h"
#include "batch/same_check.h"
#include "compat.h"
#include "rows/clause.h"

/* range table indexes of the two rows in the condition */
#define SAME_A		1
#define SAME_B		2

typedef struct SameCondition
{
	ShRowsClause clause;
	Node	   *expression;		/* of rows of the named table */
} SameCondition;

static const ShRowsClause same_clause = {
	.argument = "same",
	.prefix = "SELECT WHERE ",
	.kind = "a condition",
	.hint = "Write what follows WHERE in a query of the rows a and b, such as 'simhash_jaccard(a.body, b.body) >= 0.8'."
};

/*
 * Get the condition of the query, which must have nothing else.
 */
static Node *
parse_condition(ParseState *pstate, const ShRowsClause *clause)
{
	SelectStmt *select = shrows_clause_parse(pstate, clause);
	Node	   *condition = select->whereClause;

	select->whereClause = NULL;
	shrows_clause_refuse_rest(pstate, clause, select);
	shrows_clause_refuse_subqueries(pstate, clause, condition);
	return condition;
}

/*
 * Reject system columns that rows lose when they are converted to those of a
 * partitioned table.
 */
static bool
refuse_system_columns(Node *node, void *pstate)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varattno < 0 && var->varattno != SelfItemPointerAttributeNumber &&
			var->varattno != TableOidAttributeNumber)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("system columns other than ctid and tableoid are not allowed in \"same\""),
					 parser_errposition(pstate, var->location)));
	}
	return expression_tree_walker(node, refuse_system_columns, pstate);
}

static void
add_row(ParseState *pstate, Relation table, const char *name)
{
	ParseNamespaceItem *item = addRangeTableEntryForRelation(pstate, table, AccessShareLock,
															 makeAlias(name, NIL), false, true);

	addNSItemToQuery(pstate, item, false, true, true);
}

static Node *
analyze_condition(ParseState *pstate, Relation table, const ShRowsClause *clause, Node *condition)
{
	Node	   *expression = transformExpr(pstate, condition, EXPR_KIND_OTHER);

	shrows_clause_check(pstate, clause, expression);
	refuse_system_columns(expression, pstate);
	expression = coerce_to_boolean(pstate, expression, "\"same\"");
	assign_expr_collations(pstate, expression);
	expression = shcompat_expand_generated_columns(expression, table, SAME_A);
	return shcompat_expand_generated_columns(expression, table, SAME_B);
}

/*
 * Read the text of a condition on two rows of a table, which is open: a is the
 * row that is judged, b one that comes before it.
 *
 * Reports an error, with its position, if the text is not such a condition,
 * contains anything that is not allowed, or names columns on which the current
 * user lacks SELECT.  The text must live as long as the result.
 */
static SameCondition *
parse_same(Relation table, const char *text)
{
	ErrorContextCallback context;
	ParseState *pstate = make_parsestate(NULL);
	SameCondition *same = palloc(sizeof(SameCondition));
	Node	   *condition;

	same->clause = same_clause;
	same->clause.text = text;

	shrows_clause_start_parsing(&context, &same->clause);

	condition = parse_condition(pstate, &same->clause);
	add_row(pstate, table, "a");
	add_row(pstate, table, "b");
	same->expression = analyze_condition(pstate, table, &same->clause, condition);
	shcompat_check_permissions(pstate);

	shrows_clause_stop(&context);
	free_parsestate(pstate);
	return same;
}

/* in place of the number of a row: none has been read */
#define NO_ROW		PG_UINT64_MAX

typedef struct SameCheck
{
	ShBatchRowCheck base;
	const SameCondition *same;
	TupleDesc	desc;			/* of the named table */
	EState	   *estate;
	ExprState  *condition;
	ShBatchCheckedRow a;
	ShBatchCheckedRow b;

	/* row a, with the values that the condition needs */
	ShRowsNumber row;
	Bitmapset  *columns;		/* numbers from 0 */
	TupleTableSlot *values;
	MemoryContext context;		/* of fetched values */
} SameCheck;

/*
 * Prepare the condition.  Reports an error if the current user lacks EXECUTE
 * on functions in it.
 */
static void
prepare_condition(SameCheck *check)
{
	ErrorContextCallback context;
	Expr	   *expression;
	MemoryContext old;

	shrows_clause_start_evaluating(&context, &check->same->clause);
	old = MemoryContextSwitchTo(check->estate->es_query_cxt);
	expression = expression_planner((Expr *) copyObject(check->same->expression));
	ChangeVarNodes((Node *) expression, SAME_A, OUTER_VAR, 0);
	ChangeVarNodes((Node *) expression, SAME_B, INNER_VAR, 0);
	check->condition = ExecInitExpr(expression, NULL);
	MemoryContextSwitchTo(old);
	shrows_clause_stop(&context);
}

/*
 * Find the columns of row a that the condition needs.
 */
static void
find_columns(SameCheck *check)
{
	Bitmapset  *offset = NULL;
	int			column = -1;

	pull_varattnos(check->same->expression, SAME_A, &offset);
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
 * Read row a, with the values that the condition needs.
 */
static void
read_a(SameCheck *check, ShRowsNumber row)
{
	TupleTableSlot *slot = shbatch_checked_row_read(&check->a, row);
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

		if (!values->tts_isnull[column])
			value = shbatch_plain_value(value, TupleDescAttr(check->desc, column)->attlen);
		values->tts_values[column] = value;
	}
	MemoryContextSwitchTo(old);
	ExecStoreVirtualTuple(values);
	values->tts_tableOid = slot->tts_tableOid;
	values->tts_tid = slot->tts_tid;
	check->row = row;
}

/*
 * Does the condition hold for rows a and b?  Null counts as false.
 *
 * Runs functions of the condition, as the current user.
 */
static bool
holds(ShBatchRowCheck *base, ShRowsNumber a, ShRowsNumber b)
{
	SameCheck  *check = (SameCheck *) base;
	ErrorContextCallback error_context;
	ExprContext *context = GetPerTupleExprContext(check->estate);
	bool		isnull;
	bool		result;

	shrows_clause_start_evaluating(&error_context, &check->same->clause);
	if (a != check->row)
		read_a(check, a);
	context->ecxt_outertuple = check->values;
	context->ecxt_innertuple = shbatch_checked_row_read(&check->b, b);
	result = DatumGetBool(ExecEvalExprSwitchContext(check->condition, context, &isnull)) &&
		!isnull;
	ResetExprContext(context);
	shrows_clause_stop(&error_context);
	return result;
}

static void
end(ShBatchRowCheck *base)
{
	SameCheck  *check = (SameCheck *) base;

	shbatch_checked_row_end(&check->a);
	shbatch_checked_row_end(&check->b);
	ExecDropSingleTupleTableSlot(check->values);
	MemoryContextDelete(check->context);
	FreeExecutorState(check->estate);
	pfree(check);
}

/*
 * Begin to check rows of the tables, which must be open until the end, by the
 * condition in the text.  The snapshot must be registered since before the rows
 * were read from their indexes.
 */
ShBatchRowCheck *
shbatch_same_check_begin(const ShRowsHeaps *heaps, Snapshot snapshot, const char *text)
{
	Relation	named = heaps->sides[0].named.heap;
	SameCheck  *check = palloc0(sizeof(SameCheck));

	check->base.holds = holds;
	check->base.end = end;
	check->same = parse_same(named, text);
	check->desc = RelationGetDescr(named);
	check->estate = CreateExecutorState();
	prepare_condition(check);
	find_columns(check);
	shbatch_checked_row_begin(&check->a, heaps, 0, snapshot);
	shbatch_checked_row_begin(&check->b, heaps, 0, snapshot);
	check->row = NO_ROW;
	check->values = MakeSingleTupleTableSlot(check->desc, &TTSOpsVirtual);
	check->context = AllocSetContextCreate(CurrentMemoryContext, "simhash row to check",
										   ALLOCSET_DEFAULT_SIZES);
	return &check->base;
}
