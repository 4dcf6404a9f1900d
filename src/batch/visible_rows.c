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
#define ROWS_PER_PAGE		32

/* the part of maintenance_work_mem that rows may take */
#define MEMORY_SHARE		0.25

/* bytes of memory that a row takes, and the pair that it may be in */
#define BYTES_PER_ROW		(sizeof(uint64) + sizeof(uint32) + sizeof(ShBatchNumberPair))

/* positions have 32 bits */
#define MAX_ROWS			(1024 * 1024 * 1024)

/* ranges of pages by which rows are distributed, at most: their ends should fit
 * the second-level cache */
#define MAX_RANGES			0x40000

/* rows of a range that are looked up at a time */
#define CHUNK				512

/*
 * How many rows to look up together: so many that the order of their TIDs is of
 * use, since a page that is not in memory is read for each batch anew.
 */
static size_t
choose_batch(BlockNumber npages)
{
	double		wanted = (double) ROWS_PER_PAGE * npages;
	double		most = maintenance_work_mem * 1024.0 * MEMORY_SHARE / BYTES_PER_ROW;

	return Max(Min(Min(wanted, most), MAX_ROWS), MIN_ROWS);
}

static void *
allocate(size_t count, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, count * size);
}

/*
 * Begin to look up rows of a table.  The snapshot must be an MVCC snapshot and
 * stay registered until the end; TIDs must be read from an index only now.
 */
void
shbatch_rows_begin(ShBatchRows *rows, Relation table, Snapshot snapshot)
{
	BlockNumber npages = RelationGetNumberOfBlocks(table);

	rows->table = table;
	rows->snapshot = snapshot;
	if (shbatch_is_heap(table))
	{
		rows->fetch = NULL;
		rows->slot = NULL;
	}
	else
	{
		rows->fetch = shcompat_index_fetch_begin(table);
		rows->slot = table_slot_create(table, NULL);
	}

	rows->enough = choose_batch(npages);
	rows->capacity = rows->enough + 2 * SHBATCH_MANY_ROWS;
	rows->count = 0;
	rows->tids = allocate(rows->capacity, sizeof(uint64));
	rows->npairs = 0;
	rows->pairs = allocate(rows->enough, sizeof(ShBatchNumberPair));

	rows->order = allocate(rows->capacity, sizeof(uint32));
	rows->range_shift = 0;
	while (npages >> rows->range_shift >= MAX_RANGES)
		rows->range_shift++;
	rows->nranges = (npages >> rows->range_shift) + 1;
	rows->ends = palloc(rows->nranges * sizeof(uint32));
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
 * Replace the keys of items, TIDs of one page in order, by those of the rows
 * that they lead to, or SHBATCH_INVISIBLE.  The buffer is the last one that was
 * read, if any, and becomes that of the page.
 */
static void
look_up_on_page(ShBatchRows *rows, ShSortItem *items, size_t count, Buffer *buffer)
{
	CHECK_FOR_INTERRUPTS();
	if (rows->fetch == NULL)
	{
		*buffer = ReleaseAndReadBuffer(*buffer, rows->table, items[0].key >> 16);
		shbatch_heap_page_rows(rows->table, rows->snapshot, *buffer, items, count);
	}
	else
	{
		uint64		last = SHBATCH_INVISIBLE;
		uint64		last_result = SHBATCH_INVISIBLE;

		for (size_t i = 0; i < count; i++)
		{
			/* the same row may have come several times */
			if (items[i].key != last)
			{
				last = items[i].key;
				last_result = look_up(rows, last);
			}
			items[i].key = last_result;
		}
	}
}

/*
 * Look up the rows at some positions of tids[], CHUNK at most.
 */
static void
look_up_chunk(ShBatchRows *rows, uint64 *tids, const uint32 *positions, size_t count,
			  Buffer *buffer)
{
	ShSortItem	chunk[CHUNK];
	ShSortItem	sorted[CHUNK];
	ShSortItem *items = chunk;
	uint64		pages = 0;		/* in what their numbers differ */

	for (size_t i = 0; i < count; i++)
	{
		items[i] = shsort_item(tids[positions[i]], positions[i]);
		pages |= (items[i].key ^ items[0].key) >> 16;
	}
	/* on a page of a heap any order will do */
	if (pages != 0 || rows->fetch != NULL)
	{
		shsort_radix(chunk, sorted, count);
		items = sorted;
	}

	for (size_t start = 0, end; start < count; start = end)
	{
		end = start + 1;
		while (end < count && items[end].key >> 16 == items[start].key >> 16)
			end++;
		look_up_on_page(rows, items + start, end - start, buffer);
	}

	for (size_t i = 0; i < count; i++)
		tids[items[i].value] = items[i].key;
}

/* the range of pages that a row is in; pages that came later are in the last */
static inline uint32
range_of(const ShBatchRows *rows, uint64 tid)
{
	return Min((uint32) (tid >> 16) >> rows->range_shift, rows->nranges - 1);
}

/*
 * Look up rows, as many as there is room for positions.
 *
 * The positions are distributed by ranges of pages: of one page each, unless the
 * table is very large.
 */
static void
look_up_all(ShBatchRows *rows, uint64 *tids, size_t count)
{
	Buffer		buffer = InvalidBuffer;
	uint32		start = 0;

	memset(rows->ends, 0, rows->nranges * sizeof(uint32));
	for (size_t i = 0; i < count; i++)
		rows->ends[range_of(rows, tids[i])]++;
	for (uint32 range = 0; range < rows->nranges; range++)
	{
		uint32		size = rows->ends[range];

		rows->ends[range] = start;
		start += size;
	}
	/* so far these are starts; placing the positions moves them to the ends */
	for (size_t i = 0; i < count; i++)
		rows->order[rows->ends[range_of(rows, tids[i])]++] = i;

	start = 0;
	for (uint32 range = 0; range < rows->nranges; range++)
	{
		for (; start < rows->ends[range]; start = Min(start + CHUNK, rows->ends[range]))
			look_up_chunk(rows, tids, rows->order + start,
						  Min(CHUNK, rows->ends[range] - start), &buffer);
	}

	/* the search goes on, perhaps for long: nobody should wait for a pin */
	if (BufferIsValid(buffer))
		ReleaseBuffer(buffer);
	if (rows->fetch != NULL)
	{
		ExecClearTuple(rows->slot);
		table_index_fetch_reset(rows->fetch);
	}
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
	if (rows->fetch == NULL)
		return;
	table_index_fetch_end(rows->fetch);
	ExecDropSingleTupleTableSlot(rows->slot);
}
