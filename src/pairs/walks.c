/*-------------------------------------------------------------------------
 *
 * walks.c
 *	  The buckets that are met by walks over the entries of inputs.
 *
 * In each table of a scheme, entries with the same prefix are adjacent and make a
 * bucket: it is collected (collector.c), and if it does not fit in memory, divided into
 * chunks (chunks.c).  A pair that shares the prefix of several walks belongs to
 * the first of these.  To search groups as a whole is one walk without a prefix.
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

#include "pairs/collector.h"
#include "pairs/walks.h"

/*
 * With skewed fingerprints, buckets may be this many times larger than on
 * average; memory should suffice for that.
 */
#define SKEW				64

/* one side: its entries, and the buckets that they make */
typedef struct Reader
{
	ShPairsWalks *walks;
	ShPairsInput *input;
	uint64		prefix;			/* of a permuted fingerprint; 0 with several
								 * words */

	/* the last bucket, the entries that it consists of, */
	ShPairsCollector collector;
	size_t		bucket_entries;
	bool		complete;		/* and whether these are all */

	/* entries of the table before it, done or skipped */
	double		passed;
} Reader;

struct ShPairsWalks
{
	int			nsides;
	ShPairsInput *inputs;		/* of each side */
	const ShPairsPlan *plan;
	int			walk;			/* the current one */
	double		done;			/* entries of the walks before it */
	ShPairs    *pairs;
	ShPairsSink *sink;
	Reader		readers[2];
	ShPairsChunks *chunks;		/* of the current buckets, or NULL if they fit */
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
		   !shpairs_bucket_fits(SKEW * ldexp(entries, -(shbits_block_start(scheme, used)))))
		used++;
	return used;
}

/* length of the prefix that the first blocks of a table make */
static int
bits_of_blocks(const ShBitsScheme *scheme, const ShBitsTable *table, int nblocks)
{
	int			bits = 0;

	for (int i = 0; i < nblocks; i++)
		bits += shbits_block_start(scheme, table->order[i] + 1) -
			shbits_block_start(scheme, table->order[i]);
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
 * Plan to search whole groups, in whatever order their entries are.
 */
void
shpairs_plan_groups(ShPairsPlan *plan)
{
	plan->first = 0;
	plan->nwalks = 1;
	plan->walks[0] = (ShPairsWalk)
	{
		0
	};
}

/*
 * Plan a walk over each of the first tables of bands.  What two rows have in another table
 * is not known, so pairs are found again.
 */
void
shpairs_plan_bands(ShPairsPlan *plan, int nbands)
{
	plan->first = 0;
	plan->nwalks = nbands;
	for (int t = 0; t < nbands; t++)
		plan->walks[t] = (ShPairsWalk)
	{
		.table = t,.prefix_bits = SHBITS_WIDTH - SHBITS_BAND_OTHER_BITS
	};
}

/*
 * Set masks so that a walk over a table does not find pairs again that share
 * the prefix of an earlier walk.
 */
static void
set_masks(const ShPairsWalks *walks)
{
	const ShBitsTable *table = walks->readers[0].collector.bucket.table;
	ShPairs    *pairs = walks->pairs;

	pairs->nmasks = 0;
	for (int i = 0; i < walks->walk; i++)
	{
		if (walks->plan->walks[i].mask != 0)
			pairs->masks[pairs->nmasks++] = shbits_permute(table, walks->plan->walks[i].mask);
	}
}

/*
 * Report the entries that are done, with a fraction of the current buckets.
 *
 * Entries that are skipped without being read are not counted, but mostly on
 * one side only, that with more of them.  So the walk is as far as the side
 * that is further.
 */
void
shpairs_walks_report(ShPairsWalks *walks, double fraction)
{
	double		entries = 0;
	double		passed = 0;
	double		furthest = 0;

	if (walks->chunks != NULL)
		fraction = shpairs_chunks_done(walks->chunks, fraction);
	for (int i = 0; i < walks->nsides; i++)
	{
		const Reader *reader = &walks->readers[i];
		double		here = reader->passed + reader->bucket_entries * fraction;

		entries += walks->inputs[i].entries;
		passed += here;
		furthest = Max(furthest, here / Max(walks->inputs[i].entries, 1));
	}
	if (walks->nsides > 1 && walks->inputs[0].entries > 0 && walks->inputs[1].entries > 0)
		passed = Min(furthest, 1) * entries;
	shpairs_progress_entries(walks->inputs[0].progress, walks->done + passed);
}

/*
 * Begin before the first bucket of a table, with prefixes of the given length.
 */
static void
start_reader(Reader *reader, int table, int prefix_bits, bool first_walk)
{
	reader->prefix = shbits_prefix_mask(prefix_bits);
	reader->collector.bucket.table = shpairs_input_table(reader->input, table);
	reader->collector.bucket.first_walk = first_walk;
	reader->bucket_entries = 0;
	reader->passed = 0;
	shpairs_input_start(reader->input, table);
}

/*
 * How many of the next entries, which are all of one group, have lower keys
 * than the given one.
 */
static int
count_below(const Reader *reader, ShPermuted key)
{
	const ShPermuted *keys = reader->input->values;
	int			count = reader->input->count;
	int			step = 1;
	int			low = 0;
	int			high;

	/* it is mostly near the start */
	while (step <= count && keys[step - 1] < key)
	{
		low = step;
		step *= 2;
	}
	high = Min(step - 1, count);
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Read more entries if none are left.  Returns false if there are no more.
 */
static inline bool
have_entries(Reader *reader)
{
	if (likely(reader->input->count > 0))
		return true;
	shpairs_walks_report(reader->walks, 0);
	return shpairs_input_next(reader->input);
}

/*
 * Read on: how many of the next entries are of a group, and share the prefix of a key.
 */
static int
count_more(Reader *reader, uint32 group, ShPermuted key)
{
	const ShPairsInput *input = reader->input;
	int			count = 0;

	if (!have_entries(reader) || input->group != group)
		return 0;
	if (reader->prefix == 0)
		return input->count;
	while (count < input->count && ((input->values[count] ^ key) & reader->prefix) == 0)
		count++;
	return count;
}

/*
 * Take the bucket of the next entries.  There must be some.
 *
 * The bucket is that of the collector, and is valid until the next is taken; the caller
 * may change its rows.  If it needs more memory than allowed, it is not complete.
 */
static void
take(Reader *reader)
{
	ShPairsInput *input = reader->input;
	ShPairsBucket *bucket = &reader->collector.bucket;
	ShPermuted	key = input->values[0];
	int			count;

	shpairs_collector_clear(&reader->collector, input->group);
	bucket->first_number = (uint64) reader->passed;
	reader->complete = true;
	while (reader->complete && (count = count_more(reader, bucket->group, key)) > 0)
	{
		int			taken = shpairs_collect(&reader->collector, input->values, input->rows, count);

		reader->bucket_entries += taken;
		shpairs_input_advance(input, taken);
		reader->complete = taken == count;
		if (input->count > 0)
			break;
	}
	if (reader->complete && bucket->nwords > 1)
		shpairs_collector_finish(&reader->collector);
}

/*
 * Move the entries of the bucket that has been taken into chunks, and those that did
 * not fit.
 */
static void
add_to_chunks(Reader *reader, ShPairsChunks *chunks, int side)
{
	uint32		group = reader->collector.bucket.group;
	ShPermuted	key = reader->collector.bucket.values[0];
	int			count;

	shpairs_chunks_add_bucket(chunks, side, &reader->collector.bucket);
	shpairs_collector_shrink(&reader->collector);
	while (!reader->complete && (count = count_more(reader, group, key)) > 0)
	{
		shpairs_chunks_add(chunks, side, reader->input->values, reader->input->rows, count);
		reader->bucket_entries += count;
		shpairs_input_advance(reader->input, count);
	}
	reader->complete = true;
}

/*
 * The entries of the returned bucket are done.  Are there no more?
 *
 * If there are, the input has the next ones.  The bucket that was taken before is no
 * longer valid.
 */
static bool
at_end(Reader *reader)
{
	reader->passed += reader->bucket_entries;
	reader->bucket_entries = 0;
	return !have_entries(reader);
}

/*
 * Take the next bucket that has several rows.  Returns false after the last.  If it is
 * not complete, the rest must be taken, too (add_to_chunks).
 */
static bool
take_next(Reader *reader)
{
	ShPairsInput *input = reader->input;

	while (!at_end(reader))
	{
		if (input->count > 1 && ((input->values[0] ^ input->values[1]) & reader->prefix) != 0)
		{
			shpairs_input_advance(input, 1);
			reader->passed++;
			continue;
		}
		take(reader);
		if (reader->collector.bucket.nrows > 1)
			return true;
	}
	return false;
}

/*
 * Skip the entries before a key of a group.
 */
static void
skip(Reader *reader, uint32 group, ShPermuted key)
{
	ShPairsInput *input = reader->input;

	while (!at_end(reader) && input->group <= group)
	{
		int			below = input->group == group ? count_below(reader, key) : input->count;

		shpairs_input_advance(input, below);
		reader->passed += below;
		if (input->count > 0)
			return;
		shpairs_input_seek(input, group, key);
	}
}

/*
 * Take the next buckets of both sides that have the same prefix.  Returns false after the
 * last.  If any is not complete, the rest must be taken, as above.
 */
static bool
take_common(Reader *a, Reader *b)
{
	while (!at_end(a) && !at_end(b))
	{
		uint32		a_group = a->input->group;
		uint32		b_group = b->input->group;
		uint64		a_prefix = a->input->values[0] & a->prefix;
		uint64		b_prefix = b->input->values[0] & b->prefix;

		if (a_group == b_group && a_prefix == b_prefix)
		{
			take(a);
			take(b);
			return true;
		}
		if (a_group < b_group || (a_group == b_group && a_prefix < b_prefix))
			skip(a, b_group, b_prefix);
		else
			skip(b, a_group, a_prefix);
	}
	return false;
}

/*
 * Begin the next walk, if there is one.  All walks of one side have as many entries as
 * the first one turned out to have.
 */
static void
start_walk(ShPairsWalks *walks)
{
	const ShPairsPlan *plan = walks->plan;
	const ShPairsWalk *walk = &plan->walks[walks->walk];
	int			ndone = walks->walk - plan->first;
	int			nwalks = plan->nwalks - plan->first;
	ShPairsProgress *progress = walks->inputs[0].progress;

	if (ndone == 1 && walks->nsides == 1)
		progress->total = walks->done * nwalks;
	shpairs_progress_walks(progress, ndone, nwalks);
	if (walks->walk == plan->nwalks)
		return;
	for (int i = 0; i < walks->nsides; i++)
		start_reader(&walks->readers[i], walk->table, walk->prefix_bits, walks->walk == 0);
	set_masks(walks);
}

/* count the entries of a walk that has ended */
static void
end_walk(ShPairsWalks *walks)
{
	const ShPairsInput *inputs = walks->inputs;

	if (walks->nsides == 1)
		walks->done += walks->readers[0].passed;
	else if (inputs[0].entries > 0 && inputs[1].entries > 0)
		walks->done += inputs[0].entries + inputs[1].entries;
	else
		walks->done += walks->readers[0].passed + walks->readers[1].passed;
	walks->walk++;
}

/*
 * Divide the current buckets into chunks, as any of them does not fit in memory.
 */
static void
divide_buckets(ShPairsWalks *walks)
{
	int			nsides = walks->nsides;
	ShPairsChunks *chunks;

	chunks = shpairs_chunks_begin(walks->inputs, nsides, &walks->readers[0].collector.bucket,
								  walks->sink);
	for (int i = 0; i < nsides; i++)
		add_to_chunks(&walks->readers[i], chunks, i);
	shpairs_chunks_divide(chunks);
	walks->chunks = chunks;
}

/*
 * Get the next two buckets whose keys are to be compared, or the next one, twice, whose
 * keys are to be compared with each other.  They are valid until the next call.  Returns
 * false after the last.
 */
bool
shpairs_walks_next(ShPairsWalks *walks, ShPairsBucket **a, ShPairsBucket **b)
{
	if (walks->chunks != NULL && shpairs_chunks_next(&walks->chunks, a, b))
		return true;
	while (walks->walk < walks->plan->nwalks)
	{
		if (walks->nsides == 1 ? take_next(&walks->readers[0]) :
			take_common(&walks->readers[0], &walks->readers[1]))
		{
			*a = &walks->readers[0].collector.bucket;
			*b = &walks->readers[walks->nsides - 1].collector.bucket;
			if (!walks->readers[0].complete || !walks->readers[walks->nsides - 1].complete)
			{
				divide_buckets(walks);
				(void) shpairs_chunks_next(&walks->chunks, a, b);
			}
			return true;
		}
		end_walk(walks);
		start_walk(walks);
	}
	return false;
}

/*
 * Begin the walks of a plan over the inputs of a search, which have been prepared.  The
 * masks of pairs are set.  All arguments must outlive the search.
 */
ShPairsWalks *
shpairs_walks_begin(ShPairsInput *inputs, int nsides, const ShPairsPlan *plan, ShPairs *pairs,
					ShPairsSink *sink)
{
	ShPairsWalks *walks = palloc0(sizeof(ShPairsWalks));
	double		entries = 0;

	walks->nsides = nsides;
	walks->inputs = inputs;
	walks->plan = plan;
	walks->pairs = pairs;
	walks->sink = sink;
	for (int i = 0; i < nsides; i++)
	{
		Reader	   *reader = &walks->readers[i];

		reader->walks = walks;
		reader->input = &inputs[i];
		shpairs_collector_init(&reader->collector, inputs[i].nwords, inputs[i].elements != NULL, sink,
							   shpairs_bucket_capacity(inputs[i].nwords,
													   maintenance_work_mem * (Size) 1024 / nsides));
		entries = inputs[i].entries == 0 || (i > 0 && entries == 0) ? 0 :
			entries + inputs[i].entries;
	}
	shpairs_progress_begin(inputs[0].progress, SHPAIRS_COMPARING, entries * (plan->nwalks - plan->first));
	walks->walk = plan->first;
	start_walk(walks);
	return walks;
}
