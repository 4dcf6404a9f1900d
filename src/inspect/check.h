/*-------------------------------------------------------------------------
 *
 * check.h
 *	  The parts of simhash_index_check.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSPECT_CHECK_H
#define SIMHASH_INSPECT_CHECK_H

#include "utils/rel.h"
#include "utils/snapshot.h"

#include "bits/scheme.h"

/* a sum over the entries of a tree, independent of their order */
typedef struct ShInspSum
{
	uint64		entries;
	uint64		hash;
	uint64		rows;			/* without the fingerprints */
} ShInspSum;

/* check_tree.c */
extern ShInspSum shinsp_check_tree(Relation heap, Relation index,
								   const ShBitsScheme *scheme, int ntrees, int tree);

/* check_heap.c */
extern void shinsp_check_same_rows(Relation heap, Relation index, Snapshot snapshot,
								   const ShBitsScheme *scheme, int nparts,
								   const ShInspSum *sums);
extern void shinsp_check_heap(Relation heap, Relation index, Snapshot snapshot,
							  const ShBitsScheme *scheme);

#endif							/* SIMHASH_INSPECT_CHECK_H */
