/*-------------------------------------------------------------------------
 *
 * bucket_reader.c
 *	  Reading the buckets of a stream of entries, one after the other.
 *
 * Entries with the same prefix are adjacent.  If they have been read together,
 * and all their fingerprints differ, the bucket points to where they were
 * read.  Otherwise they are collected, with equal fingerprints as one key.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "pairs/bucket_reader.h"
#include "pairs/pairs.h"

/* initial size of the arrays of buckets */
#define FIRST_CAPACITY		1024

/*
 * bytes for a key and a row of a bucket, including the search among the keys
 */
#define BYTES_PER_KEY		(sizeof(ShPermuted) + sizeof(size_t) + SHPAIRS_BYTES_PER_KEY)
#define BYTES_PER_ROW		sizeof(ShRowsNumber)

/*
 * The memory for a bucket with this many entries.
 */
double
shpairs_bucket_bytes(double entries)
{
	return entries * (BYTES_PER_KEY + BYTES_PER_ROW);
}

/*
 * Is there enough?
 */
bool
shpairs_bucket_fits(double entries)
{
	return shpairs_bucket_bytes(entries) <= maintenance_work_mem * 1024.0;
}

/*
 * Prepare to read buckets, each of which may take the given memory.
 *
 * repeat is called with each row of a fingerprint after the first one; if it
 * is NULL, the buckets keep them all.  before_read is called with arg before
 * more entries are read.
 */
void
shpairs_buckets_init(ShPairsBucketReader *reader, ShPairsStream *stream, Size memory,
					 ShPairsRepeatFunction repeat, ShPairsReadFunction before_read, void *arg)
{
	memset(reader, 0, sizeof(ShPairsBucketReader));
	reader->stream = stream;
	reader->repeat = repeat;
	reader->before_read = before_read;
	reader->arg = arg;
	reader->memory = memory;
	reader->max_keys = FIRST_CAPACITY;
	reader->max_rows = FIRST_CAPACITY;
	reader->keys = palloc(FIRST_CAPACITY * sizeof(ShPermuted));
	reader->starts = palloc(FIRST_CAPACITY * sizeof(size_t));
	reader->rows = palloc(FIRST_CAPACITY * sizeof(ShRowsNumber));
	for (int i = 0; i < SHPAIRS_STREAM_MAX; i++)
		reader->own_rows[i] = i;
}

/*
 * How much memory a reader has allocated.  It keeps it until the end.
 */
static Size
memory_of(const ShPairsBucketReader *reader)
{
	return reader->max_keys * BYTES_PER_KEY + reader->max_rows * BYTES_PER_ROW;
}

/*
 * Begin before the first bucket of a table, with prefixes of the given length.
 */
void
shpairs_buckets_start(ShPairsBucketReader *reader, int table, int prefix_bits)
{
	reader->prefix_bits = prefix_bits;
	reader->prefix = shbits_prefix_mask(prefix_bits);
	reader->bucket.table = &reader->stream->scheme->tables[table];
	reader->bucket_entries = 0;
	reader->passed = 0;
	reader->count = 0;
	reader->at_end = false;
	reader->has_end = false;
	shpairs_stream_start(reader->stream, table);
}

/* the place of the first entry that may belong to the same bucket */
ShPairsPlace
shpairs_place(uint32 group, ShPermuted key, int prefix_bits)
{
	ShPairsPlace place = {key & shbits_prefix_mask(prefix_bits), group};

	return place;
}

/*
 * The same for a range of the table: from start to end, or to the end of the
 * table if end is NULL.  Both must be places where buckets begin.
 */
void
shpairs_buckets_start_range(ShPairsBucketReader *reader, int table, int prefix_bits,
							const ShPairsPlace *start, const ShPairsPlace *end)
{
	shpairs_buckets_start(reader, table, prefix_bits);
	reader->has_end = end != NULL;
	if (end != NULL)
		reader->end = *end;
	if (start->group == 0 && start->key == 0)
		return;
	shpairs_stream_seek(reader->stream, start->group, start->key);
	shpairs_buckets_skip(reader, start->group, start->key);
	reader->passed = 0;
}

/*
 * Report that the bucket does not fit; or return, if the caller wants to know
 * that.
 */
static void
report_too_large(ShPairsBucketReader *reader)
{
	reader->too_large = true;
	if (reader->may_be_too_large)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("fingerprints with a common prefix do not fit into maintenance_work_mem"),
			 errdetail("There are %zu distinct fingerprints in %zu rows so far that share a prefix of %d bits.",
					   reader->bucket.nkeys, reader->bucket.nrows, reader->prefix_bits),
			 errhint("Increase maintenance_work_mem, which is now %d kB.",
					 maintenance_work_mem)));
}

/*
 * The new capacity, in items of the given size, of an array that is full, if
 * the other array of the bucket takes used bytes; 0 if there is no memory.
 */
static size_t
next_capacity(ShPairsBucketReader *reader, size_t capacity, Size size, Size used)
{
	size_t		most = reader->memory > used ? (reader->memory - used) / size : 0;

	if (most <= capacity)
	{
		report_too_large(reader);
		return 0;
	}
	return Min(capacity * 2, most);
}

/* returns false if the bucket is too large, as enlarge_rows does */
static bool
enlarge_keys(ShPairsBucketReader *reader)
{
	size_t		repeats = reader->max_rows - reader->max_keys;
	size_t		capacity;

	if (reader->max_keys == SHPAIRS_MAX_KEYS)
	{
		report_too_large(reader);
		return false;
	}
	/* each key has at least one row */
	capacity = next_capacity(reader, reader->max_keys, BYTES_PER_KEY + BYTES_PER_ROW,
							 repeats * BYTES_PER_ROW);
	if (capacity == 0)
		return false;
	reader->max_keys = Min(capacity, SHPAIRS_MAX_KEYS);
	reader->max_rows = reader->max_keys + repeats;
	reader->rows = repalloc_huge(reader->rows, reader->max_rows * sizeof(ShRowsNumber));
	reader->keys = repalloc_huge(reader->keys, reader->max_keys * sizeof(ShPermuted));
	reader->starts = repalloc_huge(reader->starts, reader->max_keys * sizeof(size_t));
	return true;
}

static bool
enlarge_rows(ShPairsBucketReader *reader)
{
	size_t		capacity = next_capacity(reader, reader->max_rows, BYTES_PER_ROW,
										 reader->max_keys * BYTES_PER_KEY);

	if (capacity == 0)
		return false;
	reader->max_rows = capacity;
	reader->rows = repalloc_huge(reader->rows, reader->max_rows * sizeof(ShRowsNumber));
	return true;
}

/* let the bucket be the collected one, whose arrays may have moved */
static void
show_collected(ShPairsBucketReader *reader)
{
	reader->bucket.keys = reader->keys;
	reader->bucket.starts = reader->starts;
	reader->bucket.rows = reader->rows;
}

/*
 * Add entries with new keys to the bucket that is being collected.
 */
static void
collect_keys(ShPairsBucketReader *reader, const ShPermuted *keys, const ShRowsNumber *rows, int count)
{
	ShPairsBucket *bucket = &reader->bucket;

	while (count > 0)
	{
		bool		fits = (bucket->nkeys < reader->max_keys || enlarge_keys(reader)) &&
			(bucket->nrows < reader->max_rows || enlarge_rows(reader));
		int			n;

		/* who skips the bucket needs its first key */
		show_collected(reader);
		if (!fits)
			return;
		n = Min(count, Min(reader->max_keys - bucket->nkeys, reader->max_rows - bucket->nrows));
		memcpy(reader->keys + bucket->nkeys, keys, n * sizeof(ShPermuted));
		memcpy(reader->rows + bucket->nrows, rows, n * sizeof(ShRowsNumber));
		for (int i = 0; i < n; i++)
			reader->starts[bucket->nkeys + i] = bucket->nrows + i;
		bucket->nkeys += n;
		bucket->nrows += n;
		keys += n;
		rows += n;
		count -= n;
	}
	bucket->last_repeated = false;
}

/*
 * Add another row of the last key to the bucket that is being collected.
 */
static void
collect_repeat(ShPairsBucketReader *reader, ShRowsNumber row)
{
	ShPairsBucket *bucket = &reader->bucket;

	if (reader->repeat == NULL || reader->repeat(reader->arg, bucket, row))
	{
		if (bucket->nrows == reader->max_rows && !enlarge_rows(reader))
			return;
		reader->rows[bucket->nrows++] = row;
		show_collected(reader);
	}
	bucket->last_repeated = true;
}

/*
 * Add entries to the bucket that is being collected.
 */
static void
collect_entries(ShPairsBucketReader *reader, const ShPermuted *keys, const ShRowsNumber *rows,
				int count)
{
	const ShPairsBucket *bucket = &reader->bucket;
	int			start = 0;

	reader->bucket_entries += count;
	while (start < count && !reader->too_large)
	{
		int			end = start;

		if (bucket->nkeys > 0 && keys[start] == bucket->keys[bucket->nkeys - 1])
		{
			collect_repeat(reader, rows[start++]);
			continue;
		}
		do
			end++;
		while (end < count && keys[end] != keys[end - 1]);
		collect_keys(reader, keys + start, rows + start, end - start);
		start = end;
	}
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

/*
 * Of the next entries, which are all of one group, drop those from the end of
 * the range on.
 */
static void
drop_beyond(ShPairsBucketReader *reader)
{
	const ShPairsPlace *end = &reader->end;
	int			count;

	if (reader->group < end->group)
		return;
	count = reader->group > end->group ? 0 : count_below(reader, end->key);
	reader->at_end = count < reader->count;
	reader->count = count;
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
	if (reader->at_end)
		return false;
	reader->before_read(reader->arg);
	reader->count = shpairs_stream_next(reader->stream, &reader->group, &reader->next_keys,
										&reader->next_rows);
	if (reader->has_end && reader->count > 0)
		drop_beyond(reader);
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
 * Collect the bucket of the next entries, the first count of which are known
 * to belong to it, and read on until it is complete.
 */
static void
collect_bucket(ShPairsBucketReader *reader, int count)
{
	ShPairsBucket *bucket = &reader->bucket;

	bucket->nkeys = bucket->nrows = 0;
	reader->bucket_entries = 0;
	reader->too_large = false;
	for (;;)
	{
		collect_entries(reader, reader->next_keys, reader->next_rows, count);
		advance(reader, count);
		if (reader->too_large)
			return;
		if (reader->count > 0 || !have_entries(reader) || reader->group != bucket->group)
			return;
		for (count = 0; count < reader->count; count++)
		{
			if (((reader->next_keys[count] ^ bucket->keys[0]) & reader->prefix) != 0)
				break;
		}
		if (count == 0)
			return;
	}
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
bool
shpairs_buckets_at_end(ShPairsBucketReader *reader)
{
	pass_bucket(reader);
	return !have_entries(reader);
}

/*
 * Skip what has not been read of the current bucket.
 */
static void
skip_rest(ShPairsBucketReader *reader)
{
	uint64		last = (reader->bucket.keys[0] & reader->prefix) | ~reader->prefix;

	if (last < PG_UINT64_MAX)
		shpairs_buckets_skip(reader, reader->bucket.group, last + 1);
	else if (reader->stream->grouped && reader->bucket.group < PG_UINT32_MAX)
		shpairs_buckets_skip(reader, reader->bucket.group + 1, 0);
	else
	{
		reader->count = 0;
		reader->at_end = true;
	}
}

/*
 * Take the bucket of the next entries.  There must be some.
 *
 * The bucket is reader->bucket, and is valid until the next read; the caller
 * may change its rows.  If it needs more memory than allowed, raises
 * ERRCODE_CONFIGURATION_LIMIT_EXCEEDED; or, if the reader may meet such buckets,
 * skips it and sets too_large, and the bucket has only the first of its keys.
 */
void
shpairs_buckets_take(ShPairsBucketReader *reader)
{
	ShPairsBucket *bucket = &reader->bucket;
	bool		repeats;
	int			end = prefix_end(reader, &repeats);

	bucket->group = reader->group;
	if (end < reader->count && !repeats && end <= lengthof(reader->own_rows))
	{
		reader->bucket_entries = end;
		bucket->nkeys = bucket->nrows = end;
		bucket->keys = reader->next_keys;
		bucket->rows = reader->next_rows;
		bucket->starts = reader->own_rows;
		bucket->last_repeated = false;
		reader->too_large = false;
		advance(reader, end);
	}
	else
	{
		collect_bucket(reader, end);
		if (reader->too_large)
			skip_rest(reader);
	}
}

/*
 * The same beside the bucket of another reader, in the memory that this leaves of
 * the total, but at least half of it.
 */
void
shpairs_buckets_take_beside(ShPairsBucketReader *reader, const ShPairsBucketReader *other,
							Size memory)
{
	Size		taken = memory_of(other);

	reader->memory = memory - Min(taken, memory / 2);
	shpairs_buckets_take(reader);
}

/*
 * Take the next bucket that has several rows.  Returns false after the last.
 */
bool
shpairs_buckets_next(ShPairsBucketReader *reader)
{
	while (!shpairs_buckets_at_end(reader))
	{
		if (reader->count > 1 &&
			((reader->next_keys[0] ^ reader->next_keys[1]) & reader->prefix) != 0)
		{
			advance(reader, 1);
			reader->passed++;
			continue;
		}
		shpairs_buckets_take(reader);
		if (reader->bucket.nrows > 1)
			return true;
	}
	return false;
}

/*
 * Skip the entries before a key of a group.
 */
void
shpairs_buckets_skip(ShPairsBucketReader *reader, uint32 group, ShPermuted key)
{
	while (!shpairs_buckets_at_end(reader) && reader->group <= group)
	{
		int			below = reader->group == group ? count_below(reader, key) : reader->count;

		advance(reader, below);
		reader->passed += below;
		if (reader->count > 0)
			return;
		shpairs_stream_seek(reader->stream, group, key);
	}
}

/*
 * Skip entries until both sides have the same prefix.  Returns false at the
 * end of either side, or of the range.
 */
bool
shpairs_buckets_meet(ShPairsBucketReader *a, ShPairsBucketReader *b)
{
	while (!shpairs_buckets_at_end(a) && !shpairs_buckets_at_end(b))
	{
		uint64		a_prefix = a->next_keys[0] & a->prefix;
		uint64		b_prefix = b->next_keys[0] & b->prefix;

		if (a->group == b->group && a_prefix == b_prefix)
			return true;
		if (a->group < b->group || (a->group == b->group && a_prefix < b_prefix))
			shpairs_buckets_skip(a, b->group, b_prefix);
		else
			shpairs_buckets_skip(b, a->group, a_prefix);
	}
	return false;
}
