/*-------------------------------------------------------------------------
 *
 * ranges.h
 *	  Dividing walks into ranges, for several processes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_RANGES_H
#define SIMHASH_PAIRS_RANGES_H

#include "pairs/finder.h"

/* a range begins here, and ends where the next one of its walk does */
typedef struct ShPairsTask
{
	ShPairsPlace start;
	int			walk;
} ShPairsTask;

extern ShPairsTask *shpairs_divide(const ShPairsPlan *plan, const ShRowsHeaps *const *sides,
								   int nsides, int most, int *count);
extern ShPairsRange shpairs_range_of_task(const ShPairsTask *tasks, int count, int number);
extern ShPairsRange shpairs_range_of_bucket(int walk, const ShPairsPlace *place, int prefix_bits);

#endif							/* SIMHASH_PAIRS_RANGES_H */
