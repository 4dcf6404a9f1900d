/*-------------------------------------------------------------------------
 *
 * group_keys.c
 *	  Finding the groups that a scan has to read, from conditions on the
 *	  columns before the fingerprint.
 *
 * Rows with other values can be in the same group, so all conditions on these
 * columns have to be rechecked with the row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "class/group.h"
#include "search/group_keys.h"
#include "type/simhash.h"

/* the values that a column can have, as hashes */
typedef struct ColumnValues
{
	bool		any;			/* nothing is known */
	int			count;
	uint64	   *hashes;			/* ascending, all different */
} ColumnValues;

#define ST_SORT sort_hashes
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort hashes, and keep only one of equal ones.  Returns how many there are then.
 */
static int
simplify(uint64 *hashes, int count)
{
	int			kept = 0;

	sort_hashes(hashes, count);
	for (int i = 0; i < count; i++)
	{
		if (kept == 0 || hashes[kept - 1] != hashes[i])
			hashes[kept++] = hashes[i];
	}
	return kept;
}

/* the group of all rows in an index of one column */
static const uint32 only_group = 0;
const ShFndGroups shfnd_only_group = {.all = false,.count = 1,.list = &only_group};

/*
 * Get the arguments of a scan key: one, or the elements of an array.  Returns how
 * many there are, without nulls, for which no operator is true.
 *
 * An array is taken apart in the current memory context.  The caller must not
 * change a single argument, which is that of the key.
 */
int
shfnd_key_arguments(ScanKey key, Datum **arguments)
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

	if (!shcls_find_hash(index, column, key->sk_subtype, &function))
		return false;
	narguments = shfnd_key_arguments(key, &arguments);
	values->count = 0;
	values->hashes = palloc(Max(narguments, 1) * sizeof(uint64));
	for (int i = 0; i < narguments; i++)
	{
		CHECK_FOR_INTERRUPTS();
		values->hashes[values->count++] = shcls_hash_value(index, column, &function,
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
		values->hashes[values->count++] = SHCLS_NULL_HASH;
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
	values->count = simplify(values->hashes, values->count);
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
list_groups(ShFndGroups *groups, const ColumnValues *values, int columns, int combinations)
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
		found[i] = shcls_group_of_hashes(hashes, columns);
	}

	groups->all = false;
	groups->count = simplify(found, combinations);
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
shfnd_read_group_keys(ShFndGroups *groups, Relation index, ScanKey keys, int nkeys)
{
	int			columns = shcls_fp_column(index);
	ColumnValues values[INDEX_MAX_KEYS];
	double		combinations = 1;
	bool		all = false;

	*groups = shfnd_only_group;
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
	else if (all || combinations > SHFND_MAX_GROUPS)
		groups->all = true;
	else
		list_groups(groups, values, columns, (int) combinations);
}
