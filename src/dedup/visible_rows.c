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

/* the wanted number of rows for each visited page, if memory allows */
#define ROWS_PER_PAGE		32

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
choose_batch(BlockNumber npages)
{
	double		wanted = (double) ROWS_PER_PAGE * npages;
	double		most = maintenance_work_mem * 1024.0 * SHDUP_ROWS_SHARE / SHDUP_ROW_BYTES;

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
shdup_lookup_begin(ShDupLookup *rows, const ShDupHeaps *heaps, Snapshot snapshot)
{
	rows->heaps = heaps;
	rows->snapshot = snapshot;
	rows->classes = shdup_classes_begin(heaps, snapshot, false);
	rows->values = NULL;
	for (int i = 0; i < heaps->nsides; i++)
		shdup_reader_begin(&rows->readers[i], heaps, i, snapshot);
	rows->most = choose_batch(heaps->nblocks);
	rows->capacity = rows->most + 2 * SHDUP_MANY;
	rows->count = 0;
	rows->numbers = allocate_rows(rows->capacity, sizeof(ShPairsRow));
	rows->groups = allocate_rows(rows->capacity, sizeof(uint32));
	rows->npairs = 0;
	rows->pairs = allocate_rows(rows->most, sizeof(ShPairsPair));

	rows->order = allocate_rows(rows->capacity, sizeof(uint32));
	rows->range_shift = 0;
	while (heaps->nblocks >> rows->range_shift >= MAX_RANGES)
		rows->range_shift++;
	rows->nranges = (heaps->nblocks >> rows->range_shift) + 1;
	rows->ends = palloc(rows->nranges * sizeof(uint32));
}

/*
 * Add rows, given the numbers in index entries of a group.  They get the next positions in
 * numbers[], which is never moved.
 *
 * There must be room.  After shdup_lookup_is_full has returned false, there is room for
 * SHDUP_MANY rows.
 */
void
shdup_lookup_add(ShDupLookup *rows, uint32 group, const ShPairsRow *numbers, size_t count)
{
	Assert(count <= rows->capacity - rows->count);
	for (size_t i = 0; i < count; i++)
		rows->groups[rows->count + i] = group;
	memcpy(rows->numbers + rows->count, numbers, count * sizeof(ShPairsRow));
	rows->count += count;
}

/*
 * Add pairs of elements, SHPAIRS_MAX_PAIRS at most.  There must be room, as above.
 */
void
shdup_lookup_add_pairs(ShDupLookup *rows, const ShPairsPair *pairs, size_t npairs)
{
	Assert(npairs <= rows->most - rows->npairs);
	memcpy(rows->pairs + rows->npairs, pairs, npairs * sizeof(ShPairsPair));
	rows->npairs += npairs;
}

/*
 * Should the rows be looked up before more are added?
 */
bool
shdup_lookup_is_full(const ShDupLookup *rows)
{
	return rows->count >= rows->most || rows->npairs + SHPAIRS_MAX_PAIRS > rows->most;
}

/*
 * Remove all rows and pairs.
 */
void
shdup_lookup_reset(ShDupLookup *rows)
{
	rows->count = 0;
	rows->npairs = 0;
}

/* where rows are being looked up */
typedef struct Lookup
{
	uint32	   *groups;			/* of the rows, by position; replaced by
								 * classes */
	uint32		group;			/* without them: of all rows, in place */

	const ShDupHeap *heap;		/* or NULL */
	int			side;			/* to which it belongs */
	TupleTableSlot *slot;		/* for its rows */
	Buffer		buffer;			/* the last page of a heap, pinned */
	IndexFetchTableData *fetch; /* for a table of another access method */
} Lookup;

/*
 * Leave the current table, if any: the search may go on for long, and nobody should wait
 * for a pin.
 */
static void
leave_table(Lookup *lookup)
{
	if (lookup->heap != NULL)
		ExecClearTuple(lookup->slot);
	if (BufferIsValid(lookup->buffer))
		ReleaseBuffer(lookup->buffer);
	if (lookup->fetch != NULL)
		table_index_fetch_end(lookup->fetch);
	lookup->heap = NULL;
	lookup->buffer = InvalidBuffer;
	lookup->fetch = NULL;
}

/*
 * Enter a table.
 */
static void
enter_table(ShDupLookup *rows, Lookup *lookup, const ShDupHeap *heap)
{
	leave_table(lookup);
	lookup->heap = heap;
	lookup->side = shdup_side_of_heap(rows->heaps, heap);
	lookup->slot = shdup_reader_slot(&rows->readers[lookup->side], heap);
	if (!shdup_is_heap(heap->relation))
		lookup->fetch = shcompat_index_fetch_begin(heap->relation);
}

/*
 * Store a row in the slot.  In a table that is not a heap, it is found by the TID of its
 * index entry, which is replaced by its own.  Returns false if the snapshot sees none.
 */
static bool
fetch_row(const ShDupLookup *rows, const Lookup *lookup, uint64 *tid)
{
	ItemPointerData pointer;
	bool		again = false;
	bool		all_dead;

	if (lookup->fetch == NULL)
	{
		shdup_heap_page_slot(lookup->heap->relation, lookup->buffer, *tid, lookup->slot);
		return true;
	}
	shidx_int_to_tid(*tid, &pointer);
	if (!table_index_fetch_tuple(lookup->fetch, &pointer, rows->snapshot, lookup->slot, &again,
								 &all_dead))
		return false;
	*tid = shidx_tid_to_int(&lookup->slot->tts_tid);
	return true;
}

/*
 * Replace the key of an item, a TID of a row of the current table, by the number of the row,
 * or by SHDUP_INVISIBLE if it is not seen or equals no other, and find its class.
 */
static void
resolve_item(ShDupLookup *rows, const Lookup *lookup, ShIdxSortItem *item)
{
	uint32		number = 1;
	ShPairsRow	row;

	if ((lookup->fetch != NULL || rows->classes != NULL) && !fetch_row(rows, lookup, &item->key))
	{
		item->key = SHDUP_INVISIBLE;
		return;
	}
	pgstat_count_heap_fetch(lookup->heap->index);
	row = item->key + lookup->heap->first_row;
	if (rows->classes != NULL)
	{
		uint32		group = lookup->groups != NULL ? lookup->groups[item->value] : lookup->group;

		number = shdup_class_of(rows->classes, lookup->side, group, row,
								shdup_reader_convert(&rows->readers[lookup->side], lookup->heap));
		if (number == 0)
			row = SHDUP_INVISIBLE;
		if (lookup->groups != NULL)
			lookup->groups[item->value] = number;
	}
	item->key = lookup->groups != NULL || row == SHDUP_INVISIBLE ? row :
		shdup_row_of_class(row, number);
}

/*
 * Replace the keys of items, which are rows of one page, by the rows to which they lead,
 * or SHDUP_INVISIBLE.  Their values are positions.
 */
static void
look_up_on_page(ShDupLookup *rows, Lookup *lookup, ShIdxSortItem *items, size_t count)
{
	const ShDupHeap *heap = shdup_heap_of(rows->heaps, items[0].key);

	CHECK_FOR_INTERRUPTS();
	if (heap != lookup->heap)
		enter_table(rows, lookup, heap);
	for (size_t i = 0; i < count; i++)
		items[i].key -= heap->first_row;
	if (lookup->fetch == NULL)
	{
		lookup->buffer = ReleaseAndReadBuffer(lookup->buffer, heap->relation,
											  (BlockNumber) (items[0].key >> 16));
		shdup_heap_page_rows(heap->relation, rows->snapshot, lookup->buffer, items, count);
	}
	for (size_t i = 0; i < count; i++)
	{
		if (items[i].key != SHDUP_INVISIBLE)
			resolve_item(rows, lookup, &items[i]);
	}
}

/*
 * Look up the rows at some positions of numbers[], CHUNK at most.
 */
static void
look_up_chunk(ShDupLookup *rows, Lookup *lookup, ShPairsRow *numbers,
			  const uint32 *positions, size_t count)
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
	/* on a single page any order will do */
	if (pages != 0)
	{
		shidx_sort_radix(chunk, sorted, count);
		items = sorted;
	}

	for (size_t start = 0, end; start < count; start = end)
	{
		end = start + 1;
		while (end < count && items[end].key >> 16 == items[start].key >> 16)
			end++;
		look_up_on_page(rows, lookup, items + start, end - start);
	}

	for (size_t i = 0; i < count; i++)
		numbers[items[i].value] = items[i].key;
}

/*
 * The range of pages to which a row belongs.  With one table, pages added
 * later belong to the last range.
 */
static inline uint32
range_of(const ShDupLookup *rows, ShIdxRow tid)
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
look_up_all(ShDupLookup *rows, uint32 *groups, uint32 group, ShPairsRow *numbers, size_t count)
{
	Lookup		lookup = {.groups = groups,.group = group};
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
			look_up_chunk(rows, &lookup, numbers, rows->order + start,
						  Min(CHUNK, rows->ends[range] - start));
	}
	leave_table(&lookup);
	shdup_classes_release(rows->classes);
}

/*
 * Look up rows with the classes of their columns and values, within those of equal numbers
 * in words[]: on return, classes[] has these, and 0 for rows that are not seen or equal no
 * other.  No other rows may be waiting.
 */
static void
look_up_values(ShDupLookup *rows, const uint32 *words, const ShPairsRow *numbers, size_t count,
			   ShPairsRow *classes)
{
	ShDupClasses *others = rows->classes;

	Assert(rows->count == 0);
	rows->classes = rows->values;
	for (size_t done = 0, some; done < count; done += some)
	{
		some = Min(rows->capacity, count - done);
		memcpy(rows->numbers, numbers + done, some * sizeof(ShPairsRow));
		memcpy(rows->groups, words + done, some * sizeof(uint32));
		look_up_all(rows, rows->groups, 0, rows->numbers, some);
		for (size_t i = 0; i < some; i++)
			classes[done + i] = rows->numbers[i] == SHDUP_INVISIBLE ? 0 : rows->groups[i];
	}
	rows->classes = others;
	shdup_classes_forget(rows->values);
}

/*
 * Divide rows as ShPairsSink.divide does.
 */
void
shdup_divide(ShDupLookup *rows, const uint32 *words, const ShPairsRow *numbers, size_t count,
			 ShPairsRow *firsts)
{
	ShPairsRow *of_class = MemoryContextAllocHuge(CurrentMemoryContext, (count + 1) * sizeof(ShPairsRow));

	/* not all searches of bands divide rows */
	if (rows->values == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(rows->numbers));

		rows->values = shdup_classes_begin(rows->heaps, rows->snapshot, true);
		MemoryContextSwitchTo(old);
	}
	look_up_values(rows, words, numbers, count, firsts);
	for (size_t start = 0, end; start < count; start = end)
	{
		/* there are no more classes than rows */
		for (end = start; end < count && words[end] == words[start]; end++)
			of_class[end - start + 1] = SHDUP_INVISIBLE;
		of_class[0] = SHDUP_INVISIBLE;
		for (size_t i = start; i < end; i++)
		{
			ShPairsRow *first = &of_class[firsts[i]];

			shcompat_check_at(i);
			if (firsts[i] != 0 && *first == SHDUP_INVISIBLE)
				*first = numbers[i];
			firsts[i] = *first;
		}
	}
	pfree(of_class);
}

/*
 * Look up all rows.  On return, numbers[] has the rows that the snapshot sees, and
 * SHDUP_INVISIBLE for the others, and groups[] their classes if there are any.
 */
void
shdup_lookup_resolve(ShDupLookup *rows)
{
	look_up_all(rows, rows->groups, 0, rows->numbers, rows->count);
}

/*
 * Look up any number of rows of a group that have not been added, in place: on return, they
 * have their classes, see shdup_row_of_class.
 */
void
shdup_look_up(ShDupLookup *rows, uint32 group, ShPairsRow *numbers, size_t count)
{
	for (size_t done = 0; done < count; done += rows->capacity)
		look_up_all(rows, NULL, group, numbers + done, Min(rows->capacity, count - done));
}

void
shdup_lookup_end(ShDupLookup *rows)
{
	for (int i = 0; i < rows->heaps->nsides; i++)
		shdup_reader_end(&rows->readers[i]);
	shdup_classes_end(rows->classes);
	shdup_classes_end(rows->values);
}
