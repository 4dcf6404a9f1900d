/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  Estimating the cost of a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_COST_H
#define SIMHASH_INDEX_COST_H

#include "nodes/pathnodes.h"

extern void shidx_costestimate(struct PlannerInfo *root, struct IndexPath *path,
							   double loop_count, Cost *startup_cost,
							   Cost *total_cost, Selectivity *selectivity,
							   double *correlation, double *pages);

#endif							/* SIMHASH_INDEX_COST_H */
