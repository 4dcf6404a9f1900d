/*-------------------------------------------------------------------------
 *
 * buckets.h
 *	  Finding all pairs within a distance, by walks over the tables of a
 *	  scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_BUCKETS_H
#define SIMHASH_BATCH_BUCKETS_H

#include "postgres.h"

#include "batch/bucket_reader.h"
#include "batch/pairs.h"

typedef struct ShBatchSearch ShBatchSearch;
typedef struct ShBatchSink ShBatchSink;

/*
 * Receives what a search finds.  The sink may change the TIDs of a complete
 * bucket.
 */
struct ShBatchSink
{
	/*
	 * Called with another row of the last key.  Returns whether the bucket is
	 * to keep it.  NULL: keep all.
	 */
	bool		(*repeat) (ShBatchSink *sink, const ShBatchBucket *bucket, uint64 row);

	/*
	 * A bucket with several rows is complete; its pairs follow.  May be NULL.
	 */
	void		(*begin) (ShBatchSink *sink, const ShBatchBucket *bucket);

	/* Keys i and j of the bucket are a pair. */
	void		(*pair) (ShBatchSink *sink, const ShBatchBucket *bucket, size_t i, size_t j);
};

/*
 * A walk over a table.  Entries that agree in the first prefix_bits of their
 * keys make a bucket.
 */
typedef struct ShBatchWalk
{
	int			table;
	int			prefix_bits;	/* 0..64 */
	uint64		mask;			/* bits of the fingerprint in the prefix */
} ShBatchWalk;

/*
 * Two fingerprints within the distance share the prefix of one of the walks.
 * Walks before "first" are not made; their pairs are not wanted.
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
extern ShBatchSearch *shbatch_search_begin(ShBatchStream *stream, const ShBatchPlan *plan,
										   int distance, ShBatchSink *sink);
extern bool shbatch_search_next(ShBatchSearch *search);
extern bool shbatch_drop_repeat(ShBatchSink *sink, const ShBatchBucket *bucket, uint64 row);
extern void shbatch_plan_set_masks(const ShBatchPlan *plan, int number,
								   const ShBitsTable *table, ShBatchPairs *pairs);

#endif							/* SIMHASH_BATCH_BUCKETS_H */
