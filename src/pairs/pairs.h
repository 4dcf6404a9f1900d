/*-------------------------------------------------------------------------
 *
 * pairs.h
 *	  Finding all pairs within a distance among some keys, or between two sets
 *	  of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_PAIRS_H
#define SIMHASH_PAIRS_PAIRS_H

#include "port/atomics.h"
#include "port/pg_bitutils.h"

#include "bits/scheme.h"
#include "index/sort.h"
#include "pairs/parts.h"

/* called with the positions of each pair found */
typedef void (*ShPairsFoundFunction) (void *arg, size_t i, size_t j);

/* called now and then with the fraction of the work that is done, 0..1 */
typedef void (*ShPairsReportFunction) (void *arg, double fraction);

/* into how many slices several processes divide the search by a part */
#define SHPAIRS_SLICES		64

/*
 * A search that several processes share, in shared memory.  These numbers deal out
 * slices and need not order anything else: the keys are there before, and what is found
 * comes through queues, which have barriers of their own.
 */
typedef struct ShPairsShared
{
	pg_atomic_uint32 nparts;	/* 0: not known yet; 1 if it is not divided */
	pg_atomic_uint32 next_slice[SHBITS_WIDTH];	/* of each part; beyond the
												 * last if all are taken */

	/* of one of several words (bucket_search.c): has any process begun it? */
	pg_atomic_flag begun;
	pg_atomic_uint32 next_keys; /* slice of keys that are compared one by one */
} ShPairsShared;

/* the most levels to which parts are subdivided */
#define SHPAIRS_MAX_DEPTH	4

typedef struct ShPairs
{
	int			distance;
	ShPairsFoundFunction found;
	ShPairsReportFunction report;
	void	   *arg;

	/* pairs whose keys agree in all bits of one of these are not found */
	int			nmasks;
	uint64		masks[SHBITS_MAX_TABLES];

	/* nor are those that differ in at most the radius of one of these */
	int			nparts;
	ShPairsPart parts[SHPAIRS_MAX_DEPTH * SHBITS_WIDTH];

	/* keys that are subdivided: first those of the first set */
	MemoryContext context;
	size_t		first_set;		/* how many these are */
	double		compared;		/* comparisons made */

	/*
	 * how far the current part is, and which stretch of the whole search it
	 * is
	 */
	double		done;			/* comparisons */
	double		needed;
	double		reported;		/* how many had been made at the last report */
	double		stretch_start;	/* as fractions of 1 */
	double		stretch_size;

	size_t		capacity;
	ShPermuted *keys;
	uint32	   *positions;
	ShPermuted *scratch_keys;
	uint32	   *scratch_positions;
	ShPairsPartBits bits;
	ShPairsShared *shared;		/* with other processes, or NULL */
} ShPairs;

/*
 * up to this many keys of one set are compared with the other set one by one
 */
#define SHPAIRS_FEW_KEYS		4

/*
 * Some keys to compare.  The position of key i, as known to callers, is
 * positions[i] or, if the key is a copy, positions[i + moved[i]], modulo 2^32.
 * Without positions[] it is i.
 */
typedef struct ShPairsKeys
{
	const ShPermuted *keys;
	const uint32 *positions;
	const uint32 *moved;
	size_t		count;
	bool		second;			/* belongs to the second of two sets */
} ShPairsKeys;

extern void shpairs_compare_among(ShPairs *pairs, const ShPairsKeys *keys);
extern void shpairs_compare_product(ShPairs *pairs, const ShPairsKeys *a, const ShPairsKeys *b);

/*
 * Has a pair that differs in these bits been found before?
 */
static inline bool
shpairs_found_before(const ShPairs *pairs, uint64 difference)
{
	for (int i = 0; i < pairs->nmasks; i++)
	{
		if ((difference & pairs->masks[i]) == 0)
			return true;
	}
	for (int i = 0; i < pairs->nparts; i++)
	{
		if (pg_popcount64(difference & pairs->parts[i].mask) <= pairs->parts[i].radius)
			return true;
	}
	return false;
}

static inline size_t
shpairs_position(const ShPairsKeys *keys, size_t i)
{
	if (keys->moved != NULL)
		i = (uint32) i + keys->moved[i];
	return keys->positions == NULL ? i : keys->positions[i];
}

/* key i of a and key j of b are within the distance */
static inline void
shpairs_found(ShPairs *pairs, const ShPairsKeys *a, const ShPairsKeys *b, size_t i, size_t j)
{
	if (shpairs_found_before(pairs, a->keys[i] ^ b->keys[j]))
		return;
	if (a->second)
		pairs->found(pairs->arg, shpairs_position(b, j), shpairs_position(a, i));
	else
		pairs->found(pairs->arg, shpairs_position(a, i), shpairs_position(b, j));
}

/* most keys of a set that can be searched */
#define SHPAIRS_MAX_KEYS		(PG_UINT32_MAX / 2)

/*
 * The most memory that a key of one word takes during a search, in bytes: the key and
 * its position twice, and less than one element in a list of cells; and what one of
 * several words takes in addition, to be sorted by a word (bucket_search.c).
 */
#define SHPAIRS_BYTES_PER_KEY	(2 * sizeof(ShPermuted) + 3 * sizeof(uint32))
#define SHPAIRS_BYTES_TO_SORT	(2 * sizeof(ShIdxSortItem) + sizeof(ShPermuted) + sizeof(uint32))

static inline Size
shpairs_search_bytes(int nwords)
{
	return SHPAIRS_BYTES_PER_KEY + (nwords > 1 ? SHPAIRS_BYTES_TO_SORT : 0);
}

extern void shpairs_init(ShPairs *pairs, int distance,
						 ShPairsFoundFunction found, ShPairsReportFunction report,
						 void *arg);
extern void shpairs_find_pairs(ShPairs *pairs, const ShPermuted *a, size_t na,
							   const ShPermuted *b, size_t nb);

#endif							/* SIMHASH_PAIRS_PAIRS_H */
