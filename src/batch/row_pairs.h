/*-------------------------------------------------------------------------
 *
 * row_pairs.h
 *	  Returning the rows of pairs of fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_PAIRS_H
#define SIMHASH_BATCH_ROW_PAIRS_H

#include "batch/row_check.h"
#include "pairs/keys.h"
#include "rows/visible_rows.h"

typedef struct ShBatchRowPairs ShBatchRowPairs;

/* two rows of one kind, as numbers after the look-up */
typedef struct ShBatchRowPair
{
	ShPairsRow a_row;
	ShFingerprint a_fp;
	ShPairsRow b_row;
	ShFingerprint b_fp;
	int			distance;

	/* the words of fingerprints that have several, or NULL */
	const uint64 *a_value;
	const uint64 *b_value;
} ShBatchRowPair;

/* called with two rows of a pair */
typedef void (*ShBatchTakeFunction) (void *arg, const ShBatchRowPair *pair);

extern ShBatchRowPairs *shbatch_row_pairs_begin(ShRows *rows, bool values_first,
												ShBatchRowCheck *check,
												ShBatchTakeFunction take, void *arg);
extern void shbatch_row_pairs_add(ShBatchRowPairs *pairs, const ShPairsBucket *a, size_t i,
								  const ShPairsBucket *b, size_t j);
extern void shbatch_row_pairs_leave(ShBatchRowPairs *pairs);
extern void shbatch_row_pairs_finish(ShBatchRowPairs *pairs);
extern void shbatch_pair_values(const ShRowsHeaps *heaps, const ShBatchRowPair *pair,
								ItemPointerData *tids, Datum *values);

#endif							/* SIMHASH_BATCH_ROW_PAIRS_H */
