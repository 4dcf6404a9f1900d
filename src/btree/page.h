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
 *	header | fingerprints ->	... hole ...	<- pointers | ShBtOpaqueData
 *
 * Even a full leaf has a hole, for the marks of dead entries; see dead.c.
 *
 * In a leaf the pointer of an entry is its heap TID; in an inner page it is
 * the TID part of the separator, and the block of the child.  In an index of
 * several columns the pointer ends with the group of the entry.  The entries
 * are in no particular order, except that the first ones of a leaf, those with
 * which it was created, are sorted; the special area has their number.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_PAGE_H
#define SIMHASH_BTREE_PAGE_H

#include "postgres.h"

#include "access/genam.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "bits/scheme.h"
#include "compat.h"

#define SHBT_METAPAGE_BLOCK	0
#define SHBT_MAGIC				0x53694D68	/* "SiMh" */
#define SHBT_VERSION			1
#define SHBT_PAGE_ID			0xFF95	/* end of a page, for pg_filedump */
#define SHBT_MAX_TREES			(SHBITS_MAX_TABLES + 1)

/*
 * Key of an entry: a group, a permuted fingerprint and a heap TID, the latter
 * as an integer in TID order.  All the keys of one tree are different.
 *
 * The group is a hash of the columns before the fingerprint, see
 * index/group.h.  It is 0 in an index of one column, whose pages do not store
 * it.
 */
typedef struct ShBtKey
{
	uint64		fp;
	uint64		tid;			/* block << 16 | offset; 48 bits */
	uint32		group;
} ShBtKey;

#define SHBT_MAX_TID		((UINT64CONST(1) << 48) - 1)

typedef struct ShBtOpaqueData
{
	/* the page holds the keys with low <= key < high */
	uint64		low_fp;
	uint64		high_fp;
	ItemPointerData low_tid;
	ItemPointerData high_tid;
	BlockNumber right;			/* next page of the level, or invalid */
	uint32		low_group;
	uint32		high_group;
	uint16		tree;
	uint8		level;			/* 0 for a leaf */
	uint8		flags;
	uint16		sorted;			/* length of the sorted run at the start of a
								 * leaf, ascending by group and fingerprint */
	uint16		page_id;		/* SHBT_PAGE_ID */
} ShBtOpaqueData;

typedef ShBtOpaqueData *ShBtOpaque;

/* flags */
#define SHBT_META			0x01	/* the metapage */
#define SHBT_ROOT			0x02	/* root of its tree */
#define SHBT_GROUPED		0x04	/* entries have groups, on all pages */

/* an entry's pointer in an inner page */
typedef struct ShBtDownlink
{
	ItemPointerData tid;		/* TID part of the separator */
	BlockIdData child;
} ShBtDownlink;

/* the end of a pointer of a page with groups */
typedef struct ShBtGroup
{
	uint16		high;
	uint16		low;
} ShBtGroup;

typedef struct ShBtRoot
{
	BlockNumber block;
	uint32		level;
} ShBtRoot;

typedef struct ShBtMetaPageData
{
	uint32		magic;
	uint32		version;
	uint16		blocks;			/* the scheme: m */
	uint16		distance;		/* and k */
	uint16		ntrees;			/* tables of the scheme + 1 */
	uint16		columns;		/* if more than 1, all pages are grouped */
	uint32		unused[4];		/* 0 */
	ShBtRoot	roots[FLEXIBLE_ARRAY_MEMBER];
} ShBtMetaPageData;

/*
 * The special area is always in the same place.  Using a constant instead of
 * the header lets the CPU fetch both ends of the page at once.
 */
#define ShBtPageGetOpaque(page) \
	((ShBtOpaque) ((page) + BLCKSZ - MAXALIGN(sizeof(ShBtOpaqueData))))
#define ShBtPageGetMeta(page) \
	((ShBtMetaPageData *) PageGetContents(page))

#define SHBT_PAGE_SPACE \
	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(ShBtOpaqueData)))
/* an entry of a leaf also takes one bit, which marks it as dead */
#define SHBT_LEAF_CAPACITY_OF(pointer_width) \
	((int) ((SHBT_PAGE_SPACE - 1) * BITS_PER_BYTE / \
			((sizeof(uint64) + (pointer_width)) * BITS_PER_BYTE + 1)))
#define SHBT_INNER_CAPACITY_OF(pointer_width) \
	((int) (SHBT_PAGE_SPACE / (sizeof(uint64) + (pointer_width))))

/* no page has more entries than a leaf without groups */
#define SHBT_MAX_ENTRIES	SHBT_LEAF_CAPACITY_OF(sizeof(ItemPointerData))

/* do the entries of an index have groups? */
static inline bool
shbt_is_grouped(Relation index)
{
	return IndexRelationGetNumberOfAttributes(index) > 1;
}

/*
 * Can a row have this TID?  Check before looking it up: reading an invalid
 * block would extend the table.
 */
static inline bool
shbt_is_row_tid(const ItemPointerData *tid)
{
	return BlockNumberIsValid(ItemPointerGetBlockNumberNoCheck(tid)) &&
		ItemPointerGetOffsetNumberNoCheck(tid) != InvalidOffsetNumber;
}

static inline uint64
shbt_tid_to_int(const ItemPointerData *tid)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline void
shbt_int_to_tid(uint64 value, ItemPointerData *tid)
{
	ItemPointerSet(tid, (BlockNumber) (value >> 16), (OffsetNumber) (value & 0xFFFF));
}

static inline ShBtKey
shbt_make_key(uint32 group, uint64 fp, uint64 tid)
{
	ShBtKey		key;

	key.fp = fp;
	key.tid = tid;
	key.group = group;
	return key;
}

static inline bool
shbt_key_less(ShBtKey a, ShBtKey b)
{
	if (a.group != b.group)
		return a.group < b.group;
	return a.fp < b.fp || (a.fp == b.fp && a.tid < b.tid);
}

static inline bool
shbt_key_equal(ShBtKey a, ShBtKey b)
{
	return a.fp == b.fp && a.tid == b.tid && a.group == b.group;
}

/* fences of the first and the last page of a level */
#define SHBT_LOWEST_KEY	shbt_make_key(0, 0, 0)
#define SHBT_HIGHEST_KEY	shbt_make_key(PG_UINT32_MAX, PG_UINT64_MAX, SHBT_MAX_TID)

static inline ShBtKey
shbt_page_low(Page page)
{
	ShBtOpaque	opaque = ShBtPageGetOpaque(page);

	return shbt_make_key(opaque->low_group, opaque->low_fp, shbt_tid_to_int(&opaque->low_tid));
}

static inline ShBtKey
shbt_page_high(Page page)
{
	ShBtOpaque	opaque = ShBtPageGetOpaque(page);

	return shbt_make_key(opaque->high_group, opaque->high_fp,
						 shbt_tid_to_int(&opaque->high_tid));
}

static inline uint64 *
shbt_page_fps(Page page)
{
	return (uint64 *) PageGetContents(page);
}

/* number of entries, of a leaf or an inner page */
static inline int
shbt_page_count(Page page)
{
	return (((PageHeader) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData)) / sizeof(uint64);
}

static inline bool
shbt_page_is_leaf(Page page)
{
	return ShBtPageGetOpaque(page)->level == 0;
}

static inline bool
shbt_page_is_grouped(Page page)
{
	return (ShBtPageGetOpaque(page)->flags & SHBT_GROUPED) != 0;
}

/* bytes of an entry's pointer */
static inline Size
shbt_pointer_width(bool leaf, bool grouped)
{
	return (leaf ? sizeof(ItemPointerData) : sizeof(ShBtDownlink)) +
		(grouped ? sizeof(ShBtGroup) : 0);
}

/* most entries of a leaf */
static inline int
shbt_leaf_capacity(bool grouped)
{
	return SHBT_LEAF_CAPACITY_OF(shbt_pointer_width(true, grouped));
}

/* and of an inner page */
static inline int
shbt_inner_capacity(bool grouped)
{
	return SHBT_INNER_CAPACITY_OF(shbt_pointer_width(false, grouped));
}

static inline int
shbt_page_capacity(Page page)
{
	bool		grouped = shbt_page_is_grouped(page);

	return shbt_page_is_leaf(page) ? shbt_leaf_capacity(grouped) : shbt_inner_capacity(grouped);
}

static inline bool
shbt_page_is_full(Page page)
{
	return shbt_page_count(page) >= shbt_page_capacity(page);
}

/*
 * The pointer of entry i, of a leaf or an inner page: a TID is its first part.
 */
static inline char *
shbt_page_pointer(Page page, int i, bool leaf)
{
	return (char *) ShBtPageGetOpaque(page) -
		(i + 1) * shbt_pointer_width(leaf, shbt_page_is_grouped(page));
}

/* TID of entry i of a leaf */
static inline ItemPointer
shbt_leaf_tid(Page page, int i)
{
	return (ItemPointer) shbt_page_pointer(page, i, true);
}

/* downlink of entry i of an inner page */
static inline ShBtDownlink *
shbt_inner_downlink(Page page, int i)
{
	return (ShBtDownlink *) shbt_page_pointer(page, i, false);
}

/* group of entry i, 0 on a page without groups */
static inline uint32
shbt_page_group(Page page, int i, bool leaf)
{
	const ShBtGroup *group;

	if (!shbt_page_is_grouped(page))
		return 0;
	group = (const ShBtGroup *) (shbt_page_pointer(page, i, leaf) +
								 shbt_pointer_width(leaf, false));
	return (uint32) group->high << 16 | group->low;
}

static inline ShBtKey
shbt_leaf_key(Page page, int i)
{
	return shbt_make_key(shbt_page_group(page, i, true), shbt_page_fps(page)[i],
						 shbt_tid_to_int(shbt_leaf_tid(page, i)));
}

static inline ShBtKey
shbt_inner_key(Page page, int i)
{
	return shbt_make_key(shbt_page_group(page, i, false), shbt_page_fps(page)[i],
						 shbt_tid_to_int(&shbt_inner_downlink(page, i)->tid));
}

static inline BlockNumber
shbt_inner_child(Page page, int i)
{
	return BlockIdGetBlockNumber(&shbt_inner_downlink(page, i)->child);
}

/* key of entry i of a leaf or an inner page */
static inline ShBtKey
shbt_page_key(Page page, int i)
{
	return shbt_page_is_leaf(page) ? shbt_leaf_key(page, i) : shbt_inner_key(page, i);
}

/* an entry of a page, for sorting */
typedef struct ShBtSortedEntry
{
	ShBtKey		key;
	int			position;
} ShBtSortedEntry;

/* page.c */
extern void shbt_init_page(Page page, int tree, int level, uint16 flags,
						   ShBtKey low, ShBtKey high, BlockNumber right);
extern void shbt_init_metapage(Page page, int blocks, int distance, int columns);
extern void shbt_set_root(Page metapage, int tree, BlockNumber block, int level);
extern void shbt_set_count(Page page, int count);
extern void shbt_set_fences(Page page, ShBtKey low, ShBtKey high);
extern void shbt_set_entry(Page page, int i, ShBtKey key);
extern void shbt_add_downlink(Page page, ShBtKey key, BlockNumber child);
extern void shbt_copy_entry(Page to, int i, Page from, int j);
extern int	shbt_sort_entries(Page page, ShBtSortedEntry *entries);
extern int	shbt_find_downlink(Page page, ShBtKey key);
extern int	shbt_find_sorted(Page page, uint32 group, uint64 fp);
extern ShBtKey shbt_separator(ShBtKey left, ShBtKey right);
extern const char *shbt_page_problem(Page page, int tree, int level);
extern const char *shbt_page_problem_in(Relation index, Page page, int tree, int level);
extern const char *shbt_page_problem_anywhere(Page page);
extern Page shbt_check_page(Relation index, Buffer buffer, int tree, int level);
SHCOMPAT_NORETURN extern void shbt_report_corrupted(Relation index, BlockNumber block,
													const char *message);
extern void shbt_check_tids(Relation index, BlockNumber block,
							const ItemPointerData *tids, int count);
extern void shbt_check_leaf_tids(Relation index, BlockNumber block, Page leaf);
extern Buffer shbt_new_buffer(Relation index, ForkNumber fork);

#endif							/* SIMHASH_BTREE_PAGE_H */
