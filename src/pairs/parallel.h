/*-------------------------------------------------------------------------
 *
 * parallel.h
 *	  Searching for pairs with parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_PARALLEL_H
#define SIMHASH_PAIRS_PARALLEL_H

#include "pairs/ranges.h"

typedef struct ShPairsParallel ShPairsParallel;

/* what is searched: indexes that have a scheme, in order */
typedef struct ShPairsParallelInput
{
	const ShBitsScheme *scheme;
	const ShPairsPlan *plan;
	int			distance;
	Snapshot	snapshot;
	int			nsides;
	const ShRowsHeaps *heaps[2];	/* of each side */
	ShPairsStream *streams[2];	/* for the leader */
} ShPairsParallelInput;

extern ShPairsParallel *shpairs_parallel_begin(const ShPairsParallelInput *input, int workers,
											   ShPairsSink *sink, ShPairsMatchSink *match_sink);
extern bool shpairs_parallel_next(ShPairsParallel *parallel);
extern ShPairsTask *shpairs_parallel_left(ShPairsParallel *parallel, int *count);
extern double shpairs_parallel_entries(const ShPairsParallel *parallel);

#endif							/* SIMHASH_PAIRS_PARALLEL_H */
