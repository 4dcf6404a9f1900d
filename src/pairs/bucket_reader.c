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
 * Is there memory for a bucket with this many entries?
 */
bool
shpairs_bucket_fits(double entries)
{
	return entries * (BYTES_PER_KEY + BYTES_PER_ROW) <= maintenance_work_mem * 1024.0;
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
Size
shpairs_buckets_memory(const ShPairsBucketReader *reader)
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
	shpairs_stream_start(reader->stream, table);
}

static void
report_too_large(const ShPairsBucketReader *reader)
{
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
 * the other array of the bucket takes used bytes.
 */
static size_t
next_capacity(const ShPairsBucketReader *reader, size_t capacity, Size size, Size used)
{
	size_t		most = reader->memory > used ? (reader->memory - used) / size : 0;

	if (most <= capacity)
		report_too_large(reader);
	return Min(capacity * 2, most);
}

static void
enlarge_keys(ShPairsBucketReader *reader)
{
	size_t		repeats = reader->max_rows - reader->max_keys;

	if (reader->max_keys == SHPAIRS_MAX_KEYS)
		report_too_large(reader);
	/* each key has at least one row */
	reader->max_keys = next_capacity(reader, reader->max_keys, BYTES_PER_KEY + BYTES_PER_ROW,
									 repeats * BYTES_PER_ROW);
	reader->max_keys = Min(reader->max_keys, SHPAIRS_MAX_KEYS);
	reader->max_rows = reader->max_keys + repeats;
	reader->rows = repalloc_huge(reader->rows, reader->max_rows * sizeof(ShRowsNumber));
	reader->keys = repalloc_huge(reader->keys, reader->max_keys * sizeof(ShPermuted));
	reader->starts = repalloc_huge(reader->starts, reader->max_keys * sizeof(size_t));
}

static void
enlarge_rows(ShPairsBucketReader *reader)
{
	reader->max_rows = next_capacity(reader, reader->max_rows, BYTES_PER_ROW,
									 reader->max_keys * BYTES_PER_KEY);
	reader->rows = repalloc_huge(reader->rows, reader->max_rows * sizeof(ShRowsNumber));
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
		int			n;

		if (bucket->nkeys == reader->max_keys)
			enlarge_keys(reader);
		if (bucket->nrows == reader->max_rows)
			enlarge_rows(reader);
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
	show_collected(reader);
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
		if (bucket->nrows == reader->max_rows)
			enlarge_rows(reader);
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
	while (start < count)
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
	reader->count = shpairs_stream_next(reader->stream, &reader->group, &reader->next_keys,
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
 * Collect the bucket of the next entries, the first count of which are known
 * to belong to it, and read on until it is complete.
 */
static void
collect_bucket(ShPairsBucketReader *reader, int count)
{
	ShPairsBucket *bucket = &reader->bucket;

	bucket->nkeys = bucket->nrows = 0;
	reader->bucket_entries = 0;
	for (;;)
	{
		collect_entries(reader, reader->next_keys, reader->next_rows, count);
		advance(reader, count);
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
 * Take the bucket of the next entries.  There must be some.
 *
 * The bucket is reader->bucket, and is valid until the next read; the caller
 * may change its rows.  Raises ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if it
 * needs more memory than allowed.
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
		advance(reader, end);
	}
	else
		collect_bucket(reader, end);
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
