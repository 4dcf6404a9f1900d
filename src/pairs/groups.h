/*-------------------------------------------------------------------------
 *
 * groups.h
 *	  The groups of fingerprints of any width, as buckets.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_GROUPS_H
#define SIMHASH_PAIRS_GROUPS_H

#include "pairs/feed.h"

extern ShPairsFeed *shpairs_feed_groups(ShPairsInput *inputs, int nsides, ShPairsSink *sink);

#endif							/* SIMHASH_PAIRS_GROUPS_H */
