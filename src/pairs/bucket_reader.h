/*-------------------------------------------------------------------------
 *
 * bucket_reader.h
 *	  Reading buckets from the entries of an input, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_BUCKET_READER_H
#define SIMHASH_PAIRS_BUCKET_READER_H

#include "index/index.h"
#include "pairs/chunks.h"
#include "pairs/collector.h"
#include "pairs/input.h"

/* called with the argument before more entries are read */
typedef void (*ShPairsReadFunction) (void *arg);

typedef struct ShPairsBucketReader
{
	ShPairsInput *input;
	ShPairsReadFunction before_read;
	void	   *arg;
	int			prefix_bits;
	uint64		prefix;			/* of a permuted fingerprint; 0 with several
								 * words */

	/* the last returned bucket, the entries that it consists of, */
	ShPairsCollector collector;
	size_t		bucket_entries;
	bool		complete;		/* and whether these are all */

	/* entries of the table before it, done or skipped */
	double		passed;
} ShPairsBucketReader;

extern void shpairs_buckets_init(ShPairsBucketReader *reader, ShPairsInput *input, Size memory,
								 ShPairsSink *sink, ShPairsReadFunction before_read, void *arg);
extern void shpairs_buckets_start(ShPairsBucketReader *reader, int table, int prefix_bits,
								  bool first_walk);
extern bool shpairs_buckets_next(ShPairsBucketReader *reader);
extern bool shpairs_buckets_meet(ShPairsBucketReader *a, ShPairsBucketReader *b);
extern void shpairs_buckets_add_to_chunks(ShPairsBucketReader *reader, ShPairsChunks *chunks,
										  int side);

#endif							/* SIMHASH_PAIRS_BUCKET_READER_H */
