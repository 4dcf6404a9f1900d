/*-------------------------------------------------------------------------
 *
 * plan.h
 *	  What a scan will read: of a condition, of the cheapest one, of an order, and of groups.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_PLAN_H
#define SIMHASH_INDEX_PLAN_H

#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "bits/probe.h"
#include "index/group.h"
#include "index/page.h"

/* balls of one radius, in a list of what a condition has */
typedef struct ShIdxTerm
{
	int			tables;			/* that have the bands; 0 if there are none */
	int			radius;
	double		balls;
} ShIdxTerm;

/* what it takes to find everything that lies in some balls */
typedef struct ShIdxCost
{
	double		balls;			/* read one after the other */
	double		ranges;
	double		pages;
	double		share;			/* fraction of random fingerprints that the
								 * search meets although they may lie in no
								 * ball; 0 if fingerprints have one part */
} ShIdxCost;

/* conditions */
extern List *shidx_add_term(List *terms, int tables, int radius, double balls);
extern int	shidx_plan_cheapest(const List *conditions, const ShIdxGeometry *geometry,
								double leaves_per_table, double groups, ShIdxCost *cost);

/* orders */
extern bool shidx_plan_by_condition(const ShIdxCost *cost, double leaves_per_table);
extern double shidx_plan_for_rings(double leaves_per_table);
extern int	shidx_plan_radius(double leaves_per_table, int least, double batch);
extern double shidx_plan_charge(const ShBitsProbePlan *plan);
extern bool shidx_plan_is_ring_worth(const ShBitsScheme *scheme, double leaves_per_table, int inner,
									 int radius, int target, double allowance);
extern double shidx_plan_order(const ShBitsScheme *scheme, double leaves_per_table, ShIdxCost *first);

/* groups */
extern double shidx_count_groups(Relation index, double leaves);
extern double shidx_plan_groups(Relation index, ShIdxGroups *groups, bool has_condition,
								double table);

#endif							/* SIMHASH_INDEX_PLAN_H */
