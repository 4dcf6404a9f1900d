/*-------------------------------------------------------------------------
 *
 * tables.h
 *	  The tables of a search, and numbers for their rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_TABLES_H
#define SIMHASH_BATCH_TABLES_H

#include "postgres.h"

#include "btree/page.h"
#include "index/partitions.h"

/*
 * A table with its index.  Its rows have the numbers from first_row to end_row:
 * their TIDs, plus first_row.
 */
typedef struct ShBatchTable
{
	int			number;			/* among the tables of the set */
	Relation	heap;
	Relation	index;
	Oid			heap_file;		/* their files when they were opened */
	Oid			index_file;
	uint64		first_row;
	uint64		end_row;
} ShBatchTable;

/* the most indexes that are named: the two sides of matches */
#define SHBATCH_MAX_SIDES		2

/*
 * All tables, in order: by named index, then by OID.  Row numbers are ordered
 * by table, then by TID.
 */
typedef struct ShBatchTables
{
	int			count;
	ShBatchTable *tables;
	BlockNumber nblocks;		/* of all together */

	/*
	 * with several tables, for each part of the blocks: the table in which it
	 * begins
	 */
	int			part_shift;
	int		   *parts;
	bool		grouped;		/* the indexes have several columns */
	bool		new_files;		/* some got one in this transaction */

	/*
	 * the named indexes; no row of a side is below its start
	 */
	int			nsides;
	ShIdxParts	sides[SHBATCH_MAX_SIDES];
	uint64		side_starts[SHBATCH_MAX_SIDES];
} ShBatchTables;

extern void shbatch_tables_open(ShBatchTables *tables, const Oid *indexes, int nindexes);
extern ShBatchTables shbatch_tables_of_side(const ShBatchTables *tables, int side);
extern void shbatch_tables_verify(const ShBatchTables *tables);
extern void shbatch_tables_close(ShBatchTables *tables);
extern const ShBatchTable *shbatch_search_table(const ShBatchTables *tables, uint64 row);

/*
 * The table of a row.  Bits above the lower 48 are ignored.
 */
static inline const ShBatchTable *
shbatch_table_of(const ShBatchTables *tables, uint64 row)
{
	return tables->count == 1 ? tables->tables : shbatch_search_table(tables, row);
}

/*
 * Convert a row to what users see: its TID, and its table, which is returned.
 */
static inline Oid
shbatch_name_row(const ShBatchTables *tables, uint64 row, ItemPointer tid)
{
	const ShBatchTable *table = shbatch_table_of(tables, row);

	shbt_int_to_tid((row & SHBT_MAX_TID) - table->first_row, tid);
	return RelationGetRelid(table->heap);
}

#endif							/* SIMHASH_BATCH_TABLES_H */
