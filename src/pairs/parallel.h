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

/*
 * What is searched: indexes that are read in the order of their tables, by their
 * scheme; or entries that the leader collects first, and that each process sorts
 * for the walks it makes.
 */
typedef struct ShPairsParallelInput
{
	const ShBitsScheme *scheme;
	const ShPairsPlan *plan;
	int			distance;
	double		entries;		/* about */
	int			nsides;
	const ShRowsHeaps *heaps[2];	/* of each side */
	ShPairsStream *streams[2];	/* for the leader */

	/*
	 * not NULL: adds the entries of the only side to the sort, with arg.  The
	 * stream is begun here and must be ended by the caller.
	 */
	void		(*collect) (void *arg, ShSort *sort);
	void	   *arg;
} ShPairsParallelInput;

extern ShPairsParallel *shpairs_parallel_begin(const ShPairsParallelInput *input, int workers,
											   ShPairsSink *sink, ShPairsMatchSink *match_sink);
extern bool shpairs_parallel_next(ShPairsParallel *parallel);
extern ShPairsTask *shpairs_parallel_left(ShPairsParallel *parallel, int *count);
extern void shpairs_parallel_end(ShPairsParallel *parallel);
extern double shpairs_parallel_entries(const ShPairsParallel *parallel);

#endif							/* SIMHASH_PAIRS_PARALLEL_H */
