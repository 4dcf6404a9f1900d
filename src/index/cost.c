/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  Estimating the cost of a scan.
 *
 * The number of pages comes from the same probe plan that the scan will use,
 * so that cost and scan agree on how a radius is searched.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/xlog.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "utils/array.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "bits/distance.h"
#include "compat.h"
#include "index/build.h"
#include "index/cache.h"
#include "index/class.h"
#include "index/group.h"
#include "index/handler.h"
#include "index/leaf.h"
#include "index/query.h"
#include "type/simhash.h"
#include "type/wide.h"

/*
 * CPU cost of a page, in units of cpu_operator_cost: finding and locking it,
 * and comparing its entries, which vector instructions do all together.
 */
#define PAGE_CPU_COST		10

/* memory that a sort needs for each row, in bytes */
#define SORT_BYTES			48

/* the groups that a scan reads */
typedef struct GroupEstimate
{
	bool		all;			/* they are not known: none can be left out */
	double		count;			/* how many are read */
	double		share;			/* share of the index's rows that meet the
								 * conditions on columns before the fingerprint */
} GroupEstimate;

/* what determines how much of the index is read */
typedef struct ScanShape
{
	Oid			type;			/* of the values of the last column */
	ShIdxKind	kind;
	Oid			function;		/* that computes their fingerprints, or
								 * InvalidOid */
	const ShIdxGeometry *geometry;
	bool		wide;			/* fingerprints are of type simhash_bits */
	List	   *conditions;		/* their lists of ShIdxTerm */
	double		ncomputed;		/* arguments of which a fingerprint is
								 * computed */
	bool		only_nulls;
	GroupEstimate groups;
} ScanShape;

/*
 * Add a ball to the terms of a condition.
 */
static List *
add_known_ball(const ShIdxGeometry *geometry, bool wide, Datum ball, List *terms)
{
	SimhashBitsBall *center = wide ? DatumGetSimhashBitsBall(ball) : NULL;
	int			radius = wide ? center->radius : DatumGetSimhashBall(ball)->radius;

	/* balls that hold everything have the same radius */
	return shidx_add_term(terms,
						  geometry->prefix_bits > 0 ? shtype_ball_bytes(center) / sizeof(uint64) : 0,
						  Min(radius, geometry->width), 1);
}

/*
 * Add so many balls of which only the similarity is known: or that of =~=, or for
 * fingerprints the radius of %.
 */
static List *
add_usual_balls(const ScanShape *shape, double similarity, List *terms, double balls)
{
	const ShIdxGeometry *geometry = shape->geometry;
	int			tables = 0;
	int			radius = shape->wide ? shtype_near_radius(geometry->width) : SIMHASH_NEAR_RADIUS;

	if (geometry->prefix_bits > 0)
		tables = shbits_similar_bands(similarity, shape->type == BYTEAOID ? SHBITS_BYTEA : SHBITS_TEXTS,
									  &radius);
	return shidx_add_term(terms, tables, radius, balls);
}

/*
 * Add a ball, as far as it is known at plan time.  One that is null is empty.
 */
static List *
add_ball(const ScanShape *shape, Node *ball, List *terms)
{
	double		similarity = SHBITS_SIMILAR_SHARE;

	if (IsA(ball, Const))
		return ((Const *) ball)->constisnull ? terms :
			add_known_ball(shape->geometry, shape->wide, ((Const *) ball)->constvalue, terms);

	/*
	 * simhash_ball(center, radius), or simhash_similar_ball(document,
	 * similarity), as planner support makes it
	 */
	if (IsA(ball, FuncExpr) && list_length(((FuncExpr *) ball)->args) == 2)
	{
		Const	   *argument = (Const *) lsecond(((FuncExpr *) ball)->args);
		Oid			type = exprType((Node *) argument);

		if (IsA(argument, Const) && !argument->constisnull)
		{
			if (type == INT4OID && shape->geometry->prefix_bits == 0)
				return shidx_add_term(terms, 0, DatumGetInt32(argument->constvalue), 1);
			if (type == FLOAT8OID)
				similarity = DatumGetFloat8(argument->constvalue);
		}
	}
	return add_usual_balls(shape, similarity, terms, 1);
}

/*
 * The terms of an array of balls.
 */
static List *
terms_of_array(PlannerInfo *root, const ScanShape *shape, Node *array)
{
	List	   *terms = NIL;

	if (IsA(array, Const) && !((Const *) array)->constisnull)
	{
		ArrayType  *balls = DatumGetArrayTypeP(((Const *) array)->constvalue);
		ArrayIterator iterator = array_create_iterator(balls, 0, NULL);
		Datum		ball;
		bool		is_null;

		while (array_iterate(iterator, &ball, &is_null))
		{
			CHECK_FOR_INTERRUPTS();
			if (!is_null)
				terms = add_known_ball(shape->geometry, shape->wide, ball, terms);
		}
		array_free_iterator(iterator);
	}
	else if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
	{
		ListCell   *lc;

		foreach(lc, ((ArrayExpr *) array)->elements)
			terms = add_ball(shape, lfirst(lc), terms);
	}
	else
		terms = add_usual_balls(shape, SHBITS_SIMILAR_SHARE, terms,
								Max(shcompat_estimate_array_length(root, array), 1));
	return terms;
}

/*
 * Take a condition on the fingerprint into account.
 */
static void
add_condition(PlannerInfo *root, Oid opfamily, Expr *clause, ScanShape *shape)
{
	Oid			operator;
	Node	   *argument;
	bool		is_array = IsA(clause, ScalarArrayOpExpr);
	List	   *terms;
	int			strategy;
	Oid			left;
	Oid			right;
	ShIdxKind	kind;
	ShIdxMeaning meaning;

	if (IsA(clause, NullTest))
	{
		shape->only_nulls |= ((NullTest *) clause)->nulltesttype == IS_NULL;
		return;
	}
	if (is_array)
	{
		operator = ((ScalarArrayOpExpr *) clause)->opno;
		argument = (Node *) lsecond(((ScalarArrayOpExpr *) clause)->args);
	}
	else if (IsA(clause, OpExpr))
	{
		operator = ((OpExpr *) clause)->opno;
		argument = (Node *) lsecond(((OpExpr *) clause)->args);
	}
	else
		return;

	/* the scan will report an operator that cannot be used */
	get_op_opfamily_properties(operator, opfamily, false, &strategy, &left, &right);
	kind = left == shape->type ? shape->kind : shidx_kind_in(opfamily, left, NULL);
	meaning = shidx_meaning(strategy, kind, shape->geometry->width);
	if (meaning.ask == SHIDX_ASK_BALL && !shidx_can_search(opfamily, left, right, strategy))
		return;
	if (meaning.ask == SHIDX_ASK_BALL && is_array)
		terms = terms_of_array(root, shape, argument);
	else if (meaning.ask == SHIDX_ASK_BALL)
		terms = add_ball(shape, argument, NIL);
	else
	{
		double		balls = is_array ? Max(shcompat_estimate_array_length(root, argument), 1) : 1;

		terms = shidx_add_term(NIL, meaning.bands, meaning.radius, balls);
		if (kind >= SHIDX_COMPUTED)
			shape->ncomputed += balls;
	}
	shape->conditions = lappend(shape->conditions, terms);
}

/*
 * About how many leaves a table of an index has.
 */
static double
leaves_per_table(const IndexOptInfo *info, const ShIdxGeometry *geometry)
{
	return Max(info->pages / (double) geometry->ntrees, 1);
}

/*
 * What trees an index has, and whether its fingerprints are of type simhash_bits.  A
 * hypothetical one has the default scheme.
 */
static void
find_geometry(const IndexOptInfo *info, ScanShape *shape)
{
	int			last = info->nkeycolumns - 1;
	Oid			family = info->opfamily[last];
	Oid			type = info->opcintype[last];
	Oid			function;

	shape->type = type;
	shape->kind = shidx_kind_in(family, type, &function);
	shape->function = function;
	shape->wide = !get_typbyval(OidIsValid(function) ? get_func_rettype(function) : type);
	if (info->hypothetical)
	{
		const TargetEntry *entry = list_nth_node(TargetEntry, info->indextlist, last);
		int			width = !shape->wide ? SHBITS_WIDTH :
			OidIsValid(function) ? shidx_function_width(function) : exprTypmod((Node *) entry->expr);
		int			blocks;

		if (width <= 0)
			width = SHBITS_WIDTH;
		blocks = shidx_default_blocks(shbits_part_bits(width, 0));
		shape->geometry = shape->kind == SHIDX_BANDED ?
			shidx_make_geometry(SHBITS_WIDTH * shidx_default_bands(family, type), 1, 0, true) :
			shidx_make_geometry(width, blocks, blocks - 1, false);
	}
	else
	{
		/* the planner already holds a lock */
		Relation	index = index_open(info->indexoid, NoLock);

		shape->geometry = shidx_get_geometry(index);
		index_close(index, NoLock);
	}
}

/*
 * How many groups a scan goes through that looks for a condition in all of them.  A
 * hypothetical index has one for each leaf.
 */
static double
count_all_groups(const IndexOptInfo *info, const ShIdxGeometry *geometry)
{
	double		count = leaves_per_table(info, geometry);

	if (!info->hypothetical)
	{
		Relation	index = index_open(info->indexoid, NoLock);

		count = shidx_count_groups(index, count);
		index_close(index, NoLock);
	}
	return count;
}

/*
 * How many values of a column meet a condition on it; 0 if unknown.
 */
static double
count_values(PlannerInfo *root, Oid opfamily, Expr *clause)
{
	if (IsA(clause, NullTest))
		return ((NullTest *) clause)->nulltesttype == IS_NULL ? 1 : 0;
	if (IsA(clause, OpExpr))
		return get_op_opfamily_strategy(((OpExpr *) clause)->opno, opfamily) ==
			SIMHASH_STRATEGY_EQUAL ? 1 : 0;
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) clause;

		if (get_op_opfamily_strategy(array->opno, opfamily) == SIMHASH_STRATEGY_EQUAL)
			return Max(shcompat_estimate_array_length(root, lsecond(array->args)), 1);
	}
	return 0;
}

/*
 * The conditions of a path on the fingerprint, or those on the columns before
 * it, as a list of RestrictInfos.
 */
static List *
get_quals(const IndexPath *path, bool fingerprint)
{
	int			last = path->indexinfo->nkeycolumns - 1;
	List	   *quals = NIL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if ((clause->indexcol == last) == fingerprint)
			quals = list_concat(quals, clause->indexquals);
	}
	return quals;
}

/*
 * The share of the rows that meet conditions and the predicate of the index.
 */
static Selectivity
index_selectivity(PlannerInfo *root, IndexOptInfo *info, List *quals)
{
	return clauselist_selectivity(root, add_predicate_to_index_quals(info, quals),
								  info->rel->relid, JOIN_INNER, NULL);
}

/*
 * Estimate the groups that the conditions of a path select, by the rules by which
 * group.c finds them.
 */
static GroupEstimate
estimate_groups(PlannerInfo *root, const IndexPath *path)
{
	const IndexOptInfo *info = path->indexinfo;
	int			columns = info->nkeycolumns - 1;
	GroupEstimate groups = {.count = 1,.share = 1};
	double		values[INDEX_MAX_KEYS] = {0};
	ListCell   *lc;
	ListCell   *lc2;

	if (columns == 0)
		return groups;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);
		double	   *column = &values[clause->indexcol];

		if (clause->indexcol == columns)
			continue;
		foreach(lc2, clause->indexquals)
		{
			double		count = count_values(root, info->opfamily[clause->indexcol],
											 lfirst_node(RestrictInfo, lc2)->clause);

			if (count > 0 && (*column == 0 || count < *column))
				*column = count;
		}
	}
	for (int i = 0; i < columns; i++)
	{
		groups.all |= values[i] == 0;
		groups.count *= values[i];
	}
	groups.all |= groups.count > SHIDX_MAX_GROUPS;
	groups.share = index_selectivity(root, path->indexinfo, get_quals(path, false));
	if (info->indpred != NIL)
	{
		Selectivity whole = index_selectivity(root, path->indexinfo, NIL);

		groups.share = groups.share < whole ? groups.share / whole : 1;
	}
	return groups;
}

static ScanShape
find_shape(PlannerInfo *root, IndexPath *path)
{
	const IndexOptInfo *info = path->indexinfo;
	List	   *quals = get_quals(path, true);
	ScanShape	shape = {.groups = estimate_groups(root, path)};
	ListCell   *lc;

	find_geometry(info, &shape);
	foreach(lc, quals)
		add_condition(root, info->opfamily[info->nkeycolumns - 1],
						lfirst_node(RestrictInfo, lc)->clause, &shape);
	if (shape.groups.all && shape.conditions != NIL)
		shape.groups.count = count_all_groups(info, shape.geometry);
	return shape;
}

/* what is read, and when */
typedef struct Work
{
	ShIdxCost	cost;
	double		later_pages;	/* those that an ordered scan reads after its
								 * first row */
	bool		sorted;			/* all is read before the first row */
} Work;

/*
 * Plan what is read of all groups of a table, or of one group with the given
 * number of leaves.
 */
static void
plan_group(double leaves, const ScanShape *shape, bool ordered, Work *work)
{
	(void) shidx_plan_cheapest(shape->conditions, shape->geometry, leaves,
							   shape->groups.all ? shape->groups.count : 0, &work->cost);
	work->later_pages = 0;
	work->sorted = ordered;
	if (!ordered || shidx_plan_by_condition(&work->cost, leaves))
		return;
	if (shape->groups.all)
		work->later_pages = 2 * leaves;
	else
		work->later_pages = shidx_plan_order(shape->geometry->scheme, leaves, &work->cost);
	work->sorted = false;
}

/*
 * Plan what the scan will read.
 */
static Work
plan_work(const IndexOptInfo *info, const ScanShape *shape, bool ordered)
{
	const GroupEstimate *groups = &shape->groups;
	double		leaves = leaves_per_table(info, shape->geometry);
	Work		work;

	if (groups->all)
	{
		plan_group(leaves, shape, ordered, &work);
		return work;
	}
	plan_group(Max(leaves * groups->share / groups->count, 1), shape, ordered, &work);
	if (groups->count > 1)
	{
		/* small groups share pages, so this counts some pages several times */
		work.cost.ranges *= groups->count;
		work.cost.pages = Min(work.cost.pages * groups->count, info->pages);
		work.later_pages = Min(work.later_pages * groups->count, 3 * leaves);
	}
	return work;
}

/*
 * Cost of sorting rows: comparisons, and writing and reading what does not fit
 * in work_mem.
 */
static Cost
sort_cost(double tuples)
{
	double		bytes = tuples * SORT_BYTES;
	Cost		cost = 2 * cpu_operator_cost * tuples * log2(Max(tuples, 2));

	if (bytes > work_mem * 1024.0)
		cost += 2 * bytes / BLCKSZ * seq_page_cost;
	return cost;
}

/*
 * Can an index return rows in the order of the first ORDER BY key of a path?  Only by a distance
 * from a last column of fingerprints of 64 bits.  Operators of other strategies, which a family
 * may have for an order, are not distances.
 */
static bool
has_order(const IndexPath *path, const ScanShape *shape)
{
	int			last = path->indexinfo->nkeycolumns - 1;
	int			strategy;
	Oid			left;
	Oid			right;

	if (path->indexorderbys == NIL || linitial_int(path->indexorderbycols) != last ||
		shape->kind != SHIDX_NARROW)
		return false;
	get_op_opfamily_properties(((OpExpr *) linitial(path->indexorderbys))->opno,
							   path->indexinfo->opfamily[last], true, &strategy, &left, &right);
	return shidx_meaning(strategy, SHIDX_NARROW, SHBITS_WIDTH).ask == SHIDX_ASK_DISTANCE;
}

/*
 * The cost of computing the fingerprints of the arguments, if there is a function
 * for that.
 */
static Cost
fingerprint_cost(PlannerInfo *root, const ScanShape *shape)
{
	QualCost	cost = {0};

	if (shape->ncomputed == 0)
		return 0;
	add_function_cost(root, shape->function, NULL, &cost);
	return shape->ncomputed * (cost.startup + cost.per_tuple);
}

/*
 * The cost of reading the pages of the table with some of its rows, which are
 * anywhere.
 */
static Cost
visiting_cost(PlannerInfo *root, const IndexOptInfo *info, double rows, double random_page_cost)
{
	return Min(index_pages_fetched(rows, info->rel->pages, info->pages, root), rows) *
		random_page_cost;
}

/*
 * amcostestimate: the cost and selectivity of an index scan
 */
void
shidx_costestimate(struct PlannerInfo *root, struct IndexPath *path, double loop_count,
				   Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
				   double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	QualCost	qual_cost;
	Cost		arguments;
	bool		ordered;
	Work		work;
	ShIdxCost  *cost = &work.cost;
	double		candidates;
	double		page_fetches;
	Cost		page_costs;
	double		random_pages;
	double		tuples;
	double		spc_random_page_cost;
	double		spc_seq_page_cost;
	ScanShape	shape = find_shape(root, path);

	/*
	 * The planner goes by the members of operator families, and so offers
	 * orders that the index does not have.  Without its order, this is a path
	 * like any other.  Rows at equal distances are sorted by the keys behind the
	 * first one, if any, by the server.  The lists belong to other paths as well.
	 */
	ordered = has_order(path, &shape);
	path->indexorderbys = ordered ? list_make1(linitial(path->indexorderbys)) : NIL;
	path->indexorderbycols = ordered ? list_make1_int(linitial_int(path->indexorderbycols)) : NIL;
	path->path.pathkeys = ordered ? list_make1(linitial(path->path.pathkeys)) : NIL;

	/*
	 * if all groups are read, the other columns are checked with the row only
	 */
	*selectivity = index_selectivity(root, info,
									 shape.groups.all ? get_quals(path, true) : quals);
	tuples = clamp_row_est(*selectivity * info->rel->tuples);

	work = plan_work(info, &shape, ordered);
	if (shape.only_nulls)
	{
		cost->ranges = shape.groups.all ? 1 : shape.groups.count;
		cost->pages = Max(tuples / SHIDX_USUAL_ENTRIES, cost->ranges);
		work.later_pages = 0;
	}

	/*
	 * The first page of a range is a random access, and the following pages
	 * are read in order.  Inner pages are few and assumed to be cached, as in
	 * other access methods.  Repeated scans, and balls that are read one
	 * after the other, find more and more pages cached.
	 */
	get_tablespace_page_costs(info->reltablespace, &spc_random_page_cost, &spc_seq_page_cost);
	random_pages = Min(cost->ranges, cost->pages);
	page_fetches = random_pages * spc_random_page_cost +
		(cost->pages - random_pages) * spc_seq_page_cost;
	if (loop_count > 1 || cost->balls > 1)
	{
		double		fetched = index_pages_fetched(cost->pages * loop_count, info->pages,
												  info->pages, root);

		page_fetches = Min(page_fetches, fetched * spc_random_page_cost / loop_count);
	}

	/*
	 * The operand may be expensive, such as the fingerprint of a text of
	 * another table.
	 */
	arguments = index_other_operands_eval_cost(root, quals) +
		index_other_operands_eval_cost(root, path->indexorderbys) +
		fingerprint_cost(root, &shape);
	page_costs = page_fetches + cost->pages * PAGE_CPU_COST * cpu_operator_cost;
	*startup_cost = arguments;
	*total_cost = arguments + page_costs + tuples * cpu_index_tuple_cost;

	/*
	 * Balls may have rows in common, so all are read and sorted before the
	 * first row; and then an index-only scan finds the leaf of each row
	 * again.  Of bands, rows are returned as they are found.
	 */
	if (cost->balls > 1 && !ordered && shape.geometry->prefix_bits == 0)
	{
		Cost		sort = sort_cost(tuples);

		*startup_cost += page_costs + sort;
		*total_cost += sort;
		if (path->path.pathtype == T_IndexOnlyScan)
			*total_cost += tuples * PAGE_CPU_COST * cpu_operator_cost;
	}

	/*
	 * a group is only a hash, what a fingerprint was computed of may differ,
	 * and what has none need not be null, so conditions are rechecked
	 */
	if (info->nkeycolumns > 1 || shape.ncomputed > 0 || shape.wide ||
		(shape.only_nulls && OidIsValid(shape.function)))
	{
		cost_qual_eval(&qual_cost, quals, root);
		*total_cost += tuples * qual_cost.per_tuple;
	}

	/*
	 * rows that are met only because a part of their fingerprints is near;
	 * the server knows nothing of them
	 */
	candidates = cost->share * info->tuples * (shape.groups.all ? 1 : shape.groups.share) - tuples;
	if (shape.wide && !shape.only_nulls && candidates > 0)
		*total_cost += candidates * (qual_cost.per_tuple + cpu_index_tuple_cost + cpu_tuple_cost) +
			visiting_cost(root, info, candidates, spc_random_page_cost);

	/*
	 * An index-only scan on a standby visits all rows, whatever the
	 * visibility map says, by which the server counts.
	 */
	if (path->path.pathtype == T_IndexOnlyScan && RecoveryInProgress())
		*total_cost += info->rel->allvisfrac *
			visiting_cost(root, info, tuples, spc_random_page_cost);

	/*
	 * An ordered scan returns its first row when its first batch has been
	 * read, which may be all there is.
	 */
	if (ordered)
	{
		Cost		sort = sort_cost(tuples);

		*startup_cost += page_costs + (work.sorted ? sort : 0);
		*total_cost += sort +
			work.later_pages * (spc_seq_page_cost + PAGE_CPU_COST * cpu_operator_cost);
	}
	*correlation = 0;
	*pages = cost->pages + work.later_pages;
}
