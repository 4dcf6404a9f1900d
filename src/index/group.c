/*-------------------------------------------------------------------------
 *
 * group.c
 *	  Groups, which are hashes of the columns before the fingerprint, and the groups
 *	  that a scan has to read.
 *
 * These columns are compared for equality only.  So an entry has just a hash of
 * them, its group.  Rows with equal columns have the same group.  Rows with other
 * values can have it as well, so all conditions on these columns are rechecked with
 * the row.
 *
 * Values that are equal must have the same hash.  Under a nondeterministic
 * collation the server's own functions for names and blank-padded strings do
 * not see to that.  Ours hash the text that the server compares.
 *
 * If each of these columns is compared for equality, a scan reads the groups of all
 * combinations of the values that the keys allow.  Otherwise it reads all groups, or goes from
 * one to the next to look for a ball in each (balls.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "index/group.h"
#include "index/page.h"
#include "index/sort.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_hash_bpchar);
PG_FUNCTION_INFO_V1(simhash_hash_name);

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

/* the values that a column can have, as hashes */
typedef struct ColumnValues
{
	bool		any;			/* nothing is known */
	int			count;
	uint64	   *hashes;			/* ascending, all different */
} ColumnValues;

/*
 * Sort hashes, and keep only one of equal ones.  Returns how many there are then.
 */
static int
simplify_groups(uint64 *hashes, int count)
{
	int			kept = 0;

	shidx_sort_numbers(hashes, count);
	for (int i = 0; i < count; i++)
	{
		if (kept == 0 || hashes[kept - 1] != hashes[i])
			hashes[kept++] = hashes[i];
	}
	return kept;
}

/* the group of all rows in an index of one column */
static const uint32 only_group = 0;
const ShIdxGroups shidx_only_group = {.all = false,.count = 1,.list = &only_group};

/*
 * Get the arguments of a scan key: one, or the elements of an array.  Returns how
 * many there are, without nulls, for which no operator is true.
 *
 * An array is taken apart in the current memory context.  The caller must not
 * change a single argument, which is that of the key.
 */
int
shidx_key_arguments(ScanKey key, Datum **arguments)
{
	ArrayType  *array;
	bool	   *nulls;
	int			nelements;
	int16		length;
	bool		by_value;
	char		alignment;
	int			count = 0;

	if ((key->sk_flags & SK_SEARCHARRAY) == 0)
	{
		*arguments = &key->sk_argument;
		return 1;
	}
	array = DatumGetArrayTypeP(key->sk_argument);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment,
					  arguments, &nulls, &nelements);
	for (int i = 0; i < nelements; i++)
	{
		if (!nulls[i])
			(*arguments)[count++] = (*arguments)[i];
	}
	return count;
}

/*
 * Get the hashes of the values that an equality key allows.  Returns false if
 * they are unknown.
 */
static bool
hash_argument(Relation index, ScanKey key, ColumnValues *values)
{
	int			column = key->sk_attno - 1;
	FmgrInfo	function;
	Datum	   *arguments;
	int			narguments;

	if (!shidx_find_hash(index, column, key->sk_subtype, &function))
		return false;
	narguments = shidx_key_arguments(key, &arguments);
	values->count = 0;
	values->hashes = palloc(Max(narguments, 1) * sizeof(uint64));
	for (int i = 0; i < narguments; i++)
	{
		CHECK_FOR_INTERRUPTS();
		values->hashes[values->count++] = shidx_hash_value(index, column, &function,
														   arguments[i]);
	}
	return true;
}

/*
 * The values that a key allows, without duplicates.
 */
static void
read_key(Relation index, ScanKey key, ColumnValues *values)
{
	values->any = false;
	values->count = 0;
	values->hashes = NULL;
	if (key->sk_flags & SK_SEARCHNULL)
	{
		values->hashes = palloc(sizeof(uint64));
		values->hashes[values->count++] = SHIDX_NULL_HASH;
		return;
	}
	if (key->sk_flags & SK_SEARCHNOTNULL)
	{
		values->any = true;
		return;
	}
	if (key->sk_flags & SK_ISNULL)
		return;					/* the operators are strict */
	if (key->sk_strategy != SIMHASH_STRATEGY_EQUAL || !hash_argument(index, key, values))
	{
		values->any = true;
		return;
	}
	values->count = simplify_groups(values->hashes, values->count);
}

/*
 * Remove from *values what is not in *others.
 */
static void
intersect(ColumnValues *values, const ColumnValues *others)
{
	int			kept = 0;
	int			other = 0;

	if (others->any)
		return;
	if (values->any)
	{
		*values = *others;
		return;
	}
	for (int i = 0; i < values->count; i++)
	{
		while (other < others->count && others->hashes[other] < values->hashes[i])
			other++;
		if (other < others->count && others->hashes[other] == values->hashes[i])
			values->hashes[kept++] = values->hashes[i];
	}
	values->count = kept;
}

/*
 * List the groups of all combinations of the columns' values.
 */
static void
list_groups(ShIdxGroups *groups, const ColumnValues *values, int columns, int combinations)
{
	uint64	   *found = palloc(combinations * sizeof(uint64));
	uint32	   *list;
	uint64		hashes[INDEX_MAX_KEYS];

	for (int i = 0; i < combinations; i++)
	{
		int			rest = i;

		for (int c = 0; c < columns; c++)
		{
			hashes[c] = values[c].hashes[rest % values[c].count];
			rest /= values[c].count;
		}
		found[i] = shidx_group_of_hashes(hashes, columns);
	}

	groups->all = false;
	groups->count = simplify_groups(found, combinations);
	groups->list = list = palloc(groups->count * sizeof(uint32));
	for (int i = 0; i < groups->count; i++)
		list[i] = (uint32) found[i];
	pfree(found);
}

/*
 * Find the groups that a scan with these keys has to read.  Keys on the
 * fingerprint are ignored.
 *
 * Allocates in the current memory context.
 */
void
shidx_read_group_keys(ShIdxGroups *groups, Relation index, ScanKey keys, int nkeys)
{
	int			columns = shidx_fp_column(index);
	ColumnValues values[INDEX_MAX_KEYS];
	double		combinations = 1;
	bool		all = false;

	*groups = shidx_only_group;
	if (columns == 0)
		return;
	for (int c = 0; c < columns; c++)
		values[c].any = true;
	for (int i = 0; i < nkeys; i++)
	{
		ColumnValues allowed;

		if (keys[i].sk_attno > columns)
			continue;
		read_key(index, &keys[i], &allowed);
		intersect(&values[keys[i].sk_attno - 1], &allowed);
	}

	/* if a column has no possible value, the others do not matter */
	for (int c = 0; c < columns; c++)
	{
		if (values[c].any)
			all = true;
		else
			combinations *= values[c].count;
	}
	if (combinations == 0)
		groups->count = 0;
	else if (all || combinations > SHIDX_MAX_GROUPS)
		groups->all = true;
	else
		list_groups(groups, values, columns, (int) combinations);
}
