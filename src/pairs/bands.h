/*-------------------------------------------------------------------------
 *
 * bands.h
 *	  Pairs of elements from the words of several tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_BANDS_H
#define SIMHASH_PAIRS_BANDS_H

#include "pairs/keys.h"

typedef struct ShPairsBands ShPairsBands;

extern ShPairsBands *shpairs_bands_begin(ShPairsSink *sink);
extern void shpairs_bands_settle(ShPairsBands *bands, ShPairsBucket *bucket);
extern void shpairs_bands_add(ShPairsBands *bands, const ShPairsBucket *a, size_t i,
							  const ShPairsBucket *b, size_t j);
extern void shpairs_bands_end_walk(ShPairsBands *bands);
extern void shpairs_bands_finish(ShPairsBands *bands);

#endif							/* SIMHASH_PAIRS_BANDS_H */
