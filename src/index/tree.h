/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  Finding pages of the trees of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_TREE_H
#define SIMHASH_INDEX_TREE_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "index/page.h"

/*
 * What a backend remembers of an index, in rd_amcache: the metapage, and for
 * each table where leaves lie.  Roots and leaves may be out of date; see
 * tree.c.
 */
typedef struct ShIdxHint
{
	BlockNumber block;			/* or invalid */
	Buffer		buffer;			/* where it was last */
} ShIdxHint;

typedef struct ShIdxCache
{
	ShBitsScheme *scheme;		/* of the metapage, whatever the options say */
	int			ntrees;			/* tables of the scheme + 1 */
	int			hint_bits;		/* each table has 1 << hint_bits hints */
	uint32		hint_misses;	/* since the size of the index was looked at */
	ShIdxHint  *hints;			/* [table << hint_bits | first bits of key] */
	ShIdxRoot	roots[FLEXIBLE_ARRAY_MEMBER];
} ShIdxCache;

extern ShIdxCache *shidx_get_cache(Relation index);
extern void shidx_forget_cache(Relation index);
extern const char *shidx_metapage_problem(Page page);
extern void shidx_check_metapage(Relation index, Buffer buffer);
extern ShBitsScheme *shidx_get_scheme(Relation index);
extern Buffer shidx_search(Relation index, int tree, int level, ShIdxKey key, int lockmode);
extern void shidx_prefetch(Relation index, int tree, ShIdxKey key);
extern Buffer shidx_read_right(Relation index, Buffer buffer, BlockNumber right,
							   ShIdxKey high, int tree, int level, int lockmode);
extern bool shidx_pin_entry(Relation index, int tree, ShIdxKey key,
							Snapshot snapshot, Buffer *pin);
extern Buffer shidx_move_right(Relation index, Buffer buffer, int lockmode);

/* number of the tree of the null fingerprints */
static inline int
shidx_null_tree(const ShIdxCache *cache)
{
	return cache->ntrees - 1;
}

#endif							/* SIMHASH_INDEX_TREE_H */
