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
#include "rows/heaps.h"

/* in place of a table number: all tables that are needed */
#define SHPAIRS_ALL_TABLES		(-1)

typedef struct ShPairsSource
{
	int			distance;
	double		entries;		/* estimated number of entries, */
	double		most;			/* and upper bound */
	ShPairsStream stream;
	ShPairsPlan plan;
} ShPairsSource;

extern void shpairs_check_distance(int distance, int width);
extern void shpairs_source_heaps(ShPairsSource *input, const ShRowsHeaps *heaps,
								 Snapshot snapshot, int distance);
extern void shpairs_source_array(ShPairsSource *input, AnyArrayType *array, int distance,
								 const ShBitsScheme *scheme, int table);
extern ShPairsFinder *shpairs_source_begin(ShPairsSource *input, ShPairsSink *sink);
extern void shpairs_source_run(ShPairsSource *input, ShPairsSink *sink);
extern void shpairs_source_end(ShPairsSource *input);

typedef struct ShPairsMatchSource
{
	int			distance;
	ShPairsStream a;
	ShPairsStream b;
	double		a_entries;		/* about; 0 if unknown */
	double		b_entries;
	ShPairsPlan plan;
} ShPairsMatchSource;

extern void shpairs_match_source_array(ShPairsMatchSource *input, AnyArrayType *values,
									   const ShRowsHeaps *heaps, Snapshot snapshot,
									   int distance);
extern void shpairs_match_source_heaps(ShPairsMatchSource *input,
									   const ShRowsHeaps *heaps, Snapshot snapshot,
									   int distance);
extern ShPairsMatchFinder *shpairs_match_source_begin(ShPairsMatchSource *input,
													  ShPairsMatchFunction found, void *arg);
extern void shpairs_match_source_end(ShPairsMatchSource *input);

#endif							/* SIMHASH_PAIRS_SOURCE_H */
