/*-------------------------------------------------------------------------
 *
 * pagelist.c
 *	  The pages of a level of a tree, in order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "inspect/pagelist.h"

/*
 * Add a page at the end.  Memory comes from the current context.
 */
void
shinsp_pagelist_add(ShInspPageList *level, ShBtKey low, BlockNumber block)
{
	if (level->capacity == 0)
	{
		level->capacity = 64;
		level->lows = palloc(level->capacity * sizeof(ShBtKey));
		level->blocks = palloc(level->capacity * sizeof(BlockNumber));
	}
	else if (level->count == level->capacity)
	{
		level->capacity *= 2;
		level->lows = repalloc_huge(level->lows, level->capacity * sizeof(ShBtKey));
		level->blocks = repalloc_huge(level->blocks, level->capacity * sizeof(BlockNumber));
	}
	level->lows[level->count] = low;
	level->blocks[level->count] = block;
	level->count++;
}

/*
 * Free the list and make it empty.
 */
void
shinsp_pagelist_free(ShInspPageList *level)
{
	if (level->capacity > 0)
	{
		pfree(level->lows);
		pfree(level->blocks);
	}
	memset(level, 0, sizeof(*level));
}
