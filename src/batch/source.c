/*-------------------------------------------------------------------------
 *
 * source.c
 *	  What a search for pairs reads: indexes, or an array.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/arrayaccess.h"

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
 * Search what was added to a sort: by a scheme for the distance, or, if none is
 * given, one that suits the distance and the number of fingerprints.
 */
static void
use_sort(ShBatchSource *input, ShSort *sort, const ShBitsScheme *scheme, bool grouped)
{
	if (scheme == NULL &&
		(input->distance >= SHBITS_MAX_BLOCKS || shsort_count(sort) <= FEW_FINGERPRINTS))
	{
		scheme = shbits_make_scheme(1, 0);
		shbatch_plan_whole(&input->plan);
	}
	else
	{
		/* by default the fewest sorts; buckets that are large are subdivided */
		if (scheme == NULL)
			scheme = shbits_make_scheme(input->distance + 1, input->distance);
		shbatch_plan(&input->plan, scheme, input->distance, shsort_count(sort));
	}
	shbatch_stream_sort(&input->stream, sort, scheme, grouped);
	input->entries = input->most = shsort_count(sort);
}

/*
 * Where indexes cannot be walked together, or not for this distance, since their tables
 * have too short prefixes in common: sort their entries anew, by one scheme.
 */
static void
sort_indexes(ShBatchSource *input, const ShBatchTables *tables, Snapshot snapshot)
{
	ShSort	   *sort = shsort_begin_grouped(maintenance_work_mem, tables->grouped);
	ShBatchStream *stream = &input->stream;
	uint64	   *keys;
	uint64	   *rows;
	uint32		group;
	int			count;

	shbatch_progress_phase(SHBATCH_PHASE_SORT, input->entries);
	for (int i = 0; i < tables->count; i++)
	{
		const ShBitsScheme *scheme = shbt_get_scheme(tables->tables[i].index);

		shbatch_stream_table(stream, tables, i, scheme, snapshot);
		shbatch_stream_start(stream, 0);
		while ((count = shbatch_stream_next(stream, &group, &keys, &rows)) > 0)
		{
			for (int j = 0; j < count; j++)
				shsort_add_grouped(sort, group, shbits_unpermute(&scheme->tables[0], keys[j]),
								   rows[j]);
			shbatch_progress_entries(shsort_count(sort));
		}
		shbatch_stream_end(stream);
	}
	use_sort(input, sort, NULL, tables->grouped);
}

/*
 * The scheme that the indexes of all tables have, or NULL.
 */
static const ShBitsScheme *
common_scheme(const ShBatchTables *tables)
{
	const ShBitsScheme *common = NULL;

	for (int i = 0; i < tables->count; i++)
	{
		ShBitsScheme *scheme = shbt_get_scheme(tables->tables[i].index);

		if (common == NULL)
			common = scheme;
		else if (scheme->blocks != common->blocks || scheme->distance != common->distance)
			return NULL;
		else
			pfree(scheme);
	}
	return common;
}

/*
 * Search the indexes of some tables within a distance, which must be in range.  The
 * tables must be open, and stay so, and the snapshot be registered.
 *
 * All of each index is read, so a serializable transaction takes a predicate
 * lock on all of it.
 */
void
shbatch_source_tables(ShBatchSource *input, const ShBatchTables *tables, Snapshot snapshot,
					  int distance)
{
	const ShBitsScheme *scheme = common_scheme(tables);

	input->distance = distance;
	input->entries = input->most = 0;
	for (int i = 0; i < tables->count; i++)
	{
		Relation	index = tables->tables[i].index;
		double		pages = RelationGetNumberOfBlocks(index);

		PredicateLockRelation(index, snapshot);
		pgstat_count_index_scan(index);
		input->entries += Max(index->rd_rel->reltuples, 0);
		input->most += pages / shbt_get_scheme(index)->ntables *
			shbt_leaf_capacity(tables->grouped);
	}
	if (scheme != NULL && distance <= scheme->distance)
	{
		shbatch_stream_tables(&input->stream, tables, scheme, snapshot);
		shbatch_plan(&input->plan, scheme, distance, input->most);
	}
	else
		sort_indexes(input, tables, snapshot);
}

/*
 * Add the elements of an array to a sort.  Nulls are passed over.
 */
static void
add_elements(ShSort *sort, AnyArrayType *array)
{
	int			count = ArrayGetNItems(AARR_NDIM(array), AARR_DIMS(array));
	array_iter	iterator;

	array_iter_setup(&iterator, array);
	for (int i = 0; i < count; i++)
	{
		bool		isnull;
		Datum		value = array_iter_next(&iterator, &isnull, i, sizeof(uint64),
											FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);

		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (!isnull)
			shsort_add(sort, DatumGetSimhash(value), i);
	}
}

/*
 * Search an array of fingerprints within a distance, which must be in range.
 *
 * With a scheme for that distance, by it; else by one that suits.  With a table
 * of a scheme, for the pairs that share the prefix of this table, and that of
 * no table before it.
 */
void
shbatch_source_array(ShBatchSource *input, AnyArrayType *array, int distance,
					 const ShBitsScheme *scheme, int table)
{
	ShSort	   *sort = shsort_begin(maintenance_work_mem);

	add_elements(sort, array);
	input->distance = distance;
	use_sort(input, sort, scheme, false);
	if (table != SHBATCH_ALL_TABLES)
		shbatch_plan_table(&input->plan, scheme, table);
}

/*
 * Find all pairs, and pass them to the sink.
 */
void
shbatch_source_search(ShBatchSource *input, ShBatchSink *sink)
{
	shbatch_progress_phase(SHBATCH_PHASE_COMPARE,
						   input->entries * (input->plan.nwalks - input->plan.first));
	shbatch_search(&input->stream, &input->plan, input->distance, sink);
}

/*
 * Free memory and files.
 */
void
shbatch_source_end(ShBatchSource *input)
{
	shbatch_stream_end(&input->stream);
	if (input->stream.sort != NULL)
		shsort_end(input->stream.sort);
}
