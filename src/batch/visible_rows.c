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

/* bytes of memory that a row takes */
#define BYTES_PER_ROW		(sizeof(uint64) + 2 * sizeof(ShSortItem))

/*
 * How many rows to look up together: so many that the order of their TIDs is of
 * use, since a page that is not in memory is read for each batch anew.
 */
static size_t
choose_batch(Relation heap)
{
	double		wanted = (double) ROWS_PER_PAGE * RelationGetNumberOfBlocks(heap);
	double		most = maintenance_work_mem * 1024.0 * MEMORY_SHARE / BYTES_PER_ROW;

	return Max(Min(wanted, most), MIN_ROWS);
}

static void *
allocate(size_t count, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, count * size);
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
	rows->capacity = rows->enough + 2 * SHBATCH_MANY_ROWS;
	rows->count = 0;
	rows->tids = allocate(rows->capacity, sizeof(uint64));
	rows->order = allocate(rows->capacity, sizeof(ShSortItem));
	rows->scratch = allocate(rows->capacity, sizeof(ShSortItem));
	rows->npairs = 0;
	rows->pairs = allocate(rows->enough, sizeof(ShBatchNumberPair));
}

/*
 * Add rows, by the TIDs that index entries have.  They get the next positions
 * in tids[], which does not move.
 *
 * There must be room: after shbatch_rows_full has said no, for the rows of two
 * fingerprints, SHBATCH_MANY_ROWS of each.
 */
void
shbatch_rows_add(ShBatchRows *rows, const uint64 *tids, size_t count)
{
	Assert(count <= rows->capacity - rows->count);
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
 * Look up rows, as many as there is room to sort.
 */
static void
look_up_all(ShBatchRows *rows, uint64 *tids, size_t count)
{
	uint64		last = SHBATCH_INVISIBLE;
	uint64		last_result = SHBATCH_INVISIBLE;

	/* by TID, with the positions */
	for (size_t i = 0; i < count; i++)
		rows->scratch[i] = shsort_item(tids[i], i);
	shsort_radix(rows->scratch, rows->order, count);

	for (size_t i = 0; i < count; i++)
	{
		/* the same row may have come several times */
		if (rows->order[i].key != last)
		{
			CHECK_FOR_INTERRUPTS();
			last = rows->order[i].key;
			last_result = look_up(rows, last);
		}
		tids[rows->order[i].value] = last_result;
	}

	/* the search goes on, perhaps for long: nobody should wait for a pin */
	ExecClearTuple(rows->slot);
	table_index_fetch_reset(rows->fetch);
}

/*
 * Look all rows up: tids[] then has the TIDs of the rows that the snapshot
 * sees, and SHBATCH_INVISIBLE for the others.
 */
void
shbatch_rows_resolve(ShBatchRows *rows)
{
	look_up_all(rows, rows->tids, rows->count);
}

/*
 * The same for rows, any number, that were not added: in place.
 */
void
shbatch_rows_look_up(ShBatchRows *rows, uint64 *tids, size_t count)
{
	for (size_t done = 0; done < count; done += rows->capacity)
		look_up_all(rows, tids + done, Min(rows->capacity, count - done));
}

void
shbatch_rows_end(ShBatchRows *rows)
{
	table_index_fetch_end(rows->fetch);
	ExecDropSingleTupleTableSlot(rows->slot);
}
