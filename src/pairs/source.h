/*-------------------------------------------------------------------------
 *
 * source.h
 *	  The input of a search for pairs: indexes, or an array, or two of these.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_SOURCE_H
#define SIMHASH_PAIRS_SOURCE_H

#include "utils/array.h"
#include "utils/snapshot.h"

#include "pairs/finder.h"
#include "pairs/parallel.h"
#include "rows/heaps.h"

/*
 * A search for the pairs of a source, which may have parallel workers; and what
 * it needs for that.
 */
typedef struct ShPairsSearch
{
	int			workers;		/* at most */
	bool		one_bucket;		/* all entries are in one bucket */
	ShPairsParallelInput input; /* no scheme: workers are of no use */
	ShPairsParallel *parallel;	/* or NULL */

	/* after a parallel search: what is left */
	bool		is_left;
	int			nleft;
	int			next_left;
	const ShPairsTask *left;
} ShPairsSearch;

/* in place of a table number: all tables that are needed */
#define SHPAIRS_ALL_TABLES		(-1)

typedef struct ShPairsSource
{
	int			distance;
	double		entries;		/* estimated number of entries, */
	double		most;			/* and upper bound */
	const ShRowsHeaps *unsorted;	/* to be sorted when the search begins, or
									 * NULL */
	Snapshot	snapshot;
	ShPairsStream stream;
	ShPairsPlan plan;
	ShPairsSink *sink;
	ShPairsFinder *finder;		/* or NULL: the search is parallel */
	ShPairsSearch search;
} ShPairsSource;

extern void shpairs_check_distance(int distance, int width);
extern void shpairs_source_heaps(ShPairsSource *input, const ShRowsHeaps *heaps,
								 Snapshot snapshot, int distance);
extern void shpairs_source_array(ShPairsSource *input, AnyArrayType *array, int distance,
								 const ShBitsScheme *scheme, int table);
extern void shpairs_source_begin(ShPairsSource *input, int workers, ShPairsSink *sink);
extern bool shpairs_source_next(ShPairsSource *input);
extern void shpairs_source_end(ShPairsSource *input);

typedef struct ShPairsMatchSource
{
	int			distance;
	ShPairsStream a;
	ShPairsStream b;
	double		a_entries;		/* about; 0 if unknown */
	double		b_entries;
	ShPairsPlan plan;
	ShRowsHeaps heaps[2];		/* of each side, if it has any */
	ShPairsMatchSink *sink;
	ShPairsMatchFinder *finder; /* or NULL: the search is parallel */
	ShPairsSearch search;
} ShPairsMatchSource;

extern void shpairs_match_source_array(ShPairsMatchSource *input, AnyArrayType *values,
									   const ShRowsHeaps *heaps, Snapshot snapshot,
									   int distance);
extern void shpairs_match_source_heaps(ShPairsMatchSource *input,
									   const ShRowsHeaps *heaps, Snapshot snapshot,
									   int distance);
extern void shpairs_match_source_begin(ShPairsMatchSource *input, int workers,
									   ShPairsMatchSink *sink);
extern bool shpairs_match_source_next(ShPairsMatchSource *input);
extern void shpairs_match_source_end(ShPairsMatchSource *input);

#endif							/* SIMHASH_PAIRS_SOURCE_H */
