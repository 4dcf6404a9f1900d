/*-------------------------------------------------------------------------
 *
 * bucket_reader.c
 *	  Reading buckets of one word from entries in order, one after the other.
 *
 * Entries with the same prefix are adjacent.  If they have been read together,
 * and all their fingerprints differ, the bucket points to where they were
 * read.  Otherwise they are collected (collector.c), and if they do not fit in
 * memory, whoever takes the bucket can have the rest of them in chunks.
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
shpairs_buckets_init(ShPairsBucketReader *reader, ShPairsEntries *entries, Size memory,
					 ShPairsSink *sink, ShPairsReadFunction before_read, void *arg)
{
	memset(reader, 0, sizeof(ShPairsBucketReader));
	reader->entries = entries;
	reader->before_read = before_read;
	reader->arg = arg;
	shpairs_collector_init(&reader->collector, 1, sink, memory);
	reader->direct.nwords = 1;
	reader->bucket = &reader->direct;
	for (int i = 0; i < lengthof(reader->own_rows); i++)
		reader->own_rows[i] = i;
}

/*
 * Begin before the first bucket of a table, with prefixes of the given length.
 */
void
shpairs_buckets_start(ShPairsBucketReader *reader, int table, int prefix_bits, bool first_walk)
{
	reader->prefix_bits = prefix_bits;
	reader->prefix = shbits_prefix_mask(prefix_bits);
	reader->direct.table = reader->collector.bucket.table = &reader->entries->scheme->tables[table];
	reader->direct.first_walk = reader->collector.bucket.first_walk = first_walk;
	reader->bucket_entries = 0;
	reader->passed = 0;
	reader->count = 0;
	shpairs_entries_start(reader->entries, table);
}

/*
 * How many of the next entries, which are all of one group, have lower keys
 * than the given one.
 */
static int
count_below(const ShPairsBucketReader *reader, ShPermuted key)
{
	const ShPermuted *keys = reader->next_keys;
	int			step = 1;
	int			low = 0;
	int			high;

	/* it is mostly near the start */
	while (step <= reader->count && keys[step - 1] < key)
	{
		low = step;
		step *= 2;
	}
	high = Min(step - 1, reader->count);
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

/* skip the given number of entries */
static inline void
advance(ShPairsBucketReader *reader, int count)
{
	reader->next_keys += count;
	reader->next_rows += count;
	reader->count -= count;
}

/*
 * Read more entries if none are left.  Returns false if there are no more.
 */
static inline bool
have_entries(ShPairsBucketReader *reader)
{
	if (likely(reader->count > 0))
		return true;
	reader->before_read(reader->arg);
	reader->count = shpairs_entries_next(reader->entries, &reader->group, &reader->next_keys,
										 &reader->next_rows);
	return reader->count > 0;
}

/*
 * Find the end of the entries, among those that have been read, that share the
 * prefix of the first one.  Also sets *repeats if any of them has the key of
 * the entry before it.
 */
static inline int
prefix_end(const ShPairsBucketReader *reader, bool *repeats)
{
	const ShPermuted *keys = reader->next_keys;
	int			end;

	*repeats = false;
	for (end = 1; end < reader->count; end++)
	{
		uint64		difference = keys[end] ^ keys[end - 1];

		if ((difference & reader->prefix) != 0)
			break;
		*repeats |= difference == 0;
	}
	return end;
}

/*
 * Read on: how many of the next entries are of a group, and share the prefix of a key.
 */
static int
count_more(ShPairsBucketReader *reader, uint32 group, ShPermuted key)
{
	int			count = 0;

	if (!have_entries(reader) || reader->group != group)
		return 0;
	while (count < reader->count && ((reader->next_keys[count] ^ key) & reader->prefix) == 0)
		count++;
	return count;
}

/*
 * Collect the bucket of the next entries, the first count of which are known
 * to belong to it, and read on until it is complete or memory is full.
 */
static void
collect_bucket(ShPairsBucketReader *reader, int count)
{
	ShPairsBucket *bucket = &reader->collector.bucket;

	reader->bucket = bucket;
	reader->bucket_entries = 0;
	shpairs_collector_clear(&reader->collector, reader->group);
	while (count > 0)
	{
		int			taken = shpairs_collect(&reader->collector, reader->next_keys,
											reader->next_rows, count);

		reader->bucket_entries += taken;
		advance(reader, taken);
		reader->complete = taken == count;
		count = reader->complete && reader->count == 0 ?
			count_more(reader, bucket->group, bucket->values[0]) : 0;
	}
}

/*
 * Move the entries of the bucket that has been taken into chunks, and those that did
 * not fit.
 */
void
shpairs_buckets_add_to_chunks(ShPairsBucketReader *reader, ShPairsChunks *chunks, int side)
{
	uint32		group = reader->bucket->group;
	ShPermuted	key = reader->bucket->values[0];
	int			count;

	shpairs_chunks_add_bucket(chunks, side, reader->bucket);
	shpairs_collector_shrink(&reader->collector);
	while (!reader->complete && (count = count_more(reader, group, key)) > 0)
	{
		shpairs_chunks_add(chunks, side, reader->next_keys, reader->next_rows, count);
		reader->bucket_entries += count;
		advance(reader, count);
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
 * If there are, the next one is the first of next_keys[], in the current
 * group.  The bucket that was taken before is no longer valid.
 */
static bool
at_end(ShPairsBucketReader *reader)
{
	pass_bucket(reader);
	return !have_entries(reader);
}

/*
 * Take the bucket of the next entries.  There must be some.
 *
 * The bucket is reader->bucket, and is valid until the next read; the caller
 * may change its rows.  If it needs more memory than allowed, it is not complete.
 */
static void
take(ShPairsBucketReader *reader)
{
	ShPairsBucket *bucket = &reader->direct;
	bool		repeats;
	int			end = prefix_end(reader, &repeats);

	if (end == reader->count || repeats || end > lengthof(reader->own_rows))
	{
		collect_bucket(reader, end);
		return;
	}
	reader->bucket = bucket;
	reader->bucket_entries = end;
	reader->complete = true;
	bucket->group = reader->group;
	bucket->nkeys = bucket->nrows = end;
	bucket->values = reader->next_keys;
	bucket->rows = reader->next_rows;
	bucket->starts = reader->own_rows;
	advance(reader, end);
}

/*
 * The same beside the bucket of another reader, in the memory that this leaves of
 * the total, but at least half of it.
 */
static void
take_beside(ShPairsBucketReader *reader, const ShPairsBucketReader *other, Size memory)
{
	Size		taken = shpairs_collector_memory(&other->collector);

	reader->collector.memory = memory - Min(taken, memory / 2);
	take(reader);
}

/*
 * Take the next bucket that has several rows.  Returns false after the last.  If it is
 * not complete, the rest must be taken, too (shpairs_buckets_add_to_chunks).
 */
bool
shpairs_buckets_next(ShPairsBucketReader *reader)
{
	while (!at_end(reader))
	{
		if (reader->count > 1 &&
			((reader->next_keys[0] ^ reader->next_keys[1]) & reader->prefix) != 0)
		{
			advance(reader, 1);
			reader->passed++;
			continue;
		}
		take(reader);
		if (reader->bucket->nrows > 1)
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
	while (!at_end(reader) && reader->group <= group)
	{
		int			below = reader->group == group ? count_below(reader, key) : reader->count;

		advance(reader, below);
		reader->passed += below;
		if (reader->count > 0)
			return;
		shpairs_entries_seek(reader->entries, group, key);
	}
}

/*
 * Take the next buckets of both sides that have the same prefix, in so much memory, which
 * may be exceeded by half.  Returns false after the last.  If any is not complete, the
 * rest must be taken, as above.
 */
bool
shpairs_buckets_meet(ShPairsBucketReader *a, ShPairsBucketReader *b, Size memory)
{
	while (!at_end(a) && !at_end(b))
	{
		uint64		a_prefix = a->next_keys[0] & a->prefix;
		uint64		b_prefix = b->next_keys[0] & b->prefix;

		if (a->group == b->group && a_prefix == b_prefix)
		{
			take_beside(a, b, memory);
			take_beside(b, a, memory);
			return true;
		}
		if (a->group < b->group || (a->group == b->group && a_prefix < b_prefix))
			skip(a, b->group, b_prefix);
		else
			skip(b, a->group, a_prefix);
	}
	return false;
}
