/*-------------------------------------------------------------------------
 *
 * keep_list.c
 *	  The argument "keep": an ORDER BY list that says which rows to keep.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parse_collate.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"

#include "batch/keep_list.h"
#include "compat.h"

static const ShBatchClause keep_clause = {
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
	if (list_length(items) > SHBATCH_MAX_KEEP_ITEMS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"keep\" has too many items"),
				 errdetail("It has %d, and can have at most %d.",
						   list_length(items), SHBATCH_MAX_KEEP_ITEMS)));
}

/*
 * Get the sort items of the query, which must have nothing else.
 */
static List *
parse_list(ParseState *pstate, const ShBatchClause *clause)
{
	SelectStmt *select = shbatch_clause_parse(pstate, clause);
	List	   *items = select->sortClause;

	select->sortClause = NIL;
	shbatch_clause_refuse_rest(pstate, clause, select);
	shbatch_clause_refuse_subqueries(pstate, clause, (Node *) items);
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
analyze_list(ParseState *pstate, Relation table, ShBatchKeepList *keep, List *items)
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

		shbatch_clause_check(pstate, &keep->clause, expression);
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
ShBatchKeepList *
shbatch_parse_keep(Relation table, const char *text)
{
	ErrorContextCallback context;
	ParseState *pstate = make_parsestate(NULL);
	ShBatchKeepList *keep = palloc(sizeof(ShBatchKeepList));
	ParseNamespaceItem *item;
	List	   *items;

	keep->clause = keep_clause;
	keep->clause.text = text;

	shbatch_clause_start_parsing(&context, &keep->clause);

	items = parse_list(pstate, &keep->clause);
	item = addRangeTableEntryForRelation(pstate, table, AccessShareLock, NULL, false, true);
	addNSItemToQuery(pstate, item, true, true, true);
	analyze_list(pstate, table, keep, items);
	shcompat_check_permissions(pstate);

	shbatch_clause_stop(&context);
	free_parsestate(pstate);
	return keep;
}
