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
#include "utils/snapshot.h"

#include "batch/buckets.h"

/* in place of a distance: that of the index */
#define SHBATCH_INDEX_DISTANCE	(-1)

/* in place of a table: all that are needed */
#define SHBATCH_ALL_TABLES		(-1)

typedef struct ShBatchSource
{
	int			distance;
	double		entries;		/* how many there are, about, */
	double		most;			/* and at most */
	ShBatchStream stream;
	ShBatchPlan plan;
} ShBatchSource;

extern void shbatch_check_distance(int distance);
extern const ShBitsScheme *shbatch_plan_sort(ShBatchPlan *plan, int distance, double entries);
extern ShSort *shbatch_sort_index(Relation index, Snapshot snapshot, bool grouped);
extern ShSort *shbatch_sort_array(AnyArrayType *array);
extern void shbatch_source_index(ShBatchSource *input, Relation index, Snapshot snapshot,
								 int distance);
extern void shbatch_source_array(ShBatchSource *input, AnyArrayType *array, int distance,
								 const ShBitsScheme *scheme, int table);
extern void shbatch_source_search(ShBatchSource *input, ShBatchSink *sink);
extern void shbatch_source_end(ShBatchSource *input);

#endif							/* SIMHASH_BATCH_SOURCE_H */
