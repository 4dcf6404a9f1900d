/*-------------------------------------------------------------------------
 *
 * visible_rows.c
 *	  Where the rows are that index entries lead to.
 *
 * An index entry leads to a HOT chain, and the row that a snapshot sees may be
 * any member of it.  Users get the TID of that member, since it is what ctid
 * is compared with.  So the table has to be visited even where the visibility
 * map says that all is visible: it does not say where in its chain a row is.
 * To visit each page but once, rows are looked up many at a time, in the order
 * of their TIDs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "batch/visible_rows.h"
#include "btree/page.h"
#include "compat.h"

/* how many rows are looked up together at least */
#define MIN_ROWS			65536

/* how many rows should lie on a page that is visited, if memory allows */
#define ROWS_PER_PAGE		8

/* the part of maintenance_work_mem that rows may take */
#define MEMORY_SHARE		0.25

/*
 * How many rows to look up together: so many that the order of their TIDs is of
 * use, since a page that is not in memory is read for each batch anew.
 */
static size_t
choose_batch(Relation heap)
{
	double		wanted = (double) ROWS_PER_PAGE * RelationGetNumberOfBlocks(heap);
	double		most = maintenance_work_mem * 1024.0 * MEMORY_SHARE / SHBATCH_BYTES_PER_ROW;

	return Max(Min(wanted, most), MIN_ROWS);
}

/*
 * Begin to look up rows of a table.  The snapshot must be an MVCC snapshot and
 * stay registered until the end.
 */
void
shbatch_rows_begin(ShBatchRows *rows, Relation heap, Snapshot snapshot)
{
	rows->snapshot = snapshot;
	rows->fetch = shcompat_index_fetch_begin(heap);
	rows->slot = table_slot_create(heap, NULL);
	rows->enough = choose_batch(heap);
	rows->count = 0;
	rows->capacity = MIN_ROWS;
	rows->tids = palloc(rows->capacity * sizeof(uint64));
	rows->order = palloc(rows->capacity * sizeof(ShSortItem));
	rows->scratch = palloc(rows->capacity * sizeof(ShSortItem));
	rows->npairs = 0;
	rows->pairs = MemoryContextAllocHuge(CurrentMemoryContext,
										 rows->enough * sizeof(ShBatchNumberPair));
}

/*
 * Add rows, by the TIDs that index entries have.  They get the next positions
 * in tids[].  ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if they do not fit into
 * maintenance_work_mem.
 */
void
shbatch_rows_add(ShBatchRows *rows, const uint64 *tids, size_t count)
{
	if (count > rows->capacity - rows->count)
	{
		size_t		capacity = Max(rows->capacity * 2, rows->count + count);

		if (capacity * SHBATCH_BYTES_PER_ROW > maintenance_work_mem * (Size) 1024 &&
			capacity > 4 * rows->enough)
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("rows to be looked up together do not fit into maintenance_work_mem"),
					 errdetail("There are %zu of them.", rows->count + count),
					 errhint("Increase maintenance_work_mem, which is now %d kB, to at least %zu kB.",
							 maintenance_work_mem, capacity * SHBATCH_BYTES_PER_ROW / 1024 + 1)));
		rows->tids = repalloc_huge(rows->tids, capacity * sizeof(uint64));
		rows->order = repalloc_huge(rows->order, capacity * sizeof(ShSortItem));
		rows->scratch = repalloc_huge(rows->scratch, capacity * sizeof(ShSortItem));
		rows->capacity = capacity;
	}
	memcpy(rows->tids + rows->count, tids, count * sizeof(uint64));
	rows->count += count;
}

/*
 * Add a pair, by the numbers that the caller gave its fingerprints.  There
 * must be room: see shbatch_rows_full.
 */
void
shbatch_rows_add_pair(ShBatchRows *rows, uint32 a, uint32 b)
{
	rows->pairs[rows->npairs].a = a;
	rows->pairs[rows->npairs].b = b;
	rows->npairs++;
}

/*
 * Should the rows be looked up before more are added?
 */
bool
shbatch_rows_full(const ShBatchRows *rows)
{
	return rows->count >= rows->enough || rows->npairs == rows->enough;
}

/*
 * Begin anew, without rows and pairs.
 */
void
shbatch_rows_reset(ShBatchRows *rows)
{
	rows->count = 0;
	rows->npairs = 0;
}

/*
 * Sort the rows by TID: order[] has the TID and the position.
 */
static void
sort_rows(ShBatchRows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		rows->scratch[i] = shsort_item(rows->tids[i], i);
	shsort_radix(rows->scratch, rows->order, rows->count);
}

/*
 * TID of the row that an index entry leads to, or SHBATCH_INVISIBLE.
 */
static uint64
look_up(ShBatchRows *rows, uint64 tid)
{
	ItemPointerData pointer;
	bool		again = false;
	bool		all_dead;
	uint64		result = SHBATCH_INVISIBLE;

	shbt_int_to_tid(tid, &pointer);
	if (table_index_fetch_tuple(rows->fetch, &pointer, rows->snapshot, rows->slot, &again,
								&all_dead))
		result = shbt_tid_to_int(&rows->slot->tts_tid);
	return result;
}

/*
 * Look all rows up: tids[] then has the TIDs of the rows that the snapshot
 * sees, and SHBATCH_INVISIBLE for the others.
 */
void
shbatch_rows_resolve(ShBatchRows *rows)
{
	uint64		last = SHBATCH_INVISIBLE;
	uint64		last_result = SHBATCH_INVISIBLE;

	sort_rows(rows);
	for (size_t i = 0; i < rows->count; i++)
	{
		size_t		position = rows->order[i].value;

		/* the same row may have come several times */
		if (rows->tids[position] != last)
		{
			CHECK_FOR_INTERRUPTS();
			last = rows->tids[position];
			last_result = look_up(rows, last);
		}
		rows->tids[position] = last_result;
	}

	/* the search goes on, perhaps for long: nobody should wait for a pin */
	ExecClearTuple(rows->slot);
	table_index_fetch_reset(rows->fetch);
}

void
shbatch_rows_end(ShBatchRows *rows)
{
	table_index_fetch_end(rows->fetch);
	ExecDropSingleTupleTableSlot(rows->slot);
}
