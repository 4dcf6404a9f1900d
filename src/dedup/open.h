/*-------------------------------------------------------------------------
 *
 * open.h
 *	  The indexes that are passed to a function, their tables, and numbers for the
 *	  rows of these.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_OPEN_H
#define SIMHASH_DEDUP_OPEN_H

#include "access/htup.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "index/index.h"
#include "pairs/keys.h"

/* what a function reveals or does determines who may call it */
typedef enum ShDupAccess
{
	SHDUP_ACCESS_ROWS,			/* reveals rows: SELECT, no row security */
	SHDUP_ACCESS_TABLE,			/* reveals totals: SELECT on the table */
	SHDUP_ACCESS_OWNER			/* only the owner */
} ShDupAccess;

typedef struct ShDupOpened
{
	Relation	heap;
	Relation	index;
	LOCKMODE	release;		/* lock to release when they are closed */
} ShDupOpened;

/* the calling user and former settings */
typedef struct ShDupCaller
{
	Oid			user;
	int			security_context;
	int			guc_level;
} ShDupCaller;

/* open.c */
extern void shdup_lock_table(Oid index);
extern void shdup_open(Oid indexoid, ShDupAccess access, ShDupOpened *target);
extern void shdup_close(ShDupOpened *target);
extern void shdup_check_state(Relation heap, Relation index);
extern List *shdup_index_trees(HeapTuple index, AttrNumber catalog_column);
extern void shdup_check_snapshot(Relation index, Snapshot snapshot);
extern void shdup_check_table(Relation heap, Oid root, Snapshot snapshot);
extern void shdup_become_owner(ShDupCaller *caller, Relation table);
extern void shdup_become_caller(const ShDupCaller *caller);

/* open.c: what catalogs say of a table, and whether Citus keeps its rows elsewhere */
extern char *shdup_written_name(Oid relation);
extern void shdup_check_not_distributed(Oid table, Oid index);

static inline bool
shdup_is_partitioned(Relation index)
{
	return index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX;
}

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

	/* the named indexes */
	int			nsides;
	ShDupSide	sides[SHDUP_MAX_SIDES];
} ShDupHeaps;

/* heaps.c */
extern void shdup_heaps_open(ShDupHeaps *heaps, const Oid *indexes, int nindexes);
extern void shdup_heaps_close(ShDupHeaps *heaps);
extern const ShDupHeap *shdup_find_heap(const ShDupHeaps *heaps, ShPairsRow row);
extern Oid	shdup_near_operator(Relation index, int *radius);
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
 * The side to which a row belongs.
 */
static inline int
shdup_side_of(const ShDupHeaps *heaps, ShPairsRow row)
{
	return shdup_heap_of(heaps, row)->number < heaps->sides[0].count ? 0 : heaps->nsides - 1;
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

#endif							/* SIMHASH_DEDUP_OPEN_H */
