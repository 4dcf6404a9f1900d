/*-------------------------------------------------------------------------
 *
 * checked_row.c
 *	  Reading rows that are to be checked, as rows of the named table.
 *
 * The columns of partitions may have other numbers than those of the table, so
 * their rows are converted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "executor/executor.h"

#include "batch/checked_row.h"
#include "compat.h"

/*
 * Begin to read rows of a side of the tables, which must be open until the end.
 * The snapshot must be registered since before the rows were read from their
 * indexes.
 */
void
shbatch_checked_row_begin(ShBatchCheckedRow *row, const ShRowsHeaps *heaps, int side,
						  Snapshot snapshot)
{
	row->desc = RelationGetDescr(heaps->sides[side].named.heap);
	shrows_reader_begin(&row->reader, heaps, snapshot);
	row->maps = palloc0(heaps->count * sizeof(TupleConversionMap *));
	row->mapped = palloc0(heaps->count * sizeof(bool));
	row->converted = MakeSingleTupleTableSlot(row->desc, &TTSOpsVirtual);
}

/*
 * Read a row.  The result is valid until the next one is read.
 */
TupleTableSlot *
shbatch_checked_row_read(ShBatchCheckedRow *row, ShRowsNumber number)
{
	TupleTableSlot *slot;
	int			table;

	shrows_read(&row->reader, number);
	slot = row->reader.slot;
	table = row->reader.heap->number;
	if (!row->mapped[table])
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(row->maps));

		row->maps[table] = convert_tuples_by_name(slot->tts_tupleDescriptor, row->desc);
		row->mapped[table] = true;
		MemoryContextSwitchTo(old);
	}
	if (row->maps[table] == NULL)
		return slot;
	execute_attr_map_slot(row->maps[table]->attrMap, slot, row->converted);
	row->converted->tts_tableOid = slot->tts_tableOid;
	row->converted->tts_tid = slot->tts_tid;
	return row->converted;
}

/*
 * A value of a type of this length that is neither stored out of line nor
 * compressed, so that reading it again takes no time.
 */
Datum
shbatch_plain_value(Datum value, int16 length)
{
	if (length == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)))
		return PointerGetDatum(detoast_attr((struct varlena *) DatumGetPointer(value)));
	return value;
}

void
shbatch_checked_row_end(ShBatchCheckedRow *row)
{
	ExecDropSingleTupleTableSlot(row->converted);
	shrows_reader_end(&row->reader);
}
