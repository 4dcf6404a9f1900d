/*-------------------------------------------------------------------------
 *
 * source.h
 *	  What a search for pairs reads: an index, or an array.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_SOURCE_H
#define SIMHASH_BATCH_SOURCE_H

#include "postgres.h"

#include "utils/array.h"

#include "batch/groups.h"

typedef struct ShBatchSource
{
	int			distance;
	ShBatchStream stream;
	ShBatchPlan plan;
} ShBatchSource;

extern void shbatch_check_distance(int distance);
extern void shbatch_source_index(ShBatchSource *input, Relation index, Snapshot snapshot,
								const int *distance);
extern void shbatch_source_array(ShBatchSource *input, ArrayType *array, int distance,
								const int *blocks);
extern void shbatch_source_search(ShBatchSource *input, ShBatchSink *sink);
extern void shbatch_source_end(ShBatchSource *input);

#endif							/* SIMHASH_BATCH_SOURCE_H */
