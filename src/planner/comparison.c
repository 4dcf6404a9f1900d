/*-------------------------------------------------------------------------
 *
 * comparison.c
 *	  Simplifying comparisons of a distance with a number.
 *
 * They are our own operators, so that the planner calls our support functions
 * for them.  As far as possible, none of them is left in a plan:
 *
 * - A call of hamming() that is compared becomes a call of simhash_within(),
 *	 which can be an index condition:
 *
 *		d <= r		within(r)
 *		d < r		within(r - 1)
 *		d >= r		not within(r - 1)
 *		d > r		not within(r)
 *		d = r		within(r) and not within(r - 1)
 *
 *	 If r is not an integer, simhash_radius() rounds it.
 *
 * - Any other distance is an ordinary number, and is compared by the server's
 *	 own operator, so that btree indexes, hash and merge joins, and partition
 *	 pruning can be used.
 *
 * Both are exact, for nulls and for every bound.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "bits/distance.h"
#include "planner/comparison.h"

/* A comparison; at least one of the operands has the type of a distance. */
typedef struct Comparison
{
	StrategyNumber strategy;	/* of btree */
	Oid			types[2];
	Node	   *operands[2];
} Comparison;

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
	HeapTuple	tuple;
	Form_pg_proc proc;

	c->strategy = InvalidStrategy;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);

	/*
	 * Only a superuser can give a function this support function; the schema
	 * is compared in case one did so to a function that is not ours.
	 */
	if (proc->pronamespace == catalog->schema &&
		proc->prosupport == catalog->distance_support &&
		proc->pronargs == 2 && list_length(call->args) == 2)
	{
		for (int i = 0; i < lengthof(functions); i++)
		{
			if (strcmp(NameStr(proc->proname), functions[i].name) == 0)
				c->strategy = functions[i].strategy;
		}
		for (int i = 0; i < 2; i++)
		{
			c->types[i] = proc->proargtypes.values[i];
			c->operands[i] = list_nth(call->args, i);
		}
	}
	ReleaseSysCache(tuple);
	return c->strategy != InvalidStrategy;
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
 * Such expressions must not be computed more or less often than they are written.
 * A subquery is different: it is planned on its own, and if it does not depend on
 * the row, it is a parameter by the time that an index is chosen.
 */
bool
shplan_calls_volatile(Node *node)
{
	return calls_volatile(node, NULL);
}

/*
 * The arguments of hamming(), if the node calls it, or is what such a call has
 * become; otherwise NIL.  Sets *type to what there is for their type.
 */
static List *
get_hamming_args(const ShPlanCatalog *catalog, Node *node, const ShPlanType **type)
{
	Oid			funcid;
	List	   *args;

	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;

	if (IsA(node, FuncExpr))
	{
		funcid = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
	}
	else if (IsA(node, OpExpr))
	{
		set_opfuncid((OpExpr *) node);
		funcid = ((OpExpr *) node)->opfuncid;
		args = ((OpExpr *) node)->args;
	}
	else
		return NIL;

	*type = shplan_type_of_hamming(catalog, funcid);
	if (*type == NULL || list_length(args) != 2)
		return NIL;
	return args;
}

/*
 * A distance as an int4, without unnecessary RelabelType nodes, as in
 * expressions that the planner itself simplifies.
 */
static Expr *
make_integer(Node *distance)
{
	return (Expr *) applyRelabelType(copyObject(distance), INT4OID, -1,
									 InvalidOid, COERCE_IMPLICIT_CAST, -1,
									 false);
}

static Oid
radius_function(const ShPlanCatalog *catalog, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return catalog->radius_int2;
		case INT4OID:
			return catalog->radius_int4;
		case INT8OID:
			return catalog->radius_int8;
		case FLOAT8OID:
			return catalog->radius_float8;
		default:
			return InvalidOid;
	}
}

/*
 * Make an int4 expression for the radius that contains the distances <= bound,
 * or < bound if strict.  It is null if and only if the bound is null, and a
 * constant if the bound is a constant.
 *
 * Returns NULL if the type of the bound is not supported.
 */
static Expr *
make_radius(const ShPlanCatalog *catalog, const ShPlanType *fp_type, Node *bound, Oid type,
			bool strict)
{
	Oid			function;
	Expr	   *radius;

	if (type == catalog->distance_type)
	{
		bound = (Node *) make_integer(bound);
		type = INT4OID;
	}
	if (type == INT4OID && !strict && !IsA(bound, Const))
		return (Expr *) copyObject(bound);

	function = radius_function(catalog, type);
	if (!OidIsValid(function))
		return NULL;
	radius = (Expr *) makeFuncExpr(function, INT4OID,
								   list_make2(copyObject(bound),
											  makeBoolConst(strict, false)),
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

	/* the operands will be evaluated twice */
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
 * a call of hamming; otherwise NULL.
 */
static Expr *
make_near_comparison(PlannerInfo *root, const ShPlanCatalog *catalog,
					 const Comparison *c, int side)
{
	Node	   *bound = c->operands[1 - side];
	Oid			type = c->types[1 - side];
	StrategyNumber strategy;
	const ShPlanType *fp_type;
	List	   *fingerprints;
	Expr	   *radius;
	Expr	   *within;

	if (c->types[side] != catalog->distance_type)
		return NULL;
	fingerprints = get_hamming_args(catalog, c->operands[side], &fp_type);

	/* an index could not be used with these, and they must not be moved */
	if (fingerprints == NIL ||
		shplan_calls_volatile((Node *) fingerprints))
		return NULL;

	/* as if the distance were written first */
	strategy = side == 0 ? c->strategy : BTMaxStrategyNumber + 1 - c->strategy;
	if (strategy == BTEqualStrategyNumber)
		return make_equal(root, catalog, fp_type, fingerprints, bound, type);

	radius = make_radius(catalog, fp_type, bound, type,
						 strategy == BTLessStrategyNumber ||
						 strategy == BTGreaterEqualStrategyNumber);
	if (radius == NULL)
		return NULL;
	within = make_within(fp_type, fingerprints, radius);
	if (strategy > BTEqualStrategyNumber)
		return make_notclause(within);
	return within;
}

/*
 * Make the comparison by the server's own operator.
 */
static Expr *
make_plain_comparison(const ShPlanCatalog *catalog, const Comparison *c)
{
	Oid			bound_type = INT4OID;
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
		types[i] = INT4OID;
		operands[i] = make_integer(c->operands[i]);
		if (bound_type == FLOAT8OID)
		{
			types[i] = FLOAT8OID;
			operands[i] = (Expr *) makeFuncExpr(F_FLOAT8_INT4, FLOAT8OID,
												list_make1(operands[i]),
												InvalidOid, InvalidOid,
												COERCE_IMPLICIT_CAST);
		}
	}

	operator = get_opfamily_member(lookup_type_cache(bound_type,
													 TYPECACHE_BTREE_OPFAMILY)->btree_opf,
								   types[0], types[1], c->strategy);
	if (!OidIsValid(operator))
		return NULL;
	result = (OpExpr *) make_opclause(operator, BOOLOID, false,
									  operands[0], operands[1],
									  InvalidOid, InvalidOid);
	set_opfuncid(result);
	return (Expr *) result;
}

/*
 * Simplify the call of a comparison with a distance.
 *
 * root is its query level, or NULL.  Returns NULL if the server should treat
 * it like any other function.
 */
Node *
shplan_simplify_comparison(PlannerInfo *root, const ShPlanCatalog *catalog,
						   FuncExpr *call)
{
	Comparison	c;
	Expr	   *result;
	int			side;

	if (!get_comparison(catalog, call, &c))
		return NULL;

	/* of two distances, prefer the one that is bounded from above */
	side = c.strategy <= BTEqualStrategyNumber ? 0 : 1;
	result = make_near_comparison(root, catalog, &c, side);
	if (result == NULL)
		result = make_near_comparison(root, catalog, &c, 1 - side);
	if (result == NULL)
		result = make_plain_comparison(catalog, &c);
	return (Node *) result;
}
