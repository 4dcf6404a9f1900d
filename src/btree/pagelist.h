/*-------------------------------------------------------------------------
 *
 * pagelist.h
 *	  The pages of a level of a tree, in order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_PAGELIST_H
#define SIMHASH_BTREE_PAGELIST_H

#include "postgres.h"

#include "btree/page.h"

/* all zeros is the empty list */
typedef struct ShBtPageList
{
	ShBtKey    *lows;			/* low fences */
	BlockNumber *blocks;
	size_t		count;
	size_t		capacity;
} ShBtPageList;

extern void shbt_pagelist_add(ShBtPageList *level, ShBtKey low, BlockNumber block);
extern void shbt_pagelist_free(ShBtPageList *level);

#endif							/* SIMHASH_BTREE_PAGELIST_H */
