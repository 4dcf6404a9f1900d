/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  What a backend remembers of indexes: the metapage, and copies of inner pages.
 *
 * What this declares is defined in cache.c and map.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_CACHE_H
#define SIMHASH_INDEX_CACHE_H

#include "access/stratnum.h"

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

	/*
	 * A scan key with this strategy, type and purpose has passed
	 * shidx_check_key; 0 if none has.
	 */
	StrategyNumber checked_strategy;
	Oid			checked_type;
	bool		checked_orders;

	/* see plan.c */
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

/*
 * What this backend remembers of the index, reading the metapage if need be.
 *
 * The result is valid until the next relcache invalidation can be processed,
 * that is, until the caller locks a relation or accesses a catalog, or searches a
 * tree, whose root may have been split.  Takes and releases a share lock on the
 * metapage if it has to read it.
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

#endif							/* SIMHASH_INDEX_CACHE_H */
