/*-------------------------------------------------------------------------
 *
 * expression_index.h
 *	  Checking whether an expression is indexed, or is a partition key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_EXPRESSION_INDEX_H
#define SIMHASH_PLANNER_EXPRESSION_INDEX_H

#include "nodes/pathnodes.h"

extern bool shplan_is_indexed(PlannerInfo *root, Node *expr);

#endif							/* SIMHASH_PLANNER_EXPRESSION_INDEX_H */
