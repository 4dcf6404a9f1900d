/*-------------------------------------------------------------------------
 *
 * radix.h
 *	  Sorting integers, and pairs of them, in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SORT_RADIX_H
#define SIMHASH_SORT_RADIX_H

#include "utils/memutils.h"

#include "bits/scheme.h"

/* sorted by key, and by value where keys are equal */
typedef struct ShSortItem
{
	uint64		key;
	uint64		value;
} ShSortItem;

/*
 * Items that may have groups, by which they are sorted first: the group of
 * items[i] is groups[i].  groups is NULL if there are none.
 */
typedef struct ShSortItems
{
	ShSortItem *items;
	uint32	   *groups;
} ShSortItems;

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

/* the same for items with groups */
static inline bool
shsort_grouped_less(ShSortItem a, uint32 group_a, ShSortItem b, uint32 group_b)
{
	return group_a < group_b || (group_a == group_b && shsort_item_less(a, b));
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

/*
 * Allocate memory for items, with groups if grouped.
 */
static inline ShSortItems
shsort_allocate_items(MemoryContext context, size_t count, bool grouped)
{
	ShSortItems items = {NULL, NULL};

	items.items = MemoryContextAllocHuge(context, count * sizeof(ShSortItem));
	if (grouped)
		items.groups = MemoryContextAllocHuge(context, count * sizeof(uint32));
	return items;
}

/*
 * Free their memory, if there is any.
 */
static inline void
shsort_free_items(ShSortItems *items)
{
	if (items->items != NULL)
		pfree(items->items);
	if (items->groups != NULL)
		pfree(items->groups);
	items->items = NULL;
	items->groups = NULL;
}

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
