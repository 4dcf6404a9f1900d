/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  Estimating the cost of a scan.
 *
 * The number of pages comes from the plan of the probes that the scan itself
 * will follow, so that cost and scan agree on how a radius is searched.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "bits/probe.h"
#include "btree/cache.h"
#include "compat.h"
#include "index/am.h"
#include "type/simhash.h"

/*
 * CPU cost of a page, in units of cpu_operator_cost: finding and locking it,
 * and comparing the whole of it, which vector instructions do at once.
 */
#define PAGE_CPU_COST		10

/* how many batches an ordered scan of all rows takes, roughly */
#define ORDERED_BATCHES		3

/* what decides how much of the index is read */
typedef struct Search
{
	int			radius;			/* SHBITS_WIDTH if no condition bounds it */
	double		balls;			/* how many balls of that radius */
	bool		only_nulls;
} Search;

/*
 * The radius of a ball, as far as it is known now; that of % where it is not.
 */
static int
estimate_radius(Node *ball)
{
	if (IsA(ball, Const) && !((Const *) ball)->constisnull)
		return DatumGetSimhashBall(((Const *) ball)->constvalue)->radius;

	/* simhash_ball(centre, radius), as planner support makes it */
	if (IsA(ball, FuncExpr) && list_length(((FuncExpr *) ball)->args) == 2)
	{
		Const	   *radius = (Const *) lsecond(((FuncExpr *) ball)->args);

		if (IsA(radius, Const) && radius->consttype == INT4OID && !radius->constisnull)
			return DatumGetInt32(radius->constvalue);
	}
	return SIMHASH_NEAR_RADIUS;
}

/*
 * Take a condition of the index into account.
 */
static void
add_condition(PlannerInfo *root, Oid opfamily, Expr *clause, Search *search)
{
	Oid			operator;
	Node	   *argument;
	double		balls = 1;
	int			radius = SIMHASH_NEAR_RADIUS;
	int			strategy;

	if (IsA(clause, NullTest))
	{
		search->only_nulls |= ((NullTest *) clause)->nulltesttype == IS_NULL;
		return;
	}
	if (IsA(clause, ScalarArrayOpExpr))
	{
		operator = ((ScalarArrayOpExpr *) clause)->opno;
		argument = (Node *) lsecond(((ScalarArrayOpExpr *) clause)->args);
		balls = Max(shcompat_estimate_array_length(root, argument), 1);
	}
	else if (IsA(clause, OpExpr))
	{
		operator = ((OpExpr *) clause)->opno;
		argument = (Node *) lsecond(((OpExpr *) clause)->args);
	}
	else
		return;

	strategy = get_op_opfamily_strategy(operator, opfamily);
	if (strategy >= 1 && strategy <= SHIDX_MAX_WITHIN_STRATEGY)
		radius = SHIDX_RADIUS_OF_STRATEGY(strategy);
	else if (strategy == SHIDX_STRATEGY_BALL && IsA(clause, OpExpr))
		radius = estimate_radius(argument);

	/* the scan will be driven by the smallest balls, too */
	if (radius < search->radius)
	{
		search->radius = radius;
		search->balls = balls;
	}
}

static Search
find_search(PlannerInfo *root, IndexPath *path)
{
	Search		search = {SHBITS_WIDTH, 1, false};
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *iclause = lfirst_node(IndexClause, lc);
		ListCell   *lc2;

		foreach(lc2, iclause->indexquals)
			add_condition(root, path->indexinfo->opfamily[0],
						  lfirst_node(RestrictInfo, lc2)->clause, &search);
	}
	return search;
}

static void
plan_by_scheme(const ShBitsScheme *scheme, const IndexOptInfo *info, int radius,
			   ShBitsProbePlan *plan)
{
	shbits_plan_probes(scheme, radius, Max(info->pages / (double) scheme->ntables, 1), plan);
}

/*
 * Plan the probes for a radius.  An index that an adviser only imagines has
 * the default scheme.
 */
static void
plan_probes(const IndexOptInfo *info, int radius, ShBitsProbePlan *plan)
{
	if (info->hypothetical)
	{
		ShBitsScheme *scheme = shbits_make_scheme(SHIDX_DEFAULT_BLOCKS, SHIDX_DEFAULT_DISTANCE);

		plan_by_scheme(scheme, info, radius, plan);
		pfree(scheme);
	}
	else
	{
		/* the planner holds a lock already */
		Relation	index = index_open(info->indexoid, NoLock);

		plan_by_scheme(shbt_get_cache(index)->scheme, info, radius, plan);
		index_close(index, NoLock);
	}
}

/*
 * amcostestimate
 */
void
shidx_costestimate(struct PlannerInfo *root, struct IndexPath *path, double loop_count,
				   Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
				   double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	List	   *selectivity_quals = add_predicate_to_index_quals(info, quals);
	QualCost	qual_cost;
	ShBitsProbePlan plan;
	double		page_fetches;
	Cost		page_costs;
	double		random_pages;
	double		tuples;
	double		spc_random_page_cost;
	double		spc_seq_page_cost;
	Search		search = find_search(root, path);

	*selectivity = clauselist_selectivity(root, selectivity_quals, info->rel->relid,
										  JOIN_INNER, NULL);
	tuples = clamp_row_est(*selectivity * info->rel->tuples);

	plan_probes(info, search.radius, &plan);
	plan.ranges *= search.balls;
	plan.pages *= search.balls;
	if (search.only_nulls)
	{
		plan.ranges = 1;
		plan.pages = Max(tuples / SHBT_LEAF_CAPACITY, 1);
	}

	/*
	 * The first page of a range is a random access, what follows it is read
	 * in order.  Inner pages are few and stay cached, as in other access
	 * methods.  Repeated scans find more and more pages cached.
	 */
	get_tablespace_page_costs(info->reltablespace, &spc_random_page_cost, &spc_seq_page_cost);
	random_pages = Min(plan.ranges, plan.pages);
	page_fetches = random_pages * spc_random_page_cost +
		(plan.pages - random_pages) * spc_seq_page_cost;
	if (loop_count > 1)
	{
		double		fetched = index_pages_fetched(plan.pages * loop_count, info->pages,
												  info->pages, root);

		page_fetches = Min(page_fetches, fetched * spc_random_page_cost / loop_count);
	}

	cost_qual_eval(&qual_cost, quals, root);
	page_costs = page_fetches + plan.pages * PAGE_CPU_COST * cpu_operator_cost;
	*startup_cost = qual_cost.startup;
	*total_cost = qual_cost.startup + page_costs + tuples * cpu_index_tuple_cost;

	/*
	 * An ordered scan reads all its pages before it returns the first row,
	 * and, if not stopped early, once more for each of its batches.
	 */
	if (path->indexorderbys != NIL)
	{
		*startup_cost += page_costs;
		*total_cost += ORDERED_BATCHES * page_costs +
			tuples * cpu_operator_cost * log2(Max(tuples, 2));
	}
	*correlation = 0;
	*pages = plan.pages;
}
