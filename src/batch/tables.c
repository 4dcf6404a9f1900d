/*-------------------------------------------------------------------------
 *
 * tables.c
 *	  The tables of a search, and numbers for their rows.
 *
 * A search handles rows as 48-bit numbers.  With one table these are TIDs.
 * With several, each table has its own range in a common space of blocks.  So
 * the rows of all tables have an order, and can be sorted, stored in files,
 * and looked up page by page, as if they belonged to one table.
 *
 * The number of blocks of a table is determined after the snapshot was taken.
 * A row of a heap that the snapshot sees existed before that, and so did its
 * block.  Index entries that point to later blocks belong to later rows and are
 * dropped.  Nor can the block of a visible row disappear, since only empty
 * blocks are truncated.  Other table access methods are not known to use TIDs
 * in this way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "storage/bufmgr.h"
#include "utils/relcache.h"

#include "batch/tables.h"
#include "compat.h"
#include "index/group.h"

/* the most parts, for finding tables */
#define MAX_PARTS		4096

/*
 * Report an error if the columns of two indexes cannot be compared: equality
 * of the columns before the fingerprint must mean the same in both.
 */
static void
check_columns(Relation first, Relation other)
{
	int			ncolumns = shidx_fp_column(first);
	bool		same = shidx_fp_column(other) == ncolumns;

	for (int i = 0; same && i < ncolumns; i++)
		same = first->rd_opfamily[i] == other->rd_opfamily[i] &&
			first->rd_opcintype[i] == other->rd_opcintype[i] &&
			first->rd_indcollation[i] == other->rd_indcollation[i] &&
			(!IsPolymorphicType(first->rd_opcintype[i]) ||
			 TupleDescAttr(first->rd_att, i)->atttypid ==
			 TupleDescAttr(other->rd_att, i)->atttypid);
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("columns before the fingerprint of indexes \"%s\" and \"%s\" cannot be compared",
						RelationGetRelationName(first), RelationGetRelationName(other)),
				 errdetail("The indexes must have the same number of such columns, with the same types, operator classes, and collations.")));
}

/*
 * Report an error if the rows of a table cannot be told apart from those of
 * others by their blocks.
 */
static void
check_access_method(Relation table)
{
	if (table->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" cannot be searched together with others",
						RelationGetRelationName(table)),
				 errdetail("Its access method is \"%s\", but only that of \"heap\" is known to identify rows by their blocks.",
						   get_am_name(table->rd_rel->relam))));
}

/*
 * Assign the ranges of the tables.
 */
static void
number_rows(ShBatchTables *tables)
{
	uint64		nblocks = 0;

	tables->new_files = false;
	for (int i = 0; i < tables->count; i++)
	{
		ShBatchTable *table = &tables->tables[i];

		if (tables->count > 1)
			check_access_method(table->heap);
		table->number = i;
		table->heap_file = shcompat_file_number(table->heap);
		table->index_file = shcompat_file_number(table->index);
		tables->new_files |= shcompat_has_new_file(table->heap) ||
			shcompat_has_new_file(table->index);
		table->first_row = nblocks << 16;
		nblocks += RelationGetNumberOfBlocks(table->heap);
		table->end_row = nblocks << 16;
		if (nblocks > MaxBlockNumber)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("tables to be searched together have more than %u pages",
							MaxBlockNumber)));
	}
	/* a single table has all numbers, which are TIDs */
	if (tables->count == 1)
		tables->tables[0].end_row = SHBT_MAX_TID + 1;
	tables->nblocks = (BlockNumber) nblocks;
}

/*
 * Make the array by which the table of a row is found.
 */
static void
list_parts(ShBatchTables *tables)
{
	int			nparts;
	int			number = 0;

	tables->part_shift = 0;
	while (tables->nblocks >> tables->part_shift >= MAX_PARTS)
		tables->part_shift++;
	nparts = (tables->nblocks >> tables->part_shift) + 2;
	tables->parts = palloc(nparts * sizeof(int));
	for (int part = 0; part < nparts; part++)
	{
		while (number < tables->count - 1 &&
			   tables->tables[number].end_row <= (uint64) part << tables->part_shift << 16)
			number++;
		tables->parts[part] = number;
	}
}

/*
 * Open the named indexes, with all partitions, for the current user, and
 * number the rows that the active snapshot sees.
 *
 * AccessShareLocks on all indexes and tables are kept until the end of the
 * transaction.  Reports errors as shidx_open_parts does, and if the tables
 * cannot be searched together.
 */
void
shbatch_tables_open(ShBatchTables *tables, const Oid *indexes, int nindexes)
{
	int			next = 0;

	Assert(nindexes <= SHBATCH_MAX_SIDES);
	tables->count = 0;
	tables->nsides = nindexes;
	for (int side = 0; side < nindexes; side++)
	{
		shidx_open_parts(indexes[side], &tables->sides[side]);
		tables->count += tables->sides[side].count;
	}

	tables->tables = palloc(tables->count * sizeof(ShBatchTable));
	for (int side = 0; side < nindexes; side++)
	{
		const ShIdxParts *parts = &tables->sides[side];

		check_columns(tables->sides[0].named.index, parts->named.index);
		for (int i = 0; i < parts->count; i++)
		{
			check_columns(tables->sides[0].named.index, parts->parts[i].index);
			tables->tables[next].heap = parts->parts[i].heap;
			tables->tables[next].index = parts->parts[i].index;
			next++;
		}
	}
	number_rows(tables);

	next = 0;
	for (int side = 0; side < nindexes; side++)
	{
		tables->side_starts[side] = next < tables->count ? tables->tables[next].first_row :
			(uint64) tables->nblocks << 16;
		next += tables->sides[side].count;
	}
	if (tables->count > 1)
		list_parts(tables);
	tables->grouped = shbt_is_grouped(tables->sides[0].named.index);
}

/*
 * The tables of one of the named indexes, for reading.  They belong to the
 * whole set, and must not be closed separately.
 */
ShBatchTables
shbatch_tables_of_side(const ShBatchTables *tables, int side)
{
	ShBatchTables result = *tables;

	for (int i = 0; i < side; i++)
		result.tables += tables->sides[i].count;
	result.count = tables->sides[side].count;
	result.parts = NULL;		/* only for all tables */
	return result;
}

/*
 * Does an open relation have this file?  Opening a relation rebuilds its
 * relcache entry if that has been invalidated.
 */
static bool
is_in_file(Relation relation, Oid file)
{
	if (!relation->rd_isvalid)
		RelationClose(RelationIdGetRelation(RelationGetRelid(relation)));
	return shcompat_file_number(relation) == file;
}

/*
 * Report an error if a table or an index is no longer in the file that it was in
 * when it was opened.
 *
 * Only a rollback to a savepoint can change the file of a relation in use: it
 * undoes a later CLUSTER or REINDEX while an earlier cursor is still open.
 */
void
shbatch_tables_verify(const ShBatchTables *tables)
{
	for (int i = 0; tables->new_files && i < tables->count; i++)
	{
		const ShBatchTable *table = &tables->tables[i];

		if (!is_in_file(table->heap, table->heap_file) ||
			!is_in_file(table->index, table->index_file))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("index \"%s\" has changed since its search began",
							RelationGetRelationName(table->index)),
					 errdetail("A rollback to a savepoint has undone a rewrite of the index or of its table.")));
	}
}

void
shbatch_tables_close(ShBatchTables *tables)
{
	for (int side = 0; side < tables->nsides; side++)
		shidx_close_parts(&tables->sides[side]);
	if (tables->count > 1)
		pfree(tables->parts);
	pfree(tables->tables);
}

/*
 * Find the table of a row, if there are several.
 */
const ShBatchTable *
shbatch_search_table(const ShBatchTables *tables, uint64 row)
{
	uint64		number = row & SHBT_MAX_TID;
	const int  *part = &tables->parts[number >> 16 >> tables->part_shift];
	int			low = part[0];
	int			high = part[1];

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (number < tables->tables[middle].end_row)
			high = middle;
		else
			low = middle + 1;
	}
	return &tables->tables[low];
}
