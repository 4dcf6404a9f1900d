/*-------------------------------------------------------------------------
 *
 * feed.h
 *	  The buckets of a search, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_FEED_H
#define SIMHASH_PAIRS_FEED_H

#include "pairs/input.h"
#include "pairs/keys.h"

typedef struct ShPairsFeed ShPairsFeed;

/* the base of the kinds of feeds */
struct ShPairsFeed
{
	int			nsides;
	ShPairsInput *inputs;		/* of each side */

	/*
	 * Sets the next two buckets whose keys are to be compared, or the next
	 * one, twice, whose keys are to be compared with each other.  They are
	 * valid until the next call.  Returns false after the last.
	 */
	bool		(*next) (ShPairsFeed *feed, ShPairsBucket **a, ShPairsBucket **b);

	/*
	 * Reports progress, if this fraction of the work on the current buckets
	 * is done.
	 */
	void		(*report) (ShPairsFeed *feed, double fraction);
};

#endif							/* SIMHASH_PAIRS_FEED_H */
