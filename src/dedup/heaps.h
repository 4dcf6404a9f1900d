/*-------------------------------------------------------------------------
 *
 * heaps.h
 *	  The tables of a search, and numbers for their rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_HEAPS_H
#define SIMHASH_DEDUP_HEAPS_H

#include "utils/rel.h"

#include "dedup/open.h"
#include "index/index.h"
#include "pairs/keys.h"

/*
 * A table with its index.  Its rows have the numbers from first_row to end_row:
 * their TIDs, plus first_row.
 */
typedef struct ShDupHeap
{
	int			number;			/* among the tables of the set */
	Relation	relation;		/* the table */
	Relation	index;
	ShPairsRow	first_row;
	ShPairsRow	end_row;
} ShDupHeap;

/*
 * An index that was named, and the tables whose indexes have its entries: those of its
 * leaf partitions, in the order of their OIDs, or its own.
 */
typedef struct ShDupSide
{
	ShDupOpened named;
	int			first;			/* number of the first table */
	int			count;
} ShDupSide;

/* the most indexes that are named: the two sides of matches */
#define SHDUP_MAX_SIDES		2

/*
 * All tables, in order: by named index, then by OID.  Row numbers are ordered
 * by table, then by TID.
 */
typedef struct ShDupHeaps
{
	int			count;
	ShDupHeap  *heaps;
	BlockNumber nblocks;		/* of all together */
	bool		grouped;		/* the indexes have several columns */
	bool		banded;			/* they have bands of values */

	/* the named indexes */
	int			nsides;
	ShDupSide	sides[SHDUP_MAX_SIDES];
} ShDupHeaps;

extern void shdup_heaps_open(ShDupHeaps *heaps, const Oid *indexes, int nindexes);
extern void shdup_heaps_close(ShDupHeaps *heaps);
extern const ShDupHeap *shdup_find_heap(const ShDupHeaps *heaps, ShPairsRow row);
extern Oid	shdup_near_operator(Relation index, ShIdxMeaning *meaning);
extern int	shdup_wide_width(const ShDupHeaps *heaps, int side);
extern int	shdup_side_distance(const ShDupHeaps *heaps, int side);

/*
 * The table of a row.  Bits above the lower 48 are ignored.
 */
static inline const ShDupHeap *
shdup_heap_of(const ShDupHeaps *heaps, ShPairsRow row)
{
	return heaps->count == 1 ? heaps->heaps : shdup_find_heap(heaps, row);
}

/*
 * The side to which a table belongs.
 */
static inline int
shdup_side_of_heap(const ShDupHeaps *heaps, const ShDupHeap *heap)
{
	return heap->number < heaps->sides[0].count ? 0 : heaps->nsides - 1;
}

/*
 * The side to which a row belongs.
 */
static inline int
shdup_side_of(const ShDupHeaps *heaps, ShPairsRow row)
{
	return shdup_side_of_heap(heaps, shdup_heap_of(heaps, row));
}

/*
 * Convert a row to what users see: its TID, and its table, which is returned.
 */
static inline Oid
shdup_name(const ShDupHeaps *heaps, ShPairsRow row, ItemPointer tid)
{
	const ShDupHeap *heap = shdup_heap_of(heaps, row);

	shidx_int_to_tid((row & SHIDX_MAX_TID) - heap->first_row, tid);
	return RelationGetRelid(heap->relation);
}

#endif							/* SIMHASH_DEDUP_HEAPS_H */
