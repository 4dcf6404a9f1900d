/*-------------------------------------------------------------------------
 *
 * support.c
 *	  Planner support: turning distance comparisons into index conditions.
 *
 * The planner considers an index only for clauses whose operator has the
 * indexed column itself as an operand, which "(fp <~> q) <= 3" does not have.
 * So this takes two steps.  The comparison of a distance with a number is
 * simplified to simhash_within(fp, q, 3), whether or not there is an index
 * (comparison.c); and simhash_within is offered to an index on either of its
 * fingerprints as fp <@ ball, where the ball must be known before the scan
 * starts.
 *
 * Both steps are exact, for nulls and for every radius.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/catalog.h"
#include "planner/comparison.h"
#include "planner/selectivity.h"

PG_FUNCTION_INFO_V1(simhash_hamming_support);
PG_FUNCTION_INFO_V1(simhash_distance_support);
PG_FUNCTION_INFO_V1(simhash_within_support);

/*
 * Make the ball of a center and a radius: a constant if both are constants, so
 * that plans show it as one.  NULL for a null constant.
 */
static Expr *
make_ball(const ShPlanType *type, Node *center, Node *radius)
{
	Node	   *ball;

	ball = (Node *) makeFuncExpr(type->make_ball, type->ball_type,
								 list_make2(copyObject(center),
											copyObject(radius)),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
	if (IsA(center, Const) && IsA(radius, Const))
		ball = eval_const_expressions(NULL, ball);
	if (IsA(ball, Const) && ((Const *) ball)->constisnull)
		return NULL;
	return (Expr *) ball;
}

/*
 * The index condition for a call of simhash_within: NIL if there is none.
 */
static List *
make_index_condition(const ShPlanCatalog *catalog,
					 SupportRequestIndexCondition *request)
{
	const ShPlanType *type = shplan_type_of_within(catalog, request->funcid);
	List	   *args;
	Node	   *column;
	Node	   *center;
	Node	   *radius;
	Expr	   *ball;

	if (type == NULL || !IsA(request->node, FuncExpr))
		return NIL;
	args = ((FuncExpr *) request->node)->args;
	if (list_length(args) != 3 ||
		request->indexarg < 0 || request->indexarg > 1)
		return NIL;
	if (!op_in_opfamily(type->in_ball_operator, request->opfamily))
		return NIL;

	/* columns before the fingerprint support equality only */
	if (request->indexcol != request->index->nkeycolumns - 1)
		return NIL;

	column = (Node *) list_nth(args, request->indexarg);
	center = (Node *) list_nth(args, 1 - request->indexarg);
	radius = (Node *) lthird(args);
	if (!is_pseudo_constant_for_index(request->root, center, request->index) ||
		!is_pseudo_constant_for_index(request->root, radius, request->index))
		return NIL;

	ball = make_ball(type, center, radius);
	if (ball == NULL)
		return NIL;

	request->lossy = false;
	return list_make1(make_opclause(type->in_ball_operator, BOOLOID, false,
									(Expr *) copyObject(column), ball,
									InvalidOid, request->indexcollation));
}

/*
 * Replace hamming() by the operator that an index can order by, with a
 * RelabelType on top, so that the type does not change.  The planner removes
 * the RelabelType when it makes a sort key of the expression.
 */
static Node *
make_order_distance(PlannerInfo *root, const ShPlanCatalog *catalog,
					FuncExpr *call)
{
	const ShPlanType *type = shplan_type_of_hamming(catalog, call->funcid);
	Expr	   *distance;

	if (type == NULL || call->funcid != type->hamming || list_length(call->args) != 2)
		return NULL;

	/* an index could not be used with these, and they must not be moved */
	if (shplan_calls_volatile((Node *) call->args))
		return NULL;

	distance = make_opclause(type->order_operator, INT4OID, false,
							 copyObject(linitial(call->args)),
							 copyObject(lsecond(call->args)),
							 InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) distance);
	return (Node *) makeRelabelType(distance, call->funcresulttype, -1, InvalidOid,
									COERCE_IMPLICIT_CAST);
}

/*
 * May expressions be replaced at the query level that is being simplified?
 *
 * Above a grouping step an expression that equals a grouping expression is
 * taken from the group, and is null in a grouping set that lacks it.  The
 * planner finds such expressions by comparing trees, so one that we replace
 * would be computed anew, and one that we create might be taken from the group.
 * Where there is one group for each row both give the same value.  With
 * grouping sets they do not, unless these consist of columns, which nothing is
 * replaced by.
 *
 * root is NULL for an expression outside of a query, such as that of an index.
 */
static bool
may_rewrite(PlannerInfo *root)
{
	ListCell   *lc;

	if (root == NULL || root->parse->groupingSets == NIL)
		return true;
	foreach(lc, root->parse->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(lfirst(lc), root->parse->targetList);
		Node	   *expr = shcompat_grouping_expression(root->parse, (Node *) tle->expr);

		if (!IsA(expr, Var) && !IsA(expr, PlaceHolderVar))
			return false;
	}
	return true;
}

/*
 * Answer a simplification request by one of the functions for that; NULL for
 * any other request.
 */
static Node *
simplify(FunctionCallInfo fcinfo,
		 Node *(*make) (PlannerInfo *root, const ShPlanCatalog *catalog, FuncExpr *call))
{
	Node	   *raw_request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestSimplify *request = (SupportRequestSimplify *) raw_request;
	ShPlanCatalog catalog;

	if (!IsA(raw_request, SupportRequestSimplify) ||
		!shplan_catalog(fcinfo->flinfo->fn_oid, &catalog))
		return NULL;

	/* without an answer, the server would inline what is written in SQL */
	if (!may_rewrite(request->root))
		return (Node *) copyObject(request->fcall);
	return make(request->root, &catalog, request->fcall);
}

/*
 * Support function of hamming().
 */
Datum
simhash_hamming_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(simplify(fcinfo, make_order_distance));
}

/*
 * Support function of the comparisons with a distance.
 */
Datum
simhash_distance_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(simplify(fcinfo, shplan_simplify_comparison));
}

/*
 * Support function of simhash_within.
 */
Datum
simhash_within_support(PG_FUNCTION_ARGS)
{
	Node	   *raw_request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;
	ShPlanCatalog catalog;

	if (IsA(raw_request, SupportRequestIndexCondition))
	{
		if (shplan_catalog(fcinfo->flinfo->fn_oid, &catalog))
			result = (Node *)
				make_index_condition(&catalog,
									 (SupportRequestIndexCondition *) raw_request);
	}
	else if (IsA(raw_request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *request =
			(SupportRequestSelectivity *) raw_request;

		if (shplan_catalog(fcinfo->flinfo->fn_oid, &catalog) &&
			shplan_type_of_within(&catalog, request->funcid) != NULL)
		{
			if (request->is_join)
				request->selectivity =
					shplan_join_selectivity(request->root, &catalog, InvalidOid,
											request->funcid, request->args,
											request->jointype,
											request->sjinfo);
			else
				request->selectivity =
					shplan_restriction_selectivity(request->root, &catalog,
												   InvalidOid, request->funcid,
												   request->args,
												   request->varRelid);
			result = (Node *) request;
		}
	}

	PG_RETURN_POINTER(result);
}
