/*-------------------------------------------------------------------------
 *
 * planner.h
 *	  What the planner support functions share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_PLANNER_H
#define SIMHASH_TYPE_PLANNER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "type/catalog.h"

extern Selectivity shtype_restriction_selectivity(PlannerInfo *root,
												  const ShTypeCatalog *catalog,
												  Oid funcid, List *args,
												  int varRelid);
extern Selectivity shtype_join_selectivity(PlannerInfo *root,
										   const ShTypeCatalog *catalog,
										   Oid funcid, List *args,
										   JoinType jointype,
										   SpecialJoinInfo *sjinfo);

#endif							/* SIMHASH_TYPE_PLANNER_H */
