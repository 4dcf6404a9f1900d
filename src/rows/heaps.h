/*-------------------------------------------------------------------------
 *
 * heaps.h
 *	  The tables of a search, and numbers for their rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_HEAPS_H
#define SIMHASH_ROWS_HEAPS_H

#include "btree/page.h"
#include "pairs/entries.h"
#include "rows/partitions.h"

/*
 * A table with its index.  Its rows have the numbers from first_row to end_row:
 * their TIDs, plus first_row.
 */
typedef struct ShRowsHeap
{
	int			number;			/* among the tables of the set */
	Relation	relation;		/* the table */
	Relation	index;
	ShPairsRow first_row;
	ShPairsRow end_row;
} ShRowsHeap;

/* the most indexes that are named: the two sides of matches */
#define SHROWS_MAX_SIDES		2

/*
 * All tables, in order: by named index, then by OID.  Row numbers are ordered
 * by table, then by TID.
 */
typedef struct ShRowsHeaps
{
	int			count;
	ShRowsHeap *heaps;
	BlockNumber nblocks;		/* of all together */

	/*
	 * with several tables, for each slice of the blocks: the table in which
	 * it begins
	 */
	int			slice_shift;
	int		   *slices;
	bool		grouped;		/* the indexes have several columns */

	/*
	 * the named indexes; no row of a side is below its start
	 */
	int			nsides;
	ShRowsPartitions sides[SHROWS_MAX_SIDES];
	uint64		side_starts[SHROWS_MAX_SIDES];
} ShRowsHeaps;

extern void shrows_heaps_open(ShRowsHeaps *heaps, const Oid *indexes, int nindexes);
extern ShRowsHeaps shrows_heaps_of_side(const ShRowsHeaps *heaps, int side);
extern void shrows_heaps_close(ShRowsHeaps *heaps);
extern const ShRowsHeap *shrows_find_heap(const ShRowsHeaps *heaps, ShPairsRow row);

/*
 * The table of a row.  Bits above the lower 48 are ignored.
 */
static inline const ShRowsHeap *
shrows_heap_of(const ShRowsHeaps *heaps, ShPairsRow row)
{
	return heaps->count == 1 ? heaps->heaps : shrows_find_heap(heaps, row);
}

/*
 * Convert a row to what users see: its TID, and its table, which is returned.
 */
static inline Oid
shrows_name(const ShRowsHeaps *heaps, ShPairsRow row, ItemPointer tid)
{
	const ShRowsHeap *heap = shrows_heap_of(heaps, row);

	shbt_int_to_tid((row & SHBT_MAX_TID) - heap->first_row, tid);
	return RelationGetRelid(heap->relation);
}

#endif							/* SIMHASH_ROWS_HEAPS_H */
