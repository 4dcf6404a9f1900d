/*-------------------------------------------------------------------------
 *
 * rewriting.c
 *	  What may be rewritten at a level of a query.
 *
 * Above a grouping step an expression that equals a grouping expression is
 * not computed; its value is taken from the group, and is null in a grouping
 * set that lacks it.  The planner finds such expressions by comparing trees.
 * If we replaced one it would be computed from columns that need not be null;
 * and if we made one it would be taken from the group where it should not be.
 *
 * With a plain GROUP BY both give the same value.  With grouping sets they
 * do not, and nobody tells us which clause an expression stands in.  So there
 * we only rewrite what cannot contain, nor become, a grouping expression.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "compat.h"
#include "planner/rewriting.h"

static bool
is_not_built_in(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/*
 * Could the expression call a function of ours?  A function of somebody else
 * may be inlined, and call one then.
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
 * Which rewriting the level of the query allows that is being simplified.
 *
 * root is what a support function is told; NULL stands for an expression
 * outside of a query, such as that of an index or a constraint.
 */
ShPlanRewriting
shplan_rewriting(PlannerInfo *root)
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

		/* no rewriting replaces or makes these */
		if (IsA(expr, Var) || IsA(expr, PlaceHolderVar))
			continue;

		/*
		 * Of what is left only operators of the server can be made, and only
		 * a relabelling of a type, or what becomes one, can be replaced.
		 */
		if (may_call_ours(expr, NULL) ||
			IsA(expr, RelabelType) || IsA(expr, CoerceToDomain))
			return SHPLAN_NO_REWRITING;
		result = SHPLAN_OWN_FUNCTIONS;
	}
	return result;
}
