/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  What a backend remembers of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_CACHE_H
#define SIMHASH_BTREE_CACHE_H

#include "btree/map.h"
#include "btree/page.h"

typedef struct ShBtTreeCache
{
	ShBtRoot	root;			/* may be out of date */
	Buffer		buffer;			/* where the root was last seen */
} ShBtTreeCache;

/*
 * What a backend remembers of an index in rd_amcache: the metapage.  See cache.c.
 */
typedef struct ShBtCache
{
	ShBitsScheme *scheme;		/* from the metapage, whatever the options say */
	int			width;			/* bits of a fingerprint */
	int			ntrees;			/* parts times tables of the scheme + 1 */
	BlockNumber nblocks;		/* the index has at least this many */
	uint32		recent_reads;
	ShBtTreeCache trees[FLEXIBLE_ARRAY_MEMBER];
} ShBtCache;

extern ShBtCache *shbt_read_cache(Relation index);
extern void shbt_forget_metapage(Relation index);
extern void shbt_forget_cache(Relation index);
extern void shbt_check_metapage(Relation index, Buffer buffer);
extern bool shbt_is_block(Relation index, BlockNumber block);
extern void shbt_check_link(Relation index, BlockNumber block);
extern ShBitsScheme *shbt_get_scheme(Relation index);
extern ShBtPlace shbt_place_of_root(Relation index, int tree);
extern ShBtPlace shbt_locate(Relation index, int tree, ShBtKey key);
extern Buffer shbt_read_place(Relation index, const ShBtPlace *place);

/*
 * What this backend remembers of the index, reading the metapage if need be.
 *
 * The result is valid until the next relcache invalidation can be processed,
 * that is, until the caller locks a relation or accesses a catalog.  Takes and
 * releases a share lock on the metapage if it has to read it.
 */
static inline ShBtCache *
shbt_get_cache(Relation index)
{
	return likely(index->rd_amcache != NULL) ? (ShBtCache *) index->rd_amcache :
		shbt_read_cache(index);
}

/* number of the tree of the null fingerprints */
static inline int
shbt_null_tree(const ShBtCache *cache)
{
	return cache->ntrees - 1;
}

/* bits of the fingerprints of an index */
static inline int
shbt_width(Relation index)
{
	return shbt_get_cache(index)->width;
}

#endif							/* SIMHASH_BTREE_CACHE_H */
