/*-------------------------------------------------------------------------
 *
 * page.h
 *	  Layout of the pages of a simhash index.
 *
 * Block 0 is the metapage.  Every other page belongs to one tree: tree
 * p * ntables + t holds part p of the fingerprints, permuted for table t of the
 * scheme, 0 <= t < ntables; the last tree holds the null fingerprints.
 * Fingerprints of up to 64 bits have one part.  See src/README.md for the
 * reasons.
 *
 * The entries of a page are two arrays, so that a whole page can be compared
 * with a query by vector instructions:
 *
 *	header | fingerprints ->	... hole ...	<- pointers | ShBtOpaqueData
 *
 * In an inner page a fingerprint takes 8 bytes, and the pointer is the TID part
 * of the separator and the block of the child.  A leaf stores no more bytes of
 * the fingerprints and the rows than its entries need, see leaf.h.  In an index
 * of several columns the pointer ends with the group of the entry.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_PAGE_H
#define SIMHASH_BTREE_PAGE_H

#include "access/genam.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "bits/scheme.h"
#include "compat.h"

#define SHBT_METAPAGE_BLOCK	0
#define SHBT_MAGIC				0x53694D68	/* "SiMh" */
#define SHBT_VERSION			2
#define SHBT_PAGE_ID			0xFF95	/* end of a page, for pg_filedump */

/* the TID of a row, as an integer in TID order: block << 16 | offset, 48 bits */
typedef uint64 ShBtRow;

/*
 * Key of an entry: a group, a permuted fingerprint and a row.  All the keys of
 * one tree are different.
 *
 * The group is a hash of the columns before the fingerprint, see
 * class/group.h.  It is 0 in an index of one column, whose pages do not store
 * it.
 */
typedef struct ShBtKey
{
	ShPermuted	fp;
	ShBtRow		tid;
	uint32		group;
} ShBtKey;

#define SHBT_MAX_TID		((UINT64CONST(1) << 48) - 1)

typedef struct ShBtOpaqueData
{
	/* the page holds the keys with low <= key < high */
	ShPermuted	low_fp;
	ShPermuted	high_fp;
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
/* and how many bytes a leaf leaves out: of fingerprints, and of rows */
#define SHBT_KEY_SHIFT		4
#define SHBT_ROW_SHIFT		6
#define SHBT_WIDTHS			0xF0

/* an entry's pointer in an inner page */
typedef struct ShBtDownlink
{
	ItemPointerData tid;		/* TID part of the separator */
	BlockIdData child;
} ShBtDownlink;

typedef struct ShBtRoot
{
	BlockNumber block;
	uint32		level;
} ShBtRoot;

typedef struct ShBtMetaPageData
{
	uint32		magic;
	uint32		version;
	uint16		blocks;			/* the scheme of a part: m */
	uint16		distance;		/* and k */
	uint16		ntrees;			/* parts times tables of the scheme + 1 */
	uint16		columns;		/* if more than 1, all pages are grouped */
	uint16		width;			/* bits of a fingerprint */
	uint16		unused[13];		/* 0 */
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
/* the metapage has no room for more roots */
#define SHBT_MAX_TREES \
	((int) ((SHBT_PAGE_SPACE - offsetof(ShBtMetaPageData, roots)) / sizeof(ShBtRoot)))
/* an entry of a leaf also takes one bit, which marks it as dead */
#define SHBT_LEAF_CAPACITY_OF(key_width, pointer_width) \
	((int) ((SHBT_PAGE_SPACE - 1) * BITS_PER_BYTE / \
			(((key_width) + (pointer_width)) * BITS_PER_BYTE + 1)))

/* bytes of the fingerprints and rows of a leaf */
#define SHBT_MIN_KEY_WIDTH	5
#define SHBT_MAX_KEY_WIDTH	8
#define SHBT_MIN_ROW_WIDTH	3
#define SHBT_MAX_ROW_WIDTH	6

/* no page has more entries than a leaf of the narrowest ones */
#define SHBT_MAX_ENTRIES \
	SHBT_LEAF_CAPACITY_OF(SHBT_MIN_KEY_WIDTH, SHBT_MIN_ROW_WIDTH)

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
shbt_is_row(ShBtRow row)
{
	return BlockNumberIsValid((BlockNumber) (row >> 16)) &&
		(OffsetNumber) row != InvalidOffsetNumber;
}

static inline ShBtRow
shbt_tid_to_int(const ItemPointerData *tid)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline void
shbt_int_to_tid(ShBtRow value, ItemPointerData *tid)
{
	ItemPointerSet(tid, (BlockNumber) (value >> 16), (OffsetNumber) (value & 0xFFFF));
}

static inline ShBtKey
shbt_make_key(uint32 group, ShPermuted fp, ShBtRow tid)
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

/*
 * The first key beyond those of a fingerprint in a group.  Behind the greatest
 * fingerprint the next group begins, and behind that of the last group nothing.
 */
static inline ShBtKey
shbt_key_after(uint32 group, ShPermuted fp)
{
	if (fp < PG_UINT64_MAX)
		return shbt_make_key(group, fp + 1, 0);
	if (group < PG_UINT32_MAX)
		return shbt_make_key(group + 1, 0, 0);
	return SHBT_HIGHEST_KEY;
}

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

static inline void
shbt_set_right(Page page, BlockNumber right)
{
	ShBtPageGetOpaque(page)->right = right;
}

static inline int
shbt_page_tree(Page page)
{
	return ShBtPageGetOpaque(page)->tree;
}

static inline int
shbt_page_level(Page page)
{
	return ShBtPageGetOpaque(page)->level;
}

static inline bool
shbt_page_is_root(Page page)
{
	return (ShBtPageGetOpaque(page)->flags & SHBT_ROOT) != 0;
}

/* the page to the right of a page, or InvalidBlockNumber */
static inline BlockNumber
shbt_page_right(Page page)
{
	return ShBtPageGetOpaque(page)->right;
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

/* bytes of a fingerprint, of a leaf or an inner page */
static inline int
shbt_key_width(Page page)
{
	return SHBT_MAX_KEY_WIDTH - ((ShBtPageGetOpaque(page)->flags >> SHBT_KEY_SHIFT) & 3);
}

/* bytes of an entry's pointer */
static inline int
shbt_pointer_width(Page page)
{
	const ShBtOpaqueData *opaque = ShBtPageGetOpaque(page);

	return (opaque->level > 0 ? sizeof(ShBtDownlink) :
			SHBT_MAX_ROW_WIDTH - (opaque->flags >> SHBT_ROW_SHIFT)) +
		(opaque->flags & SHBT_GROUPED ? sizeof(uint32) : 0);
}

/*
 * Number of entries, of a leaf or an inner page.  The bytes on a page are few
 * enough that a product by 2^16 / width, rounded up, has the quotient exactly;
 * this is asked often, and a division takes long.
 */
static inline int
shbt_page_count(Page page)
{
	static const uint32 inverses[] = {13108, 10923, 9363, 8192};
	uint32		bytes = ((PageHeader) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData);

	return bytes * inverses[shbt_key_width(page) - SHBT_MIN_KEY_WIDTH] >> 16;
}

/* most entries of an inner page */
static inline int
shbt_inner_capacity(bool grouped)
{
	return SHBT_PAGE_SPACE /
		(sizeof(ShPermuted) + sizeof(ShBtDownlink) + (grouped ? sizeof(uint32) : 0));
}

/* most entries of a leaf, by the bytes of one; to divide takes long */
static inline int
shbt_leaf_capacity_of(int width)
{
	static const uint16 capacities[] = {
		SHBT_LEAF_CAPACITY_OF(8, 0), SHBT_LEAF_CAPACITY_OF(9, 0), SHBT_LEAF_CAPACITY_OF(10, 0),
		SHBT_LEAF_CAPACITY_OF(11, 0), SHBT_LEAF_CAPACITY_OF(12, 0), SHBT_LEAF_CAPACITY_OF(13, 0),
		SHBT_LEAF_CAPACITY_OF(14, 0), SHBT_LEAF_CAPACITY_OF(15, 0), SHBT_LEAF_CAPACITY_OF(16, 0),
		SHBT_LEAF_CAPACITY_OF(17, 0), SHBT_LEAF_CAPACITY_OF(18, 0)
	};

	return capacities[width - SHBT_MIN_KEY_WIDTH - SHBT_MIN_ROW_WIDTH];
}

/* most entries of a page */
static inline int
shbt_page_capacity(Page page)
{
	return shbt_page_is_leaf(page) ?
		shbt_leaf_capacity_of(shbt_key_width(page) + shbt_pointer_width(page)) :
		shbt_inner_capacity(shbt_page_is_grouped(page));
}

static inline bool
shbt_page_is_full(Page page)
{
	return shbt_page_count(page) >= shbt_page_capacity(page);
}

/* the pointer of entry i */
static inline char *
shbt_page_pointer(Page page, int i)
{
	return (char *) ShBtPageGetOpaque(page) - (i + 1) * shbt_pointer_width(page);
}

/* group of entry i, 0 on a page without groups */
static inline uint32
shbt_page_group(Page page, int i)
{
	uint32		group;

	if (!shbt_page_is_grouped(page))
		return 0;
	memcpy(&group, shbt_page_pointer(page, i) + shbt_pointer_width(page) - sizeof(uint32),
		   sizeof(uint32));
	return group;
}

static inline void
shbt_set_group(Page page, int i, uint32 group)
{
	if (shbt_page_is_grouped(page))
		memcpy(shbt_page_pointer(page, i) + shbt_pointer_width(page) - sizeof(uint32), &group,
			   sizeof(uint32));
}

/* the fingerprints of an inner page */
static inline ShPermuted *
shbt_inner_fps(Page page)
{
	return (ShPermuted *) PageGetContents(page);
}

/* downlink of entry i of an inner page */
static inline ShBtDownlink *
shbt_inner_downlink(Page page, int i)
{
	return (ShBtDownlink *) shbt_page_pointer(page, i);
}

static inline ShBtKey
shbt_inner_key(Page page, int i)
{
	return shbt_make_key(shbt_page_group(page, i), shbt_inner_fps(page)[i],
						 shbt_tid_to_int(&shbt_inner_downlink(page, i)->tid));
}

static inline BlockNumber
shbt_inner_child(Page page, int i)
{
	return BlockIdGetBlockNumber(&shbt_inner_downlink(page, i)->child);
}

/* page.c */
extern void shbt_init_page(Page page, int tree, int level, uint16 flags,
						   ShBtKey low, ShBtKey high, BlockNumber right);
extern void shbt_init_metapage(Page page, const ShBitsScheme *scheme, int width,
							   int columns);
extern void shbt_set_root(Page metapage, int tree, BlockNumber block, int level);
extern void shbt_set_count(Page page, int count);
extern void shbt_set_fences(Page page, ShBtKey low, ShBtKey high);
extern void shbt_add_downlink(Page page, ShBtKey key, BlockNumber child);
extern void shbt_copy_entry(Page to, int i, Page from, int j);
extern int	shbt_find_downlink(Page page, ShBtKey key);
extern ShBtKey shbt_separator(ShBtKey left, ShBtKey right);
extern const char *shbt_page_problem(Page page, int tree, int level);
extern const char *shbt_page_problem_in(Relation index, Page page, int tree, int level);
extern const char *shbt_page_problem_anywhere(Page page);
extern Page shbt_check_page(Relation index, Buffer buffer, int tree, int level);
SHCOMPAT_NORETURN extern void shbt_report_corrupted(Relation index, BlockNumber block,
													const char *message);
SHCOMPAT_NORETURN extern void shbt_report_impossible_row(Relation index, BlockNumber block);
extern void shbt_check_tids(Relation index, BlockNumber block,
							const ItemPointerData *tids, int count);
extern Buffer shbt_new_buffer(Relation index, ForkNumber fork);

#endif							/* SIMHASH_BTREE_PAGE_H */
