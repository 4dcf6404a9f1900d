/*-------------------------------------------------------------------------
 *
 * visible_rows.h
 *	  Where the rows are that index entries lead to.
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

/* fingerprints that are a pair, by numbers that the caller gives them */
typedef struct ShBatchNumberPair
{
	uint32		a;
	uint32		b;
} ShBatchNumberPair;

/*
 * What is needed to look up rows of a table, from the first time on.
 */
typedef struct ShBatchRowsOf
{
	IndexFetchTableData *fetch; /* of a table that is not a heap, or NULL */
	TupleTableSlot *slot;		/* where a row is put, or NULL */
} ShBatchRowsOf;

typedef struct ShBatchRows
{
	const ShBatchTables *tables;
	Snapshot	snapshot;
	ShBatchRowsOf *of;			/* each table, by its number */

	/* the table whose rows are being looked up, or NULL */
	const ShBatchTable *current;

	/* of indexes of several columns, or NULL */
	ShBatchValues *values;
	uint32	   *groups;			/* of the rows in tids[] */

	size_t		enough;			/* rows, or pairs, to be looked up together */
	size_t		most;			/* the same, at most */
	size_t		capacity;		/* rows, a few more than that */
	size_t		count;
	uint64	   *tids;			/* numbers of rows, by index entries;
								 * resolved, with kinds */
	size_t		npairs;			/* at most enough */
	ShBatchNumberPair *pairs;

	/* positions in tids[] by where the rows are: see visible_rows.c */
	uint32	   *order;
	int			range_shift;
	uint32		nranges;
	uint32	   *ends;
} ShBatchRows;

/* how many rows may be added at once: so many are worth a look-up of their own */
#define SHBATCH_MANY_ROWS	4096

/* the number of a row has 48 bits */
#define SHBATCH_KIND_SHIFT	48

/*
 * What a row that was looked up has become: its number, and above it, where the
 * index has several columns, its kind (values.c).
 */
static inline uint32
shbatch_row_kind(uint64 row)
{
	return (uint32) (row >> SHBATCH_KIND_SHIFT);
}

extern void shbatch_rows_begin(ShBatchRows *rows, const ShBatchTables *tables,
							   Snapshot snapshot);
extern void shbatch_rows_add(ShBatchRows *rows, uint32 group, const uint64 *tids,
							 size_t count);
extern void shbatch_rows_add_pair(ShBatchRows *rows, uint32 a, uint32 b);
extern bool shbatch_rows_full(const ShBatchRows *rows);
extern void shbatch_rows_reset(ShBatchRows *rows);
extern void shbatch_rows_resolve(ShBatchRows *rows);
extern void shbatch_rows_look_up(ShBatchRows *rows, uint32 group, uint64 *tids,
								 size_t count);
extern void shbatch_rows_remember_kinds(ShBatchRows *rows);
extern void shbatch_rows_start_few(ShBatchRows *rows);
extern void shbatch_rows_forget_kinds(ShBatchRows *rows, const uint32 *kept);
extern void shbatch_rows_end(ShBatchRows *rows);

#endif							/* SIMHASH_BATCH_VISIBLE_ROWS_H */
