/*-------------------------------------------------------------------------
 *
 * walk.h
 *	  The pages of a level, from left to right: walking over them, and listing them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_WALK_H
#define SIMHASH_BTREE_WALK_H

#include "btree/page.h"

typedef struct ShBtWalk
{
	Relation	index;
	int			tree;
	int			level;
	BlockNumber block;			/* of the current page */
	bool		search;			/* the next page is searched for, by */
	ShBtKey		start;			/* this key */
	PGAlignedBlock page;		/* copy of the current page */
} ShBtWalk;

/* pages with their low fences; all zeros is the empty list */
typedef struct ShBtPageList
{
	ShBtKey    *lows;
	BlockNumber *blocks;
	size_t		count;
	size_t		capacity;
} ShBtPageList;

extern void shbt_list_add(ShBtPageList *list, ShBtKey low, BlockNumber block);
extern void shbt_list_free(ShBtPageList *list);
extern void shbt_walk_start(ShBtWalk *walk, Relation index, int tree, int level);
extern void shbt_walk_seek(ShBtWalk *walk, ShBtKey key);
extern bool shbt_walk_next(ShBtWalk *walk);

#endif							/* SIMHASH_BTREE_WALK_H */
