/*-------------------------------------------------------------------------
 *
 * group.c
 *	  Groups: what keys store of the columns before the fingerprint.
 *
 * These columns are compared for equality only.  So an entry has just a hash
 * of them, its group.  Rows with equal columns have the same group, and
 * whether rows of the same group have equal columns is checked with the rows.
 *
 * Values that are equal must have the same hash.  Under a nondeterministic
 * collation the server's own functions for names and blank-padded strings do
 * not see to that.  Ours hash the text which the server compares.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "class/group.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(simhash_hash_bpchar);
PG_FUNCTION_INFO_V1(simhash_hash_name);

/* tests build with fewer bits, to make groups collide */
#ifndef SHCLS_GROUP_BITS
#define SHCLS_GROUP_BITS	32
#endif

/*
 * The group of a row whose columns before the fingerprint have these hashes,
 * with SHCLS_NULL_HASH for a null.  0 if there are no such columns.
 */
uint32
shcls_group_of_hashes(const uint64 *hashes, int columns)
{
	uint64		hash = 0;

	if (columns == 0)
		return 0;
	for (int i = 0; i < columns; i++)
		hash = hash_combine64(hash, hashes[i]);
	return (uint32) (hash >> (64 - SHCLS_GROUP_BITS));
}

/*
 * Hash a value of a column, with the hash function of its own type or the
 * function that shcls_find_hash has found for another type.
 */
uint64
shcls_hash_value(Relation index, int column, FmgrInfo *function, Datum value)
{
	return DatumGetUInt64(FunctionCall2Coll(function, index->rd_indcollation[column],
											value, UInt64GetDatum(0)));
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
shcls_find_hash(Relation index, int column, Oid type, FmgrInfo *function)
{
	RegProcedure proc;

	if (!OidIsValid(type) || type == index->rd_opcintype[column])
	{
		fmgr_info_copy(function, index_getprocinfo(index, column + 1, SHCLS_HASH_PROC),
					   CurrentMemoryContext);
		return true;
	}
	proc = get_opfamily_proc(index->rd_opfamily[column], type, type, SHCLS_HASH_PROC);
	if (!OidIsValid(proc))
		return false;
	fmgr_info(proc, function);
	return true;
}

/*
 * Hash a string with the collation and the seed of a call.
 */
static Datum
hash_string(FunctionCallInfo fcinfo, const char *string, int length)
{
	text	   *value = cstring_to_text_with_len(string, length);
	Datum		hash = DirectFunctionCall2Coll(hashtextextended, PG_GET_COLLATION(),
											   PointerGetDatum(value), PG_GETARG_DATUM(1));

	pfree(value);
	return hash;
}

/*
 * simhash_hash_bpchar(character, bigint) -> bigint
 *
 * Trailing blanks do not count in a comparison, but under a nondeterministic
 * collation hashbpcharextended of server version 15 hashes them.
 */
Datum
simhash_hash_bpchar(PG_FUNCTION_ARGS)
{
	BpChar	   *value = PG_GETARG_BPCHAR_PP(0);
	char	   *string = VARDATA_ANY(value);
	Datum		hash = hash_string(fcinfo, string, bpchartruelen(string, VARSIZE_ANY_EXHDR(value)));

	PG_FREE_IF_COPY(value, 0);
	return hash;
}

/*
 * simhash_hash_name(name, bigint) -> bigint
 *
 * The server's hashnameextended ignores the collation, so that under a
 * nondeterministic collation a name would have another hash than the texts that
 * are equal to it.
 */
Datum
simhash_hash_name(PG_FUNCTION_ARGS)
{
	const char *string = NameStr(*PG_GETARG_NAME(0));

	return hash_string(fcinfo, string, strlen(string));
}
