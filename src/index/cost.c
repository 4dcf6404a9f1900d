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
#include "index/am.h"
#include "index/tree.h"
#include "type/simhash.h"

/*
 * CPU cost of a page, in units of cpu_operator_cost: finding and locking it,
 * and comparing the whole of it, which vector instructions do at once.
 */
#define PAGE_CPU_COST		10

/* how many batches an ordered scan of all rows takes, roughly */
#define ORDERED_BATCHES		3

#define LOG2(x)				(log(x) / 0.693147180559945)

/*
 * Smallest radius among the conditions; SIMHASH_BITS if no condition has one,
 * SIMHASH_NEAR_RADIUS if it is not known yet.
 */
static int
condition_radius(IndexPath *path, bool *only_nulls)
{
	int			radius = SIMHASH_BITS;
	ListCell   *lc;

	*only_nulls = false;
	foreach(lc, path->indexclauses)
	{
		IndexClause *iclause = lfirst_node(IndexClause, lc);
		ListCell   *lc2;

		foreach(lc2, iclause->indexquals)
		{
			Expr	   *clause = lfirst_node(RestrictInfo, lc2)->clause;
			OpExpr	   *op;
			Node	   *other;
			int			strategy;
			int			this_radius = SIMHASH_NEAR_RADIUS;

			if (IsA(clause, NullTest))
			{
				*only_nulls |= ((NullTest *) clause)->nulltesttype == IS_NULL;
				continue;
			}
			if (!IsA(clause, OpExpr))
				continue;
			op = (OpExpr *) clause;
			other = (Node *) lsecond(op->args);
			strategy = get_op_opfamily_strategy(op->opno, path->indexinfo->opfamily[0]);
			if (strategy >= 1 && strategy <= SHIDX_MAX_WITHIN_STRATEGY)
				this_radius = SHIDX_RADIUS_OF_STRATEGY(strategy);
			else if (strategy == SHIDX_STRATEGY_BALL)
			{
				if (IsA(other, Const) && !((Const *) other)->constisnull)
					this_radius = DatumGetSimhashBall(((Const *) other)->constvalue)->radius;
				else if (IsA(other, FuncExpr) &&
						 list_length(((FuncExpr *) other)->args) == 2 &&
						 IsA(lsecond(((FuncExpr *) other)->args), Const))
				{
					Const	   *value = lsecond_node(Const, ((FuncExpr *) other)->args);

					if (!value->constisnull && value->consttype == INT4OID)
						this_radius = DatumGetInt32(value->constvalue);
				}
			}
			radius = Min(radius, this_radius);
		}
	}
	return radius;
}

/*
 * The scheme of an index.  One that an adviser only imagines has the default
 * scheme.
 */
static ShBitsScheme *
scheme_of_index(IndexOptInfo *info)
{
	ShBitsScheme *scheme;

	if (info->hypothetical)
	{
		scheme = palloc(shbits_scheme_size(shbits_ntables(SHIDX_DEFAULT_BLOCKS,
														  SHIDX_DEFAULT_DISTANCE)));
		shbits_scheme_init(scheme, SHIDX_DEFAULT_BLOCKS, SHIDX_DEFAULT_DISTANCE);
	}
	else
	{
		/* the planner holds a lock already */
		Relation	index = index_open(info->indexoid, NoLock);

		scheme = shidx_get_scheme(index);
		index_close(index, NoLock);
	}
	return scheme;
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
	ShBitsScheme *scheme;
	double		leaves;
	double		page_fetches;
	Cost		page_costs;
	double		random_pages;
	double		tuples;
	double		spc_random_page_cost;
	double		spc_seq_page_cost;
	bool		only_nulls;
	int			radius = condition_radius(path, &only_nulls);

	*selectivity = clauselist_selectivity(root, selectivity_quals, info->rel->relid,
										  JOIN_INNER, NULL);
	tuples = clamp_row_est(*selectivity * info->rel->tuples);

	scheme = scheme_of_index(info);

	leaves = Max(info->pages / (double) scheme->ntables, 1);
	shbits_plan_probes(scheme, radius, leaves, &plan);
	if (only_nulls)
	{
		plan.ranges = 1;
		plan.pages = Max(tuples / SHIDX_LEAF_CAPACITY, 1);
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
			tuples * cpu_operator_cost * LOG2(Max(tuples, 2));
	}
	*correlation = 0;
	*pages = plan.pages;
	pfree(scheme);
}
