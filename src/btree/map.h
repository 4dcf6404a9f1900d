/*-------------------------------------------------------------------------
 *
 * map.h
 *	  What a backend remembers of the inner pages of simhash indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_MAP_H
#define SIMHASH_BTREE_MAP_H

#include "postgres.h"

#include "btree/page.h"

/* the nodes of one index, and a copy of one inner page; see map.c */
typedef struct ShBtMap ShBtMap;
typedef struct ShBtNode ShBtNode;

/*
 * Where a page probably is.  Whoever goes there must look at its fences.
 *
 * The pointers are good as long as shbt_map_changes stays the same, and may be
 * followed no longer.
 */
typedef struct ShBtPlace
{
	BlockNumber block;
	int			level;
	Buffer	   *buffer;			/* where the page was last; or NULL */
	ShBtNode   *parent;			/* the node that has this; or NULL */
} ShBtPlace;

/* counts what invalidates the pointers into maps, and to maps */
extern uint64 shbt_map_changes;

extern ShBtMap *shbt_map_find(Relation index, int ntrees);
extern void shbt_map_forget(Relation index);
extern void shbt_map_locate(ShBtMap *map, int tree, ShBtKey key, ShBtPlace *place);
extern void shbt_map_note(const ShBtPlace *place, Buffer buffer);
extern int	shbt_map_expect(const ShBtPlace *place, uint64 fp);
extern bool shbt_map_is_full(void);
extern bool shbt_map_has_room(const ShBtNode *keep);
extern ShBtNode *shbt_map_add(Relation index, int ntrees, Page page, const ShBtPlace *place);
extern void shbt_map_child(ShBtNode *node, ShBtKey key, ShBtPlace *place);
extern void shbt_map_learn(ShBtPlace *place, Buffer buffer);
extern void shbt_map_remove(ShBtNode *node);

#endif							/* SIMHASH_BTREE_MAP_H */
