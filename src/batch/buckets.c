/*-------------------------------------------------------------------------
 *
 * buckets.c
 *	  Finding all pairs within a distance, by walks over the tables of a
 *	  scheme.
 *
 * In each table, entries with the same prefix are adjacent and make a bucket
 * (bucket_reader.c), and pairs are searched for among them (pairs.c).  A pair
 * that shares the prefix of several walks belongs to the first of these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "batch/buckets.h"
#include "bits/distance.h"
#include "index/progress.h"

/*
 * With skewed fingerprints, buckets may be this many times larger than on
 * average; memory should suffice for that.
 */
#define SKEW				64

struct ShBatchSearch
{
	const ShBatchPlan *plan;
	int			walk;			/* the current one */
	double		done;			/* entries of the walks before it */
	ShBatchSink *sink;
	ShBatchBucketReader reader;
	ShBatchPairs pairs;
};

/*
 * Choose how many blocks of the prefixes of a scheme to use.
 *
 * Of the first d + j blocks of two fingerprints within d bits, j are equal: so
 * C(d + j, j) walks suffice, and with one block as few as d + 1.  Searching
 * the larger buckets of fewer blocks takes less time than the additional walks
 * that more blocks need, so more are used only if memory is short.
 */
static int
blocks_to_use(const ShBitsScheme *scheme, double entries)
{
	int			most = scheme->blocks - scheme->distance;
	int			used = 1;

	while (used < most &&
		   !shbatch_bucket_fits(SKEW * ldexp(entries, -(used * 64 / scheme->blocks))))
		used++;
	return used;
}

/* length of the prefix that the first blocks of a table make */
static int
bits_of_blocks(const ShBitsScheme *scheme, const ShBitsTable *table, int nblocks)
{
	int			bits = 0;

	for (int i = 0; i < nblocks; i++)
		bits += shbits_block_start(table->order[i] + 1, scheme->blocks) -
			shbits_block_start(table->order[i], scheme->blocks);
	return bits;
}

static void
add_walk(ShBatchPlan *plan, const ShBitsScheme *scheme, int table, int prefix_bits)
{
	ShBatchWalk *walk = &plan->walks[plan->nwalks++];

	walk->table = table;
	walk->prefix_bits = prefix_bits;
	walk->mask = shbits_unpermute(&scheme->tables[table], shbits_prefix_mask(prefix_bits));
}

/*
 * Plan the walks over the tables of a scheme, which have about the given
 * number of entries each.  The distance must not exceed that of the scheme.
 */
void
shbatch_plan(ShBatchPlan *plan, const ShBitsScheme *scheme, int distance, double entries)
{
	int			used = blocks_to_use(scheme, entries);

	Assert(distance <= scheme->distance);
	plan->first = plan->nwalks = 0;
	if (distance == 0)
	{
		/* different keys are no pairs: each key is a bucket of its own */
		add_walk(plan, scheme, 0, 64);
		return;
	}
	for (int t = 0; t < scheme->ntables; t++)
	{
		const ShBitsTable *table = &scheme->tables[t];

		/* the blocks of a prefix ascend, and so do the tables by them */
		if (table->order[used - 1] >= distance + used ||
			(t > 0 && memcmp(table->order, (table - 1)->order, used) == 0))
			continue;
		add_walk(plan, scheme, t, bits_of_blocks(scheme, table, used));
	}
}

/*
 * Plan one walk over a table that is one bucket as a whole, for any distance.
 */
void
shbatch_plan_whole(ShBatchPlan *plan)
{
	plan->first = 0;
	plan->nwalks = 1;
	memset(&plan->walks[0], 0, sizeof(ShBatchWalk));
}

/*
 * Plan a walk over one table of a scheme, for the pairs that share its prefix,
 * but not that of any table before it.
 */
void
shbatch_plan_table(ShBatchPlan *plan, const ShBitsScheme *scheme, int table)
{
	plan->first = table;
	plan->nwalks = 0;
	for (int t = 0; t <= table; t++)
		add_walk(plan, scheme, t, scheme->tables[t].prefix_bits);
}

static void
pair_found(void *arg, size_t i, size_t j)
{
	ShBatchSearch *search = arg;

	search->sink->pair(search->sink, &search->reader.bucket, i, j);
}

/* report that this fraction of the work on a bucket is done */
static void
report_part(void *arg, double part)
{
	ShBatchSearch *search = arg;

	shidx_progress_entries(search->done + search->reader.passed +
						   search->reader.bucket_entries * part);
}

static void
report_entries(void *arg)
{
	report_part(arg, 0);
}

static bool
pass_repeat(void *arg, const ShBatchBucket *bucket, uint64 row)
{
	ShBatchSink *sink = ((ShBatchSearch *) arg)->sink;

	return sink->repeat(sink, bucket, row);
}

/*
 * Search the current bucket.
 */
static void
search_bucket(ShBatchSearch *search)
{
	ShBatchSink *sink = search->sink;
	ShBatchBucket *bucket = &search->reader.bucket;

	if (sink->begin != NULL)
		sink->begin(sink, bucket);
	if (bucket->nkeys > 1)
		shbatch_find_pairs(&search->pairs, bucket->keys, bucket->nkeys);
}

/*
 * Set masks so that a walk over a table does not find pairs again that share
 * the prefix of an earlier walk.
 */
void
shbatch_plan_set_masks(const ShBatchPlan *plan, int number, const ShBitsTable *table,
					   ShBatchPairs *pairs)
{
	pairs->nmasks = number;
	for (int i = 0; i < number; i++)
		pairs->masks[i] = shbits_permute(table, plan->walks[i].mask);
}

/*
 * Begin the next walk, if there is one.  All walks have as many entries as the
 * first one turned out to have.
 */
static void
start_walk(ShBatchSearch *search)
{
	const ShBatchPlan *plan = search->plan;
	const ShBatchWalk *walk = &plan->walks[search->walk];
	int			ndone = search->walk - plan->first;
	int			nwalks = plan->nwalks - plan->first;

	search->done += search->reader.passed;
	shidx_progress_table(ndone, nwalks);
	if (ndone == 1)
		shidx_progress_total(search->done * nwalks);
	if (search->walk == plan->nwalks)
		return;
	shbatch_buckets_start(&search->reader, walk->table, walk->prefix_bits);
	search->reader.bucket.first_walk = search->walk == 0;
	shbatch_plan_set_masks(plan, search->walk, search->reader.bucket.table, &search->pairs);
}

/*
 * Begin to search a stream for all pairs of different fingerprints that differ
 * in at most distance bits, by a plan for that distance.  Each is passed to
 * the sink once. All arguments must outlive the search, whose memory comes
 * from the current context and is freed with it.
 */
ShBatchSearch *
shbatch_search_begin(ShBatchStream *stream, const ShBatchPlan *plan, int distance,
					 ShBatchSink *sink)
{
	ShBatchSearch *search = palloc(sizeof(ShBatchSearch));

	search->plan = plan;
	search->sink = sink;
	shbatch_buckets_init(&search->reader, stream, maintenance_work_mem * (Size) 1024,
						 sink->repeat != NULL ? pass_repeat : NULL, report_entries, search);
	shbatch_pairs_init(&search->pairs, distance, pair_found, report_part, search);
	search->walk = plan->first;
	search->done = 0;
	start_walk(search);
	return search;
}

/*
 * Search the next bucket that has several rows.  It is valid until the next
 * call.  Returns false after the last.
 *
 * The largest bucket must fit in maintenance_work_mem; otherwise raises
 * ERRCODE_CONFIGURATION_LIMIT_EXCEEDED.
 */
bool
shbatch_search_next(ShBatchSearch *search)
{
	while (search->walk < search->plan->nwalks)
	{
		if (shbatch_buckets_next(&search->reader))
		{
			search_bucket(search);
			return true;
		}
		search->walk++;
		start_walk(search);
	}
	return false;
}

/*
 * ShBatchSink.repeat for sinks that treat equal fingerprints as one.
 */
bool
shbatch_drop_repeat(ShBatchSink *sink, const ShBatchBucket *bucket, uint64 row)
{
	return false;
}
