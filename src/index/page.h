/*-------------------------------------------------------------------------
 *
 * page.h
 *	  Layout of the pages of a simhash index.
 *
 * Block 0 is the metapage.  Every other page belongs to one tree: tree t,
 * 0 <= t < ntables, holds the permuted fingerprints of table t of the
 * scheme; one more tree, number ntables, holds the null fingerprints.  See
 * src/README.md for the reasons.
 *
 * The entries of a page are two arrays, so that a whole page can be compared
 * with a query by vector instructions:
 *
 *	header | fingerprints ->	... hole ...	<- pointers | ShIdxOpaqueData
 *
 * In a leaf the pointer of an entry is its heap TID; in an inner page it is
 * the TID part of the separator, and the block of the child.  The entries are
 * in no particular order, except that in a leaf those that were there when it
 * was made are, up to a number that the special area has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_PAGE_H
#define SIMHASH_INDEX_PAGE_H

#include "postgres.h"

#include "access/genam.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "bits/scheme.h"
#include "compat.h"

#define SHIDX_METAPAGE_BLOCK	0
#define SHIDX_MAGIC				0x53694D68	/* "SiMh" */
#define SHIDX_VERSION			1
#define SHIDX_PAGE_ID			0xFF95	/* last two bytes of each page */
#define SHIDX_MAX_TREES			(SHBITS_MAX_TABLES + 1)

/*
 * Key of an entry: a permuted fingerprint and a heap TID, the latter as an
 * integer in TID order.  All the keys of one tree are different.
 */
typedef struct ShIdxKey
{
	uint64		fp;
	uint64		tid;			/* block << 16 | offset; 48 bits */
} ShIdxKey;

#define SHIDX_MAX_TID		((UINT64CONST(1) << 48) - 1)

typedef struct ShIdxOpaqueData
{
	/* the page holds the keys with low <= key < high */
	uint64		low_fp;
	uint64		high_fp;
	ItemPointerData low_tid;
	ItemPointerData high_tid;
	BlockNumber right;			/* next page of the level, or invalid */
	uint16		tree;
	uint16		level;			/* 0 for a leaf */
	uint16		flags;
	uint16		sorted;			/* that many fingerprints, the first ones of a
								 * leaf, ascend */
	uint16		unused[3];
	uint16		page_id;		/* SHIDX_PAGE_ID */
} ShIdxOpaqueData;

typedef ShIdxOpaqueData *ShIdxOpaque;

/* flags */
#define SHIDX_META			0x0001	/* the metapage */
#define SHIDX_ROOT			0x0002	/* root of its tree */

/* an entry's pointer in an inner page */
typedef struct ShIdxDownlink
{
	ItemPointerData tid;		/* TID part of the separator */
	BlockIdData child;
} ShIdxDownlink;

typedef struct ShIdxRoot
{
	BlockNumber block;
	uint32		level;
} ShIdxRoot;

typedef struct ShIdxMetaPageData
{
	uint32		magic;
	uint32		version;
	uint16		blocks;			/* the scheme: m */
	uint16		distance;		/* and k */
	uint32		ntrees;			/* tables of the scheme + 1 */
	ShIdxRoot	roots[FLEXIBLE_ARRAY_MEMBER];
} ShIdxMetaPageData;

/*
 * The special area is always in the same place.  Not to ask the header for it
 * lets the CPU fetch both ends of the page at once.
 */
#define ShIdxPageGetOpaque(page) \
	((ShIdxOpaque) ((page) + BLCKSZ - MAXALIGN(sizeof(ShIdxOpaqueData))))
#define ShIdxPageGetMeta(page) \
	((ShIdxMetaPageData *) PageGetContents(page))

#define SHIDX_PAGE_SPACE \
	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(ShIdxOpaqueData)))
#define SHIDX_LEAF_CAPACITY \
	((int) (SHIDX_PAGE_SPACE / (sizeof(uint64) + sizeof(ItemPointerData))))
#define SHIDX_INNER_CAPACITY \
	((int) (SHIDX_PAGE_SPACE / (sizeof(uint64) + sizeof(ShIdxDownlink))))

/*
 * Can a tree have a page of that number?  To be asked before a link is
 * followed: to read an invalid number would even extend the relation.
 */
static inline bool
shidx_is_tree_block(BlockNumber block)
{
	return BlockNumberIsValid(block) && block != SHIDX_METAPAGE_BLOCK;
}

static inline uint64
shidx_tid_to_int(const ItemPointerData *tid)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline void
shidx_int_to_tid(uint64 value, ItemPointerData *tid)
{
	ItemPointerSet(tid, (BlockNumber) (value >> 16), (OffsetNumber) (value & 0xFFFF));
}

static inline ShIdxKey
shidx_make_key(uint64 fp, uint64 tid)
{
	ShIdxKey	key;

	key.fp = fp;
	key.tid = tid;
	return key;
}

static inline bool
shidx_key_less(ShIdxKey a, ShIdxKey b)
{
	return a.fp < b.fp || (a.fp == b.fp && a.tid < b.tid);
}

static inline bool
shidx_key_equal(ShIdxKey a, ShIdxKey b)
{
	return a.fp == b.fp && a.tid == b.tid;
}

/* fences of the first and the last page of a level */
#define SHIDX_LOWEST_KEY	shidx_make_key(0, 0)
#define SHIDX_HIGHEST_KEY	shidx_make_key(PG_UINT64_MAX, SHIDX_MAX_TID)

static inline ShIdxKey
shidx_page_low(Page page)
{
	ShIdxOpaque opaque = ShIdxPageGetOpaque(page);

	return shidx_make_key(opaque->low_fp, shidx_tid_to_int(&opaque->low_tid));
}

static inline ShIdxKey
shidx_page_high(Page page)
{
	ShIdxOpaque opaque = ShIdxPageGetOpaque(page);

	return shidx_make_key(opaque->high_fp, shidx_tid_to_int(&opaque->high_tid));
}

static inline uint64 *
shidx_page_fps(Page page)
{
	return (uint64 *) PageGetContents(page);
}

/* number of entries, of a leaf or an inner page */
static inline int
shidx_page_count(Page page)
{
	return (((PageHeader) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData)) / sizeof(uint64);
}

static inline bool
shidx_page_is_leaf(Page page)
{
	return ShIdxPageGetOpaque(page)->level == 0;
}

static inline bool
shidx_page_is_full(Page page)
{
	return shidx_page_count(page) >=
		(shidx_page_is_leaf(page) ? SHIDX_LEAF_CAPACITY : SHIDX_INNER_CAPACITY);
}

/* TID of entry i of a leaf */
static inline ItemPointer
shidx_leaf_tid(Page page, int i)
{
	return (ItemPointer) ShIdxPageGetOpaque(page) - (i + 1);
}

/* downlink of entry i of an inner page */
static inline ShIdxDownlink *
shidx_inner_downlink(Page page, int i)
{
	return (ShIdxDownlink *) ShIdxPageGetOpaque(page) - (i + 1);
}

static inline ShIdxKey
shidx_leaf_key(Page page, int i)
{
	return shidx_make_key(shidx_page_fps(page)[i], shidx_tid_to_int(shidx_leaf_tid(page, i)));
}

static inline ShIdxKey
shidx_inner_key(Page page, int i)
{
	return shidx_make_key(shidx_page_fps(page)[i], shidx_tid_to_int(&shidx_inner_downlink(page, i)->tid));
}

static inline BlockNumber
shidx_inner_child(Page page, int i)
{
	return BlockIdGetBlockNumber(&shidx_inner_downlink(page, i)->child);
}

/* key of entry i of a leaf or an inner page */
static inline ShIdxKey
shidx_page_key(Page page, int i)
{
	return shidx_page_is_leaf(page) ? shidx_leaf_key(page, i) : shidx_inner_key(page, i);
}

/* an entry of a page, where its order is looked for */
typedef struct ShIdxSortedEntry
{
	ShIdxKey	key;
	int			position;
} ShIdxSortedEntry;

/* page.c */
extern void shidx_init_page(Page page, int tree, int level, uint16 flags,
							ShIdxKey low, ShIdxKey high, BlockNumber right);
extern void shidx_init_metapage(Page page, int blocks, int distance);
extern void shidx_set_root(Page metapage, int tree, BlockNumber block, int level);
extern void shidx_set_count(Page page, int count);
extern void shidx_set_fences(Page page, ShIdxKey low, ShIdxKey high);
extern void shidx_set_entry(Page page, int i, ShIdxKey key);
extern void shidx_add_downlink(Page page, ShIdxKey key, BlockNumber child);
extern void shidx_copy_entry(Page to, int i, Page from, int j);
extern int	shidx_sort_entries(Page page, ShIdxSortedEntry *entries);
extern int	shidx_find_downlink(Page page, ShIdxKey key);
extern int	shidx_find_sorted(Page page, uint64 fp);
extern ShIdxKey shidx_separator(ShIdxKey left, ShIdxKey right);
extern const char *shidx_page_problem(Page page, int tree, int level);
extern const char *shidx_page_problem_anywhere(Page page);
extern Page shidx_check_page(Relation index, Buffer buffer, int tree, int level);
SHCOMPAT_NORETURN extern void shidx_report_corrupted(Relation index, BlockNumber block,
													 const char *problem);
extern void shidx_check_child(Relation index, BlockNumber parent, BlockNumber child);
extern Buffer shidx_new_buffer(Relation index, ForkNumber fork);

#endif							/* SIMHASH_INDEX_PAGE_H */
