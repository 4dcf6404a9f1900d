/*-------------------------------------------------------------------------
 *
 * walks.h
 *	  The buckets of fingerprints of one word that are met by walks over the
 *	  tables of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WALKS_H
#define SIMHASH_PAIRS_WALKS_H

#include "pairs/feed.h"
#include "pairs/pairs.h"

/*
 * A walk over a table.  Entries that agree in the first prefix_bits of their
 * keys make a bucket.
 */
typedef struct ShPairsWalk
{
	int			table;
	int			prefix_bits;	/* 0..SHBITS_WIDTH */
	uint64		mask;			/* bits of the fingerprint in the prefix */
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

extern void shpairs_plan_walks(ShPairsPlan *plan, const ShBitsScheme *scheme, int distance,
							   double entries);
extern void shpairs_plan_table(ShPairsPlan *plan, const ShBitsScheme *scheme, int table);
extern ShPairsFeed *shpairs_feed_walks(ShPairsInput *inputs, int nsides, const ShPairsPlan *plan,
									   ShPairs *pairs, ShPairsSink *sink);

#endif							/* SIMHASH_PAIRS_WALKS_H */
