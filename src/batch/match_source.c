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

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"

#include "batch/match_source.h"
#include "batch/progress.h"
#include "batch/source.h"
#include "btree/cache.h"

/* one side */
typedef struct Side
{
	Relation	index;			/* NULL: an array */
	const ShBitsScheme *scheme; /* of the index, if its order will do */
	double		entries;		/* about, */
	double		most;			/* and at most */
	ShSort	   *sort;			/* of what cannot be read as it is */
} Side;

static void
begin_index(Side *side, Relation index, Snapshot snapshot)
{
	ShBitsScheme *scheme = shbt_get_scheme(index);
	double		leaves = (double) RelationGetNumberOfBlocks(index) / scheme->ntables;

	PredicateLockRelation(index, snapshot);
	pgstat_count_index_scan(index);
	side->index = index;
	side->scheme = scheme;
	side->entries = Max(index->rd_rel->reltuples, 0);
	side->most = leaves * shbt_leaf_capacity(shbt_is_grouped(index));
	side->sort = NULL;
}

static bool
suits(const Side *side, int distance)
{
	return side->scheme != NULL && distance <= side->scheme->distance;
}

static bool
is_scheme(const Side *side, const ShBitsScheme *scheme)
{
	return side->scheme != NULL && scheme != NULL &&
		side->scheme->blocks == scheme->blocks && side->scheme->distance == scheme->distance;
}

/* the scheme of an index that both sides are read by, or NULL */
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
 * Sort a side anew, unless it has the scheme already.
 */
static void
sort_side(Side *side, const ShBitsScheme *scheme, bool grouped, Snapshot snapshot)
{
	if (side->sort != NULL || is_scheme(side, scheme))
		return;
	side->sort = shbatch_sort_index(side->index, snapshot, grouped);
	side->most = shsort_count(side->sort);
}

static void
start_stream(ShBatchStream *stream, const Side *side, const ShBitsScheme *scheme,
			 bool grouped, Snapshot snapshot)
{
	if (side->sort != NULL)
		shbatch_stream_sort(stream, side->sort, scheme, grouped);
	else
		shbatch_stream_index(stream, side->index, scheme, snapshot);
}

static void
begin(ShBatchMatchSource *input, Side *a, Side *b, bool grouped, Snapshot snapshot)
{
	const ShBitsScheme *scheme = choose_scheme(a, b, input->distance);

	shbatch_progress_phase(SHBATCH_PHASE_SORT, 0);
	sort_side(a, scheme, grouped, snapshot);
	sort_side(b, scheme, grouped, snapshot);
	if (scheme != NULL)
		shbatch_plan(&input->plan, scheme, input->distance, a->most + b->most);
	else
		scheme = shbatch_plan_sort(&input->plan, input->distance, a->most + b->most);
	start_stream(&input->a, a, scheme, grouped, snapshot);
	start_stream(&input->b, b, scheme, grouped, snapshot);
	input->entries = a->entries + b->entries;
}

void
shbatch_matches_of_array(ShBatchMatchSource *input, AnyArrayType *values, Relation index,
						 Snapshot snapshot, int distance)
{
	Side		a = {0};
	Side		b;

	a.sort = shbatch_sort_array(values);
	a.entries = a.most = shsort_count(a.sort);
	begin_index(&b, index, snapshot);
	input->distance = distance != SHBATCH_INDEX_DISTANCE ? distance : b.scheme->distance;
	if (shbt_is_grouped(index))
		b.scheme = NULL;
	begin(input, &a, &b, false, snapshot);
}

void
shbatch_matches_of_indexes(ShBatchMatchSource *input, Relation a_index, Relation b_index,
						   Snapshot snapshot, int distance)
{
	Side		a;
	Side		b;

	begin_index(&a, a_index, snapshot);
	begin_index(&b, b_index, snapshot);
	input->distance = distance != SHBATCH_INDEX_DISTANCE ? distance :
		Min(a.scheme->distance, b.scheme->distance);
	begin(input, &a, &b, shbt_is_grouped(a_index), snapshot);
}

/*
 * Find all pairs, and pass them to the sink.
 */
void
shbatch_match_source_search(ShBatchMatchSource *input, ShBatchMatchSink *sink)
{
	shbatch_progress_phase(SHBATCH_PHASE_COMPARE, input->entries * input->plan.nwalks);
	shbatch_search_matches(&input->a, &input->b, &input->plan, input->distance, sink);
}

/*
 * Free memory and files.
 */
void
shbatch_match_source_end(ShBatchMatchSource *input)
{
	if (input->a.sort != NULL)
		shsort_end(input->a.sort);
	if (input->b.sort != NULL)
		shsort_end(input->b.sort);
}
