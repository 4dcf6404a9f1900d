/*-------------------------------------------------------------------------
 *
 * rewriting.h
 *	  What may be rewritten at a level of a query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_REWRITING_H
#define SIMHASH_PLANNER_REWRITING_H

#include "nodes/pathnodes.h"

#include "planner/catalog.h"

/* Which expressions may replace others; each value includes those before it */
typedef enum ShPlanRewriting
{
	SHPLAN_NO_REWRITING,
	SHPLAN_BARE_COMPARISONS,	/* the server's comparisons, with operands
								 * that keep the type of a distance */
	SHPLAN_OWN_FUNCTIONS,		/* calls of our functions */
	SHPLAN_ANY_REWRITING		/* also operators of the server */
} ShPlanRewriting;

extern ShPlanRewriting shplan_rewriting(PlannerInfo *root,
										const ShPlanCatalog *catalog);
extern bool shplan_calls_volatile(Node *node);

#endif							/* SIMHASH_PLANNER_REWRITING_H */
