/*-------------------------------------------------------------------------
 *
 * pagelist.h
 *	  The pages of a level of a tree, in order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSPECT_PAGELIST_H
#define SIMHASH_INSPECT_PAGELIST_H

#include "postgres.h"

#include "btree/page.h"

/* all zeros is the empty list */
typedef struct ShInspPageList
{
	ShBtKey    *lows;			/* low fences */
	BlockNumber *blocks;
	size_t		count;
	size_t		capacity;
} ShInspPageList;

extern void shinsp_pagelist_add(ShInspPageList *level, ShBtKey low, BlockNumber block);
extern void shinsp_pagelist_free(ShInspPageList *level);

#endif							/* SIMHASH_INSPECT_PAGELIST_H */
