/*-------------------------------------------------------------------------
 *
 * clause.c
 *	  Arguments that are a clause of a query, such as an ORDER BY list.
 *
 * The server's own parser reads the text, after a prefix that makes it a query.
 * The parse tree must be that query and nothing else.  Then its expressions are
 * analyzed like those of a query of the table.  They are evaluated row by row,
 * not by a plan, so there are no subqueries, aggregates, window or
 * set-returning functions.  Nor are there volatile functions, since the result
 * is to be the same each time.
 *
 * Everything is done as the current user, with that user's privileges.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parser.h"
#include "rewrite/rewriteManip.h"

#include "dedup/rows.h"

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
 * Until shdup_clause_stop, errors name the argument and point into it.
 */
void
shdup_clause_start_parsing(ErrorContextCallback *context, const ShDupClause *clause)
{
	push_context(context, parse_context, clause);
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
 * Report that the text is more than the clause, at a location in the query.
 */
static void
report_rest(ParseState *pstate, const ShDupClause *clause, int location)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("\"%s\" must be %s and nothing else", clause->argument, clause->kind),
			 parser_errposition(pstate, location)));
}

/*
 * Parse the text.  The caller takes its clause out of the result, and then
 * calls shdup_clause_refuse_rest.
 */
SelectStmt *
shdup_clause_parse(ParseState *pstate, const ShDupClause *clause)
{
	List	   *statements;
	RawStmt    *statement;

	pstate->p_sourcetext = psprintf("%s%s", clause->prefix, clause->text);
	statements = raw_parser(pstate->p_sourcetext, RAW_PARSE_DEFAULT);
	statement = linitial_node(RawStmt, statements);

	/* a semicolon; without one, the last statement has no length */
	if (list_length(statements) > 1 || statement->stmt_len > 0)
		report_rest(pstate, clause, statement->stmt_location + statement->stmt_len);
	if (!IsA(statement->stmt, SelectStmt))
		report_rest(pstate, clause, -1);
	return (SelectStmt *) statement->stmt;
}

/*
 * Report an error unless a query is empty.
 */
void
shdup_clause_refuse_rest(ParseState *pstate, const ShDupClause *clause,
						 const SelectStmt *rest)
{
	if (rest->limitOffset != NULL)
		report_rest(pstate, clause, exprLocation(rest->limitOffset));
	if (rest->limitCount != NULL)
		report_rest(pstate, clause, exprLocation(rest->limitCount));
	if (!equal(rest, makeNode(SelectStmt)))
		report_rest(pstate, clause, -1);
}

static void
report_subquery(ParseState *pstate, const ShDupClause *clause, int location)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("subqueries are not allowed in \"%s\"", clause->argument),
			 parser_errposition(pstate, location)));
}

typedef struct SubqueryContext
{
	ParseState *pstate;
	const ShDupClause *clause;
} SubqueryContext;

static bool
refuse_raw_subqueries(Node *node, void *arg)
{
	SubqueryContext *context = arg;

	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		report_subquery(context->pstate, context->clause, ((SubLink *) node)->location);
	return raw_expression_tree_walker(node, refuse_raw_subqueries, arg);
}

/*
 * Report an error if there are subqueries in a raw parse tree: before analysis,
 * which would look up what is in them.  Some forms, such as
 * JSON_ARRAY(SELECT ...), are seen only afterwards, by shdup_clause_check.
 */
void
shdup_clause_refuse_subqueries(ParseState *pstate, const ShDupClause *clause, Node *raw)
{
	SubqueryContext context = {pstate, clause};

	refuse_raw_subqueries(raw, &context);
}

/*
 * Report an error if an expression cannot be evaluated for single rows, or not
 * with the same result each time.
 */
void
shdup_clause_check(ParseState *pstate, const ShDupClause *clause, Node *expression)
{
	if (pstate->p_hasSubLinks)
		report_subquery(pstate, clause, exprLocation(expression));
	if (pstate->p_hasAggs && contain_aggs_of_level(expression, 0))
		ereport(ERROR,
				(errcode(ERRCODE_GROUPING_ERROR),
				 errmsg("aggregate functions are not allowed in \"%s\"", clause->argument),
				 parser_errposition(pstate, locate_agg_of_level(expression, 0))));
	if (pstate->p_hasWindowFuncs && contain_windowfuncs(expression))
		ereport(ERROR,
				(errcode(ERRCODE_WINDOWING_ERROR),
				 errmsg("window functions are not allowed in \"%s\"", clause->argument),
				 parser_errposition(pstate, locate_windowfunc(expression))));
	if (expression_returns_set(expression))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-returning functions are not allowed in \"%s\"", clause->argument),
				 parser_errposition(pstate, exprLocation(pstate->p_last_srf))));
	if (contain_volatile_functions(expression))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("volatile functions are not allowed in \"%s\"", clause->argument),
				 parser_errposition(pstate, exprLocation(expression))));
}
