/*-------------------------------------------------------------------------
 *
 * row_reader.h
 *	  Reading rows that a snapshot sees, by their numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_READER_H
#define SIMHASH_BATCH_ROW_READER_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "storage/buf.h"
#include "utils/snapshot.h"

#include "batch/tables.h"

typedef struct ShBatchRowReader
{
	const ShBatchTables *tables;
	Snapshot	snapshot;

	/* of the last row that was read, if any */
	const ShBatchTable *table;
	TupleTableSlot *slot;
	Buffer		buffer;			/* the last page of a heap, pinned */

	TupleTableSlot **slots;		/* by number of table; NULL if not used yet */
} ShBatchRowReader;

extern void shbatch_row_reader_begin(ShBatchRowReader *reader, const ShBatchTables *tables,
									 Snapshot snapshot);
extern void shbatch_read_row(ShBatchRowReader *reader, uint64 row);
extern void shbatch_row_reader_end(ShBatchRowReader *reader);

#endif							/* SIMHASH_BATCH_ROW_READER_H */
