/*-------------------------------------------------------------------------
 *
 * source.h
 *	  The input of a search for pairs: indexes, or an array.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_SOURCE_H
#define SIMHASH_BATCH_SOURCE_H

#include "postgres.h"

#include "utils/array.h"
#include "utils/snapshot.h"

#include "batch/buckets.h"
#include "batch/tables.h"

/* in place of a table number: all tables that are needed */
#define SHBATCH_ALL_TABLES		(-1)

typedef struct ShBatchSource
{
	int			distance;
	double		entries;		/* estimated number of entries, */
	double		most;			/* and upper bound */
	ShBatchStream stream;
	ShBatchPlan plan;
} ShBatchSource;

extern void shbatch_check_distance(int distance);
extern bool shbatch_search_whole(double entries, int distance);
extern const ShBitsScheme *shbatch_plan_sort(ShBatchPlan *plan, int distance, double entries);
extern const ShBitsScheme *shbatch_common_scheme(const ShBatchTables *tables);
extern void shbatch_count_entries(const ShBatchTables *tables, Snapshot snapshot,
								  double *entries, double *most);
extern ShSort *shbatch_sort_tables(const ShBatchTables *tables, Snapshot snapshot);
extern ShSort *shbatch_sort_array(AnyArrayType *array);
extern void shbatch_source_tables(ShBatchSource *input, const ShBatchTables *tables,
								  Snapshot snapshot, int distance);
extern void shbatch_source_array(ShBatchSource *input, AnyArrayType *array, int distance,
								 const ShBitsScheme *scheme, int table);
extern ShBatchSearch *shbatch_source_begin_search(ShBatchSource *input, ShBatchSink *sink);
extern void shbatch_source_search(ShBatchSource *input, ShBatchSink *sink);
extern void shbatch_source_end(ShBatchSource *input);

#endif							/* SIMHASH_BATCH_SOURCE_H */
