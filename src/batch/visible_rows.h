/*-------------------------------------------------------------------------
 *
 * visible_rows.h
 *	  Resolving index TIDs to visible rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_VISIBLE_ROWS_H
#define SIMHASH_BATCH_VISIBLE_ROWS_H

#include "postgres.h"

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "utils/snapshot.h"

#include "batch/heap_page.h"
#include "batch/tables.h"
#include "batch/values.h"
#include "btree/page.h"
#include "sort/radix.h"

/* a pair of fingerprints, by the caller's numbers for them */
typedef struct ShBatchNumberPair
{
	uint32		a;
	uint32		b;
} ShBatchNumberPair;

/*
 * What is needed to look up rows of a table; set at the first use.
 */
typedef struct ShBatchRowsOf
{
	IndexFetchTableData *fetch; /* for a table that is not a heap, or NULL */
	TupleTableSlot *slot;		/* for a row, or NULL */
} ShBatchRowsOf;

typedef struct ShBatchRows
{
	const ShBatchTables *tables;
	Snapshot	snapshot;
	ShBatchRowsOf *of;			/* for each table, by its number */

	/* the table whose rows are being looked up, or NULL */
	const ShBatchTable *current;

	/* for indexes of several columns, or NULL */
	ShBatchValues *values;
	uint32	   *groups;			/* of the rows in numbers[] */

	size_t		enough;			/* rows, or pairs, to look up together */
	size_t		most;			/* the maximum of that */
	size_t		capacity;		/* in rows, a few more than that */
	size_t		count;
	uint64	   *numbers;		/* rows in index entries; once resolved,
								 * visible rows with kinds */
	size_t		npairs;			/* at most enough */
	ShBatchNumberPair *pairs;

	/* positions in numbers[], sorted by page: see visible_rows.c */
	uint32	   *order;
	int			range_shift;
	uint32		nranges;
	uint32	   *ends;
} ShBatchRows;

/*
 * the most rows that may be added at once; more are worth a look-up of their
 * own
 */
#define SHBATCH_MANY_ROWS	4096

/* the number of a row has 48 bits */
#define SHBATCH_KIND_SHIFT	48

/*
 * A row that has been looked up: its number and, in the bits above it, its
 * kind if the index has several columns (values.c).
 */
static inline uint32
shbatch_row_kind(uint64 row)
{
	return (uint32) (row >> SHBATCH_KIND_SHIFT);
}

extern void shbatch_rows_begin(ShBatchRows *rows, const ShBatchTables *tables,
							   Snapshot snapshot);
extern void shbatch_rows_add(ShBatchRows *rows, uint32 group, const uint64 *numbers,
							 size_t count);
extern void shbatch_rows_add_pair(ShBatchRows *rows, uint32 a, uint32 b);
extern bool shbatch_rows_full(const ShBatchRows *rows);
extern void shbatch_rows_reset(ShBatchRows *rows);
extern void shbatch_rows_resolve(ShBatchRows *rows);
extern void shbatch_rows_look_up(ShBatchRows *rows, uint32 group, uint64 *numbers,
								 size_t count);
extern void shbatch_rows_remember_kinds(ShBatchRows *rows);
extern void shbatch_rows_start_few(ShBatchRows *rows);
extern void shbatch_rows_forget_kinds(ShBatchRows *rows, const uint32 *kept);
extern void shbatch_rows_end(ShBatchRows *rows);

#endif							/* SIMHASH_BATCH_VISIBLE_ROWS_H */
