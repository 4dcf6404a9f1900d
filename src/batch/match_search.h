/*-------------------------------------------------------------------------
 *
 * match_search.h
 *	  All pairs within a distance between two sides.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_MATCH_SEARCH_H
#define SIMHASH_BATCH_MATCH_SEARCH_H

#include "postgres.h"

#include "batch/buckets.h"

typedef struct ShBatchMatchSink ShBatchMatchSink;

/*
 * What is done with what a search finds.  The TIDs of the rows of buckets are the
 * sink's to change.
 */
struct ShBatchMatchSink
{
	/* Key i of a and key j of b, which have the same prefix, are a pair. */
	void		(*pair) (ShBatchMatchSink *sink, const ShBatchBucket *a, size_t i,
						 const ShBatchBucket *b, size_t j);

	/* There are no more pairs, and both buckets will be gone. */
	void		(*end) (ShBatchMatchSink *sink);
};

extern void shbatch_search_matches(ShBatchStream *a, ShBatchStream *b,
								   const ShBatchPlan *plan, int distance,
								   ShBatchMatchSink *sink);

#endif							/* SIMHASH_BATCH_MATCH_SEARCH_H */
