/*-------------------------------------------------------------------------
 *
 * buckets.h
 *	  All pairs within a distance, by walks over the tables of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_BUCKETS_H
#define SIMHASH_BATCH_BUCKETS_H

#include "postgres.h"

#include "batch/pairs.h"
#include "batch/stream.h"

/*
 * Entries of a table that share a prefix, and a group if the index has several
 * columns.  Equal fingerprints are one, with several rows.
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
	uint64	   *tids;
	bool		last_repeated;	/* the last key has had a repeat before */
} ShBatchBucket;

typedef struct ShBatchSink ShBatchSink;

/*
 * What is done with what a search finds.  The TIDs of the rows of a bucket that
 * is complete are the sink's to change.
 */
struct ShBatchSink
{
	/*
	 * Another row has the fingerprint of the last key.  Returns whether the
	 * bucket is to keep it.
	 */
	bool		(*repeat) (ShBatchSink *sink, const ShBatchBucket *bucket, uint64 tid);

	/* A bucket of several rows is complete; its pairs follow.  May be NULL. */
	void		(*begin) (ShBatchSink *sink, const ShBatchBucket *bucket);

	/* Keys i and j of the bucket are a pair. */
	void		(*pair) (ShBatchSink *sink, const ShBatchBucket *bucket, size_t i, size_t j);

	/* There are no more pairs, and the bucket will be gone.  May be NULL. */
	void		(*end) (ShBatchSink *sink, const ShBatchBucket *bucket);
};

/*
 * A walk over a table, in which entries that agree in the first prefix_bits of
 * their keys are a bucket.
 */
typedef struct ShBatchWalk
{
	int			table;
	int			prefix_bits;	/* 0..64 */
	uint64		mask;			/* bits of the fingerprint in the prefix */
} ShBatchWalk;

/*
 * Two fingerprints within the distance share the prefix of one of the walks.
 * Those before the first are not made: what would be found there is not wanted.
 */
typedef struct ShBatchPlan
{
	int			first;
	int			nwalks;			/* with these */
	ShBatchWalk walks[SHBITS_MAX_TABLES];
} ShBatchPlan;

extern void shbatch_plan(ShBatchPlan *plan, const ShBitsScheme *scheme, int distance,
						 double entries);
extern void shbatch_plan_whole(ShBatchPlan *plan);
extern void shbatch_plan_table(ShBatchPlan *plan, const ShBitsScheme *scheme, int table);
extern void shbatch_search(ShBatchStream *stream, const ShBatchPlan *plan, int distance,
						   ShBatchSink *sink);
extern bool shbatch_drop_repeat(ShBatchSink *sink, const ShBatchBucket *bucket, uint64 tid);

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

#endif							/* SIMHASH_BATCH_BUCKETS_H */
