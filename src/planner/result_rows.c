/*-------------------------------------------------------------------------
 *
 * result_rows.c
 *	  Planner support: how many rows the functions over whole indexes and
 *	  arrays return.
 *
 * The numbers are those of a join of the same rows by the same distance
 * (selectivity.c), so that a query gets the same estimate no matter how it is
 * written.  If the size of an index or array is not known, the function's ROWS
 * is used.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "bits/distance.h"
#include "bits/scheme.h"
#include "compat.h"
#include "planner/catalog.h"
#include "planner/selectivity.h"
#include "type/operator_class.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_rows_support);

/* in place of a number of rows */
#define UNKNOWN_ROWS	(-1.0)

/* the server's assumption for the length of an unknown array */
#define UNKNOWN_ARRAY_LENGTH	10

/* the width of wide fingerprints if nothing tells it */
#define UNKNOWN_WIDTH			256

/* how many blocks an index has for each part of them, if its options do not tell */
#define BLOCKS_PER_PART			4

/* A call that is being planned. */
typedef struct Call
{
	PlannerInfo *root;
	List	   *args;
} Call;

/* What the call searches: an index, or an array. */
typedef struct RowSet
{
	double		rows;
	int			width;			/* of the fingerprints, in bits */
	int			distance;		/* used if the call has none */
	ShPlanValueStats stats;
} RowSet;

/*
 * An argument, as far as its value is known at plan time.
 *
 * Functions in it are not called: they could fail or take long, and might
 * return something else when the query is executed.
 */
static Node *
get_arg(const Call *call, int arg)
{
	Node	   *node = list_nth(call->args, arg);

	if (IsA(node, Param))
		node = estimate_expression_value(call->root, node);
	return node;
}

/*
 * The value of an integer argument; true if it is known and not null.
 */
static bool
get_integer(const Call *call, int arg, int *value)
{
	Const	   *c = (Const *) get_arg(call, arg);

	if (!IsA(c, Const) || getBaseType(c->consttype) != INT4OID || c->constisnull)
		return false;
	*value = DatumGetInt32(c->constvalue);
	return true;
}

/*
 * The rows of an index when they were last counted; 0 if it does not exist.  A
 * partitioned index has those of its partitions.
 */
static double
index_rows(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	double		rows = 0;
	ListCell   *lc;

	if (!HeapTupleIsValid(tuple))
		return 0;
	if (((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_PARTITIONED_INDEX)
	{
		foreach(lc, find_inheritance_children(index, NoLock))
			rows += index_rows(lfirst_oid(lc));
	}
	else
		rows = Max(((Form_pg_class) GETSTRUCT(tuple))->reltuples, 0);
	ReleaseSysCache(tuple);
	return rows;
}

/*
 * An option of an index, or else its default.
 */
static int
index_option(HeapTuple class_tuple, const char *name, int value)
{
	bool		isnull;
	Datum		options = SysCacheGetAttr(RELOID, class_tuple, Anum_pg_class_reloptions, &isnull);
	ListCell   *lc;

	if (isnull)
		return value;
	foreach(lc, untransformRelOptions(options))
	{
		DefElem    *option = lfirst_node(DefElem, lc);

		if (strcmp(option->defname, name) == 0 && option->arg != NULL)
			value = atoi(strVal(option->arg));
	}
	return value;
}

/*
 * The distance of an index: that among its options or, if its fingerprints have
 * several parts, one less than their blocks.
 */
static int
index_distance(HeapTuple class_tuple, int width)
{
	int			distance;

	if (shbits_nparts(width) > 1)
		distance = index_option(class_tuple, "blocks",
								shbits_nparts(width) * BLOCKS_PER_PART) - 1;
	else
		distance = index_option(class_tuple, "distance", SIMHASH_NEAR_RADIUS);
	return Min(Max(distance, 0), width);
}

/*
 * The number of bits of fingerprints of a type.
 */
static int
type_width(const ShPlanCatalog *catalog, Oid type, int32 typmod)
{
	type = getBaseTypeAndTypmod(type, &typmod);
	if (type != catalog->bits.type)
		return SHBITS_WIDTH;
	return typmod > 0 ? typmod : UNKNOWN_WIDTH;
}

/*
 * The number of bits of the fingerprints of an index, its last column.
 */
static int
index_width(const ShPlanCatalog *catalog, Oid index, int key)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(index), Int16GetDatum(key + 1));
	int			width = SHBITS_WIDTH;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_attribute column = (Form_pg_attribute) GETSTRUCT(tuple);

		width = type_width(catalog, column->atttypid, column->atttypmod);
		ReleaseSysCache(tuple);
	}
	return width;
}

/*
 * If the operator class of a column computes fingerprints, get their width and the
 * radius of its operator.
 */
static void
get_class_radius(Oid index, AttrNumber column, int *width, int *radius)
{
	Oid			opclass = get_index_column_opclass(index, column);
	Oid			family;
	Oid			type;
	Oid			function;

	if (!OidIsValid(opclass))
		return;
	family = get_opclass_family(opclass);
	type = get_opclass_input_type(opclass);
	function = shtype_fingerprint_function(family, type);
	if (!OidIsValid(function))
		return;
	*width = shtype_function_width(function);
	(void) shtype_near_operator(family, type, radius);
}

/*
 * May the current user see the statistics of a column of an index, or of the
 * whole table if it is an expression?
 *
 * The server rejects EXPLAIN if the user may not read a table in the query,
 * but it does not know about this table.
 */
static bool
may_see_stats(Oid table, AttrNumber column)
{
	bool		gone = false;

	if (pg_class_aclcheck_ext(table, GetUserId(), ACL_SELECT, &gone) != ACLCHECK_OK &&
		(column == 0 ||
		 pg_attribute_aclcheck_ext(table, column, GetUserId(), ACL_SELECT, &gone) != ACLCHECK_OK))
		return false;
	return !gone && check_enable_rls(table, InvalidOid, true) != RLS_ENABLED;
}

/*
 * Load what is known about the fingerprints of an index, its last column.  An
 * index without rows was probably built before there were any, and has not
 * been counted since.
 */
static bool
load_index(const ShPlanCatalog *catalog, Oid index, RowSet *set)
{
	HeapTuple	class_tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	HeapTuple	index_tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));

	set->rows = 0;
	if (HeapTupleIsValid(class_tuple) && HeapTupleIsValid(index_tuple))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(index_tuple);
		bool		partitioned =
			((Form_pg_class) GETSTRUCT(class_tuple))->relkind == RELKIND_PARTITIONED_INDEX;
		int			key = form->indnkeyatts - 1;
		AttrNumber	column = form->indkey.values[key];

		set->width = index_width(catalog, index, key);
		set->distance = index_distance(class_tuple, set->width);
		get_class_radius(index, key + 1, &set->width, &set->distance);
		if (may_see_stats(form->indrelid, column))
			set->rows = index_rows(index);
		if (set->rows > 0)
		{
			/* statistics of an expression are stored with the index */
			if (column == 0)
				shplan_load_column_stats(catalog, index, key + 1, partitioned,
										 set->rows, &set->stats);
			else
				shplan_load_column_stats(catalog, form->indrelid, column, partitioned,
										 set->rows, &set->stats);
		}
	}
	if (HeapTupleIsValid(class_tuple))
		ReleaseSysCache(class_tuple);
	if (HeapTupleIsValid(index_tuple))
		ReleaseSysCache(index_tuple);
	return set->rows > 0;
}

/*
 * The plan of a subquery that is an argument, or NULL.  Sets *kind to the kind
 * of sublink.
 */
static Plan *
get_subplan(const Call *call, Node *node, SubLinkType *kind)
{
	SubPlan    *subplan = NULL;

	if (IsA(node, SubPlan))
		subplan = (SubPlan *) node;
	else if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
	{
		for (PlannerInfo *root = call->root; root != NULL && subplan == NULL;
			 root = root->parent_root)
		{
			ListCell   *lc;

			foreach(lc, root->init_plans)
			{
				SubPlan    *candidate = lfirst_node(SubPlan, lc);

				if (list_member_int(candidate->setParam, ((Param *) node)->paramid))
					subplan = candidate;
			}
		}
	}
	if (subplan == NULL)
		return NULL;
	*kind = subplan->subLinkType;
	return list_nth(call->root->glob->subplans, subplan->plan_id - 1);
}

/*
 * The number of elements of an array that comes from a subquery: all rows of
 * ARRAY(SELECT ...), or the input rows of an aggregate such as array_agg for
 * each of its result rows.
 */
static double
subquery_length(const Call *call, Node *node)
{
	SubLinkType kind;
	Plan	   *plan = get_subplan(call, node, &kind);
	double		groups;
	double		processes = 1;

	if (plan == NULL)
		return UNKNOWN_ROWS;
	if (kind == ARRAY_SUBLINK)
		return plan->plan_rows;
	if (kind != EXPR_SUBLINK || !IsA(plan, Agg))
		return UNKNOWN_ROWS;

	/*
	 * The input may be partial aggregates of parallel workers, each over its
	 * share of the rows.  The leader's share is what the server assumes.
	 */
	groups = Max(plan->plan_rows, 1.0);
	while (outerPlan(plan) != NULL)
	{
		if (IsA(plan, Gather) && IsA(outerPlan(plan), Agg))
		{
			int			workers = ((Gather *) plan)->num_workers;

			processes = workers;
			if (parallel_leader_participation)
				processes += Max(1.0 - 0.3 * workers, 0);
		}
		else if (!IsA(plan, Agg))
			break;
		plan = outerPlan(plan);
	}
	return plan->plan_rows * processes / groups;
}

/*
 * The length of an array, or UNKNOWN_ROWS.
 */
static double
array_length(const Call *call, int arg)
{
	Node	   *node = get_arg(call, arg);
	double		length;

	while (IsA(node, ArrayCoerceExpr) || IsA(node, RelabelType))
		node = IsA(node, RelabelType) ? (Node *) ((RelabelType *) node)->arg :
			(Node *) ((ArrayCoerceExpr *) node)->arg;

	length = subquery_length(call, node);
	if (length >= 0)
		return length;
	if (IsA(node, Const))
	{
		AnyArrayType *array;

		if (((Const *) node)->constisnull)
			return 0;
		array = DatumGetAnyArrayP(((Const *) node)->constvalue);
		return ArrayGetNItems(AARR_NDIM(array), AARR_DIMS(array));
	}
	if (IsA(node, ArrayExpr) && !((ArrayExpr *) node)->multidims)
		return list_length(((ArrayExpr *) node)->elements);

	length = shcompat_estimate_array_length(call->root, node);
	return length == UNKNOWN_ARRAY_LENGTH ? UNKNOWN_ROWS : length;
}

/*
 * The number of bits of the fingerprints in an array.
 */
static int
array_width(const ShPlanCatalog *catalog, Node *node)
{
	Oid			element = get_base_element_type(exprType(node));

	return OidIsValid(element) ? type_width(catalog, element, exprTypmod(node)) : SHBITS_WIDTH;
}

/*
 * Load an argument that is an index or an array.  Returns false if its size is
 * not known; otherwise the caller must call shplan_free_stats.
 */
static bool
load_set(const ShPlanCatalog *catalog, const Call *call, int arg, RowSet *set)
{
	Node	   *node = get_arg(call, arg);

	if (IsA(node, Const) && ((Const *) node)->constisnull)
		set->rows = 0;
	else if (exprType(node) != REGCLASSOID)
		set->rows = array_length(call, arg);
	else
		return IsA(node, Const) &&
			load_index(catalog, DatumGetObjectId(((Const *) node)->constvalue), set);

	if (set->rows < 0)
		return false;
	set->width = array_width(catalog, node);
	set->distance = set->width == SHBITS_WIDTH ? SIMHASH_NEAR_RADIUS :
		shtype_near_radius(set->width);
	shplan_set_stats(set->rows, &set->stats);
	return true;
}

/*
 * The radius: an argument, or that of a set.  Wide fingerprints are estimated as if
 * their bits were fewer.
 */
static int
get_radius(const Call *call, int arg, const RowSet *set)
{
	Node	   *node = get_arg(call, arg);
	int			radius;

	if (IsA(node, Const) && ((Const *) node)->constisnull)
		radius = set->distance;
	else if (!get_integer(call, arg, &radius))
		return SHPLAN_UNKNOWN_RADIUS;
	radius = Min(Max(radius, 0), set->width);
	return radius * SHBITS_WIDTH / set->width;
}

/* what a function returns for the pairs within one set */
typedef enum PairResult
{
	EACH_PAIR,
	NEAR_ROWS,					/* rows that are in a pair */
	FURTHER_ROWS				/* the same, except for one row of each
								 * cluster */
} PairResult;

/*
 * The number of rows returned for the pairs of a set within a radius.
 */
static double
rows_within(RowSet *set, int radius, PairResult result)
{
	double		rows = set->rows * set->stats.notnull;
	double		cluster_share;
	double		share = shplan_pair_share(&set->stats, &set->stats, radius, &cluster_share);
	double		others;
	double		near;
	double		size;

	if (rows < 1)
		return 0;

	/* each row is near itself; how many others are near it, on average */
	others = Max(set->rows * set->rows * share / rows - 1, 0);
	if (result == EACH_PAIR)
		return rows * others / 2;

	/*
	 * the share of the rows with any such row, like rows with a join partner
	 */
	near = Max(set->rows * set->rows * cluster_share / rows - 1, 0);
	near = Min(near, SHPLAN_UNKNOWN_MATCH) +
		set->rows * set->rows * Max(share - cluster_share, 0) / rows;
	near = Min(Max(near, set->stats.mcv_share / set->stats.notnull), 1);
	if (result == NEAR_ROWS || near <= 0)
		return rows * near;

	/* hence the rows of a cluster: one of these, and the others near it */
	size = 1 + others / near;
	return rows * Max(near * (1 - 1 / size), 1 - set->stats.ndistinct / rows);
}

/*
 * The number of tables of a scheme, or 1 if there is no such scheme.
 */
static double
count_tables(int blocks, int distance)
{
	return Max(shbits_ntables(blocks, distance), 1);
}

/*
 * Estimate a call with the arguments (index or array, distance), and get the
 * radius.
 */
static double
estimate_one_set(const ShPlanCatalog *catalog, const Call *call, PairResult result, int *radius)
{
	RowSet		set;
	double		rows;

	if (!load_set(catalog, call, 0, &set))
		return UNKNOWN_ROWS;
	*radius = get_radius(call, 1, &set);
	rows = rows_within(&set, *radius, result);
	shplan_free_stats(&set.stats);
	return rows;
}

static double
estimate_pairs(const ShPlanCatalog *catalog, const Call *call)
{
	int			radius;

	return estimate_one_set(catalog, call, EACH_PAIR, &radius);
}

/* the arguments are (array, distance, blocks, table_no) */
static double
estimate_pairs_in(const ShPlanCatalog *catalog, const Call *call)
{
	int			radius;
	int			blocks;
	int			table;
	double		rows = estimate_one_set(catalog, call, EACH_PAIR, &radius);

	if (rows != UNKNOWN_ROWS && get_integer(call, 3, &table))
		rows /= count_tables(get_integer(call, 2, &blocks) ? blocks : radius + 1, radius);
	return rows;
}

static double
estimate_clusters(const ShPlanCatalog *catalog, const Call *call)
{
	int			radius;

	return estimate_one_set(catalog, call, NEAR_ROWS, &radius);
}

static double
estimate_duplicates(const ShPlanCatalog *catalog, const Call *call)
{
	int			radius;

	return estimate_one_set(catalog, call, FURTHER_ROWS, &radius);
}

/*
 * Estimate a call with the arguments (index or array, index, distance).
 */
static double
estimate_matches(const ShPlanCatalog *catalog, const Call *call)
{
	RowSet		sets[2];
	double		cluster_share;
	double		rows;

	if (!load_set(catalog, call, 0, &sets[0]))
		return UNKNOWN_ROWS;
	if (!load_set(catalog, call, 1, &sets[1]))
	{
		shplan_free_stats(&sets[0].stats);
		return UNKNOWN_ROWS;
	}
	/* of two indexes the smaller distance counts, an array has none */
	if (exprType(get_arg(call, 0)) == REGCLASSOID)
		sets[1].distance = Min(sets[0].distance, sets[1].distance);
	rows = sets[0].rows * sets[1].rows *
		shplan_pair_share(&sets[0].stats, &sets[1].stats,
						  get_radius(call, 2, &sets[1]), &cluster_share);
	shplan_free_stats(&sets[0].stats);
	shplan_free_stats(&sets[1].stats);
	return rows;
}

/*
 * Estimate a call with pairs (a array, b array).  A chain has one member more
 * than it has pairs, separate pairs have twice as many members, and a dense
 * cluster has fewer.
 */
static double
estimate_components(const ShPlanCatalog *catalog, const Call *call)
{
	double		length = array_length(call, 0);

	return length >= 0 ? length : array_length(call, 1);
}

/* (fingerprint, blocks, distance) */
static double
estimate_blocks(const ShPlanCatalog *catalog, const Call *call)
{
	int			blocks;
	int			distance;

	if (!get_integer(call, 1, &blocks) || !get_integer(call, 2, &distance))
		return UNKNOWN_ROWS;
	return count_tables(blocks, distance);
}

/*
 * Estimate a call of one of our functions, by name; UNKNOWN_ROWS for any
 * other.
 */
static double
estimate_rows(const ShPlanCatalog *catalog, Oid function, const Call *call)
{
	static const struct
	{
		const char *name;
		int			nargs;
		double		(*estimate) (const ShPlanCatalog *catalog, const Call *call);
	}			functions[] = {
		{"simhash_find_all", 2, estimate_pairs},
		{"simhash_find_all_in", 4, estimate_pairs_in},
		{"simhash_find_all_in", 2, estimate_pairs},
		{"simhash_find_clusters", 3, estimate_clusters},
		{"simhash_find_clusters_in", 3, estimate_clusters},
		{"simhash_find_clusters_in", 2, estimate_clusters},
		{"simhash_find_duplicates", 4, estimate_duplicates},
		{"simhash_find_matches", 3, estimate_matches},
		{"simhash_find_matches_in", 3, estimate_matches},
		{"simhash_components", 2, estimate_components},
		{"simhash_blocks", 3, estimate_blocks},
	};
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc proc;
	double		rows = UNKNOWN_ROWS;

	if (!HeapTupleIsValid(tuple))
		return UNKNOWN_ROWS;
	proc = (Form_pg_proc) GETSTRUCT(tuple);

	/* as for comparisons: see get_comparison */
	if (proc->pronamespace == catalog->schema && proc->prosupport == catalog->rows_support)
	{
		for (int i = 0; i < lengthof(functions); i++)
		{
			if (strcmp(NameStr(proc->proname), functions[i].name) == 0 &&
				list_length(call->args) == functions[i].nargs)
				rows = functions[i].estimate(catalog, call);
		}
	}
	ReleaseSysCache(tuple);
	return rows;
}

/*
 * Support function of the functions that return sets.
 */
Datum
simhash_rows_support(PG_FUNCTION_ARGS)
{
	SupportRequestRows *request = (SupportRequestRows *) PG_GETARG_POINTER(0);
	ShPlanCatalog catalog;
	Call		call;
	double		rows;

	if (!IsA(request, SupportRequestRows) || request->root == NULL ||
		request->node == NULL || !IsA(request->node, FuncExpr) ||
		!shplan_catalog(fcinfo->flinfo->fn_oid, &catalog))
		PG_RETURN_POINTER(NULL);

	call.root = request->root;
	call.args = ((FuncExpr *) request->node)->args;
	rows = estimate_rows(&catalog, request->funcid, &call);
	if (rows < 0)
		PG_RETURN_POINTER(NULL);
	request->rows = rows;
	PG_RETURN_POINTER(request);
}
