/*-------------------------------------------------------------------------
 *
 * clause.c
 *	  Arguments that are a clause of a query, such as an ORDER BY list.
 *
 * The server's own parser reads the text, after a prefix that makes it a query of rows
 * that are known by name, and analyzes that.  The query must be the clause and nothing
 * else.  Its expressions are evaluated row by row, not by a plan, so there are no
 * subqueries, aggregates, window or set-returning functions.  Nor are there volatile
 * functions, since the result is to be the same each time.
 *
 * Everything is done as the current user, with that user's privileges.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/heap.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"

#include "compat.h"
#include "dedup/rows.h"

/*
 * the most items of a list: the sort by it has three columns more, for the group, the
 * row and the caller's number
 */
#define MAX_ITEMS	(MaxTupleAttributeNumber - 3)

/* Positions in the query are made to refer to the argument. */
static void
parse_context(void *arg)
{
	const ShDupClause *clause = arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(Max(position - (int) strlen(clause->prefix), 1));
		internalerrquery(clause->text);
	}
	switch (geterrcode())
	{
		case ERRCODE_SYNTAX_ERROR:
		case ERRCODE_DATATYPE_MISMATCH:
		case ERRCODE_UNDEFINED_TABLE:
		case ERRCODE_AMBIGUOUS_COLUMN:

			/*
			 * what is written for somebody who does not know what the rows
			 * are called
			 */
			errhint("%s", clause->hint);
			break;
		default:
			break;
	}
	errcontext("argument \"%s\"", clause->argument);
}

static void
evaluation_context(void *arg)
{
	const ShDupClause *clause = arg;

	errcontext("argument \"%s\": %s", clause->argument, clause->text);
}

static void
push_context(ErrorContextCallback *context, void (*callback) (void *arg),
			 const ShDupClause *clause)
{
	context->callback = callback;
	context->arg = unconstify(ShDupClause *, clause);
	context->previous = error_context_stack;
	error_context_stack = context;
}

/*
 * Until shdup_clause_stop, errors quote the argument.
 */
void
shdup_clause_start_evaluating(ErrorContextCallback *context, const ShDupClause *clause)
{
	push_context(context, evaluation_context, clause);
}

void
shdup_clause_stop(const ErrorContextCallback *context)
{
	error_context_stack = context->previous;
}

/*
 * Reject a list that could not be sorted by.  To analyze one takes time that grows with
 * the square of its length, and obeys no cancel.
 */
static void
refuse_many(const ShDupClause *clause, const List *items)
{
	if (list_length(items) > MAX_ITEMS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("\"%s\" has too many items", clause->argument),
				 errdetail("It has %d, and can have at most %d.",
						   list_length(items), (int) MAX_ITEMS)));
}

static void
report_refused(const ShDupClause *clause, int sqlstate, const char *refused)
{
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("%s are not allowed in \"%s\"", refused, clause->argument)));
}

/*
 * Reject lists within expressions that would take long to analyze, as of aggregate
 * functions and windows, and subqueries, which may have any.
 */
static bool
refuse_nested(Node *node, void *arg)
{
	const ShDupClause *clause = arg;

	if (node == NULL)
		return false;
	if (IsA(node, SelectStmt))
		report_refused(clause, ERRCODE_FEATURE_NOT_SUPPORTED, "subqueries");
	if (IsA(node, List) && IsA(linitial((List *) node), SortBy))
		refuse_many(clause, (List *) node);
	if (IsA(node, WindowDef))
		refuse_many(clause, castNode(WindowDef, node)->partitionClause);
	return raw_expression_tree_walker(node, refuse_nested, arg);
}

/*
 * Does a statement have more than a condition, or more than a list?
 */
static bool
has_more(const SelectStmt *statement)
{
	return statement->op != SETOP_NONE || statement->withClause != NULL ||
		statement->intoClause != NULL || statement->groupClause != NIL ||
		statement->havingClause != NULL || statement->windowClause != NIL ||
		statement->lockingClause != NIL || statement->limitOffset != NULL ||
		statement->limitCount != NULL ||
		(statement->whereClause != NULL) == (statement->sortClause != NIL);
}

/*
 * Parse the text, with the prefix, as a single statement.
 */
static Node *
parse_clause(ParseState *pstate, const ShDupClause *clause)
{
	List	   *statements;
	RawStmt    *statement;
	SelectStmt *select;

	pstate->p_sourcetext = psprintf("%s%s", clause->prefix, clause->text);
	statements = raw_parser(pstate->p_sourcetext, RAW_PARSE_DEFAULT);
	statement = linitial_node(RawStmt, statements);

	select = castNode(SelectStmt, statement->stmt);

	/* a semicolon; without one, the last statement has no length */
	if (list_length(statements) > 1 || statement->stmt_len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("\"%s\" must be %s and nothing else", clause->argument, clause->kind),
				 parser_errposition(pstate, statement->stmt_location + statement->stmt_len)));
	if (has_more(select))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("\"%s\" must be %s and nothing else", clause->argument, clause->kind)));
	(void) refuse_nested(select->whereClause, unconstify(ShDupClause *, clause));
	(void) refuse_nested((Node *) select->sortClause, unconstify(ShDupClause *, clause));
	return statement->stmt;
}

/*
 * Report an error if the clause cannot be evaluated for single rows.
 */
static void
check_clause(const ShDupClause *clause, Query *query)
{
	if (query->hasAggs)
		report_refused(clause, ERRCODE_GROUPING_ERROR, "aggregate functions");
	if (query->hasWindowFuncs)
		report_refused(clause, ERRCODE_WINDOWING_ERROR, "window functions");
	if (query->hasTargetSRFs)
		report_refused(clause, ERRCODE_FEATURE_NOT_SUPPORTED, "set-returning functions");
}

/*
 * Analyze the text as a clause of a query of rows of a table, which is open, one for each
 * of the names, which may be NULL for that of the table.  These have the range table
 * indexes from 1.
 *
 * Reports an error if the text is not such a clause, contains anything that is not
 * allowed, or names columns on which the current user lacks SELECT.
 */
Query *
shdup_clause_analyze(const ShDupClause *clause, Relation table, const List *names)
{
	ErrorContextCallback context;
	ParseState *pstate = make_parsestate(NULL);
	Node	   *statement;
	Query	   *query;
	ListCell   *cell;

	push_context(&context, parse_context, clause);
	statement = parse_clause(pstate, clause);
	foreach(cell, names)
	{
		Alias	   *alias = lfirst(cell) == NULL ? NULL : makeAlias(lfirst(cell), NIL);

		addNSItemToQuery(pstate, addRangeTableEntryForRelation(pstate, table, AccessShareLock,
															   alias, false, true),
						 true, true, true);
	}
	query = transformStmt(pstate, statement);
	check_clause(clause, query);
	shcompat_check_permissions(pstate);
	shdup_clause_stop(&context);
	free_parsestate(pstate);
	return query;
}

/*
 * Report an error if an expression has a system column that does not come with every row:
 * rows of partitions are converted, and some are copied.
 */
static void
check_system_columns(const ShDupClause *clause, Node *expression, int varno)
{
	Bitmapset  *columns = NULL;

	pull_varattnos(expression, varno, &columns);
	for (int i = -1; (i = bms_next_member(columns, i)) >= 0;)
	{
		AttrNumber	column = i + FirstLowInvalidHeapAttributeNumber;

		if (column < 0 && column != SelfItemPointerAttributeNumber && column != TableOidAttributeNumber)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("system column \"%s\" is not allowed in \"%s\"",
							NameStr(SystemAttributeDefinition(column)->attname), clause->argument),
					 errdetail("Of the system columns, only \"ctid\" and \"tableoid\" are.")));
	}
}

/*
 * Plan an expression of a clause, which refers to so many rows of a table.  Reports an
 * error if it cannot be evaluated with the same result each time: defaults of arguments
 * are not in it before.
 */
Expr *
shdup_clause_plan(const ShDupClause *clause, Relation table, int nrows, Node *expression)
{
	for (int varno = 1; varno <= nrows; varno++)
	{
		expression = shcompat_expand_generated_columns(expression, table, varno);
		check_system_columns(clause, expression, varno);
	}
	expression = (Node *) expression_planner((Expr *) expression);
	if (contain_volatile_functions(expression))
		report_refused(clause, ERRCODE_FEATURE_NOT_SUPPORTED, "volatile functions");
	return (Expr *) expression;
}
