/*-------------------------------------------------------------------------
 *
 * groups.c
 *	  The groups of fingerprints of any width, as buckets.
 *
 * A group that does not fit in memory is divided into chunks, which are written to
 * files, and each of them is searched, and compared with each later one, or with those
 * of the other side.  So the memory is bounded, but the time grows with the square of
 * the number of chunks.  The rows of a value are in one chunk, chosen by a hash.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "pairs/collector.h"
#include "pairs/groups.h"
#include "rows/progress.h"
#include "rows/temp_file.h"

/* chunks differ in size: how large they are on average, if this fits in memory */
#define CHUNK_SIZE(most)	((most) - (most) / 8)

/* the entries of the current group on one side */
typedef struct Side
{
	ShPairsInput *input;
	size_t		count;
	uint64		first_number;	/* of its keys */

	/* if they do not fit: */
	int			nchunks;		/* else 1 */
	BufFile   **files;			/* else NULL */
	size_t	   *counts;			/* entries of each chunk */
} Side;

typedef struct GroupFeed
{
	ShPairsFeed base;
	ShPairsSink *sink;
	Side		sides[2];		/* the first one only, if there is one */

	/* the two buckets; the second has a chunk of the same side if there is one */
	ShPairsCollector collectors[2];
	double		done;			/* entries of earlier groups */

	/* the chunks that are compared next, if first is below their number */
	int			first;
	int			second;
	double		ncompared;		/* how many have been */
} GroupFeed;

static Size
memory_of_side(const GroupFeed *feed)
{
	return maintenance_work_mem * (Size) 1024 / feed->base.nsides;
}

static void
init_collector(GroupFeed *feed, int number, Size memory)
{
	ShPairsInput *input = feed->sides[0].input;
	ShPairsCollector *collector = &feed->collectors[number];

	if (collector->bucket.values != NULL)
		shpairs_collector_free(collector);
	shpairs_collector_init(collector, input->nwords, feed->sink, memory);
	if (input->nwords == 1)
		collector->bucket.table = &input->entries_of.scheme->tables[0];
}

static void
write_entry(Side *side, uint64 *value, ShRowsNumber row)
{
	Size		size = side->input->nwords * sizeof(uint64);
	int			chunk = hash_bytes((const unsigned char *) value, size) % side->nchunks;

	BufFileWrite(side->files[chunk], &row, sizeof(row));
	BufFileWrite(side->files[chunk], value, size);
	if (++side->counts[chunk] % 1024 == 0)
		CHECK_FOR_INTERRUPTS();
}

/*
 * Write what has been collected, and not finished.
 */
static void
write_collected(Side *side, const ShPairsCollector *collector)
{
	const ShPairsBucket *bucket = &collector->bucket;

	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		uint64	   *value = bucket->values + i * bucket->nwords;

		if (bucket->nwords > 1)
			write_entry(side, value, collector->added[i]);
		else
			for (size_t row = bucket->starts[i]; row < shpairs_rows_end(bucket, i); row++)
				write_entry(side, value, bucket->rows[row]);
	}
}

/*
 * Move the entries that have been collected into files, with the rest of the group.
 *
 * There are as many files as if all that is left to read were of this group.
 */
static void
write_chunks(GroupFeed *feed, Side *side, const ShPairsCollector *collector)
{
	ShPairsInput *input = side->input;
	uint32		group = collector->bucket.group;
	size_t		most = maintenance_work_mem * 1024.0 / 2 / shpairs_bucket_bytes(input->nwords, 1);

	side->nchunks = 1 + (int) ((side->count + Max(input->most - input->nread, 0)) /
							   CHUNK_SIZE(most));
	side->files = palloc(side->nchunks * sizeof(BufFile *));
	side->counts = palloc0(side->nchunks * sizeof(size_t));
	for (int i = 0; i < side->nchunks; i++)
		side->files[i] = shrows_create_file();
	write_collected(side, collector);
	while (input->count > 0 && input->group == group)
	{
		int			count = input->count;

		for (int i = 0; i < count; i++)
			write_entry(side, input->values + i * input->nwords, input->rows[i]);
		side->count += count;
		shpairs_input_advance(input, count);
	}
}

static void
close_chunks(Side *side)
{
	for (int i = 0; side->files != NULL && i < side->nchunks; i++)
		BufFileClose(side->files[i]);
	side->files = NULL;
	side->nchunks = 1;
}

/*
 * Collect the group of the next entries.  Returns false if it does not fit.
 */
static bool
collect_group(Side *side, ShPairsCollector *collector)
{
	ShPairsInput *input = side->input;
	uint32		group = input->group;

	side->first_number += side->count;
	side->count = 0;
	shpairs_collector_clear(collector, group);
	collector->bucket.first_walk = true;
	collector->bucket.first_number = side->first_number;
	while (input->count > 0 && input->group == group)
	{
		int			count = input->count;
		int			taken = shpairs_collect(collector, input->values, input->rows, count);

		side->count += taken;
		shpairs_input_advance(input, taken);
		if (taken < count)
			return false;
	}
	return true;
}

/*
 * Make a bucket of a chunk.
 */
static void
load_chunk(const Side *side, int chunk, ShPairsCollector *collector, uint32 group)
{
	BufFile    *file = side->files[chunk];
	uint64		value[SHBITS_MAX_PARTS];
	ShRowsNumber row;
	Size		size = side->input->nwords * sizeof(uint64);

	shrows_rewind_file(file);
	shpairs_collector_reserve(collector, side->counts[chunk]);
	shpairs_collector_clear(collector, group);
	collector->bucket.first_number = side->first_number;
	for (int i = 0; i < chunk; i++)
		collector->bucket.first_number += side->counts[i];
	for (size_t i = 0; i < side->counts[chunk]; i++)
	{
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (BufFileRead(file, &row, sizeof(row)) != sizeof(row) ||
			BufFileRead(file, value, size) != size)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from temporary file: %m")));
		(void) shpairs_collect(collector, value, &row, 1);
	}
	shpairs_collector_finish(collector);
}

/*
 * Load the next two chunks, or the same one twice.  What is called for a pair may have
 * changed the rows of a bucket, so both are loaded again.
 */
static void
next_chunks(GroupFeed *feed, ShPairsBucket **a, ShPairsBucket **b)
{
	Side	   *other = &feed->sides[feed->base.nsides - 1];
	uint32		group = feed->collectors[0].bucket.group;
	bool		among = feed->base.nsides == 1 && feed->first == feed->second;

	load_chunk(&feed->sides[0], feed->first, &feed->collectors[0], group);
	if (!among)
		load_chunk(other, feed->second, &feed->collectors[1], group);
	feed->collectors[0].bucket.first_walk = among;
	*a = &feed->collectors[0].bucket;
	*b = among ? *a : &feed->collectors[1].bucket;
	feed->ncompared++;
	if (++feed->second == other->nchunks)
	{
		feed->first++;
		feed->second = feed->base.nsides == 1 ? feed->first : 0;
	}
}

/*
 * Move to a group that both sides have.  Returns false at the end of either.
 */
static bool
find_common_group(GroupFeed *feed)
{
	ShPairsInput *a = feed->sides[0].input;
	ShPairsInput *b = feed->sides[1].input;

	while (a->count > 0 && b->count > 0)
	{
		ShPairsInput *lower = a->group < b->group ? a : b;

		if (a->group == b->group)
			return true;
		feed->done += lower->count;
		shpairs_input_next(lower);
	}
	return false;
}

/*
 * Read the next group.  If any side does not fit in memory, all are written to files.
 * Returns false after the last.
 */
static bool
read_group(GroupFeed *feed)
{
	int			nsides = feed->base.nsides;
	bool		fits = true;

	/* of one side, the only bucket may have all memory, but not beside another */
	if (feed->sides[0].files != NULL)
	{
		for (int i = 0; i < lengthof(feed->collectors); i++)
			init_collector(feed, i, memory_of_side(feed));
	}
	for (int i = 0; i < nsides; i++)
		close_chunks(&feed->sides[i]);
	feed->done += feed->sides[0].count + (nsides > 1 ? feed->sides[1].count : 0);
	if (nsides > 1 ? !find_common_group(feed) : feed->sides[0].input->count == 0)
		return false;
	for (int i = 0; i < nsides; i++)
	{
		Side	   *side = &feed->sides[i];

		if (!collect_group(side, &feed->collectors[i]))
			write_chunks(feed, side, &feed->collectors[i]);
		fits &= side->files == NULL;
	}
	for (int i = 0; i < nsides; i++)
	{
		if (fits)
			shpairs_collector_finish(&feed->collectors[i]);
		else if (feed->sides[i].files == NULL)
			write_chunks(feed, &feed->sides[i], &feed->collectors[i]);
	}
	feed->ncompared = 0;
	feed->first = feed->second = 0;
	if (!fits && nsides == 1)
	{
		uint32		group = feed->collectors[0].bucket.group;

		for (int i = 0; i < lengthof(feed->collectors); i++)
			init_collector(feed, i, memory_of_side(feed) / 2);
		feed->collectors[0].bucket.group = group;
	}
	return true;
}

static void
report(ShPairsFeed *base, double fraction)
{
	GroupFeed  *feed = (GroupFeed *) base;
	double		nchunks = feed->sides[0].nchunks;
	double		npairs = base->nsides == 1 ? nchunks * (nchunks + 1) / 2 :
		nchunks * feed->sides[1].nchunks;
	double		count = feed->sides[0].count + (base->nsides > 1 ? feed->sides[1].count : 0);
	double		before = feed->sides[0].files == NULL ? 0 : feed->ncompared - 1;

	shrows_progress_entries(feed->done + count * Min((before + fraction) / npairs, 1));
}

static bool
next(ShPairsFeed *base, ShPairsBucket **a, ShPairsBucket **b)
{
	GroupFeed  *feed = (GroupFeed *) base;

	if (feed->sides[0].files == NULL || feed->first == feed->sides[0].nchunks)
	{
		do
		{
			if (!read_group(feed))
			{
				shrows_progress_table(1, 1);
				return false;
			}
		} while (base->nsides == 1 && feed->sides[0].count == 1);
	}
	if (feed->sides[0].files != NULL)
		next_chunks(feed, a, b);
	else
	{
		*a = &feed->collectors[0].bucket;
		*b = &feed->collectors[base->nsides - 1].bucket;
	}
	report(base, 0);
	return true;
}

/*
 * Begin to read the groups of the inputs of a search.  All arguments must outlive the
 * search.
 */
ShPairsFeed *
shpairs_feed_groups(ShPairsInput *inputs, int nsides, ShPairsSink *sink)
{
	GroupFeed  *feed = palloc0(sizeof(GroupFeed));
	double		entries = 0;

	feed->base.nsides = nsides;
	feed->base.inputs = inputs;
	feed->base.next = next;
	feed->base.report = report;
	feed->sink = sink;
	for (int i = 0; i < nsides; i++)
	{
		shpairs_input_start(&inputs[i]);
		feed->sides[i].input = &inputs[i];
		feed->sides[i].nchunks = 1;
		entries += inputs[i].entries;
	}
	for (int i = 0; i < nsides; i++)
		init_collector(feed, i, memory_of_side(feed));
	shrows_progress_phase(SHROWS_PHASE_COMPARE, entries);
	shrows_progress_table(0, 1);
	return &feed->base;
}
