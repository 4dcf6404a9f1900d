/*-------------------------------------------------------------------------
 *
 * visible_rows.h
 *	  Resolving index TIDs to visible rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_VISIBLE_ROWS_H
#define SIMHASH_ROWS_VISIBLE_ROWS_H

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "utils/snapshot.h"

#include "btree/page.h"
#include "rows/heap_page.h"
#include "rows/heaps.h"
#include "rows/values.h"
#include "sort/radix.h"

/* a pair of fingerprints, by the caller's numbers for them */
typedef struct ShRowsNumberPair
{
	uint32		a;
	uint32		b;
} ShRowsNumberPair;

/*
 * What is needed to look up rows of a table; set at the first use.
 */
typedef struct ShRowsOf
{
	IndexFetchTableData *fetch; /* for a table of another access method, or
								 * NULL */
	TupleTableSlot *slot;		/* for a row, or NULL */
} ShRowsOf;

typedef struct ShRows
{
	const ShRowsHeaps *heaps;
	Snapshot	snapshot;
	ShRowsOf   *of;				/* for each table, by its number */

	/* the table whose rows are being looked up, or NULL */
	const ShRowsHeap *current;

	/* for indexes of several columns, or NULL */
	ShRowsValues *values;
	uint32	   *groups;			/* of the rows in numbers[] */

	size_t		enough;			/* rows, or pairs, to look up together */
	size_t		most;			/* the maximum of that */
	size_t		capacity;		/* in rows, a few more than that */
	size_t		count;
	ShPairsRow *numbers;		/* rows in index entries; once resolved,
								 * visible rows with kinds */
	size_t		npairs;			/* at most enough */
	ShRowsNumberPair *pairs;

	/* positions in numbers[], sorted by page: see visible_rows.c */
	uint32	   *order;
	int			range_shift;
	uint32		nranges;
	uint32	   *ends;
} ShRows;

/*
 * the most rows that may be added at once; more are worth a look-up of their
 * own
 */
#define SHROWS_MANY	4096

/* the number of a row has 48 bits */
#define SHROWS_KIND_SHIFT	48

/*
 * A row that has been looked up: its number and, in the bits above it, its
 * kind if the index has several columns (values.c).
 */
static inline uint32
shrows_kind(ShPairsRow row)
{
	return (uint32) (row >> SHROWS_KIND_SHIFT);
}

extern void shrows_begin(ShRows *rows, const ShRowsHeaps *heaps,
						 Snapshot snapshot);
extern void shrows_add(ShRows *rows, uint32 group, const ShPairsRow *numbers,
					   size_t count);
extern void shrows_add_pair(ShRows *rows, uint32 a, uint32 b);
extern bool shrows_full(const ShRows *rows);
extern void shrows_reset(ShRows *rows);
extern void shrows_resolve(ShRows *rows);
extern void shrows_look_up(ShRows *rows, uint32 group, ShPairsRow *numbers,
						   size_t count);
extern void shrows_remember_kinds(ShRows *rows);
extern void shrows_forget_kinds(ShRows *rows, const uint32 *kept);
extern void shrows_end(ShRows *rows);

#endif							/* SIMHASH_ROWS_VISIBLE_ROWS_H */
