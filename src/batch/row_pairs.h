/*-------------------------------------------------------------------------
 *
 * row_pairs.h
 *	  The rows of pairs of fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_PAIRS_H
#define SIMHASH_BATCH_ROW_PAIRS_H

#include "postgres.h"

#include "batch/bucket_reader.h"
#include "batch/visible_rows.h"

typedef struct ShBatchRowPairs ShBatchRowPairs;

/* is told of two rows of one kind, by what they became when they were looked up */
typedef void (*ShBatchRowPairFunction) (void *arg, uint64 a_row, uint64 a_fp,
										uint64 b_row, uint64 b_fp);

extern ShBatchRowPairs *shbatch_row_pairs_begin(ShBatchRows *rows, bool values_first,
												ShBatchRowPairFunction found, void *arg);
extern void shbatch_row_pairs_add(ShBatchRowPairs *pairs, const ShBatchBucket *a, size_t i,
								  const ShBatchBucket *b, size_t j);
extern void shbatch_row_pairs_add_repeated(ShBatchRowPairs *pairs,
										   const ShBatchBucket *bucket);
extern void shbatch_row_pairs_leave(ShBatchRowPairs *pairs);
extern void shbatch_row_pairs_finish(ShBatchRowPairs *pairs);

#endif							/* SIMHASH_BATCH_ROW_PAIRS_H */
