/*-------------------------------------------------------------------------
 *
 * group.c
 *	  Groups: what keys store of the columns before the fingerprint.
 *
 * These columns are compared for equality only.  So an entry has just a hash
 * of them, its group.  Rows with equal columns have the same group, and
 * whether rows of the same group have equal columns is checked with the rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/lsyscache.h"

#include "index/am.h"
#include "index/group.h"

/* tests build with fewer bits, to make groups collide */
#ifndef SHIDX_GROUP_BITS
#define SHIDX_GROUP_BITS	32
#endif

/*
 * The group of a row whose columns before the fingerprint have these hashes,
 * with SHIDX_NULL_HASH for a null.  0 if there are no such columns.
 */
uint32
shidx_group_of_hashes(const uint64 *hashes, int columns)
{
	uint64		hash = 0;

	if (columns == 0)
		return 0;
	for (int i = 0; i < columns; i++)
		hash = hash_combine64(hash, hashes[i]);
	return (uint32) (hash >> (64 - SHIDX_GROUP_BITS));
}

/*
 * Hash a value of a column, with the hash function of its own type or the
 * function that shidx_find_hash has found for another type.
 */
uint64
shidx_hash_value(Relation index, int column, FmgrInfo *function, Datum value)
{
	return DatumGetUInt64(FunctionCall2Coll(function, index->rd_indcollation[column],
											value, UInt64GetDatum(0)));
}

/*
 * The group of a row with these values in the columns of an index.  0 in an
 * index of one column.
 */
uint32
shidx_group_of_row(Relation index, const Datum *values, const bool *isnull)
{
	int			columns = shidx_fp_column(index);
	uint64		hashes[INDEX_MAX_KEYS];

	for (int i = 0; i < columns; i++)
		hashes[i] = isnull[i] ? SHIDX_NULL_HASH :
			shidx_hash_value(index, i, index_getprocinfo(index, i + 1, SHIDX_HASH_PROC),
							 values[i]);
	return shidx_group_of_hashes(hashes, columns);
}

/*
 * Find the function that hashes values of a type with which a column is
 * compared.  InvalidOid stands for the column's own type.  Returns false if the
 * operator family has none.
 *
 * Allocates in the current memory context, which must live as long as
 * *function.
 */
bool
shidx_find_hash(Relation index, int column, Oid type, FmgrInfo *function)
{
	RegProcedure proc;

	if (!OidIsValid(type) || type == index->rd_opcintype[column])
	{
		fmgr_info_copy(function, index_getprocinfo(index, column + 1, SHIDX_HASH_PROC),
					   CurrentMemoryContext);
		return true;
	}
	proc = get_opfamily_proc(index->rd_opfamily[column], type, type, SHIDX_HASH_PROC);
	if (!OidIsValid(proc))
		return false;
	fmgr_info(proc, function);
	return true;
}
