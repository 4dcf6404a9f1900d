/*-------------------------------------------------------------------------
 *
 * row_reader.c
 *	  Reading rows of tables, by their TIDs or their numbers.
 *
 * For the rows of a heap that a snapshot sees, what heapam does for one TID is done
 * here for all wanted TIDs of a page, under one lock.  If the page is marked
 * all-visible, none of its rows is tested, and only line pointers are followed.  Rows
 * that have been found are read again without a lock, while their page is pinned.
 * Other tables are read by the functions of their access method.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/tupconvert.h"
#include "access/xact.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/rows.h"
#include "index/index.h"

/*
 * Is a table a heap, so that its pages can be read here?
 *
 * With -DSHDUP_ANY_TABLE none is, to test how other tables are read.
 */
bool
shdup_is_heap(Relation table)
{
#ifdef SHDUP_ANY_TABLE
	return false;
#else
	return table->rd_tableam == GetHeapamTableAmRoutine();
#endif
}

/*
 * Are all rows of the page, which is locked, certainly visible to the
 * snapshot?  For small rows this saves a tenth of a search at distance 3.
 *
 * This is safe for the following reason.  The TIDs were read from an index
 * some time ago, without a pin, so VACUUM may have removed their rows, and new
 * rows may have reused their line pointers.  Such a row was inserted after the
 * entry was read, and the entry was read after the snapshot was taken.  For
 * the snapshot, the inserting transaction was still in progress, so its XID is
 * not below the snapshot's xmin.  A page is marked, by VACUUM and since 19 by
 * pruning, only if all XIDs on it are below a horizon that is not above the
 * xmin of any registered snapshot; and any insert, update or delete clears the
 * mark under the exclusive lock that it needs anyway.  So a marked page has no
 * such row, and a line pointer on it belongs to the entry's row or has no row.
 *
 * Rows loaded by COPY FREEZE are marked immediately; they are visible to all
 * snapshots, in table scans as well.  Up to 16, old_snapshot_threshold lets
 * the horizon pass a snapshot; but then the page has changed since, and the
 * snapshot is too old for it.
 *
 * There are two exceptions, as in table scans.  During recovery, the mark does
 * not guarantee that all transactions that cannot see a row of the page are
 * gone, because full-page images restore it without a conflict.  And a
 * serializable transaction must lock the rows that it sees.
 */
static bool
all_visible(Page page, Snapshot snapshot)
{
	return PageIsAllVisible(page) && IsMVCCSnapshot(snapshot) &&
		!snapshot->takenDuringRecovery && !IsolationIsSerializable();
}

/*
 * The offset of the row to which an index entry leads, on a page whose rows
 * are all visible, or InvalidOffsetNumber.
 *
 * Older versions of the row are gone, since they would be invisible.  So the
 * chain is a line pointer with a row, or one that redirects to it.
 */
static OffsetNumber
follow_line_pointer(Page page, OffsetNumber offset)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	ItemId		item;
	bool		redirected;

	if (offset > last)
		return InvalidOffsetNumber;
	item = PageGetItemId(page, offset);
	redirected = ItemIdIsRedirected(item);
	if (redirected)
	{
		offset = ItemIdGetRedirect(item);
		if (offset < FirstOffsetNumber || offset > last)
			return InvalidOffsetNumber;
		item = PageGetItemId(page, offset);
	}
	if (!ItemIdIsNormal(item))
		return InvalidOffsetNumber;

	/* only entries of a damaged index lead to a row within a chain */
	if (HeapTupleHeaderIsHeapOnly((HeapTupleHeader) PageGetItem(page, item)) != redirected)
		return InvalidOffsetNumber;
	return offset;
}

/*
 * Find the rows that index entries lead to: the keys of items[], TIDs of the
 * page in the buffer, become the TIDs of the rows that the snapshot sees, and
 * SHDUP_INVISIBLE if it sees none.
 *
 * The buffer must be pinned, and stays so; it must not be locked.  The snapshot
 * must be registered since before the TIDs were read from an index.
 */
void
shdup_heap_page_rows(Relation heap, Snapshot snapshot, Buffer buffer,
					 ShIdxSortItem *items, size_t count)
{
	Page		page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);

	/* as heapam does for index scans */
	shcompat_heap_prune(heap, buffer);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	shcompat_test_old_snapshot(snapshot, heap, page);
	if (all_visible(page, snapshot))
	{
		for (size_t i = 0; i < count; i++)
		{
			OffsetNumber offset = follow_line_pointer(page, items[i].key & 0xFFFF);

			items[i].key = offset == InvalidOffsetNumber ? SHDUP_INVISIBLE :
				(uint64) block << 16 | offset;
		}
	}
	else
	{
		for (size_t i = 0; i < count; i++)
		{
			ItemPointerData tid;
			HeapTupleData tuple;

			shidx_int_to_tid(items[i].key, &tid);
			if (heap_hot_search_buffer(&tid, heap, buffer, snapshot, &tuple, NULL, true))
				items[i].key = shidx_tid_to_int(&tid);
			else
				items[i].key = SHDUP_INVISIBLE;
		}
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
}

/*
 * Make sure that a row stays where it is: call this after pinning a page anew, before
 * rows are read from it without a lock.
 *
 * Who prunes a page waits until nobody else has it pinned, but only before taking the
 * lock.  So a page can be pinned while its rows are being moved.  Waiting for the lock
 * once ends that, and the pin keeps others from beginning.
 *
 * The snapshot sees the rows that are going to be read, so pruning cannot have removed
 * them, unless old_snapshot_threshold allowed it.  This is the error then.
 */
void
shdup_heap_page_settle(Relation heap, Snapshot snapshot, Buffer buffer)
{
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	shcompat_test_old_snapshot(snapshot, heap, BufferGetPage(buffer));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
}

SHCOMPAT_NORETURN static void
report_missing_row(Relation table, ShIdxRow tid)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("row (%u,%u) of table \"%s\" has disappeared",
					(BlockNumber) (tid >> 16), (OffsetNumber) (tid & 0xFFFF),
					RelationGetRelationName(table))));
}

/*
 * Store a row that the snapshot sees in a slot for the heap, which pins the buffer
 * as well.
 *
 * The buffer must have been pinned since the row was found, or since
 * shdup_heap_page_settle.  It need not be locked: a row that a snapshot sees is not
 * moved or removed while its page is pinned.
 */
void
shdup_heap_page_slot(Relation heap, Buffer buffer, ShIdxRow tid, TupleTableSlot *slot)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber offset = (OffsetNumber) (tid & 0xFFFF);
	HeapTuple	tuple = &((BufferHeapTupleTableSlot *) slot)->base.tupdata;
	ItemId		item;

	if (offset < FirstOffsetNumber || offset > PageGetMaxOffsetNumber(page) ||
		!ItemIdIsNormal(item = PageGetItemId(page, offset)))
		report_missing_row(heap, tid);
	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_tableOid = RelationGetRelid(heap);
	shidx_int_to_tid(tid, &tuple->t_self);
	ExecStoreBufferHeapTuple(tuple, slot, buffer);
}

/*
 * Begin to read rows of the tables of a side, as rows of its named table.  The tables must
 * be open until the end, and the snapshot must be registered since before the rows were
 * read from their indexes.
 *
 * Slots are allocated in the current memory context.
 */
void
shdup_reader_begin(ShDupRowReader *reader, const ShDupHeaps *heaps, int side,
				   Snapshot snapshot)
{
	memset(reader, 0, sizeof(ShDupRowReader));
	reader->heaps = heaps;
	reader->snapshot = snapshot;
	reader->desc = RelationGetDescr(heaps->sides[side].named.heap);
	reader->tables = palloc0(heaps->count * sizeof(ShDupReadTable));
	reader->context = CurrentMemoryContext;
}

/*
 * Release all pins.  The row that was read last is gone.
 */
void
shdup_reader_release(ShDupRowReader *reader)
{
	if (reader->heap != NULL)
		ExecClearTuple(reader->tables[reader->heap->number].slot);
	if (BufferIsValid(reader->buffer))
		ReleaseBuffer(reader->buffer);
	reader->buffer = InvalidBuffer;
}

/*
 * A slot for rows of a table as they are, which lasts as long as the reader.
 */
TupleTableSlot *
shdup_reader_slot(ShDupRowReader *reader, const ShDupHeap *heap)
{
	ShDupReadTable *table = &reader->tables[heap->number];

	if (table->slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->context);

		table->slot = table_slot_create(heap->relation, NULL);
		table->map = convert_tuples_by_name(RelationGetDescr(heap->relation), reader->desc);
		if (table->map != NULL)
			table->converted = MakeSingleTupleTableSlot(reader->desc, &TTSOpsVirtual);
		MemoryContextSwitchTo(old);
	}
	return table->slot;
}

/*
 * What has been stored in that slot, as a row of the named table: the columns of a partition
 * may have other numbers.
 */
TupleTableSlot *
shdup_reader_convert(ShDupRowReader *reader, const ShDupHeap *heap)
{
	ShDupReadTable *table = &reader->tables[heap->number];

	if (table->map == NULL)
		return table->slot;
	execute_attr_map_slot(table->map->attrMap, table->slot, table->converted);
	table->converted->tts_tableOid = table->slot->tts_tableOid;
	table->converted->tts_tid = table->slot->tts_tid;
	return table->converted;
}

/*
 * Pin a page of the current table, unless it is pinned already, and release the last.
 */
static void
pin_page(ShDupRowReader *reader, BlockNumber block)
{
	if (BufferIsValid(reader->buffer) && BufferGetBlockNumber(reader->buffer) == block)
		return;
	reader->buffer = ReleaseAndReadBuffer(reader->buffer, reader->heap->relation, block);
	shdup_heap_page_settle(reader->heap->relation, reader->snapshot, reader->buffer);
}

/*
 * Read a row that the snapshot sees.  The result is valid until the next one is read.
 */
TupleTableSlot *
shdup_read(ShDupRowReader *reader, ShPairsRow row)
{
	const ShDupHeap *heap = shdup_heap_of(reader->heaps, row);
	TupleTableSlot *slot = shdup_reader_slot(reader, heap);
	ShIdxRow	tid = row - heap->first_row;

	if (heap != reader->heap)
	{
		shdup_reader_release(reader);
		reader->heap = heap;
	}
	if (shdup_is_heap(heap->relation))
	{
		pin_page(reader, (BlockNumber) (tid >> 16));
		shdup_heap_page_slot(heap->relation, reader->buffer, tid, slot);
	}
	else
	{
		ItemPointerData pointer;

		shidx_int_to_tid(tid, &pointer);
		if (!table_tuple_fetch_row_version(heap->relation, &pointer, reader->snapshot, slot))
			report_missing_row(heap->relation, tid);
	}
	return shdup_reader_convert(reader, heap);
}

/*
 * Free the slots, and release the pins.
 */
void
shdup_reader_end(ShDupRowReader *reader)
{
	shdup_reader_release(reader);
	for (int i = 0; i < reader->heaps->count; i++)
	{
		if (reader->tables[i].slot != NULL)
			ExecDropSingleTupleTableSlot(reader->tables[i].slot);
		if (reader->tables[i].converted != NULL)
			ExecDropSingleTupleTableSlot(reader->tables[i].converted);
	}
	pfree(reader->tables);
}
