/*-------------------------------------------------------------------------
 *
 * heaps.c
 *	  The tables of a search, and numbers for their rows.
 *
 * A partitioned index stands for the indexes of all leaf partitions of its table, at any
 * depth.
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

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "dedup/heaps.h"
#include "index/index.h"

/*
 * Are the fingerprints of an index of type simhash_bits?  Bands are read word by word.
 */
static bool
has_wide(Relation index)
{
	return shidx_kind(index) != SHIDX_BANDED && shidx_is_wide(index);
}

/*
 * The number of bits of the fingerprints in an index that is not partitioned, on a
 * column of type simhash_bits; 0 for any other.
 */
static int
width_of_wide(Relation index)
{
	return has_wide(index) ? shidx_stored_width(index) : 0;
}

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
 * Report an error if the fingerprints of two indexes are computed in different
 * ways, or have different operators.
 */
static void
check_class(Relation first, Relation other)
{
	int			column = shidx_fp_column(first);

	if (!shidx_computes_fingerprints(first) && !shidx_computes_fingerprints(other))
		return;
	if (first->rd_opfamily[column] != other->rd_opfamily[column] ||
		first->rd_opcintype[column] != other->rd_opcintype[column])
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("values of indexes \"%s\" and \"%s\" cannot be compared",
						RelationGetRelationName(first), RelationGetRelationName(other)),
				 errdetail("If fingerprints are computed by an operator class, both indexes must have the same.")));
}

/*
 * The type of fingerprints, if wide ones have so many bits.
 */
static const char *
fingerprint_type(int width)
{
	return width == 0 ? "simhash" : psprintf("simhash_bits(%d)", width);
}

/*
 * Report an error if the fingerprints of two indexes have no distance, given the number
 * of bits of wide ones or 0.
 */
static void
check_width(Relation first, int first_width, Relation other, int other_width)
{
	if (first_width == other_width)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("fingerprints of indexes \"%s\" and \"%s\" cannot be compared",
					RelationGetRelationName(first), RelationGetRelationName(other)),
			 errdetail("Those of \"%s\" are of type %s, those of \"%s\" of type %s.",
					   RelationGetRelationName(first), fingerprint_type(first_width),
					   RelationGetRelationName(other), fingerprint_type(other_width))));
}

/*
 * Report an error if the entries of two indexes cannot be compared.
 */
static void
check_alike(Relation first, int first_width, Relation other, int other_width)
{
	check_columns(first, other);
	check_class(first, other);
	check_width(first, first_width, other, other_width);
}

/*
 * Report an error if the rows of a table cannot be told apart from those of
 * others by their blocks.
 */
static void
check_access_method(Relation heap)
{
	if (heap->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" cannot be searched together with others",
						RelationGetRelationName(heap)),
				 errdetail("Its access method is \"%s\", but only that of \"heap\" is known to identify rows by their blocks.",
						   get_am_name(heap->rd_rel->relam))));
}

/*
 * Assign the ranges of the tables.
 */
static void
number_rows(ShDupHeaps *heaps)
{
	uint64		nblocks = 0;

	for (int i = 0; i < heaps->count; i++)
	{
		ShDupHeap  *heap = &heaps->heaps[i];

		if (heaps->count > 1)
			check_access_method(heap->relation);
		heap->number = i;
		heap->first_row = nblocks << 16;
		nblocks += RelationGetNumberOfBlocks(heap->relation);
		heap->end_row = nblocks << 16;
		if (nblocks > MaxBlockNumber)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("tables to be searched together have more than %u pages",
							MaxBlockNumber)));
	}
	/* a single table has all numbers, which are TIDs */
	if (heaps->count == 1)
		heaps->heaps[0].end_row = SHIDX_MAX_TID + 1;
	heaps->nblocks = (BlockNumber) nblocks;
}

/*
 * Add a table of a side, which is open with its index.
 */
static void
add_heap(ShDupHeaps *heaps, ShDupSide *side, Relation relation, Relation index)
{
	ShDupHeap  *heap;

	heaps->heaps = repalloc(heaps->heaps, (heaps->count + 1) * sizeof(ShDupHeap));
	heap = &heaps->heaps[heaps->count++];
	heap->relation = relation;
	heap->index = index;
	side->count++;
}

typedef struct IndexOfTable
{
	Oid			table;
	Oid			index;
} IndexOfTable;

static int
compare_tables(const void *a, const void *b)
{
	Oid			x = ((const IndexOfTable *) a)->table;
	Oid			y = ((const IndexOfTable *) b)->table;

	return x < y ? -1 : x > y;
}

/*
 * The indexes below a partitioned one that are not partitioned themselves,
 * sorted by table.  Locks them.
 */
static IndexOfTable *
indexes_of_leaves(Oid partitioned, int *count)
{
	List	   *oids = find_all_inheritors(partitioned, AccessShareLock, NULL);
	IndexOfTable *indexes = palloc(list_length(oids) * sizeof(IndexOfTable));
	ListCell   *cell;

	*count = 0;
	foreach(cell, oids)
	{
		Oid			index = lfirst_oid(cell);

		if (get_rel_relkind(index) == RELKIND_INDEX)
		{
			indexes[*count].index = index;
			indexes[*count].table = IndexGetRelation(index, false);
			(*count)++;
		}
	}
	qsort(indexes, *count, sizeof(IndexOfTable), compare_tables);
	return indexes;
}

static void
report_foreign(const ShDupOpened *named, Oid table)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("index \"%s\" does not cover partition \"%s\", which is a foreign table",
					RelationGetRelationName(named->index), get_rel_name(table)),
			 errhint("Use the function for arrays with (SELECT array_agg(fp) FROM %s), or search the index of each partition on its server.",
					 shdup_written_name(RelationGetRelid(named->heap)))));
}

static void
report_uncovered(const ShDupOpened *named, Oid table)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("index \"%s\" does not cover partition \"%s\"",
					RelationGetRelationName(named->index), get_rel_name(table)),
			 errhint("Create an index on the partition, and attach it with ALTER INDEX ... ATTACH PARTITION.")));
}

/*
 * Open the leaf partitions of the table that is named, and their indexes.  Each must have
 * such an index; otherwise its rows would be missing silently.  As in a query of that
 * table, privileges on the partitions and their policies do not matter.
 *
 * They are locked in the order in which a query locks them, tables first.  A
 * partition that is being detached is left out if a query would leave it out.
 * Between the two catalog scans a partition may be attached, or a detach may
 * be completed, so there may be indexes of tables that are not partitions for
 * us.
 */
static void
open_leaves(ShDupHeaps *heaps, ShDupSide *side)
{
	List	   *tables = find_all_inheritors(RelationGetRelid(side->named.heap),
											 AccessShareLock, NULL);
	int			nindexes;
	IndexOfTable *indexes = indexes_of_leaves(RelationGetRelid(side->named.index), &nindexes);
	ListCell   *cell;

	list_sort(tables, list_oid_cmp);
	foreach(cell, tables)
	{
		IndexOfTable wanted = {lfirst_oid(cell), InvalidOid};
		char		relkind = get_rel_relkind(wanted.table);
		const IndexOfTable *found;
		Relation	heap;
		Relation	index;

		if (relkind == RELKIND_PARTITIONED_TABLE)
			continue;
		if (relkind == RELKIND_FOREIGN_TABLE)
			report_foreign(&side->named, wanted.table);
		found = bsearch(&wanted, indexes, nindexes, sizeof(IndexOfTable), compare_tables);
		if (found == NULL)
			report_uncovered(&side->named, wanted.table);
		heap = table_open(found->table, NoLock);
		index = index_open(found->index, NoLock);
		shdup_check_state(heap, index);
		add_heap(heaps, side, heap, index);
	}
	list_free(tables);
	pfree(indexes);
}

/*
 * Open the named indexes, with all partitions, for the current user, and
 * number the rows that the active snapshot sees.
 *
 * AccessShareLocks on all indexes and tables are kept until the end of the
 * transaction.  Reports errors as shdup_open does, and also if a leaf partition has no
 * valid index, or if the tables cannot be searched together.
 */
void
shdup_heaps_open(ShDupHeaps *heaps, const Oid *indexes, int nindexes)
{
	Relation	first;
	int			width;

	Assert(nindexes <= SHDUP_MAX_SIDES);
	heaps->count = 0;
	heaps->heaps = palloc(sizeof(ShDupHeap));
	heaps->nsides = nindexes;
	/* all tables before all indexes, but for partitions attached meanwhile */
	if (nindexes > 1)
	{
		for (int i = 0; i < nindexes; i++)
			shdup_lock_table(indexes[i]);
	}
	for (int i = 0; i < nindexes; i++)
	{
		ShDupSide  *side = &heaps->sides[i];

		shdup_open(indexes[i], SHDUP_ACCESS_ROWS, &side->named);
		side->first = heaps->count;
		side->count = 0;
		if (shdup_is_partitioned(side->named.index))
			open_leaves(heaps, side);
		else
			add_heap(heaps, side, side->named.heap, side->named.index);
	}

	first = heaps->sides[0].named.index;
	width = shdup_wide_width(heaps, 0);
	for (int i = 1; i < nindexes; i++)
		check_alike(first, width, heaps->sides[i].named.index, shdup_wide_width(heaps, i));
	for (int i = 0; i < heaps->count; i++)
		check_alike(first, width, heaps->heaps[i].index, width_of_wide(heaps->heaps[i].index));
	number_rows(heaps);
	heaps->grouped = shidx_is_grouped(first);
	heaps->banded = shidx_kind(first) == SHIDX_BANDED;
}

/*
 * Close everything.  The locks are kept.
 */
void
shdup_heaps_close(ShDupHeaps *heaps)
{
	for (int i = 0; i < heaps->nsides; i++)
	{
		const ShDupSide *side = &heaps->sides[i];

		/* the table that is not partitioned is the named one */
		for (int j = 0; j < side->count && shdup_is_partitioned(side->named.index); j++)
		{
			index_close(heaps->heaps[side->first + j].index, NoLock);
			table_close(heaps->heaps[side->first + j].relation, NoLock);
		}
		shdup_close(&heaps->sides[i].named);
	}
	pfree(heaps->heaps);
}

/*
 * Find the table of a row, if there are several.
 */
const ShDupHeap *
shdup_find_heap(const ShDupHeaps *heaps, ShPairsRow row)
{
	uint64		number = row & SHIDX_MAX_TID;
	int			low = 0;
	int			high = heaps->count - 1;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (number < heaps->heaps[middle].end_row)
			high = middle;
		else
			low = middle + 1;
	}
	return &heaps->heaps[low];
}

/*
 * The operator by which the operator class of an index compares the values
 * themselves, and what it asks.  InvalidOid if the values are fingerprints.
 */
Oid
shdup_near_operator(Relation index, ShIdxMeaning *meaning)
{
	int			column = shidx_fp_column(index);

	if (!shidx_computes_fingerprints(index))
		return InvalidOid;
	return shidx_near_operator(index->rd_opfamily[column], index->rd_opcintype[column], meaning);
}

/*
 * The number of bits of the fingerprints of a named index on a column of type
 * simhash_bits, by its first partition; 0 for any other.  Without partitions only the type
 * of the column can say it.
 */
int
shdup_wide_width(const ShDupHeaps *heaps, int side)
{
	Relation	index = heaps->sides[side].named.index;

	if (heaps->sides[side].count > 0)
		return width_of_wide(heaps->heaps[heaps->sides[side].first].index);
	if (!has_wide(index))
		return 0;
	if (shidx_index_width(index) == 0)
		shidx_report_no_width(index);
	return shidx_index_width(index);
}

/*
 * The distance of a named index: the radius of the operator that compares its values,
 * or else that of its tables.  The indexes of partitions may have been built
 * with other options; for a partitioned index, its own options count.
 */
int
shdup_side_distance(const ShDupHeaps *heaps, int side)
{
	Relation	index = heaps->sides[side].named.index;
	int			wide = shdup_wide_width(heaps, side);
	int			width = wide > 0 ? wide : SHBITS_WIDTH;
	int			nparts = shbits_nparts(width);
	ShIdxMeaning meaning;

	if (OidIsValid(shdup_near_operator(index, &meaning)))
		return meaning.radius;
	if (shdup_is_partitioned(index))
		return shidx_get_options(index, width).distance;
	if (nparts > 1)
		return nparts * shidx_get_scheme(index)->blocks - 1;
	return shidx_get_scheme(index)->distance;
}
