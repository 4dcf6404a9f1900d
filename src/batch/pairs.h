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

#include "batch/parts.h"
#include "bits/scheme.h"

/* is told the positions of the two keys of a pair */
typedef void (*ShBatchPairFunction) (void *arg, size_t i, size_t j);

/* is told now and then what part of the work is done, 0..1 */
typedef void (*ShBatchPartFunction) (void *arg, double part);

/* how often parts are searched by parts, at most */
#define SHBATCH_MAX_DEPTH	4

/* values of the bits of a part that are in one byte of a key, by that byte */
typedef struct ShBatchPartBits
{
	uint32		of_byte[sizeof(uint64)][256];
} ShBatchPartBits;

typedef struct ShBatchPairs
{
	int			distance;
	ShBatchPairFunction found;
	ShBatchPartFunction report;
	void	   *arg;

	/* a pair whose keys agree in all the bits of one of these is not found */
	int			nmasks;
	uint64		masks[SHBITS_MAX_TABLES];

	/* nor is one that differs in at most the radius of one of these */
	int			nparts;
	ShBatchPart parts[SHBATCH_MAX_DEPTH * SHBITS_WIDTH];

	/* for sets of keys that are subdivided: first those of the first set */
	MemoryContext context;
	size_t		first_set;		/* so many */
	double		compared;		/* comparisons made */
	size_t		capacity;
	uint64	   *keys;
	uint32	   *positions;
	uint64	   *scratch_keys;
	uint32	   *scratch_positions;
	ShBatchPartBits bits;
} ShBatchPairs;

/* most keys of a set that can be searched */
#define SHBATCH_PAIRS_MAX_KEYS		(PG_UINT32_MAX / 2)

/*
 * Bytes of memory that a key takes while it is searched for, at most: it and its
 * position twice, and less than one place in a list of groups.
 */
#define SHBATCH_PAIRS_BYTES_PER_KEY	(2 * sizeof(uint64) + 3 * sizeof(uint32))

extern void shbatch_pairs_init(ShBatchPairs *pairs, int distance,
							   ShBatchPairFunction found, ShBatchPartFunction report,
							   void *arg);
extern void shbatch_find_pairs(ShBatchPairs *pairs, const uint64 *keys, size_t count);
extern void shbatch_find_matches(ShBatchPairs *pairs, const uint64 *a, size_t na,
								 const uint64 *b, size_t nb);

#endif							/* SIMHASH_BATCH_PAIRS_H */
