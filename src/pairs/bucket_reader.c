/*-------------------------------------------------------------------------
 *
 * bucket_reader.c
 *	  Reading buckets from the entries of an input, one after the other.
 *
 * Entries with the same prefix, or of the same group if the prefix is empty, are
 * adjacent.  They are collected (collector.c), and if they do not fit in memory, whoever
 * takes the bucket can have the rest of them in chunks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pairs/bucket_reader.h"

/*
 * Prepare to read buckets, each of which may take the given memory.  sink is called for
 * repeated keys, if it wants that, and before_read, with arg, before more entries are
 * read.
 */
void
shpairs_buckets_init(ShPairsBucketReader *reader, ShPairsInput *input, Size memory,
					 ShPairsSink *sink, ShPairsReadFunction before_read, void *arg)
{
	memset(reader, 0, sizeof(ShPairsBucketReader));
	reader->input = input;
	reader->before_read = before_read;
	reader->arg = arg;
	shpairs_collector_init(&reader->collector, input->nwords, sink,
						   shpairs_bucket_capacity(input->nwords, memory));
}

/*
 * Begin before the first bucket of a table, with prefixes of the given length.
 */
void
shpairs_buckets_start(ShPairsBucketReader *reader, int table, int prefix_bits, bool first_walk)
{
	reader->prefix_bits = prefix_bits;
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
count_below(const ShPairsBucketReader *reader, ShPermuted key)
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
have_entries(ShPairsBucketReader *reader)
{
	if (likely(reader->input->count > 0))
		return true;
	reader->before_read(reader->arg);
	return shpairs_input_next(reader->input);
}

/*
 * Read on: how many of the next entries are of a group, and share the prefix of a key.
 */
static int
count_more(ShPairsBucketReader *reader, uint32 group, ShPermuted key)
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
take(ShPairsBucketReader *reader)
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
	if (reader->complete)
		shpairs_collector_finish(&reader->collector);
}

/*
 * Move the entries of the bucket that has been taken into chunks, and those that did
 * not fit.
 */
void
shpairs_buckets_add_to_chunks(ShPairsBucketReader *reader, ShPairsChunks *chunks, int side)
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

/* the entries of the returned bucket are done */
static inline void
pass_bucket(ShPairsBucketReader *reader)
{
	reader->passed += reader->bucket_entries;
	reader->bucket_entries = 0;
}

/*
 * Are there no more entries?
 *
 * If there are, the input has the next ones.  The bucket that was taken before is no
 * longer valid.
 */
static bool
at_end(ShPairsBucketReader *reader)
{
	pass_bucket(reader);
	return !have_entries(reader);
}

/*
 * Take the next bucket that has several rows.  Returns false after the last.  If it is
 * not complete, the rest must be taken, too (shpairs_buckets_add_to_chunks).
 */
bool
shpairs_buckets_next(ShPairsBucketReader *reader)
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
skip(ShPairsBucketReader *reader, uint32 group, ShPermuted key)
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
bool
shpairs_buckets_meet(ShPairsBucketReader *a, ShPairsBucketReader *b)
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
