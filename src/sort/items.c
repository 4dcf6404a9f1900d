/*-------------------------------------------------------------------------
 *
 * items.c
 *	  Items to sort: pairs of integers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "sort/items.h"

/*
 * Allocate memory for items, with groups if grouped.
 */
ShSortItems
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
void
shsort_free_items(ShSortItems *items)
{
	if (items->items != NULL)
		pfree(items->items);
	if (items->groups != NULL)
		pfree(items->groups);
	items->items = NULL;
	items->groups = NULL;
}
