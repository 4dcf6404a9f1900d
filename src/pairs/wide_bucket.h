/*-------------------------------------------------------------------------
 *
 * wide_bucket.h
 *	  Wide fingerprints in memory, each once, with their rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WIDE_BUCKET_H
#define SIMHASH_PAIRS_WIDE_BUCKET_H

#include "pairs/bucket_reader.h"
#include "pairs/pairs.h"
#include "sort/radix.h"

/* the bytes that a key takes in the search of another process, without its value */
#define SHPAIRS_WIDE_BYTES_PER_KEY	(sizeof(ShPermuted) + 2 * sizeof(uint32) + \
									 2 * sizeof(ShSortItem) + SHPAIRS_BYTES_PER_KEY)

/* called with another row of the last key, as ShPairsRepeatFunction is */
typedef struct ShPairsWideRepeat
{
	ShPairsRepeatFunction function; /* or NULL: keep all */
	void	   *arg;
} ShPairsWideRepeat;

typedef struct ShPairsWideBucket
{
	ShPairsBucket bucket;		/* of the rows that have been ordered */
	size_t		most;			/* rows that fit in memory */
	size_t		capacity;
	size_t		largest;		/* number of rows so far */

	/* rows with their values, in the order in which they were added */
	size_t		count;
	size_t		ordered;		/* how many have been ordered */
	ShRowsNumber *added;
	uint64	   *values;

	/* of the bucket */
	ShPermuted *keys;
	size_t	   *starts;
	ShRowsNumber *rows;
	uint32	   *places;

	/* for sorting keys by a part, and their different values: wide_search.c */
	ShSortItem *items;
	ShSortItem *sorted;
	ShPermuted *part_keys;
	uint32	   *part_starts;
} ShPairsWideBucket;

extern void shpairs_wide_bucket_init(ShPairsWideBucket *wide, int nwords, Size memory);
extern Size shpairs_wide_bucket_bytes(const ShPairsWideBucket *wide);
extern void shpairs_wide_bucket_show(ShPairsWideBucket *wide, int nwords, uint64 *values,
									 size_t count);
extern void shpairs_wide_bucket_clear(ShPairsWideBucket *wide, uint32 group);
extern void shpairs_wide_bucket_reserve(ShPairsWideBucket *wide, size_t capacity);
extern void shpairs_wide_bucket_add(ShPairsWideBucket *wide, ShRowsNumber row,
									const uint64 *value);
extern void shpairs_wide_bucket_order(ShPairsWideBucket *wide, uint64 first_number,
									  ShPairsWideRepeat repeat);

static inline bool
shpairs_wide_bucket_full(const ShPairsWideBucket *wide)
{
	return wide->count >= wide->most;
}

#endif							/* SIMHASH_PAIRS_WIDE_BUCKET_H */
