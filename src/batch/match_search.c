/*-------------------------------------------------------------------------
 *
 * match_search.c
 *	  Finding all pairs within a distance between two sides.
 *
 * Both sides are read in the order of the same tables, side by side.  If both
 * have entries with a prefix, pairs are searched for between these.  Entries
 * without a counterpart are skipped, and so are leaves of an index that have
 * no others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "batch/match_search.h"
#include "index/progress.h"

struct ShBatchMatchSearch
{
	const ShBatchPlan *plan;
	Size		memory;			/* of both sides */
	double		a_entries;		/* of each walk, about; 0 if unknown */
	double		b_entries;
	int			walk;			/* the current one */
	double		counted;		/* entries passed by the walks before it */
	ShBatchMatchFunction found;
	void	   *arg;
	ShBatchBucketReader a;
	ShBatchBucketReader b;
	ShBatchPairs pairs;
};

static void
pair_found(void *arg, size_t i, size_t j)
{
	ShBatchMatchSearch *search = arg;

	search->found(search->arg, &search->a.bucket, i, &search->b.bucket, j);
}

/*
 * Report that this fraction of the work on two buckets is done.
 *
 * Entries that are skipped without being read are not counted, but mostly on
 * one side only, that with more of them.  So the walk is as far as the side
 * that is further.
 */
static void
report_part(void *arg, double part)
{
	ShBatchMatchSearch *search = arg;
	double		a = search->a.passed + search->a.bucket_entries * part;
	double		b = search->b.passed + search->b.bucket_entries * part;

	if (search->a_entries > 0 && search->b_entries > 0)
	{
		double		fraction = Max(a / search->a_entries, b / search->b_entries);

		shidx_progress_entries((search->walk + Min(fraction, 1)) *
							   (search->a_entries + search->b_entries));
	}
	else
		shidx_progress_entries(search->counted + a + b);
}

static void
report_entries(void *arg)
{
	report_part(arg, 0);
}

/*
 * Begin the next walk, if there is one.
 */
static void
start_walk(ShBatchMatchSearch *search)
{
	const ShBatchPlan *plan = search->plan;
	const ShBatchWalk *walk = &plan->walks[search->walk];

	search->counted += search->a.passed + search->b.passed;
	search->a.passed = search->b.passed = 0;
	search->a.bucket_entries = search->b.bucket_entries = 0;
	report_entries(search);
	shidx_progress_table(search->walk, plan->nwalks);
	if (search->walk == plan->nwalks)
		return;
	shbatch_buckets_start(&search->a, walk->table, walk->prefix_bits);
	shbatch_buckets_start(&search->b, walk->table, walk->prefix_bits);
	shbatch_plan_set_masks(plan, search->walk, search->a.bucket.table, &search->pairs);
}

/*
 * Skip entries until both sides have the same prefix.  Returns false at the
 * end of either side.
 */
static bool
find_common_prefix(ShBatchMatchSearch *search)
{
	ShBatchBucketReader *a = &search->a;
	ShBatchBucketReader *b = &search->b;

	while (!shbatch_buckets_at_end(a) && !shbatch_buckets_at_end(b))
	{
		uint64		a_prefix = a->next_keys[0] & a->prefix;
		uint64		b_prefix = b->next_keys[0] & b->prefix;

		if (a->group == b->group && a_prefix == b_prefix)
			return true;
		if (a->group < b->group || (a->group == b->group && a_prefix < b_prefix))
			shbatch_buckets_skip(a, b->group, b_prefix);
		else
			shbatch_buckets_skip(b, a->group, a_prefix);
	}
	return false;
}

/*
 * Begin to search two streams, of the same scheme, for all pairs of a
 * fingerprint of a and one of b that differ in at most distance bits, by a
 * plan for that distance. Each is passed to found once, with arg.  All
 * arguments must outlive the search, whose memory comes from the current
 * context and is freed with it.
 *
 * The numbers of entries need not be exact, and are 0 if unknown.
 */
ShBatchMatchSearch *
shbatch_match_search_begin(ShBatchStream *a, double a_entries, ShBatchStream *b,
						   double b_entries, const ShBatchPlan *plan, int distance,
						   ShBatchMatchFunction found, void *arg)
{
	ShBatchMatchSearch *search = palloc(sizeof(ShBatchMatchSearch));

	search->plan = plan;
	search->memory = maintenance_work_mem * (Size) 1024;
	search->found = found;
	search->arg = arg;
	search->a_entries = a_entries;
	search->b_entries = b_entries;
	shbatch_buckets_init(&search->a, a, search->memory / 2, NULL, report_entries, search);
	shbatch_buckets_init(&search->b, b, search->memory / 2, NULL, report_entries, search);
	shbatch_pairs_init(&search->pairs, distance, pair_found, report_part, search);
	search->walk = 0;
	search->counted = 0;
	start_walk(search);
	return search;
}

/*
 * Take the bucket of one side, in the memory that the other side leaves, but
 * at least half of the total.
 */
static void
take_bucket(const ShBatchMatchSearch *search, ShBatchBucketReader *reader,
			const ShBatchBucketReader *other)
{
	Size		taken = shbatch_buckets_memory(other);

	reader->memory = search->memory - Min(taken, search->memory / 2);
	shbatch_buckets_take(reader);
}

/*
 * Search the next two buckets that have the same prefix.  They are valid until
 * the next call.  Returns false after the last.
 *
 * The largest buckets with a common prefix must fit in maintenance_work_mem,
 * which may be exceeded by half; otherwise raises
 * ERRCODE_CONFIGURATION_LIMIT_EXCEEDED.
 */
bool
shbatch_match_search_next(ShBatchMatchSearch *search)
{
	const ShBatchBucket *a = &search->a.bucket;
	const ShBatchBucket *b = &search->b.bucket;

	while (search->walk < search->plan->nwalks)
	{
		if (find_common_prefix(search))
		{
			take_bucket(search, &search->a, &search->b);
			take_bucket(search, &search->b, &search->a);
			shbatch_find_matches(&search->pairs, a->keys, a->nkeys, b->keys, b->nkeys);
			return true;
		}
		search->walk++;
		start_walk(search);
	}
	return false;
}
