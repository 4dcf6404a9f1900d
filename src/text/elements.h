/*-------------------------------------------------------------------------
 *
 * elements.h
 *	  Features that are passed as the elements of an array, and their hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_ELEMENTS_H
#define SIMHASH_TEXT_ELEMENTS_H

#include "postgres.h"

#include "utils/array.h"

/* messages of shtext_elements */
#define SHTEXT_NULL_FEATURE	gettext_noop("array of features must not contain nulls")
#define SHTEXT_NULL_WEIGHT	gettext_noop("array of weights must not contain nulls")

typedef uint64 (*ShTextElementHash) (Datum element);

extern int	shtext_elements(ArrayType *array, const char *message,
							Datum **elements);
extern uint64 shtext_element_hash_text(Datum element);
extern uint64 shtext_element_hash_bigint(Datum element);

#endif							/* SIMHASH_TEXT_ELEMENTS_H */
