/*-------------------------------------------------------------------------
 *
 * checks.h
 *	  Pairs of rows, and whether they count.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_CHECKS_H
#define SIMHASH_DEDUP_CHECKS_H

#include "utils/snapshot.h"

#include "dedup/open.h"
#include "dedup/rows.h"
#include "pairs/keys.h"

typedef struct ShDupRowCheck ShDupRowCheck;

/* row_check.c: by the operator of the class of an index, or by the condition "same" */
extern ShDupRowCheck *shdup_class_check_begin(const ShDupHeaps *heaps, Snapshot snapshot,
											  double similarity, ShDupRowCheck *next);
extern ShDupRowCheck *shdup_same_check_begin(const ShDupHeaps *heaps, Snapshot snapshot,
											 const char *text);
extern bool shdup_check_rows(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b);
extern void shdup_check_release(ShDupRowCheck *check);
extern void shdup_check_end(ShDupRowCheck *check);

typedef struct ShDupRowPairs ShDupRowPairs;

/* two rows of one kind, as numbers after the look-up */
typedef struct ShDupRowPair
{
	ShPairsRow	a_row;
	ShFingerprint a_fp;
	ShPairsRow	b_row;
	ShFingerprint b_fp;
	int			distance;

	/* the words of fingerprints that have several, or NULL */
	const uint64 *a_value;
	const uint64 *b_value;
} ShDupRowPair;

/* called with two rows of a pair */
typedef void (*ShDupTakeFunction) (void *arg, const ShDupRowPair *pair);

/* row_pairs.c: the rows of pairs of fingerprints */
extern ShDupRowPairs *shdup_row_pairs_begin(ShDup *rows, bool values_first,
											ShDupRowCheck *check,
											ShDupTakeFunction take, void *arg);
extern void shdup_row_pairs_add(ShDupRowPairs *pairs, const ShPairsBucket *a, size_t i,
								const ShPairsBucket *b, size_t j);
extern void shdup_row_pairs_leave(ShDupRowPairs *pairs);
extern void shdup_row_pairs_finish(ShDupRowPairs *pairs);
extern void shdup_pair_values(const ShDupHeaps *heaps, const ShDupRowPair *pair,
							  ItemPointerData *tids, Datum *values);

#endif							/* SIMHASH_DEDUP_CHECKS_H */
