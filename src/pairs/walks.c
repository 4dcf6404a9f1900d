/*-------------------------------------------------------------------------
 *
 * walks.c
 *	  The buckets of fingerprints of one word that are met by walks over the
 *	  tables of a scheme.
 *
 * In each table, entries with the same prefix are adjacent and make a bucket
 * (bucket_reader.c), which is divided into chunks if it does not fit in memory
 * (chunks.c).  A pair that shares the prefix of several walks belongs to
 * the first of these.
 *
 * Two sides are read in the order of the same tables, side by side.  Entries
 * without a counterpart are skipped, and so are leaves of an index that have
 * no others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "pairs/bucket_reader.h"
#include "pairs/walks.h"

/*
 * With skewed fingerprints, buckets may be this many times larger than on
 * average; memory should suffice for that.
 */
#define SKEW				64

typedef struct WalkFeed
{
	ShPairsFeed base;
	const ShPairsPlan *plan;
	Size		memory;
	int			walk;			/* the current one */
	double		done;			/* entries of the walks before it */
	ShPairs    *pairs;
	ShPairsSink *sink;
	ShPairsBucketReader readers[2];
	ShPairsChunks *chunks;		/* of the current buckets, or NULL if they fit */
} WalkFeed;

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
		   !shpairs_bucket_fits(1, SKEW * ldexp(entries, -(used * SHBITS_WIDTH / scheme->blocks))))
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
shpairs_plan_walks(ShPairsPlan *plan, const ShBitsScheme *scheme, int distance, double entries)
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

/*
 * Set masks so that a walk over a table does not find pairs again that share
 * the prefix of an earlier walk.
 */
static void
set_masks(const WalkFeed *feed)
{
	const ShBitsTable *table = feed->readers[0].bucket->table;
	ShPairs    *pairs = feed->pairs;

	pairs->nmasks = feed->walk;
	for (int i = 0; i < feed->walk; i++)
		pairs->masks[i] = shbits_permute(table, feed->plan->walks[i].mask);
}

/*
 * Entries that are skipped without being read are not counted, but mostly on
 * one side only, that with more of them.  So the walk is as far as the side
 * that is further.
 */
static void
report_walks(ShPairsFeed *base, double fraction)
{
	const WalkFeed *feed = (const WalkFeed *) base;
	double		entries = 0;
	double		passed = 0;
	double		furthest = 0;

	if (feed->chunks != NULL)
		fraction = shpairs_chunks_done(feed->chunks, fraction);
	for (int i = 0; i < base->nsides; i++)
	{
		const ShPairsBucketReader *reader = &feed->readers[i];
		double		here = reader->passed + reader->bucket_entries * fraction;

		entries += base->inputs[i].entries;
		passed += here;
		furthest = Max(furthest, here / Max(base->inputs[i].entries, 1));
	}
	if (base->nsides > 1 && base->inputs[0].entries > 0 && base->inputs[1].entries > 0)
		passed = Min(furthest, 1) * entries;
	shpairs_progress_entries(base->inputs[0].progress, feed->done + passed);
}

static void
report_read(void *arg)
{
	report_walks(arg, 0);
}

/*
 * Begin the next walk, if there is one.  All walks of one side have as many entries as
 * the first one turned out to have.
 */
static void
start_walk(WalkFeed *feed)
{
	const ShPairsPlan *plan = feed->plan;
	const ShPairsWalk *walk = &plan->walks[feed->walk];
	int			ndone = feed->walk - plan->first;
	int			nwalks = plan->nwalks - plan->first;
	ShPairsProgress *progress = feed->base.inputs[0].progress;

	if (ndone == 1 && feed->base.nsides == 1)
		progress->total = feed->done * nwalks;
	shpairs_progress_walks(progress, ndone, nwalks);
	if (feed->walk == plan->nwalks)
		return;
	for (int i = 0; i < feed->base.nsides; i++)
		shpairs_buckets_start(&feed->readers[i], walk->table, walk->prefix_bits, feed->walk == 0);
	set_masks(feed);
}

/* count the entries of a walk that has ended */
static void
end_walk(WalkFeed *feed)
{
	const ShPairsInput *inputs = feed->base.inputs;

	if (feed->base.nsides == 1)
		feed->done += feed->readers[0].passed;
	else if (inputs[0].entries > 0 && inputs[1].entries > 0)
		feed->done += inputs[0].entries + inputs[1].entries;
	else
		feed->done += feed->readers[0].passed + feed->readers[1].passed;
	feed->walk++;
}

static bool
next_buckets(WalkFeed *feed)
{
	if (feed->base.nsides == 1)
		return shpairs_buckets_next(&feed->readers[0]);
	return shpairs_buckets_meet(&feed->readers[0], &feed->readers[1], feed->memory);
}

/*
 * If any of the current buckets does not fit in memory, divide all into chunks.
 */
static void
divide_buckets(WalkFeed *feed)
{
	int			nsides = feed->base.nsides;
	ShPairsChunks *chunks;

	if (feed->readers[0].complete && feed->readers[nsides - 1].complete)
		return;
	chunks = shpairs_chunks_begin(feed->base.inputs, nsides, feed->readers[0].bucket,
								  feed->sink);
	for (int i = 0; i < nsides; i++)
		shpairs_buckets_add_to_chunks(&feed->readers[i], chunks, i);
	shpairs_chunks_divide(chunks);
	feed->chunks = chunks;
}

static bool
next_walk_buckets(ShPairsFeed *base, ShPairsBucket **a, ShPairsBucket **b)
{
	WalkFeed   *feed = (WalkFeed *) base;

	if (shpairs_chunks_next(&feed->chunks, a, b))
		return true;
	while (feed->walk < feed->plan->nwalks)
	{
		if (next_buckets(feed))
		{
			*a = feed->readers[0].bucket;
			*b = feed->readers[base->nsides - 1].bucket;
			divide_buckets(feed);
			(void) shpairs_chunks_next(&feed->chunks, a, b);
			return true;
		}
		end_walk(feed);
		start_walk(feed);
	}
	return false;
}

/*
 * Begin the walks of a plan over the inputs of a search, which have been prepared for
 * its scheme.  The masks of pairs are set.  All arguments must outlive the search.
 *
 * Two sides may exceed maintenance_work_mem by half.
 */
ShPairsFeed *
shpairs_feed_walks(ShPairsInput *inputs, int nsides, const ShPairsPlan *plan, ShPairs *pairs,
				   ShPairsSink *sink)
{
	WalkFeed   *feed = palloc0(sizeof(WalkFeed));
	double		entries = 0;

	feed->base.nsides = nsides;
	feed->base.inputs = inputs;
	feed->base.next = next_walk_buckets;
	feed->base.report = report_walks;
	feed->plan = plan;
	feed->memory = maintenance_work_mem * (Size) 1024;
	feed->pairs = pairs;
	feed->sink = sink;
	for (int i = 0; i < nsides; i++)
	{
		shpairs_buckets_init(&feed->readers[i], &inputs[i].entries_of, feed->memory / nsides,
							 shpairs_input_sink(&inputs[i], sink), report_read, feed);
		entries = inputs[i].entries == 0 || (i > 0 && entries == 0) ? 0 :
			entries + inputs[i].entries;
	}
	shpairs_progress_begin(inputs[0].progress, SHPAIRS_COMPARING, entries * (plan->nwalks - plan->first));
	feed->walk = plan->first;
	start_walk(feed);
	return &feed->base;
}
