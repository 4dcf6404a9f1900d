/*-------------------------------------------------------------------------
 *
 * bucket_reader.h
 *	  Reading the buckets of a stream of entries, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_BUCKET_READER_H
#define SIMHASH_BATCH_BUCKET_READER_H

#include "postgres.h"

#include "batch/stream.h"

/*
 * Entries of a table that share a prefix, and a group if the index has several
 * columns.  Equal fingerprints are one key, with several rows.
 */
typedef struct ShBatchBucket
{
	const ShBitsTable *table;
	uint32		group;			/* of the entries, see index/group.h */
	bool		first_walk;
	size_t		nkeys;			/* different ones */
	size_t		nrows;
	uint64	   *keys;			/* permuted fingerprints, ascending */
	size_t	   *starts;			/* rows of key i: starts[i] to the next start */
	uint64	   *rows;
	bool		last_repeated;	/* the last key has had another row */
} ShBatchBucket;

/*
 * Called with another row of the last key of a bucket that is being collected.
 * Returns whether the bucket is to keep it.
 */
typedef bool (*ShBatchRepeatFunction) (void *arg, const ShBatchBucket *bucket, uint64 row);

/* called with the argument before more entries are read */
typedef void (*ShBatchReadFunction) (void *arg);

typedef struct ShBatchBucketReader
{
	ShBatchStream *stream;
	ShBatchRepeatFunction repeat;
	ShBatchReadFunction before_read;
	void	   *arg;
	int			prefix_bits;
	uint64		prefix;			/* of a permuted fingerprint */

	/* the last returned bucket, and the entries that it consists of */
	ShBatchBucket bucket;
	size_t		bucket_entries;

	/* entries of the table before it, done or skipped */
	double		passed;

	/* entries that have been read after it, all of one group */
	uint32		group;
	int			count;
	uint64	   *next_keys;
	uint64	   *next_rows;

	/*
	 * a bucket whose entries were not read together, or that has repeated
	 * keys, is collected here
	 */
	Size		memory;
	size_t		max_keys;
	size_t		max_rows;
	uint64	   *keys;
	size_t	   *starts;
	uint64	   *rows;
	size_t		own_rows[SHBATCH_STREAM_MAX];	/* starts, if no key repeats */
} ShBatchBucketReader;

extern bool shbatch_bucket_fits(double entries);
extern void shbatch_buckets_init(ShBatchBucketReader *reader, ShBatchStream *stream, Size memory,
								 ShBatchRepeatFunction repeat,
								 ShBatchReadFunction before_read, void *arg);
extern Size shbatch_buckets_memory(const ShBatchBucketReader *reader);
extern void shbatch_buckets_start(ShBatchBucketReader *reader, int table, int prefix_bits);
extern bool shbatch_buckets_next(ShBatchBucketReader *reader);
extern bool shbatch_buckets_at_end(ShBatchBucketReader *reader);
extern void shbatch_buckets_skip(ShBatchBucketReader *reader, uint32 group, uint64 key);
extern void shbatch_buckets_take(ShBatchBucketReader *reader);

static inline uint64
shbatch_fingerprint(const ShBatchBucket *bucket, size_t i)
{
	return shbits_unpermute(bucket->table, bucket->keys[i]);
}

/* the end of the rows of key i */
static inline size_t
shbatch_bucket_rows_end(const ShBatchBucket *bucket, size_t i)
{
	return i + 1 < bucket->nkeys ? bucket->starts[i + 1] : bucket->nrows;
}

#endif							/* SIMHASH_BATCH_BUCKET_READER_H */
