/*-------------------------------------------------------------------------
 *
 * query_texts.h
 *	  Texts of an array that are searched for in an index of bands.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_QUERY_TEXTS_H
#define SIMHASH_DEDUP_QUERY_TEXTS_H

#include "utils/array.h"

#include "dedup/heaps.h"
#include "pairs/finder.h"

extern Datum *shdup_query_texts(const ShDupHeaps *heaps, int nbands, ArrayType *array,
								ShPairsInput *input);

#endif							/* SIMHASH_DEDUP_QUERY_TEXTS_H */
