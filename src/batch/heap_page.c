/*-------------------------------------------------------------------------
 *
 * heap_page.c
 *	  The rows of a page of a heap that index entries lead to.
 *
 * What the access method of heaps does for one TID is done here for all TIDs
 * of a page that are wanted, under one lock.  If the page is marked all-visible
 * no row of it is tested: only the line pointers are followed.
 *
 * Why that is safe.  The TIDs were read from an index some time ago, without a
 * pin, so VACUUM may have removed their rows and others may have taken their
 * line pointers.  Such a row was inserted after the entry was read, and the
 * entry was read after the snapshot was taken: its inserter was not complete
 * for the snapshot, so its ID is not below the snapshot's xmin.  A page is
 * marked only if all IDs on it are below the horizon of VACUUM, and that is
 * not above the xmin of any registered snapshot; and whoever inserts, updates
 * or deletes clears the mark under the exclusive lock that he needs for it.
 * So a marked page has no such row, and a line pointer on it is either that of
 * the entry's row or has no row.
 *
 * Rows that COPY FREEZE loads are marked at once; they are visible to all
 * snapshots, in scans of the table too.  And old_snapshot_threshold, until 16,
 * lets the horizon pass a snapshot; but then the page has been changed since,
 * and the snapshot is too old for it.
 *
 * Two cases are excepted, as in scans of the table.  During recovery it is not
 * certain that whoever could not see a row of the page is gone once the mark is
 * there: full-page images bring it without telling.  And a serializable
 * transaction must lock the rows that it sees.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "storage/bufmgr.h"

#include "batch/heap_page.h"
#include "btree/page.h"
#include "compat.h"

/*
 * Has a table the access method of heaps, so that its pages can be read here?
 *
 * With -DSHBATCH_ANY_TABLE none has: for tests of how others are read.
 */
bool
shbatch_is_heap(Relation table)
{
#ifdef SHBATCH_ANY_TABLE
	return false;
#else
	return table->rd_tableam == GetHeapamTableAmRoutine();
#endif
}

/*
 * Can no row of the page, which is locked, be invisible to the snapshot?
 */
static bool
all_visible(Page page, Snapshot snapshot)
{
	return PageIsAllVisible(page) && IsMVCCSnapshot(snapshot) &&
		!snapshot->takenDuringRecovery && !IsolationIsSerializable();
}

/*
 * Offset of the row that an index entry with some offset leads to on a page
 * all of whose rows are visible, or InvalidOffsetNumber.
 *
 * The row's older versions are gone, or they would be there to be invisible: so
 * the chain is a line pointer with a row, or one that redirects to it.
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

	/* no entry leads to a row within a chain; a damaged index has such */
	if (HeapTupleHeaderIsHeapOnly((HeapTupleHeader) PageGetItem(page, item)) != redirected)
		return InvalidOffsetNumber;
	return offset;
}

/*
 * Find the rows that index entries lead to: the keys of items[], TIDs of the
 * page in the buffer, become the TIDs of the rows that the snapshot sees, and
 * SHBATCH_INVISIBLE where it sees none.
 *
 * The buffer must be pinned, and stays so; it must not be locked.  The snapshot
 * must be registered since before the TIDs were read from an index.
 */
void
shbatch_heap_page_rows(Relation heap, Snapshot snapshot, Buffer buffer,
					   ShSortItem *items, size_t count)
{
	Page		page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);

	/* as others do who read the table by an index */
	shcompat_heap_prune(heap, buffer);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	shcompat_test_old_snapshot(snapshot, heap, page);
	if (all_visible(page, snapshot))
	{
		for (size_t i = 0; i < count; i++)
		{
			OffsetNumber offset = follow_line_pointer(page, items[i].key & 0xFFFF);

			items[i].key = offset == InvalidOffsetNumber ? SHBATCH_INVISIBLE :
				(uint64) block << 16 | offset;
		}
	}
	else
	{
		for (size_t i = 0; i < count; i++)
		{
			ItemPointerData tid;
			HeapTupleData tuple;

			shbt_int_to_tid(items[i].key, &tid);
			if (heap_hot_search_buffer(&tid, heap, buffer, snapshot, &tuple, NULL, true))
				items[i].key = shbt_tid_to_int(&tid);
			else
				items[i].key = SHBATCH_INVISIBLE;
		}
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
}

/*
 * Put a row that was found into a slot of the heap's, which pins the buffer, too.
 *
 * The buffer has been pinned since, and need not be locked: nothing moves or
 * removes a row that a snapshot sees on a page that others have pinned.
 */
void
shbatch_heap_page_slot(Relation heap, Buffer buffer, uint64 tid, TupleTableSlot *slot)
{
	Page		page = BufferGetPage(buffer);
	ItemId		item = PageGetItemId(page, (OffsetNumber) (tid & 0xFFFF));
	HeapTuple	tuple = &((BufferHeapTupleTableSlot *) slot)->base.tupdata;

	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_tableOid = RelationGetRelid(heap);
	shbt_int_to_tid(tid, &tuple->t_self);
	ExecStoreBufferHeapTuple(tuple, slot, buffer);
}
