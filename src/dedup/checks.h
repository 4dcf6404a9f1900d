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

/* row_check.c: by the columns of an index, and by the condition "same" */
extern int	shdup_checked_columns(const ShDupHeaps *heaps);
extern Oid	shdup_column_operator(const ShDupHeaps *heaps, int column);
extern List *shdup_index_expressions(Relation index, int ncolumns);
extern ShDupRowCheck *shdup_check_begin(const ShDupHeaps *heaps, Snapshot snapshot,
										double similarity, const char *same);
extern bool shdup_check_rows(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b);
extern ShPairsRow shdup_check_enter(ShDupRowCheck *check, uint32 group, ShPairsRow row);
extern bool shdup_check_is_by_group(const ShDupRowCheck *check);
extern bool shdup_check_is_needless(const ShDupRowCheck *check);
extern void shdup_check_forget(ShDupRowCheck *check);
extern void shdup_check_release(ShDupRowCheck *check);
extern void shdup_check_end(ShDupRowCheck *check);

typedef struct ShDupRowPairs ShDupRowPairs;

/* two rows, and their fingerprints */
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
