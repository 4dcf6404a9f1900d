/*-------------------------------------------------------------------------
 *
 * finder.h
 *	  Finding all pairs within a distance, among entries or between two sides,
 *	  by walks over the tables of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_FINDER_H
#define SIMHASH_PAIRS_FINDER_H

#include "pairs/bucket_reader.h"
#include "pairs/pairs.h"

typedef struct ShPairsFinder ShPairsFinder;
typedef struct ShPairsMatchFinder ShPairsMatchFinder;
typedef struct ShPairsSink ShPairsSink;

/*
 * Receives what a finder finds.  The sink may change the rows of a complete
 * bucket.
 */
struct ShPairsSink
{
	/*
	 * Called with another row of the last key.  Returns whether the bucket is
	 * to keep it.  NULL: keep all.
	 */
	bool		(*repeat) (ShPairsSink *sink, const ShPairsBucket *bucket, ShRowsNumber row);

	/*
	 * A bucket with several rows is complete; its pairs follow.  May be NULL.
	 */
	void		(*begin) (ShPairsSink *sink, const ShPairsBucket *bucket);

	/*
	 * Keys i and j of the bucket are a pair.  From a parallel search, i may
	 * be j: in place of begin, for a key with several rows.
	 */
	void		(*pair) (ShPairsSink *sink, const ShPairsBucket *bucket, size_t i, size_t j);

	/*
	 * The bucket is no longer valid.  Called by a parallel search, for which
	 * there may be several buckets in a step.  May be NULL.
	 */
	void		(*leave) (ShPairsSink *sink);

	/*
	 * Workers search, and have nothing to pass on at the moment.  Returns
	 * whether there was anything else to do, that would otherwise be done
	 * when they have ended.  May be NULL.
	 */
	bool		(*idle) (ShPairsSink *sink);
};

/*
 * Receives what a finder of matches finds.
 */
typedef struct ShPairsMatchSink ShPairsMatchSink;

struct ShPairsMatchSink
{
	/* Key i of bucket a and key j of bucket b, which share their prefix */
	void		(*pair) (ShPairsMatchSink *sink, const ShPairsBucket *a, size_t i,
						 const ShPairsBucket *b, size_t j);

	/* as above */
	void		(*leave) (ShPairsMatchSink *sink);
	bool		(*idle) (ShPairsMatchSink *sink);
};

/* the same as a function, for a search without workers */
typedef void (*ShPairsMatchFunction) (void *arg, const ShPairsBucket *a, size_t i,
									  const ShPairsBucket *b, size_t j);

/*
 * A range of a walk: from start to end, or to the end of the table.
 */
typedef struct ShPairsRange
{
	int			walk;
	bool		has_end;
	ShPairsPlace start;
	ShPairsPlace end;
} ShPairsRange;

/*
 * A walk over a table.  Entries that agree in the first prefix_bits of their
 * keys make a bucket.
 */
typedef struct ShPairsWalk
{
	int			table;
	int			prefix_bits;	/* 0..SHBITS_WIDTH */
	uint64		mask;			/* bits of the fingerprint in the prefix */
} ShPairsWalk;

/*
 * Two fingerprints within the distance share the prefix of one of the walks.
 * Walks before "first" are not made; their pairs are not wanted.
 */
typedef struct ShPairsPlan
{
	int			first;
	int			nwalks;			/* with these */
	ShPairsWalk walks[SHBITS_MAX_TABLES];
} ShPairsPlan;

extern void shpairs_set_masks(const ShPairsPlan *plan, int number, const ShBitsTable *table,
							  ShPairs *pairs);
extern void shpairs_plan(ShPairsPlan *plan, const ShBitsScheme *scheme, int distance,
						 double entries);
extern void shpairs_plan_whole(ShPairsPlan *plan);
extern void shpairs_plan_table(ShPairsPlan *plan, const ShBitsScheme *scheme, int table);
extern ShPairsFinder *shpairs_finder_begin(ShPairsStream *stream, const ShPairsPlan *plan,
										   int distance, ShPairsSink *sink);
extern bool shpairs_finder_next(ShPairsFinder *finder);
extern void shpairs_finder_search_range(ShPairsFinder *finder, const ShPairsRange *range,
										double done);
extern bool shpairs_drop_repeat(ShPairsSink *sink, const ShPairsBucket *bucket, ShRowsNumber row);
extern ShPairsMatchFinder *shpairs_match_finder_begin(ShPairsStream *a, double a_entries,
													  ShPairsStream *b, double b_entries,
													  const ShPairsPlan *plan, int distance,
													  ShPairsMatchSink *sink);
extern bool shpairs_match_finder_next(ShPairsMatchFinder *finder);
extern void shpairs_match_finder_search_range(ShPairsMatchFinder *finder, const ShPairsRange *range);

#endif							/* SIMHASH_PAIRS_FINDER_H */
