/*-------------------------------------------------------------------------
 *
 * radix.h
 *	  Sorting pairs of integers in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SORT_RADIX_H
#define SIMHASH_SORT_RADIX_H

#include "postgres.h"

/* sorted by key, and by value where keys are equal */
typedef struct ShSortItem
{
	uint64		key;
	uint64		value;
} ShSortItem;

static inline ShSortItem
shsort_item(uint64 key, uint64 value)
{
	ShSortItem	item;

	item.key = key;
	item.value = value;
	return item;
}

static inline bool
shsort_item_less(ShSortItem a, ShSortItem b)
{
	return a.key < b.key || (a.key == b.key && a.value < b.value);
}

extern void shsort_radix(ShSortItem *items, ShSortItem *sorted, size_t count);

#endif							/* SIMHASH_SORT_RADIX_H */
