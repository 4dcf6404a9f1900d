/*-------------------------------------------------------------------------
 *
 * stream.h
 *	  Reading the entries of the tables of a scheme, in order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_STREAM_H
#define SIMHASH_PAIRS_STREAM_H

#include "utils/snapshot.h"

#include "bits/scheme.h"
#include "pairs/merge.h"
#include "rows/heaps.h"
#include "sort/entrysort.h"

/* the most entries that one call returns */
#define SHPAIRS_STREAM_MAX		SHBT_MAX_ENTRIES

/*
 * The stream either reads the leaves of indexes, or entries that have been
 * collected and are sorted for each table.
 */
typedef struct ShPairsStream
{
	const ShBitsScheme *scheme;
	bool		grouped;		/* the entries have groups */

	/* for indexes */
	int			nreaders;
	ShPairsLeafReader **readers;
	ShPairsMerge *merge;		/* if there are several */

	/* for collected entries */
	ShSort	   *sort;
	ShSortItems items;			/* returned by the sort, and not used yet */
	size_t		nitems;

	/* entries that were read together, and the next one to return */
	size_t		count;
	size_t		next;
	ShPermuted *keys;
	ShRowsNumber *rows;
	uint32	   *groups;			/* if grouped */
} ShPairsStream;

extern void shpairs_stream_heaps(ShPairsStream *stream, const ShRowsHeaps *heaps,
								 const ShBitsScheme *scheme, Snapshot snapshot);
extern void shpairs_stream_heap(ShPairsStream *stream, const ShRowsHeaps *heaps,
								int number, const ShBitsScheme *scheme, Snapshot snapshot);
extern void shpairs_stream_sort(ShPairsStream *stream, ShSort *sort,
								const ShBitsScheme *scheme, bool grouped);
extern void shpairs_stream_start(ShPairsStream *stream, int table);
extern void shpairs_stream_seek(ShPairsStream *stream, uint32 group, ShPermuted key);
extern int	shpairs_stream_next(ShPairsStream *stream, uint32 *group, ShPermuted **keys,
								ShRowsNumber **rows);
extern void shpairs_stream_end(ShPairsStream *stream);

#endif							/* SIMHASH_PAIRS_STREAM_H */
