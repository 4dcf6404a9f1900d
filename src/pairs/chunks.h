/*-------------------------------------------------------------------------
 *
 * chunks.h
 *	  Buckets that do not fit in memory, in chunks that do.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_CHUNKS_H
#define SIMHASH_PAIRS_CHUNKS_H

#include "pairs/input.h"
#include "pairs/keys.h"

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

#endif							/* SIMHASH_PAIRS_CHUNKS_H */
