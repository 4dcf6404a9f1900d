/*-------------------------------------------------------------------------
 *
 * checked_row.h
 *	  Reading rows that are to be checked, as rows of the named table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_CHECKED_ROW_H
#define SIMHASH_BATCH_CHECKED_ROW_H

#include "access/tupconvert.h"
#include "utils/snapshot.h"

#include "rows/row_reader.h"

/* one of the two rows */
typedef struct ShBatchCheckedRow
{
	TupleDesc	desc;			/* of the named table */
	ShRowsReader reader;
	TupleConversionMap **maps;	/* by number of table: to rows of the named
								 * one; NULL if not needed */
	bool	   *mapped;			/* is the map known? */
	TupleTableSlot *converted;
} ShBatchCheckedRow;

extern void shbatch_checked_row_begin(ShBatchCheckedRow *row, const ShRowsHeaps *heaps,
									  int side, Snapshot snapshot);
extern TupleTableSlot *shbatch_checked_row_read(ShBatchCheckedRow *row, ShRowsNumber number);
extern Datum shbatch_plain_value(Datum value, int16 length);
extern void shbatch_checked_row_end(ShBatchCheckedRow *row);

#endif							/* SIMHASH_BATCH_CHECKED_ROW_H */
