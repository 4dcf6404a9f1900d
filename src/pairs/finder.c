/*-------------------------------------------------------------------------
 *
 * finder.c
 *	  Finding all pairs within a distance, among entries or between two sides,
 *	  by walks over the tables of a scheme.
 *
 * In each table, entries with the same prefix are adjacent and make a bucket
 * (bucket_reader.c), and pairs are searched for among them (pairs.c).  A pair
 * that shares the prefix of several walks belongs to the first of these.
 *
 * Two sides are read in the order of the same tables, side by side.  If both
 * have entries with a prefix, pairs are searched for between these.  Entries
 * without a counterpart are skipped, and so are leaves of an index that have
 * no others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "bits/distance.h"
#include "pairs/finder.h"
#include "rows/progress.h"

/*
 * With skewed fingerprints, buckets may be this many times larger than on
 * average; memory should suffice for that.
 */
#define SKEW				64

struct ShPairsFinder
{
	const ShPairsPlan *plan;
	int			walk;			/* the current one */
	double		done;			/* entries of the walks before it */
	ShPairsSink *sink;
	ShPairsBucketReader reader;
	ShPairs		pairs;
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
		   !shpairs_bucket_fits(SKEW * ldexp(entries, -(used * SHBITS_WIDTH / scheme->blocks))))
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
add_walk(ShPairsPlan *plan, const ShBitsScheme *scheme, int table, int prefix_bits)
{
	ShPairsWalk *walk = &plan->walks[plan->nwalks++];

	walk->table = table;
	walk->prefix_bits = prefix_bits;
	walk->mask = shbits_unpermute(&scheme->tables[table], shbits_prefix_mask(prefix_bits));
}

/*
 * Plan the walks over the tables of a scheme, which have about the given
 * number of entries each.  The distance must not exceed that of the scheme.
 */
void
shpairs_plan(ShPairsPlan *plan, const ShBitsScheme *scheme, int distance, double entries)
{
	int			used = blocks_to_use(scheme, entries);

	Assert(distance <= scheme->distance);
	plan->first = plan->nwalks = 0;
	if (distance == 0)
	{
		/* different keys are no pairs: each key is a bucket of its own */
		add_walk(plan, scheme, 0, SHBITS_WIDTH);
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
shpairs_plan_whole(ShPairsPlan *plan)
{
	plan->first = 0;
	plan->nwalks = 1;
	memset(&plan->walks[0], 0, sizeof(ShPairsWalk));
}

/*
 * Plan a walk over one table of a scheme, for the pairs that share its prefix,
 * but not that of any table before it.
 */
void
shpairs_plan_table(ShPairsPlan *plan, const ShBitsScheme *scheme, int table)
{
	plan->first = table;
	plan->nwalks = 0;
	for (int t = 0; t <= table; t++)
		add_walk(plan, scheme, t, scheme->tables[t].prefix_bits);
}

static void
pair_found(void *arg, size_t i, size_t j)
{
	ShPairsFinder *finder = arg;

	finder->sink->pair(finder->sink, &finder->reader.bucket, i, j);
}

/* report that this fraction of the work on a bucket is done */
static void
report_part(void *arg, double part)
{
	ShPairsFinder *finder = arg;

	shrows_progress_entries(finder->done + finder->reader.passed +
							finder->reader.bucket_entries * part);
}

static void
report_entries(void *arg)
{
	report_part(arg, 0);
}

static bool
pass_repeat(void *arg, const ShPairsBucket *bucket, ShRowsNumber row)
{
	ShPairsSink *sink = ((ShPairsFinder *) arg)->sink;

	return sink->repeat(sink, bucket, row);
}

/*
 * Search the current bucket.
 */
static void
search_bucket(ShPairsFinder *finder)
{
	ShPairsSink *sink = finder->sink;
	ShPairsBucket *bucket = &finder->reader.bucket;

	if (sink->begin != NULL)
		sink->begin(sink, bucket);
	if (bucket->nkeys > 1)
		shpairs_find_pairs(&finder->pairs, bucket->keys, bucket->nkeys);
}

/*
 * Set masks so that a walk over a table does not find pairs again that share
 * the prefix of an earlier walk.
 */
void
shpairs_set_masks(const ShPairsPlan *plan, int number, const ShBitsTable *table, ShPairs *pairs)
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
start_walk(ShPairsFinder *finder)
{
	const ShPairsPlan *plan = finder->plan;
	const ShPairsWalk *walk = &plan->walks[finder->walk];
	int			ndone = finder->walk - plan->first;
	int			nwalks = plan->nwalks - plan->first;

	finder->done += finder->reader.passed;
	shrows_progress_table(ndone, nwalks);
	if (ndone == 1)
		shrows_progress_total(finder->done * nwalks);
	if (finder->walk == plan->nwalks)
		return;
	shpairs_buckets_start(&finder->reader, walk->table, walk->prefix_bits);
	finder->reader.bucket.first_walk = finder->walk == 0;
	shpairs_set_masks(plan, finder->walk, finder->reader.bucket.table, &finder->pairs);
}

/*
 * Begin to search a stream for all pairs of different fingerprints that differ
 * in at most distance bits, by a plan for that distance.  Each is passed to
 * the sink once. All arguments must outlive the search, whose memory comes
 * from the current context and is freed with it.
 */
ShPairsFinder *
shpairs_finder_begin(ShPairsStream *stream, const ShPairsPlan *plan, int distance,
					 ShPairsSink *sink)
{
	ShPairsFinder *finder = palloc(sizeof(ShPairsFinder));

	finder->plan = plan;
	finder->sink = sink;
	shpairs_buckets_init(&finder->reader, stream, maintenance_work_mem * (Size) 1024,
						 sink->repeat != NULL ? pass_repeat : NULL, report_entries, finder);
	shpairs_init(&finder->pairs, distance, pair_found, report_part, finder);
	finder->walk = plan->first;
	finder->done = 0;
	start_walk(finder);
	return finder;
}

/*
 * Search the next bucket that has several rows.  It is valid until the next
 * call.  Returns false after the last.
 *
 * The largest bucket must fit in maintenance_work_mem; otherwise raises
 * ERRCODE_CONFIGURATION_LIMIT_EXCEEDED.
 */
bool
shpairs_finder_next(ShPairsFinder *finder)
{
	while (finder->walk < finder->plan->nwalks)
	{
		if (shpairs_buckets_next(&finder->reader))
		{
			search_bucket(finder);
			return true;
		}
		finder->walk++;
		start_walk(finder);
	}
	return false;
}

/*
 * Search one range of a walk from its first to its last bucket, outside of the
 * order of the walks, when so many entries are done.  The finder is of no use
 * for shpairs_finder_next afterwards.
 */
void
shpairs_finder_search_range(ShPairsFinder *finder, const ShPairsRange *range, double done)
{
	const ShPairsWalk *walk = &finder->plan->walks[range->walk];

	finder->done = done;
	shpairs_buckets_start_range(&finder->reader, walk->table, walk->prefix_bits, &range->start,
								range->has_end ? &range->end : NULL);
	finder->reader.bucket.first_walk = range->walk == 0;
	shpairs_set_masks(finder->plan, range->walk, finder->reader.bucket.table, &finder->pairs);
	while (shpairs_buckets_next(&finder->reader))
		search_bucket(finder);
}

/*
 * ShPairsSink.repeat for sinks that treat equal fingerprints as one.
 */
bool
shpairs_drop_repeat(ShPairsSink *sink, const ShPairsBucket *bucket, ShRowsNumber row)
{
	return false;
}

struct ShPairsMatchFinder
{
	const ShPairsPlan *plan;
	Size		memory;			/* of both sides */
	double		a_entries;		/* of each walk, about; 0 if unknown */
	double		b_entries;
	int			walk;			/* the current one */
	double		counted;		/* entries passed by the walks before it */
	ShPairsMatchSink *sink;
	ShPairsBucketReader a;
	ShPairsBucketReader b;
	ShPairs		pairs;
};

static void
match_found(void *arg, size_t i, size_t j)
{
	ShPairsMatchFinder *finder = arg;

	finder->sink->pair(finder->sink, &finder->a.bucket, i, &finder->b.bucket, j);
}

/*
 * Report that this fraction of the work on two buckets is done.
 *
 * Entries that are skipped without being read are not counted, but mostly on
 * one side only, that with more of them.  So the walk is as far as the side
 * that is further.
 */
static void
report_match_part(void *arg, double part)
{
	ShPairsMatchFinder *finder = arg;
	double		a = finder->a.passed + finder->a.bucket_entries * part;
	double		b = finder->b.passed + finder->b.bucket_entries * part;

	if (finder->a_entries > 0 && finder->b_entries > 0)
	{
		double		fraction = Max(a / finder->a_entries, b / finder->b_entries);

		shrows_progress_entries((finder->walk + Min(fraction, 1)) *
								(finder->a_entries + finder->b_entries));
	}
	else
		shrows_progress_entries(finder->counted + a + b);
}

static void
report_match_entries(void *arg)
{
	report_match_part(arg, 0);
}

/*
 * Begin the next walk, if there is one.
 */
static void
start_match_walk(ShPairsMatchFinder *finder)
{
	const ShPairsPlan *plan = finder->plan;
	const ShPairsWalk *walk = &plan->walks[finder->walk];

	finder->counted += finder->a.passed + finder->b.passed;
	finder->a.passed = finder->b.passed = 0;
	finder->a.bucket_entries = finder->b.bucket_entries = 0;
	report_match_entries(finder);
	shrows_progress_table(finder->walk, plan->nwalks);
	if (finder->walk == plan->nwalks)
		return;
	shpairs_buckets_start(&finder->a, walk->table, walk->prefix_bits);
	shpairs_buckets_start(&finder->b, walk->table, walk->prefix_bits);
	shpairs_set_masks(plan, finder->walk, finder->a.bucket.table, &finder->pairs);
}

/*
 * Begin to search two streams, of the same scheme, for all pairs of a
 * fingerprint of a and one of b that differ in at most distance bits, by a
 * plan for that distance.  Each is passed to the sink once.  All arguments must
 * outlive the search, whose memory comes from the current context and is freed
 * with it.
 *
 * The numbers of entries need not be exact, and are 0 if unknown.
 */
ShPairsMatchFinder *
shpairs_match_finder_begin(ShPairsStream *a, double a_entries, ShPairsStream *b,
						   double b_entries, const ShPairsPlan *plan, int distance,
						   ShPairsMatchSink *sink)
{
	ShPairsMatchFinder *finder = palloc(sizeof(ShPairsMatchFinder));

	finder->plan = plan;
	finder->memory = maintenance_work_mem * (Size) 1024;
	finder->sink = sink;
	finder->a_entries = a_entries;
	finder->b_entries = b_entries;
	shpairs_buckets_init(&finder->a, a, finder->memory / 2, NULL, report_match_entries, finder);
	shpairs_buckets_init(&finder->b, b, finder->memory / 2, NULL, report_match_entries, finder);
	shpairs_init(&finder->pairs, distance, match_found, report_match_part, finder);
	finder->walk = 0;
	finder->counted = 0;
	start_match_walk(finder);
	return finder;
}

/*
 * Search the next buckets, which have the same prefix.
 */
static void
search_both(ShPairsMatchFinder *finder)
{
	const ShPairsBucket *a = &finder->a.bucket;
	const ShPairsBucket *b = &finder->b.bucket;

	shpairs_buckets_take_beside(&finder->a, &finder->b, finder->memory);
	shpairs_buckets_take_beside(&finder->b, &finder->a, finder->memory);
	shpairs_find_matches(&finder->pairs, a->keys, a->nkeys, b->keys, b->nkeys);
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
shpairs_match_finder_next(ShPairsMatchFinder *finder)
{
	while (finder->walk < finder->plan->nwalks)
	{
		if (shpairs_buckets_meet(&finder->a, &finder->b))
		{
			search_both(finder);
			return true;
		}
		finder->walk++;
		start_match_walk(finder);
	}
	return false;
}

/*
 * Search one range of a walk, as shpairs_finder_search_range does.
 */
void
shpairs_match_finder_search_range(ShPairsMatchFinder *finder, const ShPairsRange *range)
{
	const ShPairsWalk *walk = &finder->plan->walks[range->walk];
	const ShPairsPlace *end = range->has_end ? &range->end : NULL;

	shpairs_buckets_start_range(&finder->a, walk->table, walk->prefix_bits, &range->start, end);
	shpairs_buckets_start_range(&finder->b, walk->table, walk->prefix_bits, &range->start, end);
	shpairs_set_masks(finder->plan, range->walk, finder->a.bucket.table, &finder->pairs);
	while (shpairs_buckets_meet(&finder->a, &finder->b))
		search_both(finder);
}
