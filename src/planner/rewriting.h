/*-------------------------------------------------------------------------
 *
 * rewriting.h
 *	  What may be rewritten at a level of a query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_REWRITING_H
#define SIMHASH_PLANNER_REWRITING_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "planner/catalog.h"

/* Which expressions may take the place of others; each includes those before */
typedef enum ShPlanRewriting
{
	SHPLAN_NO_REWRITING,
	SHPLAN_BARE_COMPARISONS,	/* comparisons of the server, of operands that
								 * keep the type of a distance */
	SHPLAN_OWN_FUNCTIONS,		/* calls of functions of ours */
	SHPLAN_ANY_REWRITING		/* operators of the server, too */
} ShPlanRewriting;

extern ShPlanRewriting shplan_rewriting(PlannerInfo *root,
										const ShPlanCatalog *catalog);

#endif							/* SIMHASH_PLANNER_REWRITING_H */
