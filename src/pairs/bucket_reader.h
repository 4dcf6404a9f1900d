/*-------------------------------------------------------------------------
 *
 * bucket_reader.h
 *	  Reading the buckets of a stream of entries, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_BUCKET_READER_H
#define SIMHASH_PAIRS_BUCKET_READER_H

#include "pairs/stream.h"

/*
 * Entries of a table that share a prefix, and a group if the index has several
 * columns.  Equal fingerprints are one key, with several rows.
 */
typedef struct ShPairsBucket
{
	const ShBitsTable *table;
	uint32		group;			/* of the entries, see index/group.h */
	bool		first_walk;
	size_t		nkeys;			/* different ones */
	size_t		nrows;
	ShPermuted *keys;			/* permuted fingerprints, ascending */
	size_t	   *starts;			/* rows of key i: starts[i] to the next start */
	ShRowsNumber *rows;
	bool		last_repeated;	/* the last key has had another row */

	/*
	 * if fingerprints are wide: keys are numbers of values, which are here,
	 * and the place of that of each key among them
	 */
	int			nwords;			/* of a value; else 0 */
	const uint64 *values;
	const uint32 *places;
} ShPairsBucket;

/*
 * Called with another row of the last key of a bucket that is being collected.
 * Returns whether the bucket is to keep it.
 */
typedef bool (*ShPairsRepeatFunction) (void *arg, const ShPairsBucket *bucket, ShRowsNumber row);

/* called with the argument before more entries are read */
typedef void (*ShPairsReadFunction) (void *arg);

/*
 * A place in a table: before all entries of the group that have this permuted
 * fingerprint or a greater one.
 */
typedef struct ShPairsPlace
{
	ShPermuted	key;
	uint32		group;
} ShPairsPlace;

typedef struct ShPairsBucketReader
{
	ShPairsStream *stream;
	ShPairsRepeatFunction repeat;
	ShPairsReadFunction before_read;
	void	   *arg;
	int			prefix_bits;
	uint64		prefix;			/* of a permuted fingerprint */

	/* the end of the range that is read, if it is not that of the table */
	bool		has_end;
	bool		at_end;			/* there is nothing more to read */
	ShPairsPlace end;

	/* the last returned bucket, and the entries that it consists of */
	ShPairsBucket bucket;
	size_t		bucket_entries;

	/* entries of the table before it, done or skipped */
	double		passed;

	/* entries that have been read after it, all of one group */
	uint32		group;
	int			count;
	ShPermuted *next_keys;
	ShRowsNumber *next_rows;

	/*
	 * a bucket whose entries were not read together, or that has repeated
	 * keys, is collected here
	 */
	Size		memory;
	bool		may_be_too_large;	/* such a bucket is no error */
	bool		too_large;		/* the last one was */
	size_t		max_keys;
	size_t		max_rows;
	ShPermuted *keys;
	size_t	   *starts;
	ShRowsNumber *rows;
	size_t		own_rows[SHPAIRS_STREAM_MAX];	/* starts, if no key repeats */
} ShPairsBucketReader;

extern double shpairs_bucket_bytes(double entries);
extern bool shpairs_bucket_fits(double entries);
extern void shpairs_buckets_init(ShPairsBucketReader *reader, ShPairsStream *stream, Size memory,
								 ShPairsRepeatFunction repeat,
								 ShPairsReadFunction before_read, void *arg);
extern void shpairs_buckets_start(ShPairsBucketReader *reader, int table, int prefix_bits);
extern ShPairsPlace shpairs_place(uint32 group, ShPermuted key, int prefix_bits);
extern void shpairs_buckets_start_range(ShPairsBucketReader *reader, int table, int prefix_bits,
										const ShPairsPlace *start, const ShPairsPlace *end);
extern bool shpairs_buckets_next(ShPairsBucketReader *reader);
extern bool shpairs_buckets_at_end(ShPairsBucketReader *reader);
extern void shpairs_buckets_skip(ShPairsBucketReader *reader, uint32 group, ShPermuted key);
extern bool shpairs_buckets_meet(ShPairsBucketReader *a, ShPairsBucketReader *b);
extern void shpairs_buckets_take(ShPairsBucketReader *reader);
extern void shpairs_buckets_take_beside(ShPairsBucketReader *reader,
										const ShPairsBucketReader *other, Size memory);

static inline ShFingerprint
shpairs_fingerprint(const ShPairsBucket *bucket, size_t i)
{
	return shbits_unpermute(bucket->table, bucket->keys[i]);
}

/* the words of the wide fingerprint of key i, or NULL */
static inline const uint64 *
shpairs_bucket_value(const ShPairsBucket *bucket, size_t i)
{
	if (bucket->nwords == 0)
		return NULL;
	return bucket->values + (size_t) bucket->places[i] * bucket->nwords;
}

/* the end of the rows of key i */
static inline size_t
shpairs_bucket_rows_end(const ShPairsBucket *bucket, size_t i)
{
	return i + 1 < bucket->nkeys ? bucket->starts[i + 1] : bucket->nrows;
}

#endif							/* SIMHASH_PAIRS_BUCKET_READER_H */
