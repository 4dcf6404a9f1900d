/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  Trees: finding their pages, walking over them, and changing them.
 *
 * A search begins at a place, where a page is expected to be.  Places come from the
 * metapage (cache.c), from copies of inner pages (map.c), or from a link that has just
 * been read, and leaves can be located before they are searched (ahead.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_TREE_H
#define SIMHASH_INDEX_TREE_H

#include "access/stratnum.h"
#include "utils/snapshot.h"

#include "index/page.h"

/*
 * Where a page probably is.  Anyone who goes there must check its fences.
 *
 * It is a value, which may be kept: what it says of the copy that led to it is
 * compared with the copy before that is used.
 */
typedef struct ShIdxPlace
{
	BlockNumber block;			/* or InvalidBlockNumber: not known */
	int			level;
	Buffer		buffer;			/* where the page was last seen; or
								 * InvalidBuffer */
	int			slot;			/* of the copy of its parent, or -1 */
	int			child;			/* its position there */
} ShIdxPlace;

/* a place that no copy led to */
static inline ShIdxPlace
shidx_make_place(BlockNumber block, int level, Buffer buffer)
{
	ShIdxPlace	place = {block, level, buffer, -1, 0};

	return place;
}

/* a root, as a backend remembers it */
typedef struct ShIdxTreeCache
{
	ShIdxRoot	root;			/* may be out of date */
	Buffer		buffer;			/* where the root was last seen */
} ShIdxTreeCache;

/*
 * What a backend remembers of an index in rd_amcache: the metapage.  See cache.c.
 */
typedef struct ShIdxCache
{
	ShIdxGeometry geometry;
	BlockNumber nblocks;		/* the index has at least this many */
	uint32		recent_reads;

	/* such a key of a scan can be read; no strategy: none is known */
	StrategyNumber checked_strategy;
	Oid			checked_type;
	bool		checked_orders;

	/* see shidx_count_groups */
	double		groups_per_leaf;
	double		counted_leaves; /* of a table then; 0: nothing is counted */

	ShIdxTreeCache trees[FLEXIBLE_ARRAY_MEMBER];
} ShIdxCache;

/* cache.c */
extern ShIdxCache *shidx_read_cache(Relation index);
extern void shidx_forget_metapage(Relation index);
extern void shidx_forget_cache(Relation index);
extern void shidx_check_metapage(Relation index, Buffer buffer);
extern bool shidx_is_block(Relation index, BlockNumber block);
extern void shidx_check_link(Relation index, BlockNumber block);
extern ShIdxGeometry *shidx_get_geometry(Relation index);
extern ShBitsScheme *shidx_get_scheme(Relation index);
extern ShIdxPlace shidx_place_of_root(Relation index, int tree);
extern ShIdxPlace shidx_locate(Relation index, int tree, ShIdxKey key);
extern Buffer shidx_read_place(Relation index, const ShIdxPlace *place);

/*
 * What this backend remembers of the index, reading the metapage if need be.
 *
 * The result is valid until the next relcache invalidation can be processed,
 * that is, until the caller locks a relation or accesses a catalog.  Takes and
 * releases a share lock on the metapage if it has to read it.
 */
static inline ShIdxCache *
shidx_get_cache(Relation index)
{
	return likely(index->rd_amcache != NULL) ? (ShIdxCache *) index->rd_amcache :
		shidx_read_cache(index);
}

/* map.c: copies of the inner pages of all indexes */
extern void shidx_map_forget(Relation index);
extern bool shidx_map_child(Relation index, int tree, ShIdxKey key, ShIdxPlace *place);
extern double shidx_map_count(Relation index, ShIdxRoot root, ShIdxKey low, ShIdxKey high);
extern void shidx_map_note(const ShIdxPlace *place, Buffer buffer);
extern int	shidx_map_expect(const ShIdxPlace *place, ShPermuted fp);
extern bool shidx_map_has_room(Relation index, BlockNumber block);
extern bool shidx_map_may_replace(void);
extern void shidx_map_add(Relation index, BlockNumber block, Page page, ShIdxKey key,
						  ShIdxPlace *place);
extern void shidx_map_learn(ShIdxPlace *place, Buffer buffer);
extern void shidx_map_remove(const ShIdxPlace *place);

/* tree.c: going from page to page to what is searched for */
extern Buffer shidx_read_right(Relation index, Buffer buffer, BlockNumber right,
							   ShIdxKey high, int tree, int level, int lockmode);
extern Buffer shidx_visit(Relation index, int tree, ShIdxKey key, ShIdxPlace *place,
						  bool linked, int lockmode);
extern void shidx_go_to_child(Relation index, ShIdxKey key, ShIdxPlace *place,
							  Buffer buffer, bool remember);
extern Buffer shidx_search(Relation index, int tree, int level, ShIdxKey key, int lockmode);
extern Buffer shidx_search_at(Relation index, int tree, ShIdxKey key, ShIdxPlace *place,
							  int lockmode);
extern bool shidx_has_entry(Relation index, int tree, ShIdxKey key, bool *dead);
extern bool shidx_pin_entry(Relation index, ShIdxKey key,
							Snapshot snapshot, Buffer *pin);

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

/* a search that will follow, and the place of its leaf, which is found here */
typedef struct ShIdxAim
{
	int			tree;
	ShIdxKey	key;
	ShPermuted	last;			/* fingerprint up to which entries are wanted */
	ShIdxPlace	place;
} ShIdxAim;

/* ahead.c: prefetching leaves before they are searched */
extern void shidx_look_ahead(Relation index, int naims, ShIdxAim *aims);
extern void shidx_read_ahead(Relation index, int naims, ShIdxAim *aims);

#endif							/* SIMHASH_INDEX_TREE_H */
