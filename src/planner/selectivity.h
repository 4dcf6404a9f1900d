/*-------------------------------------------------------------------------
 *
 * selectivity.h
 *	  Estimates that are shared by the planner support functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_SELECTIVITY_H
#define SIMHASH_PLANNER_SELECTIVITY_H

#include "access/attnum.h"
#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "planner/catalog.h"
#include "type/simhash.h"
#include "type/wide.h"

/* the probability that a fingerprint has a match in an unknown set */
#define SHPLAN_UNKNOWN_MATCH	0.5

/* Statistics of a set of fingerprints, such as a column. */
typedef struct ShPlanValueStats
{
	VariableStatData vardata;
	double		notnull;		/* share of rows that are not null */
	double		ndistinct;		/* number of values; 0 if unknown */
	AttStatsSlot mcv;			/* nvalues is 0 if there are none */
	double		mcv_share;		/* share of rows that have one of mcv */
} ShPlanValueStats;

/*
 * The radius of % between fingerprints of so many bits.
 */
static inline int
shplan_near_radius(bool wide, int width)
{
	return wide ? shtype_near_radius(width) : SIMHASH_NEAR_RADIUS;
}

extern void shplan_load_column_stats(const ShPlanCatalog *catalog, Oid relation,
									 AttrNumber column, bool inherited, double rows,
									 ShPlanValueStats *stats);
extern void shplan_set_stats(double values, ShPlanValueStats *stats);
extern void shplan_free_stats(ShPlanValueStats *stats);
extern double shplan_pair_share(ShPlanValueStats *left, ShPlanValueStats *right,
								int radius, int width, double *cluster_share);
extern Selectivity shplan_restriction_selectivity(PlannerInfo *root,
												  const ShPlanCatalog *catalog,
												  Oid operator, Oid funcid, List *args,
												  int varRelid);
extern Selectivity shplan_join_selectivity(PlannerInfo *root,
										   const ShPlanCatalog *catalog,
										   Oid operator, Oid funcid, List *args,
										   JoinType jointype,
										   SpecialJoinInfo *sjinfo);

#endif							/* SIMHASH_PLANNER_SELECTIVITY_H */
