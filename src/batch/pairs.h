/*-------------------------------------------------------------------------
 *
 * pairs.h
 *	  Finding all pairs within a distance among some keys, or between two sets
 *	  of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_PAIRS_H
#define SIMHASH_BATCH_PAIRS_H

#include "postgres.h"

#include "batch/parts.h"
#include "bits/scheme.h"

/* called with the positions of each pair found */
typedef void (*ShBatchPairFunction) (void *arg, size_t i, size_t j);

/* called now and then with the fraction of the work that is done, 0..1 */
typedef void (*ShBatchPartFunction) (void *arg, double part);

/* the most levels to which parts are subdivided */
#define SHBATCH_MAX_DEPTH	4

/*
 * for each byte of a key, the bits of a part that come from it, by its value
 */
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

	/* pairs whose keys agree in all bits of one of these are not found */
	int			nmasks;
	uint64		masks[SHBITS_MAX_TABLES];

	/* nor are those that differ in at most the radius of one of these */
	int			nparts;
	ShBatchPart parts[SHBATCH_MAX_DEPTH * SHBITS_WIDTH];

	/* keys that are subdivided: first those of the first set */
	MemoryContext context;
	size_t		first_set;		/* how many these are */
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
 * The most memory that a key takes during a search, in bytes: the key and its
 * position twice, and less than one element in a list of groups.
 */
#define SHBATCH_PAIRS_BYTES_PER_KEY	(2 * sizeof(uint64) + 3 * sizeof(uint32))

extern void shbatch_pairs_init(ShBatchPairs *pairs, int distance,
							   ShBatchPairFunction found, ShBatchPartFunction report,
							   void *arg);
extern void shbatch_find_pairs(ShBatchPairs *pairs, const uint64 *keys, size_t count);
extern void shbatch_find_matches(ShBatchPairs *pairs, const uint64 *a, size_t na,
								 const uint64 *b, size_t nb);

#endif							/* SIMHASH_BATCH_PAIRS_H */
