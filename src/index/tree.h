/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  Trees: finding their pages, walking over them, and changing them.
 *
 * A search begins at a place, where a page is expected to be.  Places come from the
 * metapage and from copies of inner pages (cache.h), or from a link that has just
 * been read.
 *
 * What this declares is defined in split.c, tree.c and walk.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_TREE_H
#define SIMHASH_INDEX_TREE_H

#include "utils/snapshot.h"

#include "index/cache.h"
#include "index/page.h"

/* a search that will follow, and the place of its leaf, which is found here */
typedef struct ShIdxAim
{
	int			tree;
	ShIdxKey	key;
	ShPermuted	last;			/* fingerprint up to which entries are wanted */
	ShIdxPlace	place;
} ShIdxAim;

/* tree.c: going from page to page to what is searched for */
extern ShIdxPlace shidx_place_of_root(Relation index, int tree);
extern Buffer shidx_read_right(Relation index, Buffer buffer, BlockNumber right,
							   ShIdxKey high, int tree, int level, int lockmode);
extern Buffer shidx_search(Relation index, int tree, int level, ShIdxKey key, int lockmode);
extern Buffer shidx_leaf(Relation index, int tree, ShIdxKey key, ShIdxPlace *place, int lockmode);
extern bool shidx_has_entry(Relation index, int tree, ShIdxKey key, bool *dead);
extern bool shidx_pin_entry(Relation index, ShIdxKey key,
							Snapshot snapshot, Buffer *pin);
extern void shidx_look_ahead(Relation index, int naims, ShIdxAim *aims);
extern void shidx_read_ahead(Relation index, int naims, ShIdxAim *aims);

/* a walk over the pages of a level, from left to right */
typedef struct ShIdxWalk
{
	Relation	index;
	int			tree;
	int			level;
	BlockNumber block;			/* of the current page */
	bool		search;			/* the next page is searched for, by */
	ShIdxKey	start;			/* this key */
	PGAlignedBlock page;		/* copy of the current page */
} ShIdxWalk;

/* pages with their low fences; all zeros is the empty list */
typedef struct ShIdxPageList
{
	ShIdxKey   *lows;
	BlockNumber *blocks;
	size_t		count;
	size_t		capacity;
} ShIdxPageList;

/* walk.c */
extern void shidx_list_add(ShIdxPageList *list, ShIdxKey low, BlockNumber block);
extern void shidx_list_free(ShIdxPageList *list);
extern void shidx_walk_start(ShIdxWalk *walk, Relation index, int tree, int level);
extern void shidx_walk_seek(ShIdxWalk *walk, ShIdxKey key);
extern bool shidx_walk_next(ShIdxWalk *walk);

/* most leaves that one record can change */
#define SHIDX_MAX_APPEND	MAX_GENERIC_XLOG_PAGES

/* split.c: adding entries, splitting pages, rewriting leaves */
extern void shidx_append(Relation index, int nleaves, const Buffer *leaves,
						 const ShIdxKey *keys);
extern void shidx_remove(Relation index, Buffer leaf, const uint16 *positions, int count);
extern void shidx_make_room(Relation index, int tree, int level, ShIdxKey key,
							int fillfactor);

#endif							/* SIMHASH_INDEX_TREE_H */
