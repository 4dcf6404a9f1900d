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

/* all nodes of one index, and the copy of one inner page; see map.c */
typedef struct ShBtMap ShBtMap;
typedef struct ShBtNode ShBtNode;

/*
 * Where a page probably is.  Anyone who goes there must check its fences.
 *
 * The pointers are valid as long as shbt_map_changes stays the same, and must
 * not be followed after that.
 */
typedef struct ShBtPlace
{
	BlockNumber block;
	int			level;
	Buffer	   *buffer;			/* where the page was last seen; or NULL */
	ShBtNode   *parent;			/* the node that contains *buffer; or NULL */
} ShBtPlace;

/* counts changes that invalidate pointers to maps and into maps */
extern uint64 shbt_map_changes;

extern ShBtMap *shbt_map_find(Relation index, int ntrees);
extern void shbt_map_forget(Relation index);
extern void shbt_map_locate(ShBtMap *map, int tree, ShBtKey key, ShBtPlace *place);
extern double shbt_map_count(const ShBtMap *map, int tree, BlockNumber root, ShBtKey low,
							 ShBtKey high);
extern void shbt_map_note(const ShBtPlace *place, Buffer buffer);
extern int	shbt_map_expect(const ShBtPlace *place, ShPermuted fp);
extern bool shbt_map_is_full(void);
extern bool shbt_map_has_room(const ShBtNode *keep);
extern ShBtNode *shbt_map_add(Relation index, int ntrees, Page page, const ShBtPlace *place);
extern void shbt_map_child(ShBtNode *node, ShBtKey key, ShBtPlace *place);
extern void shbt_map_learn(ShBtPlace *place, Buffer buffer);
extern void shbt_map_remove(ShBtNode *node);

#endif							/* SIMHASH_BTREE_MAP_H */
