/*-------------------------------------------------------------------------
 *
 * row_reader.h
 *	  Reading rows that a snapshot sees, by their numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_ROW_READER_H
#define SIMHASH_ROWS_ROW_READER_H

#include "executor/tuptable.h"
#include "storage/buf.h"
#include "utils/snapshot.h"

#include "rows/heaps.h"

typedef struct ShRowsReader
{
	const ShRowsHeaps *heaps;
	Snapshot	snapshot;

	/* of the last row that was read, if any */
	const ShRowsHeap *heap;
	TupleTableSlot *slot;
	Buffer		buffer;			/* the last page of a heap, pinned */

	TupleTableSlot **slots;		/* by number of table; NULL if not used yet */
} ShRowsReader;

extern void shrows_reader_begin(ShRowsReader *reader, const ShRowsHeaps *heaps,
								Snapshot snapshot);
extern void shrows_read(ShRowsReader *reader, ShPairsRow row);
extern void shrows_reader_release(ShRowsReader *reader);
extern void shrows_reader_end(ShRowsReader *reader);

#endif							/* SIMHASH_ROWS_ROW_READER_H */
