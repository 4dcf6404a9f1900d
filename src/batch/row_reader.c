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

#include "batch/heap_page.h"
#include "batch/row_reader.h"
#include "btree/page.h"

/*
 * Begin to read rows of any of the tables, which must be open until the end.
 * The snapshot must be registered since before the rows were read from their
 * indexes.
 *
 * Slots are allocated in the current memory context.
 */
void
shbatch_row_reader_begin(ShBatchRowReader *reader, const ShBatchTables *tables, Snapshot snapshot)
{
	reader->tables = tables;
	reader->snapshot = snapshot;
	reader->table = NULL;
	reader->slot = NULL;
	reader->buffer = InvalidBuffer;
	reader->slots = palloc0(tables->count * sizeof(TupleTableSlot *));
}

/*
 * Move to a table.  Nothing of the last one stays pinned.
 */
static void
enter_table(ShBatchRowReader *reader, const ShBatchTable *table)
{
	TupleTableSlot **slot = &reader->slots[table->number];

	if (reader->slot != NULL)
		ExecClearTuple(reader->slot);
	if (*slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(reader->slots));

		*slot = table_slot_create(table->heap, NULL);
		MemoryContextSwitchTo(old);
	}
	reader->table = table;
	reader->slot = *slot;
}

/*
 * Read a row that the snapshot sees: reader->table is its table, and
 * reader->slot has the row until the next one is read.
 */
void
shbatch_read_row(ShBatchRowReader *reader, uint64 row)
{
	const ShBatchTable *table = shbatch_table_of(reader->tables, row);
	uint64		tid = row - table->first_row;

	if (table != reader->table)
		enter_table(reader, table);
	if (shbatch_is_heap(table->heap))
	{
		reader->buffer = ReleaseAndReadBuffer(reader->buffer, table->heap,
											  (BlockNumber) (tid >> 16));
		shbatch_heap_page_slot(table->heap, reader->buffer, tid, reader->slot);
	}
	else
	{
		ItemPointerData pointer;

		shbt_int_to_tid(tid, &pointer);
		if (!table_tuple_fetch_row_version(table->heap, &pointer, reader->snapshot,
										   reader->slot))
			elog(ERROR, "row (%u,%u) of table \"%s\" has disappeared",
				 ItemPointerGetBlockNumber(&pointer), ItemPointerGetOffsetNumber(&pointer),
				 RelationGetRelationName(table->heap));
	}
}

/*
 * Free the slots, and release the pins.
 */
void
shbatch_row_reader_end(ShBatchRowReader *reader)
{
	for (int i = 0; i < reader->tables->count; i++)
	{
		if (reader->slots[i] != NULL)
			ExecDropSingleTupleTableSlot(reader->slots[i]);
	}
	if (BufferIsValid(reader->buffer))
		ReleaseBuffer(reader->buffer);
	pfree(reader->slots);
}
