/*-------------------------------------------------------------------------
 *
 * support.c
 *	  Planner support: turning distance comparisons into index conditions.
 *
 * The planner considers an index only for clauses whose operator has the
 * indexed column itself as an operand, which "(fp <~> q) <= 3" does not have.
 * So this takes two steps.  The comparison of a distance with a number, which is
 * an operator of our own, is simplified to simhash_within(fp, q, 3), whether or not
 * there is an index; and simhash_within is offered to an index on either of its
 * fingerprints as fp <@ ball, where the ball must be known before the scan starts:
 *
 *		d <= r		within(r)
 *		d < r		within(r - 1)
 *		d = r		within(r) and not within(r - 1)
 *
 * simhash_similar(body, q, .6) of documents is offered in the same way, as body =~@ ball,
 * and remains as a filter.
 *
 * If r is not a constant, simhash_radius() brings it into range.  Any other distance,
 * and one that has a bound from below, is an ordinary number, and is compared by the
 * server's own operator, so that btree indexes, hash and merge joins, and partition
 * pruning can be used.  So the extension has operators for bounds from above only, and
 * for two distances those from below as well, which are what a bound without a type
 * gets.
 *
 * All is exact, for nulls and for every radius.
 *
 * A call is replaced only if the current user may execute the function that is
 * called and each one that takes its place, as the server does where it inlines a
 * function.  Otherwise the call stays, and the executor says what is missing.  A
 * plan depends on the functions that are gone from it, so REVOKE makes a new one.
 * As with inlined functions, GRANT of what would take their place does not, and
 * another role that uses the same plan is only asked for the privileges on what is in
 * it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "bits/distance.h"
#include "compat.h"
#include "index/index.h"
#include "planner/catalog.h"

PG_FUNCTION_INFO_V1(simhash_hamming_support);
PG_FUNCTION_INFO_V1(simhash_distance_support);
PG_FUNCTION_INFO_V1(simhash_within_support);

/* A comparison; at least one of the operands has the type of a distance. */
typedef struct Comparison
{
	StrategyNumber strategy;	/* of btree */
	Oid			types[2];
	Node	   *operands[2];
} Comparison;

static bool
may_execute(Oid function)
{
	return shcompat_may_execute(function, GetUserId());
}

/*
 * Let the plan depend on a function.  The server adds a record for each call, such as for
 * each partition of a table, which would make plans large.
 */
static void
depend_on(PlannerInfo *root, Oid function)
{
	uint32		hash = GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(function));
	ListCell   *lc;

	foreach(lc, root->glob->invalItems)
	{
		PlanInvalItem *item = lfirst_node(PlanInvalItem, lc);

		if (item->cacheId == PROCOID && item->hashValue == hash)
			return;
	}
	record_plan_function_dependency(root, function);
}

/*
 * Analyze the call of a comparison.
 *
 * Returns false if the function is not one of ours.
 */
static bool
get_comparison(const ShPlanCatalog *catalog, FuncExpr *call, Comparison *c)
{
	static const struct
	{
		const char *name;
		StrategyNumber strategy;
	}			functions[] = {
		{"simhash_distance_lt", BTLessStrategyNumber},
		{"simhash_distance_le", BTLessEqualStrategyNumber},
		{"simhash_distance_eq", BTEqualStrategyNumber},
		{"simhash_distance_ge", BTGreaterEqualStrategyNumber},
		{"simhash_distance_gt", BTGreaterStrategyNumber},
	};
	char	   *name = get_func_name(call->funcid);
	Oid		   *types;
	int			ntypes;

	/*
	 * Only a superuser can give a function this support function; the schema
	 * is compared in case one did so to a function that is not ours.
	 */
	if (name == NULL || get_func_namespace(call->funcid) != catalog->schema ||
		get_func_support(call->funcid) != catalog->distance_support)
		return false;
	get_func_signature(call->funcid, &types, &ntypes);
	if (ntypes != 2 || list_length(call->args) != 2)
		return false;
	for (int i = 0; i < 2; i++)
	{
		c->types[i] = types[i];
		c->operands[i] = list_nth(call->args, i);
	}
	for (int i = 0; i < lengthof(functions); i++)
	{
		if (strcmp(name, functions[i].name) == 0)
		{
			c->strategy = functions[i].strategy;
			return true;
		}
	}
	return false;
}

static bool
is_volatile(Oid funcid, void *context)
{
	return func_volatile(funcid) == PROVOLATILE_VOLATILE;
}

/*
 * Does an expression call volatile functions, other than in subqueries?
 *
 * Such expressions must not be computed more or less often than they are written.
 * A subquery is different: it is planned on its own, and if it does not depend on
 * the row, it is a parameter by the time that an index is chosen.
 */
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
 * The arguments of hamming(), if the node calls it, or is what such a call has
 * become; otherwise NIL.  Sets *type to what there is for their type, and *function
 * to what is called.
 */
static List *
get_hamming_args(const ShPlanCatalog *catalog, Node *node, const ShPlanType **type, Oid *function)
{
	List	   *args;

	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;

	if (IsA(node, FuncExpr))
	{
		*function = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
	}
	else if (IsA(node, OpExpr))
	{
		set_opfuncid((OpExpr *) node);
		*function = ((OpExpr *) node)->opfuncid;
		args = ((OpExpr *) node)->args;
	}
	else
		return NIL;

	*type = shplan_type_of_hamming(catalog, *function);
	if (*type == NULL || list_length(args) != 2)
		return NIL;
	return args;
}

/*
 * A distance as an int2, without unnecessary RelabelType nodes, as in
 * expressions that the planner itself simplifies.
 */
static Expr *
make_smallint(Node *distance)
{
	return (Expr *) applyRelabelType(copyObject(distance), INT2OID, -1,
									 InvalidOid, COERCE_IMPLICIT_CAST, -1,
									 false);
}

/*
 * A bound as a bigint; NULL if its type is not supported, or the user may not convert it.
 */
static Expr *
make_bigint(Node *bound, Oid type)
{
	Oid			function = type == INT2OID ? F_INT8_INT2 : F_INT8_INT4;

	if (type == INT8OID)
		return (Expr *) copyObject(bound);
	if ((type != INT2OID && type != INT4OID) || !may_execute(function))
		return NULL;
	return (Expr *) makeFuncExpr(function, INT8OID, list_make1(copyObject(bound)),
								 InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
}

/*
 * Make an int4 expression for the radius that contains the distances <= bound,
 * or < bound if strict.  It is null if and only if the bound is null, and a
 * constant if the bound is a constant.
 *
 * Returns NULL if the type of the bound is not supported, or the user may not
 * execute simhash_radius().
 */
static Expr *
make_radius(const ShPlanCatalog *catalog, const ShPlanType *fp_type, Node *bound, Oid type,
			bool strict)
{
	Expr	   *large;
	Expr	   *radius;

	if (type == catalog->distance_type)
	{
		bound = (Node *) make_smallint(bound);
		type = INT2OID;
	}
	if (type == INT4OID && !strict && !IsA(bound, Const))
		return (Expr *) copyObject(bound);

	large = make_bigint(bound, type);
	if (large == NULL || !may_execute(catalog->radius))
		return NULL;
	radius = (Expr *) makeFuncExpr(catalog->radius, INT4OID,
								   list_make2(large, makeBoolConst(strict, false)),
								   InvalidOid, InvalidOid,
								   COERCE_EXPLICIT_CALL);
	if (IsA(bound, Const))
	{
		radius = (Expr *) eval_const_expressions(NULL, (Node *) radius);

		/* no distance of 64 bits is larger; a null is 0 here */
		if (IsA(radius, Const) && fp_type == &catalog->simhash)
		{
			Const	   *value = (Const *) radius;

			value->constvalue = Int32GetDatum(Min(DatumGetInt32(value->constvalue), SHBITS_WIDTH));
		}
	}
	return radius;
}

static Expr *
make_within(const ShPlanType *type, List *fingerprints, Expr *radius)
{
	/* copies, since the planner may still use the original tree */
	return (Expr *) makeFuncExpr(type->within, BOOLOID,
								 list_make3(copyObject(linitial(fingerprints)),
											copyObject(lsecond(fingerprints)),
											radius),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

static bool
is_sublink_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_SUBLINK;
	return expression_tree_walker(node, is_sublink_param, context);
}

/*
 * Could distance = bound be the condition of a hash or merge join, or of a
 * hashed subplan?
 */
static bool
joins_relations(PlannerInfo *root, Node *distance, Node *bound)
{
	Relids		left;
	Relids		right;

	if (is_sublink_param(bound, NULL))
		return true;
	left = pull_varnos(root, distance);
	right = pull_varnos(root, bound);
	return !bms_is_empty(left) && !bms_is_empty(right) &&
		!bms_overlap(left, right);
}

/*
 * An equivalent of distance = bound that an index can serve, or NULL.
 */
static Expr *
make_equal(PlannerInfo *root, const ShPlanCatalog *catalog, const ShPlanType *fp_type,
		   List *fingerprints, Node *bound, Oid type)
{
	Expr	   *radius;
	Expr	   *smaller;

	/*
	 * Rows within the radius evaluate the operands twice.  Even if these are
	 * expensive that is better than to go without the index.
	 */
	if (contain_volatile_functions(bound) || contain_subplans(bound) ||
		contain_subplans((Node *) fingerprints))
		return NULL;
	if (joins_relations(root, (Node *) fingerprints, bound))
		return NULL;

	radius = make_radius(catalog, fp_type, bound, type, false);
	smaller = make_radius(catalog, fp_type, bound, type, true);
	if (radius == NULL || smaller == NULL)
		return NULL;

	if (IsA(radius, Const) && IsA(smaller, Const))
	{
		int32		r = DatumGetInt32(((Const *) radius)->constvalue);
		int32		s = DatumGetInt32(((Const *) smaller)->constvalue);

		/* no distance equals the bound; an empty ball gives the right nulls */
		if (r == s)
			return make_within(fp_type, fingerprints,
							   (Expr *) makeConst(INT4OID, -1, InvalidOid,
												  sizeof(int32),
												  Int32GetDatum(-1),
												  false, true));
		if (s < 0)
			return make_within(fp_type, fingerprints, radius);
	}
	return make_andclause(list_make2(make_within(fp_type, fingerprints, radius),
									 make_notclause(make_within(fp_type,
																fingerprints,
																smaller))));
}

/*
 * Turn the comparison into simhash_within, if the operand on the given side is
 * a call of hamming that has a bound from above; otherwise NULL.
 */
static Expr *
make_near_comparison(PlannerInfo *root, const ShPlanCatalog *catalog,
					 const Comparison *c, int side)
{
	Node	   *bound = c->operands[1 - side];
	Oid			type = c->types[1 - side];
	StrategyNumber strategy;
	const ShPlanType *fp_type;
	Oid			function;
	List	   *fingerprints;
	Expr	   *radius;

	/* as if the distance were written first */
	strategy = side == 0 ? c->strategy : BTMaxStrategyNumber + 1 - c->strategy;
	if (c->types[side] != catalog->distance_type || strategy > BTEqualStrategyNumber)
		return NULL;
	fingerprints = get_hamming_args(catalog, c->operands[side], &fp_type, &function);
	if (fingerprints == NIL || !may_execute(function) || !may_execute(fp_type->within))
		return NULL;

	/* an index could not be used with these, and they must not be moved */
	if (calls_volatile((Node *) fingerprints, NULL))
		return NULL;

	if (root != NULL)
		depend_on(root, function);

	if (strategy == BTEqualStrategyNumber)
		return make_equal(root, catalog, fp_type, fingerprints, bound, type);

	radius = make_radius(catalog, fp_type, bound, type, strategy == BTLessStrategyNumber);
	if (radius == NULL)
		return NULL;
	return make_within(fp_type, fingerprints, radius);
}

/*
 * Make the comparison by the server's own operator.
 */
static Expr *
make_plain_comparison(const ShPlanCatalog *catalog, const Comparison *c)
{
	Oid			bound_type = INT2OID;
	Oid			types[2];
	Expr	   *operands[2];
	Oid			operator;
	OpExpr	   *result;

	for (int i = 0; i < 2; i++)
	{
		if (c->types[i] != catalog->distance_type)
			bound_type = c->types[i];
	}
	for (int i = 0; i < 2; i++)
	{
		types[i] = c->types[i];
		if (types[i] != catalog->distance_type)
		{
			operands[i] = (Expr *) copyObject(c->operands[i]);
			continue;
		}
		types[i] = INT2OID;
		operands[i] = make_smallint(c->operands[i]);
	}

	operator = get_opfamily_member(lookup_type_cache(bound_type,
													 TYPECACHE_BTREE_OPFAMILY)->btree_opf,
								   types[0], types[1], c->strategy);
	if (!OidIsValid(operator) || !may_execute(get_opcode(operator)))
		return NULL;
	result = (OpExpr *) make_opclause(operator, BOOLOID, false,
									  operands[0], operands[1],
									  InvalidOid, InvalidOid);
	set_opfuncid(result);
	return (Expr *) result;
}

/*
 * Simplify the call of a comparison with a distance; NULL to leave it to the server.
 */
static Node *
simplify_comparison(PlannerInfo *root, const ShPlanCatalog *catalog, FuncExpr *call)
{
	Comparison	c;
	Expr	   *result;

	if (!get_comparison(catalog, call, &c))
		return NULL;

	result = make_near_comparison(root, catalog, &c, 0);
	if (result == NULL)
		result = make_near_comparison(root, catalog, &c, 1);
	if (result == NULL)
		result = make_plain_comparison(catalog, &c);
	return (Node *) result;
}

/*
 * Make the ball of a center and a radius: a constant if both are constants, so
 * that plans show it as one.
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
	return (Expr *) ball;
}

/*
 * The index condition for a call of simhash_within or simhash_similar: NIL if there is
 * none.
 */
static List *
make_index_condition(const ShPlanCatalog *catalog,
					 SupportRequestIndexCondition *request)
{
	const ShPlanType *documents = shplan_type_of_documents(catalog, request->funcid);
	const ShPlanType *type = documents != NULL ? documents :
		shplan_type_of_within(catalog, request->funcid);
	List	   *args;
	Node	   *column;
	Node	   *center;
	Node	   *radius;
	int			ignored;
	Expr	   *ball;

	if (type == NULL || !IsA(request->node, FuncExpr))
		return NIL;
	args = ((FuncExpr *) request->node)->args;
	if (list_length(args) != 3 ||
		request->indexarg < 0 || request->indexarg > 1)
		return NIL;
	if (!op_in_opfamily(type->in_ball_operator, request->opfamily))
		return NIL;

	/* the ball will be one of the extension's own fingerprints, or bands */
	if (shidx_fingerprint_function_in(request->opfamily, type->type) != type->bands)
		return NIL;

	/*
	 * a constant similarity out of range is an error of the call, if that is
	 * reached
	 */
	radius = (Node *) lthird(args);
	if (documents != NULL && IsA(radius, Const) && !((Const *) radius)->constisnull &&
		shbits_similar_bands(DatumGetFloat8(((Const *) radius)->constvalue), SHBITS_TEXTS, &ignored) == 0)
		return NIL;

	/* the executor asks for the second and the third */
	if (!may_execute(request->funcid) || !may_execute(type->make_ball) ||
		!may_execute(type->in_ball))
		return NIL;

	/* columns before the fingerprint support equality only */
	if (request->indexcol != request->index->nkeycolumns - 1)
		return NIL;

	column = (Node *) list_nth(args, request->indexarg);
	center = (Node *) list_nth(args, 1 - request->indexarg);
	if (!is_pseudo_constant_for_index(request->root, center, request->index) ||
		!is_pseudo_constant_for_index(request->root, radius, request->index))
		return NIL;

	ball = make_ball(type, center, radius);

	/* these are no longer in the plan; a ball of constants has been computed */
	depend_on(request->root, request->funcid);
	depend_on(request->root, type->make_ball);

	/* of documents in the ball, the call itself tells how much they share */
	request->lossy = documents != NULL;
	return list_make1(make_opclause(type->in_ball_operator, BOOLOID, false,
									(Expr *) copyObject(column), ball,
									InvalidOid, request->indexcollation));
}

/*
 * Replace hamming() of simhash by the operator that an index can order by, with a
 * RelabelType on top, so that the type does not change.  The planner removes
 * the RelabelType when it makes a sort key of the expression.
 */
static Node *
make_order_distance(PlannerInfo *root, const ShPlanCatalog *catalog,
					FuncExpr *call)
{
	Expr	   *distance;

	if (call->funcid != catalog->simhash.hamming || list_length(call->args) != 2 ||
		!may_execute(catalog->order_distance))
		return NULL;

	/* an index could not be used with these, and they must not be moved */
	if (calls_volatile((Node *) call->args, NULL))
		return NULL;

	distance = make_opclause(catalog->order_operator, INT2OID, false,
							 copyObject(linitial(call->args)),
							 copyObject(lsecond(call->args)),
							 InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) distance);
	return (Node *) makeRelabelType(distance, call->funcresulttype, -1, InvalidOid,
									COERCE_IMPLICIT_CAST);
}

/*
 * Is a function one whose calls we replace or make, or could it become one when the
 * server inlines it?
 */
static bool
may_be_replaced(Oid funcid, void *context)
{
	const ShPlanCatalog *catalog = context;
	HeapTuple	tuple;
	bool		result;

	if (shplan_type_of_within(catalog, funcid) != NULL ||
		shplan_type_of_hamming(catalog, funcid) != NULL)
		return true;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_proc) GETSTRUCT(tuple))->prosupport == catalog->distance_support ||
		((Form_pg_proc) GETSTRUCT(tuple))->prolang == SQLlanguageId;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Does an expression contain what we replace, or what we may make of a distance: as
 * a plain smallint it has a RelabelType?
 */
static bool
has_distance(Node *node, void *context)
{
	const ShPlanCatalog *catalog = context;

	if (node == NULL || IsA(node, PlaceHolderVar))
		return false;
	if (IsA(node, RelabelType) &&
		exprType((Node *) ((RelabelType *) node)->arg) == catalog->distance_type)
		return true;
	return check_functions_in_node(node, may_be_replaced, context) ||
		expression_tree_walker(node, has_distance, context);
}

/*
 * Is a table of a query on another server, or one of its partitions if the
 * partitions may be grouped each for itself?
 */
static bool
is_foreign(const RangeTblEntry *rte)
{
	ListCell   *lc;

	if (!rte->inh || !enable_partitionwise_aggregate)
		return rte->relkind == RELKIND_FOREIGN_TABLE;
	foreach(lc, find_all_inheritors(rte->relid, NoLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			return true;
	}
	return false;
}

/*
 * Could the rows of a query be grouped by another server?  Local tables beside foreign
 * ones do not prevent it, since joins with them may be found to be useless.
 */
static bool
may_be_grouped_elsewhere(const Query *parse)
{
	ListCell   *lc;

	foreach(lc, parse->rtable)
	{
		const RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == RTE_RELATION && is_foreign(rte))
			return true;
	}
	return false;
}

/*
 * May expressions be replaced at the query level that is being simplified?
 *
 * Above a grouping step an expression that equals a grouping expression, or
 * contains it, is taken from the group.  The planner finds such expressions by
 * comparing trees, so one that we replace would be computed anew from columns, and
 * one that we create might be taken from the group.  That does no harm where each
 * row belongs to one group and the columns are at hand.  But there are
 *
 * - grouping sets: in a set that lacks the grouping expression it is null;
 *
 * - foreign tables: what is sent to the other server has to be a valid query, in
 *	 which only grouping expressions stand above the grouping step.
 *
 * So if a grouping expression has a distance, these are left as they are written.
 * The other server replaces what it can.
 *
 * root is NULL for an expression outside of a query, such as that of an index.
 */
static bool
may_rewrite(PlannerInfo *root, ShPlanCatalog *catalog)
{
	ListCell   *lc;

	if (root == NULL || root->parse == NULL)
		return true;
	foreach(lc, root->parse->groupClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(lfirst(lc), root->parse->targetList);
		Node	   *expr = shcompat_grouping_expression(root->parse, (Node *) tle->expr);

		if (has_distance(expr, catalog))
			return root->parse->groupingSets == NIL && !may_be_grouped_elsewhere(root->parse);
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
	Node	   *result;

	if (!IsA(raw_request, SupportRequestSimplify) ||
		!shplan_catalog(fcinfo->flinfo->fn_oid, &catalog) ||
		!may_execute(request->fcall->funcid))
		return NULL;

	/* without an answer, the server would inline what is written in SQL */
	if (!may_rewrite(request->root, &catalog))
		return (Node *) copyObject(request->fcall);
	result = make(request->root, &catalog, request->fcall);
	if (result != NULL && request->root != NULL)
		depend_on(request->root, request->fcall->funcid);
	return result;
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
	PG_RETURN_POINTER(simplify(fcinfo, simplify_comparison));
}

/*
 * Support function of simhash_within and simhash_similar.
 */
Datum
simhash_within_support(PG_FUNCTION_ARGS)
{
	Node	   *raw_request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;
	ShPlanCatalog catalog;

	if (!IsA(raw_request, SupportRequestIndexCondition) &&
		!IsA(raw_request, SupportRequestSelectivity))
		PG_RETURN_POINTER(NULL);
	if (!shplan_catalog(fcinfo->flinfo->fn_oid, &catalog))
		PG_RETURN_POINTER(NULL);
	if (IsA(raw_request, SupportRequestIndexCondition))
		result = (Node *) make_index_condition(&catalog, (SupportRequestIndexCondition *) raw_request);
	else
	{
		SupportRequestSelectivity *request = (SupportRequestSelectivity *) raw_request;

		if (shplan_type_of_within(&catalog, request->funcid) != NULL ||
			shplan_type_of_documents(&catalog, request->funcid) != NULL)
		{
			request->selectivity =
				shplan_selectivity(request->root, &catalog, InvalidOid, request->funcid,
								   request->args, request->varRelid, request->jointype,
								   request->is_join ? request->sjinfo : NULL);
			result = (Node *) request;
		}
	}
	PG_RETURN_POINTER(result);
}
