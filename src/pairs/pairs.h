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

#include "miscadmin.h"
#include "port/atomics.h"
#include "port/pg_bitutils.h"
#include "storage/spin.h"

#include "bits/scheme.h"
#include "index/sort.h"
#include "pairs/parts.h"

/* key i of the first set and key j of the second are a pair */
typedef struct ShPairsHit
{
	uint32		i;
	uint32		j;
} ShPairsHit;

#define SHPAIRS_MAX_HITS	4096

/*
 * Called with at most SHPAIRS_MAX_HITS pairs.  In a long search it is called now and then,
 * with none if none have been found.
 */
typedef void (*ShPairsHitsFunction) (void *arg, const ShPairsHit *hits, size_t count);

/* what has been found and not yet been passed on */
typedef struct ShPairsHits
{
	ShPairsHitsFunction pass;
	void	   *arg;
	size_t		count;
	ShPairsHit	hits[SHPAIRS_MAX_HITS];
} ShPairsHits;

static inline void
shpairs_pass_hits(ShPairsHits *hits)
{
	size_t		count = hits->count;

	CHECK_FOR_INTERRUPTS();
	hits->count = 0;
	hits->pass(hits->arg, hits->hits, count);
}

static inline void
shpairs_add_hit(ShPairsHits *hits, size_t i, size_t j)
{
	hits->hits[hits->count++] = (ShPairsHit)
	{
		(uint32) i, (uint32) j
	};
	if (unlikely(hits->count == SHPAIRS_MAX_HITS))
		shpairs_pass_hits(hits);
}

/*
 * Whatever takes long is dealt out in slices, to one process or to several: at most so
 * many, and each of so many things or more.
 */
#define SHPAIRS_MAX_SLICES	1024
#define SHPAIRS_SLICE		64

static inline uint32
shpairs_slices(size_t count)
{
	return Max(Min(count / SHPAIRS_SLICE, SHPAIRS_MAX_SLICES), 1);
}

/*
 * Take the next of so many things: from *start to *end.  Returns false if there are no more.
 */
static inline bool
shpairs_take_slice(pg_atomic_uint32 *next, size_t count, size_t *start, size_t *end)
{
	uint32		nslices = shpairs_slices(count);
	uint32		slice = pg_atomic_fetch_add_u32(next, 1);

	if (slice >= nslices)
		return false;
	/* the kernels compare so many keys together */
	*start = TYPEALIGN_DOWN(SHPAIRS_SLICE, (uint64) count * slice / nslices);
	*end = slice + 1 == nslices ? count :
		TYPEALIGN_DOWN(SHPAIRS_SLICE, (uint64) count * (slice + 1) / nslices);
	return true;
}

/*
 * What of a search has been dealt out, to one process or, in shared memory, to several.  The
 * keys are there before, and what is found comes through queues.
 */
typedef struct ShPairsDeal
{
	slock_t		mutex;			/* of these five */
	double		done;			/* the fraction of all */
	int			nbegun;			/* parts, the first ones */
	uint64		searched;		/* a bit for each of those that are searched, */
	double		compared;		/* comparisons that these have taken */
	bool		exceeded;		/* the pairs of all other parts are found by
								 * comparing all */

	/* slices of each part, and of the comparison of all pairs */
	pg_atomic_uint32 next_slice[SHBITS_WIDTH + 1];

	/* of one of several words (bucket_search.c) */
	pg_atomic_flag word_begun;
	pg_atomic_flag word_done;
	pg_atomic_uint32 next_keys; /* that are compared one by one */
} ShPairsDeal;

/* the most levels to which parts are subdivided */
#define SHPAIRS_MAX_DEPTH	4

typedef struct ShPairs
{
	int			distance;
	ShPairsHits *hits;

	/* pairs whose keys agree in all bits of one of these are not found */
	int			nmasks;
	uint64		masks[SHBITS_MAX_TABLES];

	/*
	 * nor are those that differ in at most the radius of one of these, unless
	 * the first of them is left
	 */
	int			nparts;
	ShPairsPart parts[SHPAIRS_MAX_DEPTH * SHBITS_WIDTH];

	/* keys that are subdivided: first those of the first set */
	MemoryContext context;
	size_t		first_set;		/* how many these are */
	double		compared;		/* comparisons made, */
	double		compared_before;	/* and when hits were last passed on */
	double		done;			/* the fraction of all, if it is not shared */
	double		share;			/* and that of one search */

	size_t		capacity;
	ShPermuted *keys;
	uint32	   *positions;
	ShPermuted *scratch_keys;
	uint32	   *scratch_positions;
	ShPairsPartBits bits;
	ShPairsDeal *deal;			/* with other processes, or NULL */
} ShPairs;

static inline void
shpairs_add_done(ShPairs *pairs, double fraction)
{
	if (pairs->deal != NULL)
	{
		SpinLockAcquire(&pairs->deal->mutex);
		pairs->deal->done += fraction;
		SpinLockRelease(&pairs->deal->mutex);
	}
	else
		pairs->done += fraction;
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

extern void shpairs_init_deal(ShPairsDeal *deal);
extern void shpairs_init(ShPairs *pairs, int distance, ShPairsHits *hits, MemoryContext context);
extern void shpairs_find_pairs(ShPairs *pairs, const ShPermuted *a, size_t na,
							   const ShPermuted *b, size_t nb);

#endif							/* SIMHASH_PAIRS_PAIRS_H */
