/*-------------------------------------------------------------------------
 *
 * radix.h
 *	  Sorting integers, and pairs of them, in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SORT_RADIX_H
#define SIMHASH_SORT_RADIX_H

#include "bits/scheme.h"
#include "sort/items.h"

/* the bits in which items differ from each other */
typedef struct ShSortVarying
{
	uint32		groups;
	uint64		keys;
	uint64		values;
} ShSortVarying;

extern ShSortVarying shsort_varying(ShSortItems items, size_t count);
extern void shsort_radix(ShSortItem *items, ShSortItem *sorted, size_t count);
extern void shsort_radix_table(ShSortItems rows, ShSortItems sorted, size_t count,
							   const ShBitsTable *table, ShSortVarying varying);
extern void shsort_numbers(uint64 *numbers, size_t count);

#endif							/* SIMHASH_SORT_RADIX_H */
