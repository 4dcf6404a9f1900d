/*-------------------------------------------------------------------------
 *
 * support.c
 *	  Planner support: make distance comparisons into index conditions.
 *
 * An index is only asked about clauses whose operator has the indexed column
 * itself as an operand, which "(fp <~> q) <= 3" is not.  So this goes in two
 * steps.  The comparison of a distance with a number is simplified to
 * simhash_within(fp, q, 3), whatever an index may say; and simhash_within is
 * offered to an index on either of its fingerprints as fp <@ ball, where the
 * ball must be known before the scan starts.
 *
 * Both steps are exact, for nulls and for every radius.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "planner/catalog.h"
#include "planner/selectivity.h"
#include "type/simhash.h"

/* a comparison of a distance d with a bound, the distance written first */
typedef enum Comparison
{
	COMPARE_NONE,
	BOUND_LE,					/* d <= bound */
	BOUND_LT,					/* d < bound */
	BOUND_EQ					/* d = bound */
} Comparison;

PG_FUNCTION_INFO_V1(simhash_hamming_support);
PG_FUNCTION_INFO_V1(simhash_distance_support);
PG_FUNCTION_INFO_V1(simhash_within_support);

/*
 * Which comparison a function with two arguments is.
 *
 * *distance_arg is set to the argument, 0 or 1, that the distance must be, or
 * to -1 if it may be either.
 */
static Comparison
get_comparison(const ShPlanCatalog *catalog, Oid funcid, int *distance_arg)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	Comparison	result = COMPARE_NONE;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return COMPARE_NONE;
	proc = (Form_pg_proc) GETSTRUCT(tuple);

	/*
	 * Only a superuser can give a function this support function; the schema
	 * is compared in case one did so to a function that is not ours.
	 */
	if (proc->pronamespace == catalog->schema &&
		proc->prosupport == catalog->distance_support &&
		proc->pronargs == 2)
	{
		const char *name = NameStr(proc->proname);

		if (strcmp(name, "simhash_distance_le") == 0)
		{
			result = BOUND_LE;
			*distance_arg = 0;
		}
		else if (strcmp(name, "simhash_distance_lt") == 0)
		{
			result = BOUND_LT;
			*distance_arg = 0;
		}
		else if (strcmp(name, "simhash_distance_ge") == 0)
		{
			result = BOUND_LE;
			*distance_arg = 1;
		}
		else if (strcmp(name, "simhash_distance_gt") == 0)
		{
			result = BOUND_LT;
			*distance_arg = 1;
		}
		else if (strcmp(name, "simhash_distance_eq") == 0)
		{
			result = BOUND_EQ;
			*distance_arg = -1;
		}
	}
	ReleaseSysCache(tuple);
	return result;
}

/*
 * The arguments of hamming(), if that is what the node calls, or what a call
 * of it has become, else NIL.
 */
static List *
get_hamming_args(const ShPlanCatalog *catalog, Node *node)
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

	if (funcid != catalog->hamming && funcid != catalog->order_distance)
		return NIL;
	return args;
}

/*
 * Get the value of an integer constant of any width.
 *
 * Returns false if the node is something else, a null constant included.
 */
static bool
get_const_integer(Node *node, int64 *value)
{
	Const	   *c = (Const *) node;

	if (!IsA(node, Const) || c->constisnull)
		return false;

	switch (getBaseType(c->consttype))
	{
		case INT2OID:
			*value = DatumGetInt16(c->constvalue);
			return true;
		case INT4OID:
			*value = DatumGetInt32(c->constvalue);
			return true;
		case INT8OID:
			*value = DatumGetInt64(c->constvalue);
			return true;
		default:
			return false;
	}
}

static Expr *
make_int4_const(int32 value)
{
	return (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
							  Int32GetDatum(value), false, true);
}

static Expr *
make_cast(Oid function, Oid type, Node *argument)
{
	return (Expr *) makeFuncExpr(function, type, list_make1(argument),
								 InvalidOid, InvalidOid,
								 COERCE_IMPLICIT_CAST);
}

/*
 * An int4 expression for the largest radius whose distances are <= bound, or
 * < bound if strict.  Null if and only if the bound is null.
 *
 * Returns NULL if the bound's type is not an integer.
 */
static Expr *
make_radius(const ShPlanCatalog *catalog, Node *bound, bool strict)
{
	Oid			type = getBaseType(exprType(bound));
	int64		value;
	Expr	   *wide;

	if (get_const_integer(bound, &value))
	{
		/* clamp first: the smallest int8 has no predecessor */
		value = Min(Max(value, -1), SHBITS_WIDTH + 1);
		if (strict)
			value--;
		return make_int4_const((int32) Min(Max(value, -1), SHBITS_WIDTH));
	}

	switch (type)
	{
		case INT2OID:
			if (!strict)
				return make_cast(F_INT4_INT2, INT4OID, bound);
			wide = make_cast(F_INT8_INT2, INT8OID, bound);
			break;
		case INT4OID:
			if (!strict && exprType(bound) == INT4OID)
				return (Expr *) bound;
			if (!strict)
				return (Expr *) makeRelabelType((Expr *) bound, INT4OID, -1,
												InvalidOid,
												COERCE_IMPLICIT_CAST);
			wide = make_cast(F_INT8_INT4, INT8OID, bound);
			break;
		case INT8OID:
			wide = (Expr *) bound;
			break;
		default:
			return NULL;
	}

	return (Expr *) makeFuncExpr(catalog->radius, INT4OID,
								 list_make2(wide,
											makeBoolConst(strict, false)),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

static Expr *
make_within(const ShPlanCatalog *catalog, List *fingerprints, Expr *radius)
{
	return (Expr *) makeFuncExpr(catalog->within, BOOLOID,
								 list_make3(linitial(fingerprints),
											lsecond(fingerprints),
											radius),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/*
 * An equivalent of distance = bound that an index can serve in part, or NULL.
 */
static Expr *
make_equal(const ShPlanCatalog *catalog, Node *distance, List *fingerprints,
		   Node *bound)
{
	int64		value;
	Oid			function;
	Expr	   *radius;
	Expr	   *equal;

	/* no distance is below 0 or above 64: an empty ball keeps the nulls right */
	if (get_const_integer(bound, &value) &&
		(value <= 0 || value > SHBITS_WIDTH))
		return make_within(catalog, fingerprints,
						   make_int4_const(value == 0 ? 0 : -1));

	/* the operands will be evaluated twice */
	if (contain_volatile_functions(distance) ||
		contain_volatile_functions(bound) ||
		contain_subplans(distance) ||
		contain_subplans(bound))
		return NULL;

	switch (getBaseType(exprType(bound)))
	{
		case INT2OID:
			function = F_INT42EQ;
			break;
		case INT4OID:
			function = F_INT4EQ;
			break;
		case INT8OID:
			function = F_INT48EQ;
			break;
		default:
			return NULL;
	}
	radius = make_radius(catalog, bound, false);
	if (radius == NULL)
		return NULL;

	/*
	 * A function call, not the operator "=": for that the planner would
	 * assume 200 distinct values, and so too few rows, beside what it assumes
	 * for simhash_within.
	 */
	while (IsA(distance, RelabelType))
		distance = (Node *) ((RelabelType *) distance)->arg;
	equal = (Expr *) makeFuncExpr(function, BOOLOID,
								  list_make2(copyObject(distance),
											 copyObject(bound)),
								  InvalidOid, InvalidOid,
								  COERCE_EXPLICIT_CALL);
	return make_andclause(list_make2(make_within(catalog, fingerprints, radius),
									 equal));
}

/*
 * Simplify a comparison of a distance with a bound; NULL if that cannot be.
 */
static Node *
simplify_comparison(const ShPlanCatalog *catalog, FuncExpr *call)
{
	int			distance_arg;
	Comparison	comparison;
	Node	   *distance;
	Node	   *bound;
	List	   *fingerprints;
	Expr	   *radius;

	comparison = get_comparison(catalog, call->funcid, &distance_arg);
	if (comparison == COMPARE_NONE || list_length(call->args) != 2)
		return NULL;

	if (distance_arg < 0)
		distance_arg =
			get_hamming_args(catalog, linitial(call->args)) != NIL ? 0 : 1;
	distance = (Node *) list_nth(call->args, distance_arg);
	bound = (Node *) list_nth(call->args, 1 - distance_arg);

	fingerprints = get_hamming_args(catalog, distance);
	if (list_length(fingerprints) != 2)
		return NULL;

	/* copies, since the planner may still use the original tree */
	fingerprints = copyObject(fingerprints);
	bound = copyObject(bound);

	if (comparison == BOUND_EQ)
		return (Node *) make_equal(catalog, distance, fingerprints, bound);

	radius = make_radius(catalog, bound, comparison == BOUND_LT);
	if (radius == NULL)
		return NULL;
	return (Node *) make_within(catalog, fingerprints, radius);
}

/*
 * The ball of a centre and a radius: a constant if both of them are, so that
 * plans show it as one.  NULL for a null constant.
 */
static Expr *
make_ball(const ShPlanCatalog *catalog, Node *centre, Node *radius)
{
	if (IsA(centre, Const) && IsA(radius, Const))
	{
		Const	   *c = (Const *) centre;
		Const	   *r = (Const *) radius;
		SimhashBall *ball;

		if (c->constisnull || r->constisnull)
			return NULL;
		ball = simhash_new_ball(DatumGetSimhash(c->constvalue),
								DatumGetInt32(r->constvalue));
		return (Expr *) makeConst(catalog->ball_type, -1, InvalidOid,
								  sizeof(SimhashBall),
								  SimhashBallGetDatum(ball), false, false);
	}
	return (Expr *) makeFuncExpr(catalog->make_ball, catalog->ball_type,
								 list_make2(copyObject(centre),
											copyObject(radius)),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/*
 * The index condition for a call of simhash_within: NIL if there is none.
 */
static List *
make_index_condition(const ShPlanCatalog *catalog,
					 SupportRequestIndexCondition *request)
{
	List	   *args;
	Node	   *column;
	Node	   *centre;
	Node	   *radius;
	Expr	   *ball;

	if (request->funcid != catalog->within || !IsA(request->node, FuncExpr))
		return NIL;
	args = ((FuncExpr *) request->node)->args;
	if (list_length(args) != 3 ||
		request->indexarg < 0 || request->indexarg > 1)
		return NIL;
	if (!op_in_opfamily(catalog->in_ball_operator, request->opfamily))
		return NIL;

	column = (Node *) list_nth(args, request->indexarg);
	centre = (Node *) list_nth(args, 1 - request->indexarg);
	radius = (Node *) lthird(args);
	if (!is_pseudo_constant_for_index(request->root, centre, request->index) ||
		!is_pseudo_constant_for_index(request->root, radius, request->index))
		return NIL;

	ball = make_ball(catalog, centre, radius);
	if (ball == NULL)
		return NIL;

	request->lossy = false;
	return list_make1(make_opclause(catalog->in_ball_operator, BOOLOID, false,
									(Expr *) copyObject(column), ball,
									InvalidOid, request->indexcollation));
}

/*
 * Put the operator that an index can order by in the place of hamming(), and
 * a relabelling on top, so that the type stays what it is.  The planner takes
 * the relabelling off where it makes a sort key of the expression.
 */
static Node *
make_order_distance(const ShPlanCatalog *catalog, FuncExpr *call)
{
	Expr	   *distance;

	if (call->funcid != catalog->hamming || list_length(call->args) != 2)
		return NULL;
	distance = make_opclause(catalog->order_operator, INT4OID, false,
							 copyObject(linitial(call->args)),
							 copyObject(lsecond(call->args)),
							 InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) distance);
	return (Node *) makeRelabelType(distance, call->funcresulttype, -1, InvalidOid,
									COERCE_IMPLICIT_CAST);
}

/*
 * Support function of hamming().
 */
Datum
simhash_hamming_support(PG_FUNCTION_ARGS)
{
	Node	   *raw_request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;
	ShPlanCatalog catalog;

	if (IsA(raw_request, SupportRequestSimplify) &&
		shplan_catalog(fcinfo->flinfo->fn_oid, &catalog))
		result = make_order_distance(&catalog,
									 ((SupportRequestSimplify *) raw_request)->fcall);

	PG_RETURN_POINTER(result);
}

/*
 * Support function of the comparisons with a distance.
 */
Datum
simhash_distance_support(PG_FUNCTION_ARGS)
{
	Node	   *raw_request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;
	ShPlanCatalog catalog;

	if (IsA(raw_request, SupportRequestSimplify) &&
		shplan_catalog(fcinfo->flinfo->fn_oid, &catalog))
		result = simplify_comparison(&catalog,
									 ((SupportRequestSimplify *) raw_request)->fcall);

	PG_RETURN_POINTER(result);
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
			request->funcid == catalog.within)
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
