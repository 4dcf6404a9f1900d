/*-------------------------------------------------------------------------
 *
 * comparison.h
 *	  Simplifying comparisons of a distance with a number.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_COMPARISON_H
#define SIMHASH_PLANNER_COMPARISON_H

#include "nodes/pathnodes.h"

#include "planner/catalog.h"

extern bool shplan_calls_volatile(Node *node);
extern Node *shplan_simplify_comparison(PlannerInfo *root,
										const ShPlanCatalog *catalog,
										FuncExpr *call);

#endif							/* SIMHASH_PLANNER_COMPARISON_H */
