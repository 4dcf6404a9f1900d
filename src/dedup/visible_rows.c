/*-------------------------------------------------------------------------
 *
 * visible_rows.c
 *	  Resolving index TIDs to visible rows.
 *
 * An index entry leads to a HOT chain, and the row that a snapshot sees may be
 * any member of it.  Users get the TID of that member, since they compare it
 * with ctid.  So the table must be visited even where the visibility map says
 * that all rows are visible, since that does not tell which member of the
 * chain it is.  To visit each page only once, many rows are looked up at a
 * time, in the order of their TIDs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/rows.h"
#include "index/index.h"

/* the minimum number of rows to look up together */
#define MIN_ROWS			65536

/*
 * how many at first, when it is not known how much memory their values need; this
 * many may exceed the memory limit
 */
#define FIRST_ROWS			64

/* the wanted number of rows for each visited page, if memory allows */
#define ROWS_PER_PAGE		32

/* the share of maintenance_work_mem that rows may take */
#define MEMORY_SHARE		0.5

/* bytes for a row, including a pair and what callers store for it */
#define BYTES_PER_ROW		(sizeof(ShPairsRow) + sizeof(uint32) + sizeof(ShDupNumberPair) + 40)

/* positions have 32 bits */
#define MAX_ROWS			(1024 * 1024 * 1024)

/*
 * the most page ranges by which rows are distributed: their ends should fit in
 * the second-level cache
 */
#define MAX_RANGES			0x40000

/* rows of a range that are looked up at a time */
#define CHUNK				512

/*
 * How many rows to look up together: enough to profit from the order of their
 * TIDs, since a page that is not in memory is read again for each batch.
 */
static size_t
choose_batch(BlockNumber npages, Size bytes_per_row)
{
	double		wanted = (double) ROWS_PER_PAGE * npages;
	double		most = maintenance_work_mem * 1024.0 * MEMORY_SHARE / bytes_per_row;

	return Max(Min(Min(wanted, most), MAX_ROWS), MIN_ROWS);
}

static void *
allocate_rows(size_t count, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, count * size);
}

/*
 * Begin to look up rows for index entries.  The tables must be open, and the
 * snapshot, which must be an MVCC snapshot, registered until the end.  Entries
 * may be read from the indexes only after this.
 */
void
shdup_begin_rows(ShDup *rows, const ShDupHeaps *heaps, Snapshot snapshot)
{
	Size		bytes_per_row;

	rows->heaps = heaps;
	rows->snapshot = snapshot;
	rows->of = palloc0(heaps->count * sizeof(ShDupRows));
	rows->current = NULL;
	rows->values = heaps->grouped ? shdup_values_begin(heaps) : NULL;

	bytes_per_row = BYTES_PER_ROW;
	if (rows->values != NULL)
		bytes_per_row += sizeof(uint32) + shdup_values_least_width(rows->values);
	rows->most = choose_batch(heaps->nblocks, bytes_per_row);
	rows->enough = rows->values == NULL || shdup_values_have_fixed_width(rows->values) ?
		rows->most : FIRST_ROWS;
	rows->capacity = rows->most + 2 * SHDUP_MANY;
	rows->count = 0;
	rows->numbers = allocate_rows(rows->capacity, sizeof(ShPairsRow));
	rows->npairs = 0;
	rows->pairs = allocate_rows(rows->most, sizeof(ShDupNumberPair));
	rows->groups = rows->values != NULL ? allocate_rows(rows->capacity, sizeof(uint32)) : NULL;

	rows->order = allocate_rows(rows->capacity, sizeof(uint32));
	rows->range_shift = 0;
	while (heaps->nblocks >> rows->range_shift >= MAX_RANGES)
		rows->range_shift++;
	rows->nranges = (heaps->nblocks >> rows->range_shift) + 1;
	rows->ends = palloc(rows->nranges * sizeof(uint32));
}

/*
 * Add rows, given the numbers in index entries of a group.  They get the next
 * positions in numbers[], which is never moved.
 *
 * There must be room.  After shdup_full has returned false, there is
 * room for the rows of two fingerprints, with SHDUP_MANY rows each.
 */
void
shdup_add(ShDup *rows, uint32 group, const ShPairsRow * numbers, size_t count)
{
	Assert(count <= rows->capacity - rows->count);
	if (rows->groups != NULL)
	{
		for (size_t i = 0; i < count; i++)
			rows->groups[rows->count + i] = group;
	}
	memcpy(rows->numbers + rows->count, numbers, count * sizeof(ShPairsRow));
	rows->count += count;
}

/*
 * Add a pair, given the caller's numbers for its fingerprints.  There must be
 * room: see shdup_full.
 */
void
shdup_add_pair(ShDup *rows, uint32 a, uint32 b)
{
	rows->pairs[rows->npairs].a = a;
	rows->pairs[rows->npairs].b = b;
	rows->npairs++;
}

/*
 * Should the rows be looked up before more are added?
 */
bool
shdup_full(const ShDup *rows)
{
	return rows->count >= rows->enough || rows->npairs >= rows->enough;
}

/*
 * Remove all rows and pairs.
 */
void
shdup_reset(ShDup *rows)
{
	rows->count = 0;
	rows->npairs = 0;
}

/*
 * Leave the current table, if any, so that nothing is pinned by its slot or by
 * its access method.
 */
static void
leave_table(ShDup *rows)
{
	ShDupRows  *of;

	if (rows->current == NULL)
		return;
	of = &rows->of[rows->current->number];
	if (rows->values != NULL)
		shdup_values_leave(rows->values);
	if (of->slot != NULL)
		ExecClearTuple(of->slot);
	if (of->fetch != NULL)
		table_index_fetch_reset(of->fetch);
	rows->current = NULL;
}

/*
 * Enter a table.
 */
static void
enter_visible_heap(ShDup *rows, const ShDupHeap *heap)
{
	ShDupRows  *of = &rows->of[heap->number];

	leave_table(rows);
	if (of->fetch == NULL && !shdup_is_heap(heap->relation))
		of->fetch = shcompat_index_fetch_begin(heap->relation);
	if (of->slot == NULL && (of->fetch != NULL || rows->values != NULL))
		of->slot = table_slot_create(heap->relation, NULL);
	if (rows->values != NULL)
		shdup_values_enter(rows->values, heap);
	rows->current = heap;
}

/*
 * The result for a row of the current table that was found at a TID.  If there
 * are kinds, the row is in the slot, and group is that of its index entry.  A
 * row with a null in a column before the fingerprint is no pair with any
 * other, as if it were invisible.
 */
static uint64
found_row(ShDup *rows, uint32 group, ShIdxRow tid)
{
	const ShDupRows *of = &rows->of[rows->current->number];
	uint32		kind = 0;

	pgstat_count_heap_fetch(rows->current->index);
	if (rows->values != NULL &&
		!shdup_values_kind(rows->values, rows->current, group, of->slot, &kind))
		return SHDUP_INVISIBLE;
	return (tid + rows->current->first_row) | (uint64) kind << SHDUP_KIND_SHIFT;
}

/*
 * The row to which a TID of an index entry leads in the current table, which
 * is not a heap; or SHDUP_INVISIBLE.
 */
static uint64
fetch_row(ShDup *rows, uint32 group, ShIdxRow tid)
{
	const ShDupRows *of = &rows->of[rows->current->number];
	ItemPointerData pointer;
	bool		again = false;
	bool		all_dead;

	shidx_int_to_tid(tid, &pointer);
	if (!table_index_fetch_tuple(of->fetch, &pointer, rows->snapshot, of->slot, &again,
								 &all_dead))
		return SHDUP_INVISIBLE;
	return found_row(rows, group, shidx_tid_to_int(&of->slot->tts_tid));
}

/* the groups of the rows to look up: one for each row, or one for all */
typedef struct RowGroups
{
	const uint32 *each;			/* by position, or NULL */
	uint32		all;
} RowGroups;

static inline uint32
group_at(const RowGroups *groups, size_t position)
{
	return groups->each != NULL ? groups->each[position] : groups->all;
}

/*
 * look_up_on_page for a heap, with TIDs.
 */
static void
look_up_on_heap_page(ShDup *rows, const RowGroups *groups, ShIdxSortItem *items,
					 size_t count, Buffer *buffer)
{
	const ShDupHeap *heap = rows->current;

	*buffer = ReleaseAndReadBuffer(*buffer, heap->relation, (BlockNumber) (items[0].key >> 16));
	shdup_heap_page_rows(heap->relation, rows->snapshot, *buffer, items, count);
	for (size_t i = 0; i < count; i++)
	{
		if (items[i].key == SHDUP_INVISIBLE)
			continue;
		if (rows->values != NULL)
			shdup_heap_page_slot(heap->relation, *buffer, items[i].key,
								 rows->of[heap->number].slot);
		items[i].key = found_row(rows, group_at(groups, items[i].value), items[i].key);
	}
}

/*
 * look_up_on_page for other tables, with TIDs.
 */
static void
look_up_by_fetch(ShDup *rows, const RowGroups *groups, ShIdxSortItem *items, size_t count)
{
	uint64		last = SHDUP_INVISIBLE;
	uint64		last_result = SHDUP_INVISIBLE;

	for (size_t i = 0; i < count; i++)
	{
		/* the same row may occur several times */
		if (items[i].key != last)
		{
			last = items[i].key;
			last_result = fetch_row(rows, group_at(groups, items[i].value), last);
		}
		items[i].key = last_result;
	}
}

/*
 * Replace the keys of items, which are rows of one page in order, by the rows
 * to which they lead, or SHDUP_INVISIBLE.  Their values are positions.
 * *buffer is the last one that was read, if any, and is set to that of the
 * page.
 */
static void
look_up_on_page(ShDup *rows, const RowGroups *groups, ShIdxSortItem *items, size_t count,
				Buffer *buffer)
{
	const ShDupHeap *heap = shdup_heap_of(rows->heaps, items[0].key);

	CHECK_FOR_INTERRUPTS();
	if (heap != rows->current)
		enter_visible_heap(rows, heap);
	for (size_t i = 0; i < count; i++)
		items[i].key -= heap->first_row;
	if (rows->of[heap->number].fetch == NULL)
		look_up_on_heap_page(rows, groups, items, count, buffer);
	else
		look_up_by_fetch(rows, groups, items, count);
}

/*
 * Look up the rows at some positions of numbers[], CHUNK at most.
 */
static void
look_up_chunk(ShDup *rows, const RowGroups *groups, ShPairsRow * numbers,
			  const uint32 *positions, size_t count, Buffer *buffer)
{
	ShIdxSortItem chunk[CHUNK];
	ShIdxSortItem sorted[CHUNK];
	ShIdxSortItem *items = chunk;
	uint64		pages = 0;		/* bits of page numbers that differ */

	for (size_t i = 0; i < count; i++)
	{
		items[i] = shidx_sort_item(numbers[positions[i]], positions[i]);
		pages |= (items[i].key ^ items[0].key) >> 16;
	}
	/* on a single heap page any order will do */
	if (pages != 0 || !shdup_is_heap(shdup_heap_of(rows->heaps, items[0].key)->relation))
	{
		shidx_sort_radix(chunk, sorted, count);
		items = sorted;
	}

	for (size_t start = 0, end; start < count; start = end)
	{
		end = start + 1;
		while (end < count && items[end].key >> 16 == items[start].key >> 16)
			end++;
		look_up_on_page(rows, groups, items + start, end - start, buffer);
	}

	for (size_t i = 0; i < count; i++)
		numbers[items[i].value] = items[i].key;
}

/*
 * The range of pages to which a row belongs.  With one table, pages added
 * later belong to the last range.
 */
static inline uint32
range_of(const ShDup *rows, ShIdxRow tid)
{
	return Min((uint32) (tid >> 16) >> rows->range_shift, rows->nranges - 1);
}

/*
 * Look up rows, no more than there is room for positions.
 *
 * The positions are distributed by ranges of pages, of one page each unless
 * the table is very large.
 */
static void
look_up_all(ShDup *rows, const RowGroups *groups, ShPairsRow * numbers, size_t count)
{
	Buffer		buffer = InvalidBuffer;
	uint32		start = 0;

	memset(rows->ends, 0, rows->nranges * sizeof(uint32));
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		rows->ends[range_of(rows, numbers[i])]++;
	}
	for (uint32 range = 0; range < rows->nranges; range++)
	{
		uint32		size = rows->ends[range];

		rows->ends[range] = start;
		start += size;
	}
	/* these are starts; placing the positions turns them into ends */
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		rows->order[rows->ends[range_of(rows, numbers[i])]++] = i;
	}

	start = 0;
	for (uint32 range = 0; range < rows->nranges; range++)
	{
		for (; start < rows->ends[range]; start = Min(start + CHUNK, rows->ends[range]))
			look_up_chunk(rows, groups, numbers, rows->order + start,
						  Min(CHUNK, rows->ends[range] - start), &buffer);
	}

	/* the search may go on for long, and nobody should wait for a pin */
	leave_table(rows);
	if (BufferIsValid(buffer))
		ReleaseBuffer(buffer);
}

/*
 * Look up all rows.  On return, numbers[] has the rows that the snapshot sees,
 * with their kinds, and SHDUP_INVISIBLE for the others.
 */
void
shdup_resolve(ShDup *rows)
{
	RowGroups	groups = {rows->groups, 0};

	look_up_all(rows, &groups, rows->numbers, rows->count);
}

/*
 * The same, in place, for any number of rows of a group that have not been
 * added.
 */
void
shdup_look_up(ShDup *rows, uint32 group, ShPairsRow * numbers, size_t count)
{
	RowGroups	groups = {NULL, group};

	for (size_t done = 0; done < count; done += rows->capacity)
		look_up_all(rows, &groups, numbers + done, Min(rows->capacity, count - done));
}

/*
 * Remember the kinds of all rows until the end.  Raises
 * ERRCODE_CONFIGURATION_LIMIT_EXCEEDED later if their values need more than
 * maintenance_work_mem.
 */
void
shdup_remember_kinds(ShDup *rows)
{
	if (rows->values == NULL)
		return;
	shdup_values_set_limit(rows->values, maintenance_work_mem * (Size) 1024);
	rows->enough = rows->most;
}

/*
 * Forget the kinds of the rows looked up so far, except those of one group if
 * it is given, since later rows need not be compared with them.
 *
 * The number of rows that are looked up together grows, within the memory that
 * their values leave.
 */
void
shdup_forget_kinds(ShDup *rows, const uint32 *kept)
{
	double		share = maintenance_work_mem * 1024.0 * MEMORY_SHARE;
	double		used;

	used = rows->values != NULL ? shdup_values_memory(rows->values) : 0;
	if (used > share)
		rows->enough = Max(rows->enough / 2, FIRST_ROWS);
	else if (used * 2 <= share)
		rows->enough = Min(rows->enough * 2, rows->most);
	if (rows->values != NULL)
		shdup_values_forget(rows->values, kept);
}

void
shdup_end(ShDup *rows)
{
	for (int i = 0; i < rows->heaps->count; i++)
	{
		if (rows->of[i].fetch != NULL)
			table_index_fetch_end(rows->of[i].fetch);
		if (rows->of[i].slot != NULL)
			ExecDropSingleTupleTableSlot(rows->of[i].slot);
	}
	pfree(rows->of);
	if (rows->values != NULL)
		shdup_values_end(rows->values);
}
