/*-------------------------------------------------------------------------
 *
 * source.c
 *	  The input of a search for pairs: indexes, or an array, or two of these.
 *
 * Two sides are read by the same scheme.  An index whose scheme suits the
 * distance need not be sorted.  So the scheme of the index with more entries
 * is used if it suits, otherwise that of the other index.  A side with another
 * scheme is sorted.  If neither suits, both sides are sorted by a scheme for
 * the distance.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/arrayaccess.h"

#include "btree/cache.h"
#include "btree/leaf.h"
#include "btree/page.h"
#include "compat.h"
#include "pairs/source.h"
#include "rows/progress.h"
#include "type/simhash.h"

/* elements of an array between two checks for interrupts */
#define CHECK_INTERVAL		4096

/*
 * Report an error if a distance is out of range for fingerprints of so many bits.
 */
void
shpairs_check_distance(int distance, int width)
{
	if (distance < 0 || distance > width)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("distance %d is out of range", distance),
				 errdetail("The distance must be between 0 and %d bits.", width)));
}

/*
 * Should this many entries be searched as one bucket, in memory, instead of by
 * walks over several tables?  For distances without a scheme there is no other
 * way.
 */
static bool
fits_one_bucket(double entries, int distance)
{
	return distance > 0 && (distance >= SHBITS_MAX_BLOCKS || shpairs_bucket_fits(entries));
}

/*
 * Plan the search of entries that will be sorted by a scheme that suits the
 * distance and their number.  Returns the scheme.
 */
static const ShBitsScheme *
plan_sort(ShPairsPlan *plan, int distance, double entries)
{
	ShBitsScheme *scheme;

	if (fits_one_bucket(entries, distance))
	{
		shpairs_plan_whole(plan);
		return shbits_make_scheme(1, 0);
	}
	/* the fewest sorts */
	scheme = shbits_make_scheme(distance + 1, distance);
	shpairs_plan(plan, scheme, distance, entries);
	return scheme;
}

/*
 * Search the entries of a sort, by the given scheme or, if there is none, by
 * one that suits the distance and the number of fingerprints.
 */
static void
use_sort(ShPairsSource *input, ShSort *sort, const ShBitsScheme *scheme, bool grouped)
{
	if (scheme != NULL)
		shpairs_plan(&input->plan, scheme, input->distance, shsort_count(sort));
	else
		scheme = plan_sort(&input->plan, input->distance, shsort_count(sort));
	shpairs_stream_sort(&input->stream, sort, scheme, grouped);
	input->entries = input->most = shsort_count(sort);
}

/*
 * Read the indexes of some tables into a sort.  A serializable transaction
 * must already have its predicate locks.
 */
static void
collect_heaps(const ShRowsHeaps *heaps, Snapshot snapshot, ShSort *sort)
{
	ShPairsStream *stream = palloc(sizeof(ShPairsStream));
	ShPermuted *keys;
	ShRowsNumber *rows;
	uint32		group;
	int			count;

	for (int i = 0; i < heaps->count; i++)
	{
		const ShBitsScheme *scheme = shbt_get_scheme(heaps->heaps[i].index);

		shpairs_stream_heap(stream, heaps, i, scheme, snapshot);
		shpairs_stream_start(stream, 0);
		while ((count = shpairs_stream_next(stream, &group, &keys, &rows)) > 0)
		{
			for (int j = 0; j < count; j++)
				shsort_add_grouped(sort, group, shbits_unpermute(&scheme->tables[0], keys[j]),
								   rows[j]);
			shrows_progress_add(count);
		}
		shpairs_stream_end(stream);
	}
	pfree(stream);
}

static ShSort *
sort_heaps(const ShRowsHeaps *heaps, Snapshot snapshot)
{
	ShSort	   *sort = shsort_begin_grouped(maintenance_work_mem, heaps->grouped);

	collect_heaps(heaps, snapshot, sort);
	return sort;
}

/* ShPairsParallelInput.collect */
static void
collect_input(void *arg, ShSort *sort)
{
	const ShPairsSource *input = arg;

	collect_heaps(input->unsorted, input->snapshot, sort);
}

/*
 * The common scheme of the indexes of all tables, or NULL.
 */
static const ShBitsScheme *
common_scheme(const ShRowsHeaps *heaps)
{
	const ShBitsScheme *common = NULL;

	for (int i = 0; i < heaps->count; i++)
	{
		ShBitsScheme *scheme = shbt_get_scheme(heaps->heaps[i].index);

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
static void
count_entries(const ShRowsHeaps *heaps, Snapshot snapshot, double *entries,
			  double *most)
{
	*entries = *most = 0;
	for (int i = 0; i < heaps->count; i++)
	{
		Relation	index = heaps->heaps[i].index;
		double		pages = RelationGetNumberOfBlocks(index);

		PredicateLockRelation(index, snapshot);
		pgstat_count_index_scan(index);
		*entries += Max(index->rd_rel->reltuples, 0);
		*most += pages / shbt_get_scheme(index)->ntables * SHBT_MAX_ENTRIES;
	}
}

/*
 * The indexes of a side, with a scheme, are read as they are.
 */
static void
may_be_parallel(ShPairsSearch *search, const ShBitsScheme *scheme, const ShRowsHeaps *heaps,
				ShPairsStream *stream)
{
	int			side = search->input.nsides++;

	search->input.scheme = scheme;
	search->input.heaps[side] = heaps;
	search->input.streams[side] = stream;
}

/*
 * How many workers a search of about so many entries really gets: each process has
 * a share of the memory, in which a bucket of all entries must fit.
 */
static int
workers_with_memory(const ShPairsSearch *search, double entries)
{
	double		memory = maintenance_work_mem * 1024.0;
	int			workers = search->input.scheme != NULL ? search->workers : 0;

	while (search->one_bucket && workers > 0 &&
		   shpairs_bucket_bytes(entries) > memory / (workers + 1))
		workers--;
	return workers;
}

/*
 * Begin a parallel search, if it is possible.
 */
static void
begin_parallel(ShPairsSearch *search, const ShPairsPlan *plan, int distance, double entries,
			   ShPairsSink *sink, ShPairsMatchSink *match_sink)
{
	int			workers = workers_with_memory(search, entries);

	search->input.plan = plan;
	search->input.distance = distance;
	search->input.entries = entries;
	if (workers > 0)
		search->parallel = shpairs_parallel_begin(&search->input, workers, sink, match_sink);
}

/*
 * The next bucket that a parallel search has left.  Returns false after the last,
 * when parallel mode has been left.
 */
static bool
next_left(ShPairsSearch *search, ShPairsRange *range)
{
	const ShPairsTask *task;

	if (!search->is_left)
		search->left = shpairs_parallel_left(search->parallel, &search->nleft);
	search->is_left = true;
	if (search->next_left == search->nleft)
	{
		shpairs_parallel_end(search->parallel);
		return false;
	}
	task = &search->left[search->next_left++];
	*range = shpairs_range_of_bucket(task->walk, &task->start,
									 search->input.plan->walks[task->walk].prefix_bits);
	return true;
}

/*
 * Search the indexes of some tables within a distance, which must be in range.
 * The tables must be open until the end, and the snapshot registered.
 */
void
shpairs_source_heaps(ShPairsSource *input, const ShRowsHeaps *heaps, Snapshot snapshot,
					 int distance)
{
	const ShBitsScheme *scheme = common_scheme(heaps);

	input->distance = distance;
	input->unsorted = NULL;
	memset(&input->search, 0, sizeof(ShPairsSearch));
	count_entries(heaps, snapshot, &input->entries, &input->most);
	if (scheme != NULL && distance <= scheme->distance)
	{
		shpairs_stream_heaps(&input->stream, heaps, scheme, snapshot);
		shpairs_plan(&input->plan, scheme, distance, input->most);
		may_be_parallel(&input->search, scheme, heaps, &input->stream);
	}
	else if (scheme != NULL && fits_one_bucket(input->most, distance))
	{
		shpairs_stream_heaps(&input->stream, heaps, scheme, snapshot);
		shpairs_plan_whole(&input->plan);
		may_be_parallel(&input->search, scheme, heaps, &input->stream);
		input->search.one_bucket = !heaps->grouped;
	}
	else
	{
		/*
		 * the schemes of the indexes differ, or their prefixes are too short
		 */
		input->unsorted = heaps;
		input->snapshot = snapshot;
	}
}

/*
 * Begin a search of entries that have to be sorted with parallel workers, if that
 * is possible.  The plan is made for the estimated number of entries.
 */
static void
begin_parallel_sort(ShPairsSource *input, ShPairsSink *sink)
{
	ShPairsSearch *search = &input->search;
	const ShBitsScheme *scheme = plan_sort(&input->plan, input->distance, input->most);

	may_be_parallel(search, scheme, input->unsorted, &input->stream);
	search->one_bucket = input->plan.walks[0].prefix_bits == 0 && !input->unsorted->grouped;
	search->input.collect = collect_input;
	search->input.arg = input;
	begin_parallel(search, &input->plan, input->distance,
				   input->entries > 0 ? input->entries : input->most, sink, NULL);
}

/*
 * Read an array into a sort.  Nulls are ignored.
 */
static ShSort *
sort_array(AnyArrayType *array)
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
shpairs_source_array(ShPairsSource *input, AnyArrayType *array, int distance,
					 const ShBitsScheme *scheme, int table)
{
	input->distance = distance;
	input->unsorted = NULL;
	memset(&input->search, 0, sizeof(ShPairsSearch));
	use_sort(input, sort_array(array), scheme, false);
	if (table != SHPAIRS_ALL_TABLES)
		shpairs_plan_table(&input->plan, scheme, table);
}

/*
 * Sort the entries, or let workers do it.
 */
static void
begin_sorted(ShPairsSource *input, ShPairsSink *sink)
{
	shrows_progress_phase(SHROWS_PHASE_SORT, input->entries);
	begin_parallel_sort(input, sink);
	if (input->search.parallel == NULL)
		use_sort(input, sort_heaps(input->unsorted, input->snapshot), NULL,
				 input->unsorted->grouped);
}

/*
 * Begin to find all pairs and pass them to the sink, with up to so many
 * parallel workers if that is possible.
 */
void
shpairs_source_begin(ShPairsSource *input, int workers, ShPairsSink *sink)
{
	input->search.workers = workers;
	input->sink = sink;
	input->finder = NULL;
	if (input->unsorted != NULL)
		begin_sorted(input, sink);
	shrows_progress_phase(SHROWS_PHASE_COMPARE,
						  input->entries * (input->plan.nwalks - input->plan.first));
	if (input->unsorted == NULL)
		begin_parallel(&input->search, &input->plan, input->distance,
					   input->entries > 0 ? input->entries : input->most, sink, NULL);
	if (input->search.parallel == NULL)
		input->finder = shpairs_finder_begin(&input->stream, &input->plan, input->distance, sink);
}

/*
 * Search a bucket that a parallel search has left.  Returns false after the last.
 */
static bool
search_left(ShPairsSource *input)
{
	ShPairsRange range;

	if (!next_left(&input->search, &range))
		return false;
	if (input->finder == NULL)
		input->finder = shpairs_finder_begin(&input->stream, &input->plan, input->distance,
											 input->sink);
	shpairs_finder_search_range(input->finder, &range,
								shpairs_parallel_entries(input->search.parallel));
	if (input->sink->leave != NULL)
		input->sink->leave(input->sink);
	return true;
}

/*
 * Pass more pairs to the sink: those of the next bucket, or what a parallel search
 * has found.  The bucket is valid until the next call, unless the sink has been
 * told otherwise.  Returns false after the last.
 */
bool
shpairs_source_next(ShPairsSource *input)
{
	ShPairsSearch *search = &input->search;

	if (search->parallel == NULL)
		return shpairs_finder_next(input->finder);
	return (!search->is_left && shpairs_parallel_next(search->parallel)) || search_left(input);
}

/*
 * Free memory and files.
 */
void
shpairs_source_end(ShPairsSource *input)
{
	shpairs_stream_end(&input->stream);
	if (input->stream.sort != NULL)
		shsort_end(input->stream.sort);
}

/* one side: indexes, or sorted entries */
typedef struct Side
{
	ShRowsHeaps heaps;
	const ShBitsScheme *scheme; /* of all indexes, or NULL */
	ShSort	   *sort;
	double		entries;		/* about, */
	double		most;			/* and at most */
} Side;

/* can the indexes of a side be read for a distance without sorting? */
static bool
suits(const Side *side, int distance)
{
	return side->scheme != NULL && distance <= side->scheme->distance;
}

static bool
has_scheme(const Side *side, const ShBitsScheme *scheme)
{
	return side->scheme != NULL && scheme != NULL && shbits_same_scheme(side->scheme, scheme);
}

/* choose the scheme by which both sides are read, or NULL */
static const ShBitsScheme *
choose_scheme(const Side *a, const Side *b, int distance)
{
	const Side *larger = a->most > b->most ? a : b;
	const Side *smaller = larger == a ? b : a;

	if (suits(larger, distance))
		return larger->scheme;
	return suits(smaller, distance) ? smaller->scheme : NULL;
}

/*
 * Prepare to search indexes.  If the columns before the fingerprint are to be
 * ignored, the indexes must be sorted, since these columns come first in their
 * order.
 */
static void
begin_heaps(Side *side, ShRowsHeaps heaps, Snapshot snapshot)
{
	side->heaps = heaps;
	side->scheme = common_scheme(&heaps);
	for (int i = 0; i < heaps.count; i++)
	{
		if (shbt_is_grouped(heaps.heaps[i].index) != heaps.grouped)
			side->scheme = NULL;
	}
	side->sort = NULL;
	count_entries(&heaps, snapshot, &side->entries, &side->most);
}

/*
 * Sort the sides that do not have the wanted scheme, unless they are already
 * sorted.
 */
static void
sort_sides(Side *a, Side *b, const ShBitsScheme *scheme, Snapshot snapshot)
{
	Side	   *sides[] = {a, b};
	bool		unsorted[lengthof(sides)];
	double		entries = 0;

	for (int i = 0; i < lengthof(sides); i++)
	{
		unsorted[i] = sides[i]->sort == NULL && !has_scheme(sides[i], scheme);
		if (unsorted[i])
			entries += sides[i]->entries;
	}
	if (unsorted[0] || unsorted[1])
		shrows_progress_phase(SHROWS_PHASE_SORT, entries);
	for (int i = 0; i < lengthof(sides); i++)
	{
		if (!unsorted[i])
			continue;
		sides[i]->sort = sort_heaps(&sides[i]->heaps, snapshot);
		sides[i]->entries = sides[i]->most = shsort_count(sides[i]->sort);
	}
}

static void
begin_stream(ShPairsStream *stream, const Side *side, const ShBitsScheme *scheme,
			 bool grouped, Snapshot snapshot)
{
	if (side->sort != NULL)
		shpairs_stream_sort(stream, side->sort, scheme, grouped);
	else
		shpairs_stream_heaps(stream, &side->heaps, scheme, snapshot);
}

/*
 * Choose a scheme for both sides, sort them by it if necessary, and plan the
 * walks.
 */
static void
begin_sides(ShPairsMatchSource *input, Side *a, Side *b, int distance, bool grouped,
			Snapshot snapshot)
{
	const ShBitsScheme *scheme = choose_scheme(a, b, distance);
	bool		whole = false;
	double		entries;

	/* assume sides of equal size: each may take half of the memory */
	entries = 2 * Max(a->most, b->most);

	/* for a single bucket any order will do, if both sides have it */
	if (scheme == NULL && has_scheme(a, b->scheme))
		whole = fits_one_bucket(entries, distance);
	if (whole)
		scheme = a->scheme;

	sort_sides(a, b, scheme, snapshot);
	if (whole)
		shpairs_plan_whole(&input->plan);
	else if (scheme != NULL)
		shpairs_plan(&input->plan, scheme, distance, entries);
	else
		scheme = plan_sort(&input->plan, distance, entries);
	input->heaps[0] = a->heaps;
	input->heaps[1] = b->heaps;
	begin_stream(&input->a, a, scheme, grouped, snapshot);
	begin_stream(&input->b, b, scheme, grouped, snapshot);
	memset(&input->search, 0, sizeof(ShPairsSearch));
	if (a->sort == NULL && b->sort == NULL)
	{
		may_be_parallel(&input->search, scheme, &input->heaps[0], &input->a);
		may_be_parallel(&input->search, scheme, &input->heaps[1], &input->b);
		input->search.one_bucket = whole && !grouped;
	}
	input->distance = distance;
	input->a_entries = a->entries;
	input->b_entries = b->entries;
}

/*
 * Search for pairs of values, side a, and entries of the indexes of tables.
 * The distance must be in range.  The tables must be open until the end, and
 * the snapshot registered.
 */
void
shpairs_match_source_array(ShPairsMatchSource *input, AnyArrayType *values,
						   const ShRowsHeaps *heaps, Snapshot snapshot, int distance)
{
	Side		a = {0};
	Side		b;

	a.sort = sort_array(values);
	a.entries = a.most = shsort_count(a.sort);
	begin_heaps(&b, *heaps, snapshot);
	begin_sides(input, &a, &b, distance, false, snapshot);
}

/*
 * Search for pairs between the two sides of tables.  Otherwise as above.
 */
void
shpairs_match_source_heaps(ShPairsMatchSource *input, const ShRowsHeaps *heaps,
						   Snapshot snapshot, int distance)
{
	Side		a;
	Side		b;

	begin_heaps(&a, shrows_heaps_of_side(heaps, 0), snapshot);
	begin_heaps(&b, shrows_heaps_of_side(heaps, 1), snapshot);
	begin_sides(input, &a, &b, distance, heaps->grouped, snapshot);
}

/*
 * Begin to find all pairs and pass them to the sink, as shpairs_source_begin does.
 */
void
shpairs_match_source_begin(ShPairsMatchSource *input, int workers, ShPairsMatchSink *sink)
{
	bool		known = input->a_entries > 0 && input->b_entries > 0;

	shrows_progress_phase(SHROWS_PHASE_COMPARE, known ?
						  (input->a_entries + input->b_entries) * input->plan.nwalks : 0);
	input->search.workers = workers;
	input->sink = sink;
	input->finder = NULL;
	begin_parallel(&input->search, &input->plan, input->distance,
				   input->a_entries + input->b_entries, NULL, sink);
	if (input->search.parallel == NULL)
		input->finder = shpairs_match_finder_begin(&input->a, input->a_entries, &input->b,
												   input->b_entries, &input->plan,
												   input->distance, sink);
}

/*
 * Search two buckets that a parallel search has left.  Returns false after the
 * last.
 */
static bool
search_match_left(ShPairsMatchSource *input)
{
	ShPairsRange range;

	if (!next_left(&input->search, &range))
		return false;
	if (input->finder == NULL)
		input->finder = shpairs_match_finder_begin(&input->a, input->a_entries, &input->b,
												   input->b_entries, &input->plan,
												   input->distance, input->sink);
	shpairs_match_finder_search_range(input->finder, &range);
	input->sink->leave(input->sink);
	return true;
}

/*
 * Pass more pairs to the sink, as shpairs_source_next does.
 */
bool
shpairs_match_source_next(ShPairsMatchSource *input)
{
	ShPairsSearch *search = &input->search;

	if (search->parallel == NULL)
		return shpairs_match_finder_next(input->finder);
	return (!search->is_left && shpairs_parallel_next(search->parallel)) ||
		search_match_left(input);
}

/*
 * Free memory and files.
 */
void
shpairs_match_source_end(ShPairsMatchSource *input)
{
	ShPairsStream *streams[] = {&input->a, &input->b};

	for (int i = 0; i < lengthof(streams); i++)
	{
		shpairs_stream_end(streams[i]);
		if (streams[i]->sort != NULL)
			shsort_end(streams[i]->sort);
	}
}
