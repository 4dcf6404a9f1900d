/*-------------------------------------------------------------------------
 *
 * map.h
 *	  What a backend remembers of the inner pages of simhash indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_MAP_H
#define SIMHASH_BTREE_MAP_H

#include "btree/page.h"

/*
 * Where a page probably is.  Anyone who goes there must check its fences.
 *
 * It is a value, which may be kept: what it says of the copy that led to it is
 * compared with the copy before that is used.
 */
typedef struct ShBtPlace
{
	BlockNumber block;			/* or InvalidBlockNumber: not known */
	int			level;
	Buffer		buffer;			/* where the page was last seen; or InvalidBuffer */
	int			slot;			/* of the copy of its parent, or -1 */
	int			child;			/* its position there */
} ShBtPlace;

extern void shbt_map_forget(Relation index);
extern bool shbt_map_child(Relation index, int tree, ShBtKey key, ShBtPlace *place);
extern double shbt_map_count(Relation index, int tree, ShBtRoot root, ShBtKey low, ShBtKey high);
extern void shbt_map_note(const ShBtPlace *place, Buffer buffer);
extern int	shbt_map_expect(const ShBtPlace *place, ShPermuted fp);
extern bool shbt_map_has_room(Relation index, BlockNumber block);
extern bool shbt_map_may_replace(void);
extern void shbt_map_add(Relation index, BlockNumber block, Page page, ShBtKey key,
						 ShBtPlace *place);
extern void shbt_map_learn(ShBtPlace *place, Buffer buffer);
extern void shbt_map_remove(const ShBtPlace *place);

/* a place that no copy led to */
static inline ShBtPlace
shbt_make_place(BlockNumber block, int level, Buffer buffer)
{
	ShBtPlace	place = {block, level, buffer, -1, 0};

	return place;
}

#endif							/* SIMHASH_BTREE_MAP_H */
