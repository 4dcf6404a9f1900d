/*-------------------------------------------------------------------------
 *
 * elements.c
 *	  Features that are passed as the elements of an array, and their hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"

#include "compat.h"
#include "text/elements.h"
#include "text/encoding.h"

/*
 * The elements of an array of any number of dimensions, whose type is text or
 * one of 8 bytes; returns how many.
 *
 * Raises ERRCODE_NULL_VALUE_NOT_ALLOWED, with a message that has not been
 * translated yet, if one of them is null.
 */
int
shtext_elements(ArrayType *array, const char *message, Datum **elements)
{
	bool		by_value = ARR_ELEMTYPE(array) != TEXTOID;
	int			nelements;

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg_internal("%s", _(message))));
	deconstruct_array(array, ARR_ELEMTYPE(array),
					  by_value ? 8 : -1, by_value,
					  by_value ? TYPALIGN_DOUBLE : TYPALIGN_INT,
					  elements, NULL, &nelements);
	return nelements;
}

/*
 * The hash of a feature that is a text.
 */
uint64
shtext_element_hash_text(Datum element)
{
	text	   *feature = DatumGetTextPP(element);

	return shtext_hash_converted(VARDATA_ANY(feature),
								 VARSIZE_ANY_EXHDR(feature));
}

/*
 * The hash of a feature that is passed as a hash.
 */
uint64
shtext_element_hash_bigint(Datum element)
{
	return (uint64) DatumGetInt64(element);
}
