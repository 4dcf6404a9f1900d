/*-------------------------------------------------------------------------
 *
 * expression_index.h
 *	  Is an expression indexed, or partitioned by?
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_EXPRESSION_INDEX_H
#define SIMHASH_PLANNER_EXPRESSION_INDEX_H

#include "postgres.h"

#include "nodes/pathnodes.h"

extern bool shplan_is_indexed(PlannerInfo *root, Node *expr);

#endif							/* SIMHASH_PLANNER_EXPRESSION_INDEX_H */
