/*-------------------------------------------------------------------------
 *
 * group_estimate.h
 *	  Estimating how many groups a scan reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_GROUP_ESTIMATE_H
#define SIMHASH_INDEX_GROUP_ESTIMATE_H

#include "nodes/pathnodes.h"

typedef struct ShIdxGroupEstimate
{
	bool		all;			/* the groups are not known: all are read */
	double		count;			/* otherwise how many are read */
	double		share;			/* share of the rows that meet the conditions
								 * on columns before the fingerprint */
} ShIdxGroupEstimate;

extern ShIdxGroupEstimate shidx_estimate_groups(PlannerInfo *root, const IndexPath *path);
extern List *shidx_fp_quals(const IndexPath *path);

#endif							/* SIMHASH_INDEX_GROUP_ESTIMATE_H */
