/*-------------------------------------------------------------------------
 *
 * group_estimate.h
 *	  Estimating in how many groups a scan looks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_GROUP_ESTIMATE_H
#define SIMHASH_INDEX_GROUP_ESTIMATE_H

#include "postgres.h"

#include "nodes/pathnodes.h"

typedef struct ShIdxGroupEstimate
{
	bool		all;			/* which groups is not known: all are read */
	double		count;			/* else how many are */
	double		share;			/* part of the rows that meets the conditions
								 * on columns before the fingerprint */
} ShIdxGroupEstimate;

extern ShIdxGroupEstimate shidx_estimate_groups(PlannerInfo *root, const IndexPath *path);
extern List *shidx_fp_quals(const IndexPath *path);

#endif							/* SIMHASH_INDEX_GROUP_ESTIMATE_H */
