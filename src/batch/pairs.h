/*-------------------------------------------------------------------------
 *
 * pairs.h
 *	  All pairs within a distance among some keys, or between two sets of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_PAIRS_H
#define SIMHASH_BATCH_PAIRS_H

#include "postgres.h"

#include "sort/radix.h"

/* is told the positions of the two keys of a pair */
typedef void (*ShBatchPairFunction) (void *arg, size_t i, size_t j);

/* is told now and then what part of the work is done, 0..1 */
typedef void (*ShBatchPartFunction) (void *arg, double part);

/*
 * Masks that a search can have to look at: at most 255 tables come before the
 * last one, and a subdivision leaves fewer bits to the one within it.
 */
#define SHBATCH_MAX_MASKS	4096

typedef struct ShBatchPairs
{
	int			distance;
	ShBatchPairFunction found;
	ShBatchPartFunction report;
	void	   *arg;

	/* a pair whose keys agree in all the bits of one of these is not found */
	int			nmasks;
	uint64		masks[SHBATCH_MAX_MASKS];

	/* for sets of keys that are subdivided */
	bool		two_sets;		/* pairs are those between two sets */
	size_t		capacity;
	ShSortItem *entries;		/* keys, and their positions doubled, plus the set */
	ShSortItem *scratch;
	uint64	   *column;
} ShBatchPairs;

/* bytes of memory that a key takes while it is searched for, at most */
#define SHBATCH_PAIRS_BYTES_PER_KEY	(2 * sizeof(ShSortItem) + sizeof(uint64))

extern void shbatch_pairs_init(ShBatchPairs *pairs, int distance,
							   ShBatchPairFunction found, ShBatchPartFunction report,
							   void *arg);
extern void shbatch_find_pairs(ShBatchPairs *pairs, const uint64 *keys, size_t count);

extern void shbatch_find_matches(ShBatchPairs *pairs, const uint64 *a, size_t na,
								 const uint64 *b, size_t nb);

#endif							/* SIMHASH_BATCH_PAIRS_H */
