/*-------------------------------------------------------------------------
 *
 * walks.h
 *	  The buckets that are met by walks over the entries of inputs, and the chunks of those
 *	  that do not fit in memory.
 *
 * What this declares is defined in walks.c and chunks.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WALKS_H
#define SIMHASH_PAIRS_WALKS_H

#include "pairs/input.h"
#include "pairs/pairs.h"

/*
 * A walk over a table.  Entries of a group that agree in the first prefix_bits of their
 * keys make a bucket: the whole group if there are none, as with several words.
 */
typedef struct ShPairsWalk
{
	int			table;
	int			prefix_bits;	/* 0..SHBITS_WIDTH */
	uint64		mask;			/* bits of the fingerprint in the prefix, or 0 */
} ShPairsWalk;

/*
 * Two fingerprints within the distance share the prefix of one of the walks.
 * Walks before "first" are not made; their pairs are not wanted.
 */
typedef struct ShPairsPlan
{
	int			first;
	int			nwalks;			/* with these */
	ShPairsWalk walks[SHBITS_MAX_TABLES];
} ShPairsPlan;

typedef struct ShPairsWalks ShPairsWalks;

extern void shpairs_plan_walks(ShPairsPlan *plan, const ShBitsScheme *scheme, int distance,
							   double entries);
extern void shpairs_plan_table(ShPairsPlan *plan, const ShBitsScheme *scheme, int table);
extern void shpairs_plan_groups(ShPairsPlan *plan);
extern void shpairs_plan_bands(ShPairsPlan *plan, int nbands);
extern ShPairsWalks *shpairs_walks_begin(ShPairsInput *inputs, int nsides, const ShPairsPlan *plan,
										 ShPairs *pairs, ShPairsSink *sink);
extern bool shpairs_walks_next(ShPairsWalks *walks, ShPairsBucket **a, ShPairsBucket **b);
extern void shpairs_walks_report(ShPairsWalks *walks, double fraction);

/* chunks.c */
typedef struct ShPairsChunks ShPairsChunks;

extern ShPairsChunks *shpairs_chunks_begin(const ShPairsInput *inputs, int nsides,
										   const ShPairsBucket *bucket, ShPairsSink *sink);
extern void shpairs_chunks_add(ShPairsChunks *chunks, int side, const uint64 *values,
							   const ShPairsRow *rows, size_t count);
extern void shpairs_chunks_add_bucket(ShPairsChunks *chunks, int side,
									  const ShPairsBucket *bucket);
extern void shpairs_chunks_divide(ShPairsChunks *chunks);
extern bool shpairs_chunks_next(ShPairsChunks **pointer, ShPairsBucket **a,
								ShPairsBucket **b);
extern double shpairs_chunks_done(const ShPairsChunks *chunks, double fraction);

#endif							/* SIMHASH_PAIRS_WALKS_H */
