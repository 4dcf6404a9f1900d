/*-------------------------------------------------------------------------
 *
 * source.c
 *	  What a search for pairs reads: an index, or an array.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"

#include "batch/progress.h"
#include "batch/source.h"
#include "btree/cache.h"
#include "type/simhash.h"

/* up to how many fingerprints are sorted but once, and then subdivided */
#define FEW_FINGERPRINTS	4096

/* elements of an array between two checks for interrupts */
#define CHECK_INTERVAL		4096

/*
 * Report an error if a distance is out of range.
 */
void
shbatch_check_distance(int distance)
{
	if (distance < 0 || distance > SHBITS_WIDTH)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("distance %d is out of range", distance),
				 errdetail("The distance of fingerprints is 0 to %d bits.", SHBITS_WIDTH)));
}

/*
 * Search what was added to a sort, by a scheme with the given number of
 * blocks, or one that suits the distance and the number of fingerprints.
 */
static void
use_sort(ShBatchSource *input, ShSort *sort, const int *blocks)
{
	ShBitsScheme *scheme;

	if (blocks == NULL &&
		(input->distance >= SHBITS_MAX_BLOCKS || shsort_count(sort) <= FEW_FINGERPRINTS))
	{
		scheme = shbits_make_scheme(1, 0);
		shbatch_plan_whole(&input->plan);
	}
	else
	{
		/* by default the fewest sorts; groups that are large are subdivided */
		scheme = shbits_make_scheme(blocks != NULL ? *blocks : input->distance + 1,
									input->distance);
		shbatch_plan(&input->plan, scheme, input->distance, shsort_count(sort));
	}
	shbatch_stream_sort(&input->stream, sort, scheme);
}

/*
 * Beyond its distance the tables of an index have too short prefixes in
 * common: sort its entries anew, by longer ones.
 */
static void
sort_index(ShBatchSource *input, Relation index, const ShBitsScheme *scheme, Snapshot snapshot)
{
	ShSort  *sort = shsort_begin(maintenance_work_mem);
	uint64		keys[SHBATCH_STREAM_MAX];
	uint64		tids[SHBATCH_STREAM_MAX];
	int			count;

	shbatch_progress_phase(SHBATCH_PHASE_SORT, Max(index->rd_rel->reltuples, 0));
	shbatch_stream_index(&input->stream, index, scheme, snapshot);
	shbatch_stream_start(&input->stream, 0);
	while ((count = shbatch_stream_next(&input->stream, keys, tids)) > 0)
	{
		for (int i = 0; i < count; i++)
			shsort_add(sort, shbits_unpermute(&scheme->tables[0], keys[i]), tids[i]);
		shbatch_progress_entries(count);
	}
	use_sort(input, sort, NULL);
}

/*
 * Search an index within a distance, or that of the index if none is given.
 * The index must be open, and stay so, and the snapshot be registered.
 *
 * All of the index is read, so a serializable transaction takes a predicate
 * lock on all of it.
 */
void
shbatch_source_index(ShBatchSource *input, Relation index, Snapshot snapshot, const int *distance)
{
	ShBitsScheme *scheme = shbt_get_scheme(index);

	PredicateLockRelation(index, snapshot);
	pgstat_count_index_scan(index);
	input->distance = distance != NULL ? *distance : scheme->distance;
	shbatch_check_distance(input->distance);
	if (input->distance <= scheme->distance)
	{
		double		leaves = (double) RelationGetNumberOfBlocks(index) / scheme->ntables;

		shbatch_stream_index(&input->stream, index, scheme, snapshot);
		shbatch_plan(&input->plan, scheme, input->distance, leaves * SHBT_LEAF_CAPACITY);
	}
	else
		sort_index(input, index, scheme, snapshot);
}

/*
 * Search an array of fingerprints within a distance, which must be in range.
 * Nulls are passed over.  If blocks is given, by the scheme with that many;
 * ERRCODE_INVALID_PARAMETER_VALUE if there is none.
 */
void
shbatch_source_array(ShBatchSource *input, ArrayType *array, int distance, const int *blocks)
{
	ShSort  *sort;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	input->distance = distance;
	if (blocks != NULL)
		shbits_check_scheme(*blocks, distance);

	sort = shsort_begin(maintenance_work_mem);
	deconstruct_array(array, ARR_ELEMTYPE(array), sizeof(uint64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			shsort_add(sort, DatumGetSimhash(values[i]), i);
	}
	pfree(values);
	pfree(nulls);
	use_sort(input, sort, blocks);
}

/*
 * Find all pairs, and pass them to the sink.
 */
void
shbatch_source_search(ShBatchSource *input, ShBatchSink *sink)
{
	double		entries;

	if (input->stream.sort != NULL)
		entries = shsort_count(input->stream.sort);
	else
		entries = Max(input->stream.index->rd_rel->reltuples, 0);
	shbatch_progress_phase(SHBATCH_PHASE_COMPARE, entries * input->plan.nsteps);
	shbatch_search(&input->stream, &input->plan, input->distance, sink);
}

/*
 * Free memory and files.
 */
void
shbatch_source_end(ShBatchSource *input)
{
	if (input->stream.sort != NULL)
		shsort_end(input->stream.sort);
}
