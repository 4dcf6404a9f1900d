/*-------------------------------------------------------------------------
 *
 * match_search.h
 *	  Finding all pairs within a distance between two sides.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_MATCH_SEARCH_H
#define SIMHASH_BATCH_MATCH_SEARCH_H

#include "postgres.h"

#include "batch/buckets.h"

typedef struct ShBatchMatchSearch ShBatchMatchSearch;

/*
 * called with each pair: key i of a and key j of b, which share their prefix
 */
typedef void (*ShBatchMatchFunction) (void *arg, const ShBatchBucket *a, size_t i,
									  const ShBatchBucket *b, size_t j);

extern ShBatchMatchSearch *shbatch_match_search_begin(ShBatchStream *a, double a_entries,
													  ShBatchStream *b, double b_entries,
													  const ShBatchPlan *plan, int distance,
													  ShBatchMatchFunction found, void *arg);
extern bool shbatch_match_search_next(ShBatchMatchSearch *search);

#endif							/* SIMHASH_BATCH_MATCH_SEARCH_H */
