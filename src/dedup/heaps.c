/*-------------------------------------------------------------------------
 *
 * heaps.c
 *	  The tables of a search, and numbers for their rows.
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

#include "dedup/open.h"
#include "index/index.h"

/* the most slices, for finding tables */
#define MAX_SLICES		4096

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
 * Make the array by which the table of a row is found.
 */
static void
list_slices(ShDupHeaps *heaps)
{
	int			nslices;
	int			number = 0;

	heaps->slice_shift = 0;
	while (heaps->nblocks >> heaps->slice_shift >= MAX_SLICES)
		heaps->slice_shift++;
	nslices = (heaps->nblocks >> heaps->slice_shift) + 2;
	heaps->slices = palloc(nslices * sizeof(int));
	for (int slice = 0; slice < nslices; slice++)
	{
		while (number < heaps->count - 1 &&
			   heaps->heaps[number].end_row <= (uint64) slice << heaps->slice_shift << 16)
			number++;
		heaps->slices[slice] = number;
	}
}

/*
 * Open the named indexes, with all partitions, for the current user, and
 * number the rows that the active snapshot sees.
 *
 * AccessShareLocks on all indexes and tables are kept until the end of the
 * transaction.  Reports errors as shdup_open_partitions does, and if the tables
 * cannot be searched together.
 */
void
shdup_heaps_open(ShDupHeaps *heaps, const Oid *indexes, int nindexes)
{
	Relation	first;
	int			width;
	int			next = 0;

	Assert(nindexes <= SHDUP_MAX_SIDES);
	heaps->count = 0;
	heaps->nsides = nindexes;
	for (int side = 0; side < nindexes; side++)
	{
		shdup_open_partitions(indexes[side], &heaps->sides[side]);
		heaps->count += heaps->sides[side].count;
	}

	heaps->heaps = palloc(heaps->count * sizeof(ShDupHeap));
	first = heaps->sides[0].named.index;
	width = shdup_wide_width(&heaps->sides[0]);
	for (int side = 0; side < nindexes; side++)
	{
		const ShDupPartitions *partitions = &heaps->sides[side];

		check_columns(first, partitions->named.index);
		check_class(first, partitions->named.index);
		check_width(first, width, partitions->named.index, shdup_wide_width(partitions));
		for (int i = 0; i < partitions->count; i++)
		{
			Relation	index = partitions->leaves[i].index;

			check_columns(first, index);
			check_class(first, index);
			check_width(first, width, index, shdup_width_of_wide(index));
			heaps->heaps[next].relation = partitions->leaves[i].heap;
			heaps->heaps[next].index = index;
			next++;
		}
	}
	number_rows(heaps);

	if (heaps->count > 1)
		list_slices(heaps);
	heaps->grouped = shidx_is_grouped(heaps->sides[0].named.index);
}

/*
 * The tables of one of the named indexes, for reading.  They belong to the
 * whole set, and must not be closed separately.
 */
ShDupHeaps
shdup_heaps_of_side(const ShDupHeaps *heaps, int side)
{
	ShDupHeaps	result = *heaps;

	for (int i = 0; i < side; i++)
		result.heaps += heaps->sides[i].count;
	result.count = heaps->sides[side].count;
	if (result.count > 1)
		list_slices(&result);
	return result;
}

void
shdup_heaps_close(ShDupHeaps *heaps)
{
	for (int side = 0; side < heaps->nsides; side++)
		shdup_close_partitions(&heaps->sides[side]);
	if (heaps->count > 1)
		pfree(heaps->slices);
	pfree(heaps->heaps);
}

/*
 * Find the table of a row, if there are several.
 */
const ShDupHeap *
shdup_find_heap(const ShDupHeaps *heaps, ShPairsRow row)
{
	uint64		number = row & SHIDX_MAX_TID;
	const int  *slice = &heaps->slices[number >> 16 >> heaps->slice_shift];
	int			low = slice[0];
	int			high = slice[1];

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
