/*-------------------------------------------------------------------------
 *
 * group.c
 *	  What the columns before the fingerprint become in a key.
 *
 * They are compared for equality, and nothing else.  So an entry has only a
 * hash of them, its group: rows with equal columns have the same group, and
 * what two rows of the same group have is compared in the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "common/hashfn.h"
#include "fmgr.h"

#include "index/am.h"
#include "index/group.h"

/* build with fewer bits to have collisions of groups, for tests */
#ifndef SHIDX_GROUP_BITS
#define SHIDX_GROUP_BITS	32
#endif

/* in place of the hash of a null */
#define NULL_HASH	UINT64CONST(0x6E756C6C)

/*
 * The group of a row with these values in the columns of an index.  0 in an
 * index of one column.
 */
uint32
shidx_group_of_row(Relation index, const Datum *values, const bool *isnull)
{
	int			columns = shidx_fp_column(index);
	uint64		hash = 0;

	if (columns == 0)
		return 0;
	for (int i = 0; i < columns; i++)
	{
		uint64		column = NULL_HASH;

		if (!isnull[i])
			column = DatumGetUInt64(FunctionCall2Coll(index_getprocinfo(index, i + 1, SHIDX_HASH_PROC),
													  index->rd_indcollation[i],
													  values[i], UInt64GetDatum(0)));
		hash = hash_combine64(hash, column);
	}
	return (uint32) (hash >> (64 - SHIDX_GROUP_BITS));
}
