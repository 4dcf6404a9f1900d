/*-------------------------------------------------------------------------
 *
 * match_search.c
 *	  All pairs within a distance between two sides.
 *
 * Both sides are read in the order of the same tables, side by side.  Where both
 * have entries with a prefix, pairs are looked for between these; what has no
 * counterpart is passed over, and so are leaves of an index that have nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "batch/match_search.h"
#include "batch/progress.h"

typedef struct Search
{
	ShBatchMatchSink *sink;
	ShBatchBucketReader a;
	ShBatchBucketReader b;
	ShBatchPairs pairs;
} Search;

static void
pair_found(void *arg, size_t i, size_t j)
{
	Search	   *search = arg;

	search->sink->pair(search->sink, &search->a.bucket, i, &search->b.bucket, j);
}

/* this part of the work on two buckets is done */
static void
report_part(void *arg, double part)
{
	Search	   *search = arg;
	size_t		entries = search->a.bucket_entries + search->b.bucket_entries;

	shbatch_progress_part(search->a.passed + search->b.passed + entries * part);
}

/*
 * Search the buckets of the next entries, which have the same prefix.
 */
static void
search_buckets(Search *search)
{
	ShBatchBucket *a = &search->a.bucket;
	ShBatchBucket *b = &search->b.bucket;

	shbatch_buckets_take(&search->a);
	shbatch_buckets_take(&search->b);
	shbatch_find_matches(&search->pairs, a->keys, a->nkeys, b->keys, b->nkeys);
	search->sink->end(search->sink);
}

/*
 * Do a walk, until one side is at its end.
 */
static void
do_walk(Search *search)
{
	ShBatchBucketReader *a = &search->a;
	ShBatchBucketReader *b = &search->b;

	while (!shbatch_buckets_at_end(a) && !shbatch_buckets_at_end(b))
	{
		uint64		a_prefix = a->next_keys[0] & a->prefix;
		uint64		b_prefix = b->next_keys[0] & b->prefix;

		if (a->group == b->group && a_prefix == b_prefix)
			search_buckets(search);
		else if (a->group < b->group || (a->group == b->group && a_prefix < b_prefix))
			shbatch_buckets_skip(a, b->group, b_prefix);
		else
			shbatch_buckets_skip(b, a->group, a_prefix);
	}
}

/*
 * Find all pairs of a fingerprint in stream a and one in stream b, which are of the
 * same scheme, that differ in at most distance bits, by a plan for that distance,
 * and pass them to the sink: each once.
 *
 * Memory, up to half of maintenance_work_mem on either side, is needed for the
 * largest bucket of entries with a common prefix;
 * ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if that is not enough.
 */
void
shbatch_search_matches(ShBatchStream *a, ShBatchStream *b, const ShBatchPlan *plan,
					   int distance, ShBatchMatchSink *sink)
{
	Size		memory = maintenance_work_mem * (Size) 1024 / 2;
	Search	   *search = palloc(sizeof(Search));

	search->sink = sink;
	shbatch_buckets_init(&search->a, a, memory, NULL, NULL);
	shbatch_buckets_init(&search->b, b, memory, NULL, NULL);
	shbatch_pairs_init(&search->pairs, distance, pair_found, report_part, search);

	for (int i = 0; i < plan->nwalks; i++)
	{
		const ShBatchWalk *walk = &plan->walks[i];

		shbatch_progress_table(i, plan->nwalks);
		shbatch_buckets_start(&search->a, walk->table, walk->prefix_bits);
		shbatch_buckets_start(&search->b, walk->table, walk->prefix_bits);
		shbatch_plan_set_masks(plan, i, search->a.bucket.table, &search->pairs);
		do_walk(search);
	}
	shbatch_progress_table(plan->nwalks, plan->nwalks);
}
