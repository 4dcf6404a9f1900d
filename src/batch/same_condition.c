/*-------------------------------------------------------------------------
 *
 * same_condition.c
 *	  The argument "same": a condition that says whether two rows are the same.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"

#include "batch/same_condition.h"
#include "compat.h"

static const ShBatchClause same_clause = {
	.argument = "same",
	.prefix = "SELECT WHERE ",
	.kind = "a condition",
	.hint = "Write what follows WHERE in a query of the rows a and b, such as 'simhash_jaccard(a.body, b.body) >= 0.8'."
};

/*
 * Get the condition of the query, which must have nothing else.
 */
static Node *
parse_condition(ParseState *pstate, const ShBatchClause *clause)
{
	SelectStmt *select = shbatch_clause_parse(pstate, clause);
	Node	   *condition = select->whereClause;

	select->whereClause = NULL;
	shbatch_clause_refuse_rest(pstate, clause, select);
	shbatch_clause_refuse_subqueries(pstate, clause, condition);
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
analyze_condition(ParseState *pstate, Relation table, const ShBatchClause *clause, Node *condition)
{
	Node	   *expression = transformExpr(pstate, condition, EXPR_KIND_OTHER);

	shbatch_clause_check(pstate, clause, expression);
	refuse_system_columns(expression, pstate);
	expression = coerce_to_boolean(pstate, expression, "\"same\"");
	assign_expr_collations(pstate, expression);
	expression = shcompat_expand_generated_columns(expression, table, SHBATCH_SAME_A);
	return shcompat_expand_generated_columns(expression, table, SHBATCH_SAME_B);
}

/*
 * Read the text of a condition on two rows of a table, which is open: a is the
 * row that is judged, b one that comes before it.
 *
 * Reports an error, with its position, if the text is not such a condition,
 * contains anything that is not allowed, or names columns on which the current
 * user lacks SELECT.  The text must live as long as the result.
 */
ShBatchSameCondition *
shbatch_parse_same(Relation table, const char *text)
{
	ErrorContextCallback context;
	ParseState *pstate = make_parsestate(NULL);
	ShBatchSameCondition *same = palloc(sizeof(ShBatchSameCondition));
	Node	   *condition;

	same->clause = same_clause;
	same->clause.text = text;

	shbatch_clause_start_parsing(&context, &same->clause);

	condition = parse_condition(pstate, &same->clause);
	add_row(pstate, table, "a");
	add_row(pstate, table, "b");
	same->expression = analyze_condition(pstate, table, &same->clause, condition);
	shcompat_check_permissions(pstate);

	shbatch_clause_stop(&context);
	free_parsestate(pstate);
	return same;
}
