/*-------------------------------------------------------------------------
 *
 * arguments.c
 *	  What a scan key compares a column with.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/lsyscache.h"

#include "search/arguments.h"

/*
 * Get the arguments of a scan key: one, or the elements of an array.  Returns how
 * many there are, without nulls, for which no operator is true.
 *
 * An array is taken apart in the current memory context.  The caller must not
 * change a single argument, which is that of the key.
 */
int
shfnd_get_arguments(ScanKey key, Datum **arguments)
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
