/*-------------------------------------------------------------------------
 *
 * source.c
 *	  The input of a search for pairs: indexes, or an array.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/arrayaccess.h"

#include "batch/source.h"
#include "btree/cache.h"
#include "compat.h"
#include "index/progress.h"
#include "type/simhash.h"

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
				 errdetail("The distance must be between 0 and %d bits.", SHBITS_WIDTH)));
}

/*
 * Should this many entries be searched as one bucket, in memory, instead of by
 * walks over several tables?  For distances without a scheme there is no other
 * way.
 */
bool
shbatch_search_whole(double entries, int distance)
{
	return distance > 0 && (distance >= SHBITS_MAX_BLOCKS || shbatch_bucket_fits(entries));
}

/*
 * Plan the search of entries that will be sorted by a scheme that suits the
 * distance and their number.  Returns the scheme.
 */
const ShBitsScheme *
shbatch_plan_sort(ShBatchPlan *plan, int distance, double entries)
{
	ShBitsScheme *scheme;

	if (shbatch_search_whole(entries, distance))
	{
		shbatch_plan_whole(plan);
		return shbits_make_scheme(1, 0);
	}
	/* the fewest sorts */
	scheme = shbits_make_scheme(distance + 1, distance);
	shbatch_plan(plan, scheme, distance, entries);
	return scheme;
}

/*
 * Search the entries of a sort, by the given scheme or, if there is none, by
 * one that suits the distance and the number of fingerprints.
 */
static void
use_sort(ShBatchSource *input, ShSort *sort, const ShBitsScheme *scheme, bool grouped)
{
	if (scheme != NULL)
		shbatch_plan(&input->plan, scheme, input->distance, shsort_count(sort));
	else
		scheme = shbatch_plan_sort(&input->plan, input->distance, shsort_count(sort));
	shbatch_stream_sort(&input->stream, sort, scheme, grouped);
	input->entries = input->most = shsort_count(sort);
}

/*
 * Read the indexes of some tables into a sort.  A serializable transaction
 * must already have its predicate locks.
 */
ShSort *
shbatch_sort_tables(const ShBatchTables *tables, Snapshot snapshot)
{
	ShSort	   *sort = shsort_begin_grouped(maintenance_work_mem, tables->grouped);
	ShBatchStream *stream = palloc(sizeof(ShBatchStream));
	uint64	   *keys;
	uint64	   *rows;
	uint32		group;
	int			count;

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
			shidx_progress_add(count);
		}
		shbatch_stream_end(stream);
	}
	pfree(stream);
	return sort;
}

/*
 * The common scheme of the indexes of all tables, or NULL.
 */
const ShBitsScheme *
shbatch_common_scheme(const ShBatchTables *tables)
{
	const ShBitsScheme *common = NULL;

	for (int i = 0; i < tables->count; i++)
	{
		ShBitsScheme *scheme = shbt_get_scheme(tables->tables[i].index);

		if (common == NULL)
			common = scheme;
		else if (!shbits_same_scheme(scheme, common))
			return NULL;
		else
			pfree(scheme);
	}
	return common;
}

/*
 * Count the entries of the indexes of some tables that are about to be
 * searched: an estimate, and an upper bound.
 *
 * Each index is read as a whole, so a serializable transaction takes a
 * predicate lock on the whole index.
 */
void
shbatch_count_entries(const ShBatchTables *tables, Snapshot snapshot, double *entries,
					  double *most)
{
	*entries = *most = 0;
	for (int i = 0; i < tables->count; i++)
	{
		Relation	index = tables->tables[i].index;
		double		pages = RelationGetNumberOfBlocks(index);

		PredicateLockRelation(index, snapshot);
		pgstat_count_index_scan(index);
		*entries += Max(index->rd_rel->reltuples, 0);
		*most += pages / shbt_get_scheme(index)->ntables *
			shbt_leaf_capacity(shbt_is_grouped(index));
	}
}

/*
 * Search the indexes of some tables within a distance, which must be in range.
 * The tables must be open until the end, and the snapshot registered.
 */
void
shbatch_source_tables(ShBatchSource *input, const ShBatchTables *tables, Snapshot snapshot,
					  int distance)
{
	const ShBitsScheme *scheme = shbatch_common_scheme(tables);

	input->distance = distance;
	shbatch_count_entries(tables, snapshot, &input->entries, &input->most);
	if (scheme != NULL && distance <= scheme->distance)
	{
		shbatch_stream_tables(&input->stream, tables, scheme, snapshot);
		shbatch_plan(&input->plan, scheme, distance, input->most);
	}
	else if (scheme != NULL && shbatch_search_whole(input->most, distance))
	{
		shbatch_stream_tables(&input->stream, tables, scheme, snapshot);
		shbatch_plan_whole(&input->plan);
	}
	else
	{
		/*
		 * the schemes of the indexes differ, or their prefixes are too short
		 */
		shidx_progress_phase(SHIDX_PHASE_SORT, input->entries);
		use_sort(input, shbatch_sort_tables(tables, snapshot), NULL, tables->grouped);
	}
}

/*
 * Read an array into a sort.  Nulls are ignored.
 */
ShSort *
shbatch_sort_array(AnyArrayType *array)
{
	ShSort	   *sort = shsort_begin(maintenance_work_mem);
	int			count = ArrayGetNItems(AARR_NDIM(array), AARR_DIMS(array));
	array_iter	iterator;

	shcompat_array_begin(&iterator, array);
	for (int i = 0; i < count; i++)
	{
		bool		isnull;
		Datum		value = shcompat_array_next(&iterator, &isnull, i);

		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (!isnull)
			shsort_add(sort, DatumGetSimhash(value), i);
	}
	return sort;
}

/*
 * Search an array of fingerprints within a distance, which must be in range.
 *
 * The search uses the given scheme or, if there is none, one that suits.  With
 * a table of a scheme, it finds only the pairs that share the prefix of this
 * table, but not that of any table before it.
 */
void
shbatch_source_array(ShBatchSource *input, AnyArrayType *array, int distance,
					 const ShBitsScheme *scheme, int table)
{
	input->distance = distance;
	use_sort(input, shbatch_sort_array(array), scheme, false);
	if (table != SHBATCH_ALL_TABLES)
		shbatch_plan_table(&input->plan, scheme, table);
}

/*
 * Begin to find all pairs and pass them to the sink.
 */
ShBatchSearch *
shbatch_source_begin_search(ShBatchSource *input, ShBatchSink *sink)
{
	shidx_progress_phase(SHIDX_PHASE_COMPARE,
						 input->entries * (input->plan.nwalks - input->plan.first));
	return shbatch_search_begin(&input->stream, &input->plan, input->distance, sink);
}

/*
 * Find all pairs, and pass them to the sink.
 */
void
shbatch_source_search(ShBatchSource *input, ShBatchSink *sink)
{
	ShBatchSearch *search = shbatch_source_begin_search(input, sink);

	while (shbatch_search_next(search))
		;
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
