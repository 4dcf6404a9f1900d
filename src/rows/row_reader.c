/*-------------------------------------------------------------------------
 *
 * row_reader.c
 *	  Reading rows that a snapshot sees, by their numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "btree/page.h"
#include "rows/heap_page.h"
#include "rows/row_reader.h"

/*
 * Begin to read rows of any of the tables, which must be open until the end.
 * The snapshot must be registered since before the rows were read from their
 * indexes.
 *
 * Slots are allocated in the current memory context.
 */
void
shrows_reader_begin(ShRowsReader *reader, const ShRowsHeaps *heaps, Snapshot snapshot)
{
	reader->heaps = heaps;
	reader->snapshot = snapshot;
	reader->heap = NULL;
	reader->slot = NULL;
	reader->buffer = InvalidBuffer;
	reader->slots = palloc0(heaps->count * sizeof(TupleTableSlot *));
}

/*
 * Release all pins.  The row that was read last is gone.
 */
void
shrows_reader_release(ShRowsReader *reader)
{
	if (reader->slot != NULL)
		ExecClearTuple(reader->slot);
	if (BufferIsValid(reader->buffer))
		ReleaseBuffer(reader->buffer);
	reader->buffer = InvalidBuffer;
}

/*
 * Move to a table.
 */
static void
enter_heap(ShRowsReader *reader, const ShRowsHeap *heap)
{
	TupleTableSlot **slot = &reader->slots[heap->number];

	shrows_reader_release(reader);
	if (*slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(reader->slots));

		*slot = table_slot_create(heap->relation, NULL);
		MemoryContextSwitchTo(old);
	}
	reader->heap = heap;
	reader->slot = *slot;
}

/*
 * Pin a page of the current table, unless it is pinned already, and release the last.
 */
static void
pin_page(ShRowsReader *reader, BlockNumber block)
{
	if (BufferIsValid(reader->buffer) && BufferGetBlockNumber(reader->buffer) == block)
		return;
	reader->buffer = ReleaseAndReadBuffer(reader->buffer, reader->heap->relation, block);
	shrows_heap_page_settle(reader->heap->relation, reader->snapshot, reader->buffer);
}

/*
 * Read a row that the snapshot sees: reader->heap is its table, and
 * reader->slot has the row until the next one is read.
 */
void
shrows_read(ShRowsReader *reader, ShPairsRow row)
{
	const ShRowsHeap *heap = shrows_heap_of(reader->heaps, row);
	ShBtRow		tid = row - heap->first_row;

	if (heap != reader->heap)
		enter_heap(reader, heap);
	if (shrows_is_heap(heap->relation))
	{
		pin_page(reader, (BlockNumber) (tid >> 16));
		shrows_heap_page_slot(heap->relation, reader->buffer, tid, reader->slot);
	}
	else
	{
		ItemPointerData pointer;

		shbt_int_to_tid(tid, &pointer);
		if (!table_tuple_fetch_row_version(heap->relation, &pointer, reader->snapshot,
										   reader->slot))
			elog(ERROR, "row (%u,%u) of table \"%s\" has disappeared",
				 ItemPointerGetBlockNumber(&pointer), ItemPointerGetOffsetNumber(&pointer),
				 RelationGetRelationName(heap->relation));
	}
}

/*
 * Free the slots, and release the pins.
 */
void
shrows_reader_end(ShRowsReader *reader)
{
	shrows_reader_release(reader);
	for (int i = 0; i < reader->heaps->count; i++)
	{
		if (reader->slots[i] != NULL)
			ExecDropSingleTupleTableSlot(reader->slots[i]);
	}
	pfree(reader->slots);
}
