/*-------------------------------------------------------------------------
 *
 * wide_chunks.h
 *	  A group of wide fingerprints, in memory or in files.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WIDE_CHUNKS_H
#define SIMHASH_PAIRS_WIDE_CHUNKS_H

#include "storage/buffile.h"

#include "pairs/wide_bucket.h"
#include "pairs/wide_input.h"

/*
 * The entries of a group.  If they do not fit in memory they are in files, one for
 * each chunk.
 */
typedef struct ShPairsWideChunks
{
	ShPairsWideInput *input;
	uint64		first_number;	/* of the keys of the group */
	size_t		count;			/* of its entries */
	int			nchunks;		/* 1 without files */
	BufFile   **files;			/* or NULL */
	size_t	   *counts;			/* entries of each chunk */
} ShPairsWideChunks;

extern void shpairs_chunks_begin(ShPairsWideChunks *chunks, ShPairsWideInput *input);
extern void shpairs_chunks_read(ShPairsWideChunks *chunks, ShPairsWideBucket *wide,
								size_t per_chunk);
extern void shpairs_chunks_write(ShPairsWideChunks *chunks, ShPairsWideBucket *wide,
								 size_t per_chunk);
extern void shpairs_chunks_load(ShPairsWideChunks *chunks, int chunk, ShPairsWideBucket *wide);
extern uint64 shpairs_chunk_number(const ShPairsWideChunks *chunks, int chunk);
extern void shpairs_chunks_end(ShPairsWideChunks *chunks);

#endif							/* SIMHASH_PAIRS_WIDE_CHUNKS_H */
