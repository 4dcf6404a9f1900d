/*-------------------------------------------------------------------------
 *
 * collector.h
 *	  Collecting the entries of a bucket in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_COLLECTOR_H
#define SIMHASH_PAIRS_COLLECTOR_H

#include "pairs/keys.h"

typedef struct ShPairsCollector
{
	ShPairsBucket bucket;
	ShPairsSink *sink;			/* which takes all rows, or NULL */
	size_t		key_capacity;	/* for keys, or records of several words */
	size_t		row_capacity;
	size_t		max_capacity;	/* of both */
} ShPairsCollector;

/* the words of what is collected for an entry: see collector.c */
static inline int
shpairs_record_words(int nwords)
{
	return nwords > 1 ? nwords + 1 : 1;
}

extern Size shpairs_entry_bytes(int nwords);
extern size_t shpairs_bucket_capacity(int nwords, Size memory);
extern bool shpairs_bucket_fits(double entries);
extern void shpairs_collector_init(ShPairsCollector *collector, int nwords, bool of_array,
								   ShPairsSink *sink, size_t max_capacity);
extern void shpairs_collector_shrink(ShPairsCollector *collector);
extern size_t shpairs_collect(ShPairsCollector *collector, const uint64 *values,
							  const ShPairsRow *rows, size_t count);
extern void shpairs_collect_in_order(ShPairsCollector *collector, const uint64 *value,
									 ShPairsRow row);
extern void shpairs_collector_finish(ShPairsCollector *collector);

/* does a bucket keep all rows of a key, or only the first? */
static inline bool
shpairs_keeps_rows(const ShPairsCollector *collector)
{
	return collector->sink == NULL && !collector->bucket.of_array;
}

/* Begin a bucket of a group. */
static inline void
shpairs_collector_clear(ShPairsCollector *collector, uint32 group)
{
	collector->bucket.group = group;
	collector->bucket.nkeys = collector->bucket.nrows = 0;
}

#endif							/* SIMHASH_PAIRS_COLLECTOR_H */
