/*-------------------------------------------------------------------------
 *
 * match_source.c
 *	  What a search for pairs between two sides reads.
 *
 * Both sides are read by one scheme.  If that of an index suits the distance, this
 * index need not be sorted: then it is the scheme of the index that has more
 * entries, or else of the other.  A side that has not got that scheme is sorted by
 * it.  If none suits, both sides are sorted by a scheme for the distance.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "batch/match_source.h"
#include "batch/progress.h"
#include "batch/source.h"
#include "btree/page.h"

/* one side: indexes, or what was sorted */
typedef struct Side
{
	ShBatchTables tables;
	const ShBitsScheme *scheme; /* that all indexes have, or NULL */
	ShSort	   *sort;
	double		entries;		/* about, */
	double		most;			/* and at most */
} Side;

/* can the indexes of a side be read for a distance as they are? */
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

/* the scheme of indexes that both sides are to be read by, or NULL */
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
 * Prepare to search indexes.  If the columns before the fingerprint do not count they
 * cannot be read as they are, since these come first in their order.
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
 * Sort a side, unless it has the scheme that is wanted, or is sorted.
 */
static void
sort_side(Side *side, const ShBitsScheme *scheme, Snapshot snapshot)
{
	if (side->sort != NULL || has_scheme(side, scheme))
		return;
	shbatch_progress_phase(SHBATCH_PHASE_SORT, side->entries);
	side->sort = shbatch_sort_tables(&side->tables, snapshot);
	side->entries = side->most = shsort_count(side->sort);
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
 * Have both sides read by the same scheme, and plan how.
 */
static void
begin_sides(ShBatchMatchSource *input, Side *a, Side *b, int distance, bool grouped,
			Snapshot snapshot)
{
	const ShBitsScheme *scheme = choose_scheme(a, b, distance);
	bool		whole = false;
	double		entries;

	/* as if the sides were equal: each may take half of the memory */
	entries = 2 * Max(a->most, b->most);

	/* where all are one bucket any order will do, if it is that of both sides */
	if (scheme == NULL && has_scheme(a, b->scheme))
		whole = shbatch_search_whole(entries, distance);
	if (whole)
		scheme = a->scheme;

	sort_side(a, scheme, snapshot);
	sort_side(b, scheme, snapshot);
	if (whole)
		shbatch_plan_whole(&input->plan);
	else if (scheme != NULL)
		shbatch_plan(&input->plan, scheme, distance, entries);
	else
		scheme = shbatch_plan_sort(&input->plan, distance, entries);
	begin_stream(&input->a, a, scheme, grouped, snapshot);
	begin_stream(&input->b, b, scheme, grouped, snapshot);
	input->distance = distance;
	input->entries = a->entries + b->entries;
}

/*
 * Search values, side a, against the indexes of tables, within a distance, which must
 * be in range.  The tables must be open, and stay so, and the snapshot be registered.
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
 * Search the two sides of tables against each other.  Else as above.
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
 * Begin to find all pairs, which are passed to found, with arg.
 */
ShBatchMatchSearch *
shbatch_match_source_search(ShBatchMatchSource *input, ShBatchMatchFunction found, void *arg)
{
	shbatch_progress_phase(SHBATCH_PHASE_COMPARE, input->entries * input->plan.nwalks);
	return shbatch_match_search_begin(&input->a, &input->b, &input->plan, input->distance,
									  found, arg);
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
