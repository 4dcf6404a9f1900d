/*-------------------------------------------------------------------------
 *
 * rewriting.c
 *	  What may be rewritten at a level of a query.
 *
 * Above a grouping step an expression that equals a grouping expression is
 * not computed; its value is taken from the group, and is null in a grouping
 * set that lacks it.  The planner finds such expressions by comparing trees.
 * If we replaced one, it would be computed from columns that need not be null.
 * If we created one, it would be taken from the group where it should not be.
 *
 * With a plain GROUP BY both give the same value.  With grouping sets they do
 * not, and a support function is not told which clause an expression is part
 * of.  So at such a level we only rewrite expressions that can neither contain
 * nor become a grouping expression.
 *
 * The smallest change is to replace one of our comparisons by the server's own,
 * with operands that keep even their type.  Users cannot write that, so it
 * cannot become a grouping expression.  It is allowed unless a grouping
 * expression contains such a comparison; without it, a FULL JOIN on distances
 * would be an error.  Since 18 it is always allowed, because the parser replaces
 * grouping expressions by variables: so none can be replaced by us, though one
 * can still be created.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/rewriting.h"

static bool
is_not_built_in(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

static bool
is_volatile(Oid funcid, void *context)
{
	return func_volatile(funcid) == PROVOLATILE_VOLATILE;
}

static bool
calls_volatile(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return false;
	if (check_functions_in_node(node, is_volatile, context) || IsA(node, NextValueExpr))
		return true;
	return expression_tree_walker(node, calls_volatile, context);
}

/*
 * Does an expression call volatile functions, other than in subqueries?
 *
 * The planner compares trees of such expressions, too, but must not compute them
 * more or less often than they are written.  A subquery is different: it is
 * planned on its own, and if it does not depend on the row, it is a parameter by
 * the time that an index is chosen.
 */
bool
shplan_calls_volatile(Node *node)
{
	return calls_volatile(node, NULL);
}

/*
 * Could the expression call one of our functions?  Any function that is not
 * built in may be inlined, and then call one.
 */
static bool
may_call_ours(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	if (check_functions_in_node(node, is_not_built_in, context))
		return true;
	return expression_tree_walker(node, may_call_ours, context);
}

/*
 * Is the function one of our comparisons, or could a call of it become one, as
 * it is inlined or replaced by its support function?
 */
static bool
is_like_comparison(Oid funcid, void *context)
{
	const ShPlanCatalog *catalog = context;
	HeapTuple	tuple;
	Form_pg_proc proc;
	bool		result;

	if (funcid < FirstNormalObjectId ||
		shplan_type_of_hamming(catalog, funcid) != NULL ||
		shplan_type_of_within(catalog, funcid) != NULL)
		return false;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return true;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	result = proc->prolang == SQLlanguageId || OidIsValid(proc->prosupport);
	ReleaseSysCache(tuple);
	return result;
}

static bool
may_compare_distances(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	if (check_functions_in_node(node, is_like_comparison, context))
		return true;
	return expression_tree_walker(node, may_compare_distances, context);
}

/*
 * Which rewriting is allowed at the query level that is being simplified.
 *
 * root is that of the support request.  NULL stands for an expression outside
 * of a query, such as that of an index or a constraint.
 */
ShPlanRewriting
shplan_rewriting(PlannerInfo *root, const ShPlanCatalog *catalog)
{
	ShPlanRewriting result = SHPLAN_ANY_REWRITING;
	Query	   *parse;
	ListCell   *lc;

	if (root == NULL || root->parse->groupingSets == NIL)
		return SHPLAN_ANY_REWRITING;

	parse = root->parse;
	foreach(lc, parse->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(lfirst(lc),
												   parse->targetList);
		Node	   *expr = shcompat_grouping_expression(parse,
														(Node *) tle->expr);

		/* no rewriting replaces or creates these */
		if (IsA(expr, Var) || IsA(expr, PlaceHolderVar))
			continue;

		/*
		 * Of the remaining rewritings, only the server's operators can be
		 * created, and only a RelabelType, or what becomes one, can be
		 * replaced.
		 */
		if (!shcompat_groups_by_variables(parse) &&
			may_compare_distances(expr, unconstify(ShPlanCatalog *, catalog)))
			return SHPLAN_NO_REWRITING;
		if (may_call_ours(expr, NULL) ||
			IsA(expr, RelabelType) || IsA(expr, CoerceToDomain))
			result = SHPLAN_BARE_COMPARISONS;
		else
			result = Min(result, SHPLAN_OWN_FUNCTIONS);
	}
	return result;
}
