/*-------------------------------------------------------------------------
 *
 * match_source.c
 *	  The input of a search for pairs between two sides.
 *
 * Both sides are read by the same scheme.  An index whose scheme suits the
 * distance need not be sorted.  So the scheme of the index with more entries
 * is used if it suits, otherwise that of the other index.  A side with another
 * scheme is sorted.  If neither suits, both sides are sorted by a scheme for
 * the distance.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "batch/match_source.h"
#include "batch/source.h"
#include "btree/page.h"
#include "index/progress.h"

/* one side: indexes, or sorted entries */
typedef struct Side
{
	ShBatchTables tables;
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
begin_tables(Side *side, ShBatchTables tables, Snapshot snapshot)
{
	side->tables = tables;
	side->scheme = shbatch_common_scheme(&tables);
	for (int i = 0; i < tables.count; i++)
	{
		if (shbt_is_grouped(tables.tables[i].index) != tables.grouped)
			side->scheme = NULL;
	}
	side->sort = NULL;
	shbatch_count_entries(&tables, snapshot, &side->entries, &side->most);
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
		shidx_progress_phase(SHIDX_PHASE_SORT, entries);
	for (int i = 0; i < lengthof(sides); i++)
	{
		if (!unsorted[i])
			continue;
		sides[i]->sort = shbatch_sort_tables(&sides[i]->tables, snapshot);
		sides[i]->entries = sides[i]->most = shsort_count(sides[i]->sort);
	}
}

static void
begin_stream(ShBatchStream *stream, const Side *side, const ShBitsScheme *scheme,
			 bool grouped, Snapshot snapshot)
{
	if (side->sort != NULL)
		shbatch_stream_sort(stream, side->sort, scheme, grouped);
	else
		shbatch_stream_tables(stream, &side->tables, scheme, snapshot);
}

/*
 * Choose a scheme for both sides, sort them by it if necessary, and plan the
 * walks.
 */
static void
begin_sides(ShBatchMatchSource *input, Side *a, Side *b, int distance, bool grouped,
			Snapshot snapshot)
{
	const ShBitsScheme *scheme = choose_scheme(a, b, distance);
	bool		whole = false;
	double		entries;

	/* assume sides of equal size: each may take half of the memory */
	entries = 2 * Max(a->most, b->most);

	/* for a single bucket any order will do, if both sides have it */
	if (scheme == NULL && has_scheme(a, b->scheme))
		whole = shbatch_search_whole(entries, distance);
	if (whole)
		scheme = a->scheme;

	sort_sides(a, b, scheme, snapshot);
	if (whole)
		shbatch_plan_whole(&input->plan);
	else if (scheme != NULL)
		shbatch_plan(&input->plan, scheme, distance, entries);
	else
		scheme = shbatch_plan_sort(&input->plan, distance, entries);
	begin_stream(&input->a, a, scheme, grouped, snapshot);
	begin_stream(&input->b, b, scheme, grouped, snapshot);
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
shbatch_match_source_array(ShBatchMatchSource *input, AnyArrayType *values,
						   const ShBatchTables *tables, Snapshot snapshot, int distance)
{
	Side		a = {0};
	Side		b;

	a.sort = shbatch_sort_array(values);
	a.entries = a.most = shsort_count(a.sort);
	begin_tables(&b, *tables, snapshot);
	begin_sides(input, &a, &b, distance, false, snapshot);
}

/*
 * Search for pairs between the two sides of tables.  Otherwise as above.
 */
void
shbatch_match_source_tables(ShBatchMatchSource *input, const ShBatchTables *tables,
							Snapshot snapshot, int distance)
{
	Side		a;
	Side		b;

	begin_tables(&a, shbatch_tables_of_side(tables, 0), snapshot);
	begin_tables(&b, shbatch_tables_of_side(tables, 1), snapshot);
	begin_sides(input, &a, &b, distance, tables->grouped, snapshot);
}

/*
 * Begin to find all pairs; found is called for each, with arg.
 */
ShBatchMatchSearch *
shbatch_match_source_search(ShBatchMatchSource *input, ShBatchMatchFunction found, void *arg)
{
	bool		known = input->a_entries > 0 && input->b_entries > 0;

	shidx_progress_phase(SHIDX_PHASE_COMPARE, known ?
						 (input->a_entries + input->b_entries) * input->plan.nwalks : 0);
	return shbatch_match_search_begin(&input->a, input->a_entries, &input->b, input->b_entries,
									  &input->plan, input->distance, found, arg);
}

/*
 * Free memory and files.
 */
void
shbatch_match_source_end(ShBatchMatchSource *input)
{
	ShBatchStream *streams[] = {&input->a, &input->b};

	for (int i = 0; i < lengthof(streams); i++)
	{
		shbatch_stream_end(streams[i]);
		if (streams[i]->sort != NULL)
			shsort_end(streams[i]->sort);
	}
}
