/*-------------------------------------------------------------------------
 *
 * selectivity.h
 *	  Estimating how many fingerprints lie within a radius of another.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_SELECTIVITY_H
#define SIMHASH_PLANNER_SELECTIVITY_H

#include "nodes/pathnodes.h"

#include "planner/catalog.h"

extern Selectivity shplan_selectivity(PlannerInfo *root, const ShPlanCatalog *catalog,
									  Oid operator, Oid funcid, List *args, int varRelid,
									  JoinType jointype, SpecialJoinInfo *sjinfo);

#endif							/* SIMHASH_PLANNER_SELECTIVITY_H */
