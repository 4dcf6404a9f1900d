/*-------------------------------------------------------------------------
 *
 * keep_list.c
 *	  The argument "keep": an ORDER BY list that says which rows to keep.
 *
 * The server's own parser reads it, after a prefix that makes it a query.  The
 * parse tree must be that query and nothing else.  Then its items are analyzed
 * like those of a query of the table.  They are evaluated row by row, not by a
 * plan, so there are no subqueries, aggregates, window or set-returning
 * functions.  Nor are there volatile functions, since the result is to be the
 * same each time.
 *
 * Everything is done as the current user, with that user's privileges.
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
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"

#include "batch/keep_list.h"
#include "compat.h"

/* the prefix that makes the list a query */
static const char prefix[] = "SELECT ORDER BY ";

/*
 * Error context while the list is parsed: positions refer to the argument.
 */
static void
parse_context(void *text)
{
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(Max(position - (int) strlen(prefix), 1));
		internalerrquery(text);
	}
	if (geterrcode() == ERRCODE_SYNTAX_ERROR)
		errhint("Write what follows ORDER BY in a query, such as 'length(body) DESC, id'.");
	errcontext("argument \"keep\"");
}

/*
 * Error context while the items of the list are evaluated.
 */
void
shbatch_keep_context(void *keep)
{
	errcontext("argument \"keep\": %s", ((ShBatchKeepList *) keep)->text);
}

/*
 * Report that the text is more than a list, at a location in the query.
 */
static void
report_no_list(ParseState *pstate, int location)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("\"keep\" must be an ORDER BY list and nothing else"),
			 parser_errposition(pstate, location)));
}

/*
 * Get the sort items of the query, which must have nothing else.
 */
static List *
parse_list(ParseState *pstate)
{
	List	   *statements = raw_parser(pstate->p_sourcetext, RAW_PARSE_DEFAULT);
	RawStmt    *statement = linitial_node(RawStmt, statements);
	SelectStmt *select = (SelectStmt *) statement->stmt;
	List	   *items;

	/* a semicolon; without one, the last statement has no length */
	if (list_length(statements) > 1 || statement->stmt_len > 0)
		report_no_list(pstate, statement->stmt_location + statement->stmt_len);
	if (!IsA(select, SelectStmt))
		report_no_list(pstate, -1);
	if (select->limitOffset != NULL)
		report_no_list(pstate, exprLocation(select->limitOffset));
	if (select->limitCount != NULL)
		report_no_list(pstate, exprLocation(select->limitCount));

	items = select->sortClause;
	select->sortClause = NIL;
	if (items == NIL || !equal(select, makeNode(SelectStmt)))
		report_no_list(pstate, -1);
	return items;
}

/*
 * Reject a list that could not be sorted by.  To analyze it takes time that
 * grows with the square of its length, and obeys no cancel.
 */
static void
refuse_many(List *items)
{
	if (list_length(items) > SHBATCH_MAX_KEEP_ITEMS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"keep\" has too many items"),
				 errdetail("It has %d, and can have at most %d.",
						   list_length(items), SHBATCH_MAX_KEEP_ITEMS)));
}

/*
 * Reject subqueries.  Some forms, such as JSON_ARRAY(SELECT ...), are seen only
 * when they have been analyzed.
 */
static bool
refuse_subqueries(Node *node, void *pstate)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("subqueries are not allowed in \"keep\""),
				 parser_errposition(pstate, ((SubLink *) node)->location)));
	return expression_tree_walker(node, refuse_subqueries, pstate);
}

/*
 * Reject expressions that cannot be evaluated for a single row.
 */
static void
refuse_groups(ParseState *pstate, Node *expression)
{
	if (pstate->p_hasAggs && contain_aggs_of_level(expression, 0))
		ereport(ERROR,
				(errcode(ERRCODE_GROUPING_ERROR),
				 errmsg("aggregate functions are not allowed in \"keep\""),
				 parser_errposition(pstate, locate_agg_of_level(expression, 0))));
	if (pstate->p_hasWindowFuncs && contain_windowfuncs(expression))
		ereport(ERROR,
				(errcode(ERRCODE_WINDOWING_ERROR),
				 errmsg("window functions are not allowed in \"keep\""),
				 parser_errposition(pstate, locate_windowfunc(expression))));
	if (expression_returns_set(expression))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-returning functions are not allowed in \"keep\""),
				 parser_errposition(pstate, exprLocation(pstate->p_last_srf))));
}

/*
 * Reject expressions that give no order, or not the same one each time.
 */
static void
refuse_no_order(ParseState *pstate, Node *expression)
{
	if (contain_volatile_functions(expression))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("volatile functions are not allowed in \"keep\""),
				 parser_errposition(pstate, exprLocation(expression))));
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
static ShBatchKeepList *
analyze_list(ParseState *pstate, Relation table, const char *text, List *items)
{
	ShBatchKeepList *keep = palloc(sizeof(ShBatchKeepList));
	List	   *targets = NIL;
	List	   *clauses;
	ListCell   *cell;

	clauses = transformSortClause(pstate, items, &targets, EXPR_KIND_ORDER_BY, true);
	keep->text = text;

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

		(void) refuse_subqueries(expression, pstate);
		refuse_groups(pstate, expression);
		refuse_no_order(pstate, expression);
		assign_expr_collations(pstate, expression);
		keep->collations[i] = exprCollation(expression);
		keep->operators[i] = clause->sortop;
		keep->nulls_first[i] = clause->nulls_first;
		keep->expressions[i] = shcompat_expand_generated_columns(expression, table, 1);
	}
	return keep;
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
	ParseNamespaceItem *item;
	ShBatchKeepList *keep;
	List	   *items;

	context.callback = parse_context;
	context.arg = (void *) text;

	context.previous = error_context_stack;
	error_context_stack = &context;

	pstate->p_sourcetext = psprintf("%s%s", prefix, text);
	items = parse_list(pstate);
	refuse_many(items);
	item = addRangeTableEntryForRelation(pstate, table, AccessShareLock, NULL, false, true);
	addNSItemToQuery(pstate, item, true, true, true);
	keep = analyze_list(pstate, table, text, items);

	shcompat_check_permissions(pstate);
	error_context_stack = context.previous;
	free_parsestate(pstate);
	return keep;
}
