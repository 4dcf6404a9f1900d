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

#include "bits/scheme.h"

/* sorted by key, and by value where keys are equal */
typedef struct ShSortItem
{
	uint64		key;
	uint64		value;
} ShSortItem;

/*
 * Items that may have groups, by which they are then sorted first: those of
 * items[i] is groups[i].  groups is NULL where there are none.
 */
typedef struct ShSortItems
{
	ShSortItem *items;
	uint32	   *groups;
} ShSortItems;

/* in which bits items differ from each other */
typedef struct ShSortVarying
{
	uint32		groups;
	uint64		keys;
	uint64		values;
} ShSortVarying;

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

/* the items from the i-th on */
static inline ShSortItems
shsort_items_from(ShSortItems items, size_t i)
{
	items.items += i;
	if (items.groups != NULL)
		items.groups += i;
	return items;
}

static inline uint32
shsort_group(ShSortItems items, size_t i)
{
	return items.groups != NULL ? items.groups[i] : 0;
}

extern ShSortVarying shsort_varying(ShSortItems items, size_t count);
extern void shsort_radix(ShSortItem *items, ShSortItem *sorted, size_t count);
extern void shsort_radix_table(ShSortItems rows, ShSortItems sorted, size_t count,
							   const ShBitsTable *table, ShSortVarying varying);

#endif							/* SIMHASH_SORT_RADIX_H */
