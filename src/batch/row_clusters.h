/*-------------------------------------------------------------------------
 *
 * row_clusters.h
 *	  Clusters of rows that are near each other and the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_CLUSTERS_H
#define SIMHASH_BATCH_ROW_CLUSTERS_H

#include "batch/near_rows.h"
#include "batch/row_check.h"

typedef struct ShBatchRowClusters ShBatchRowClusters;

/* a row of a cluster */
typedef struct ShBatchClusterRow
{
	ShPairsRow row;
	uint32		element;
	uint32		cluster;		/* its number, from 1 */
	uint32		size;			/* of the cluster */
} ShBatchClusterRow;

extern ShBatchRowClusters *shbatch_row_clusters_make(ShBatchNearRows *near,
													 ShBatchRowCheck *check);
extern bool shbatch_row_clusters_next(ShBatchRowClusters *clusters, ShBatchClusterRow *result);

#endif							/* SIMHASH_BATCH_ROW_CLUSTERS_H */
