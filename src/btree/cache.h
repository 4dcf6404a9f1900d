/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  What a backend remembers of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_CACHE_H
#define SIMHASH_BTREE_CACHE_H

#include "postgres.h"

#include "btree/page.h"

/*
 * What a backend remembers of an index, in rd_amcache: the metapage, and for
 * each table where leaves lie.  Roots and leaves may be out of date; see
 * cache.c.
 */
typedef struct ShBtHint
{
	BlockNumber block;			/* or invalid */
	Buffer		buffer;			/* where it was last */
} ShBtHint;

typedef struct ShBtCache
{
	ShBitsScheme *scheme;		/* of the metapage, whatever the options say */
	int			ntrees;			/* tables of the scheme + 1 */
	BlockNumber nblocks;		/* the index has at least so many */
	uint32		hinted_reads;
	int			hint_bits;		/* each table has 1 << hint_bits hints */
	uint32		hint_misses;	/* since the size of the index was looked at */
	ShBtHint   *hints;			/* [table << hint_bits | first bits of key] */
	ShBtRoot	roots[FLEXIBLE_ARRAY_MEMBER];
} ShBtCache;

extern ShBtCache *shbt_get_cache(Relation index);
extern void shbt_forget_cache(Relation index);
extern void shbt_check_metapage(Relation index, Buffer buffer);
extern void shbt_check_link(Relation index, BlockNumber block);
extern ShBitsScheme *shbt_get_scheme(Relation index);
extern ShBtHint *shbt_hint(const ShBtCache *cache, int tree, ShBtKey key);
extern void shbt_set_hint(ShBtHint *hint, Buffer buffer);
extern Buffer shbt_read_hinted(Relation index, ShBtCache *cache, const ShBtHint *hint);
extern void shbt_prefetch(Relation index, int tree, ShBtKey key);
extern void shbt_count_hint_miss(Relation index);

/* number of the tree of the null fingerprints */
static inline int
shbt_null_tree(const ShBtCache *cache)
{
	return cache->ntrees - 1;
}

#endif							/* SIMHASH_BTREE_CACHE_H */
