/*-------------------------------------------------------------------------
 *
 * entries.h
 *	  Reading the entries of the trees of indexes, or sorted ones, in order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_ENTRIES_H
#define SIMHASH_PAIRS_ENTRIES_H

#include "utils/rel.h"
#include "utils/snapshot.h"

#include "bits/scheme.h"
#include "index/sort.h"
#include "pairs/keys.h"

/*
 * Indexes that are searched.  Each has the rows from first_row to end_row: the TIDs of its
 * entries, plus first_row.
 */
typedef struct ShPairsIndex
{
	Relation	index;
	ShPairsRow	first_row;
	ShPairsRow	end_row;
} ShPairsIndex;

typedef struct ShPairsIndexes
{
	int			count;
	ShPairsIndex *list;
	bool		grouped;		/* they have several columns */
} ShPairsIndexes;

typedef struct ShPairsLeafReader ShPairsLeafReader;

/*
 * Either the leaves of a tree of each index are read, or entries that have been
 * collected are sorted for each table.
 */
typedef struct ShPairsEntries
{
	const ShBitsScheme *scheme;
	bool		grouped;		/* the entries have groups */

	/* for indexes */
	int			nreaders;
	ShPairsLeafReader **readers;
	struct binaryheap *merge;	/* of readers that have entries, if there are
								 * several */

	/* for collected entries */
	ShIdxSort  *sort;
	ShIdxSortItems items;		/* returned by the sort, and not used yet */
	size_t		nitems;

	/* entries that were read together, and the next one to return */
	int			count;
	int			next;
	ShPermuted *keys;
	ShPairsRow *rows;
	uint32	   *groups;			/* if grouped */
} ShPairsEntries;

extern void shpairs_entries_indexes(ShPairsEntries *entries, const ShPairsIndex *list, int count,
									bool grouped, const ShBitsScheme *scheme, Snapshot snapshot);
extern void shpairs_entries_sort(ShPairsEntries *entries, ShIdxSort *sort,
								 const ShBitsScheme *scheme, bool grouped);
extern void shpairs_entries_start(ShPairsEntries *entries, int tree);
extern void shpairs_entries_seek(ShPairsEntries *entries, uint32 group, ShPermuted key);
extern int	shpairs_entries_next(ShPairsEntries *entries, uint32 *group, ShPermuted **keys,
								 ShPairsRow **rows);
extern void shpairs_entries_end(ShPairsEntries *entries);

#endif							/* SIMHASH_PAIRS_ENTRIES_H */
