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
 *	header | fingerprints ->	... hole ...	<- pointers | ShIdxOpaqueData
 *
 * In an inner page a fingerprint takes 8 bytes, and the pointer is the TID part
 * of the separator and the block of the child.  A leaf stores as few bytes of
 * the fingerprints and the rows as it can, see leaf.h.  In an index
 * of several columns the pointer ends with the group of the entry.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_PAGE_H
#define SIMHASH_INDEX_PAGE_H

#include "access/genam.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "bits/scheme.h"
#include "compat.h"

#define SHIDX_METAPAGE_BLOCK	0
#define SHIDX_MAGIC				0x53694D68	/* "SiMh" */
#define SHIDX_VERSION			3
#define SHIDX_PAGE_ID			0xFF95	/* end of a page, for pg_filedump */

/* the TID of a row, as an integer in TID order: block << 16 | offset, 48 bits */
typedef uint64 ShIdxRow;

/*
 * Key of an entry: a group, a permuted fingerprint and a row.  All the keys of
 * one tree are different.
 *
 * The group is a hash of the columns before the fingerprint, see
 * group.c.  It is 0 in an index of one column, whose pages do not store
 * it.
 */
typedef struct ShIdxKey
{
	ShPermuted	fp;
	ShIdxRow	tid;
	uint32		group;
} ShIdxKey;

#define SHIDX_MAX_TID		((UINT64CONST(1) << 48) - 1)

typedef struct ShIdxOpaqueData
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
	uint16		page_id;		/* SHIDX_PAGE_ID */
} ShIdxOpaqueData;

typedef ShIdxOpaqueData *ShIdxOpaque;

/* flags */
#define SHIDX_META			0x01	/* the metapage */
#define SHIDX_ROOT			0x02	/* root of its tree */
#define SHIDX_GROUPED		0x04	/* entries have groups, on all pages */
#define SHIDX_SHORT			0x08	/* fingerprints are bands, on all pages */
#define SHIDX_CONTENTS		(SHIDX_GROUPED | SHIDX_SHORT)
/* and how many bytes a leaf leaves out: of fingerprints, and of rows */
#define SHIDX_KEY_SHIFT		4
#define SHIDX_ROW_SHIFT		6
#define SHIDX_WIDTHS			0xF0

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
	uint16		blocks;			/* the scheme of a part: m */
	uint16		distance;		/* and k */
	uint16		nparts;			/* of a fingerprint */
	uint16		columns;		/* if more than 1, all pages are grouped */
	uint16		width;			/* bits of a fingerprint */
	uint16		kind;			/* 1 if parts are bands, otherwise 0 */
	uint16		ntables;		/* of each part */
	uint16		prefix_bits;	/* of bands; 0: the scheme says them */
	uint16		unused[10];		/* 0 */
	ShIdxRoot	roots[FLEXIBLE_ARRAY_MEMBER];
} ShIdxMetaPageData;

/*
 * Which trees an index has, and what is in them.  This comes from the metapage, whatever the
 * options say, and for a build from the options.
 */
typedef struct ShIdxGeometry
{
	int			width;			/* bits of a whole fingerprint */
	int			nparts;			/* of it */
	int			ntrees;			/* one for each table of each part; the next one
								 * is that of the nulls */
	int			prefix_bits;	/* of parts that are bands; otherwise 0 */
	const ShBitsScheme *scheme; /* of each part */
} ShIdxGeometry;

static inline int
shidx_tree_of(const ShIdxGeometry *geometry, int part, int table)
{
	return part * geometry->scheme->ntables + table;
}

/* the part that a tree holds */
static inline int
shidx_part_of_tree(const ShIdxGeometry *geometry, int tree)
{
	return tree / geometry->scheme->ntables;
}

/* the table of the scheme by which a tree permutes it; of the nulls, any */
static inline const ShBitsTable *
shidx_table_of_tree(const ShIdxGeometry *geometry, int tree)
{
	return &geometry->scheme->tables[tree % geometry->scheme->ntables];
}

/*
 * The special area is always in the same place.  Using a constant instead of
 * the header lets the CPU fetch both ends of the page at once.
 */
#define ShIdxPageGetOpaque(page) \
	((ShIdxOpaque) ((page) + BLCKSZ - MAXALIGN(sizeof(ShIdxOpaqueData))))
#define ShIdxPageGetMeta(page) \
	((ShIdxMetaPageData *) PageGetContents(page))

#define SHIDX_PAGE_SPACE \
	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(ShIdxOpaqueData)))
/* the metapage has no room for more roots */
#define SHIDX_MAX_TREES \
	((int) ((SHIDX_PAGE_SPACE - offsetof(ShIdxMetaPageData, roots)) / sizeof(ShIdxRoot)))
/* an entry of a leaf also takes one bit, which marks it as dead */
#define SHIDX_LEAF_CAPACITY_OF(key_width, pointer_width) \
	((int) ((SHIDX_PAGE_SPACE - 1) * BITS_PER_BYTE / \
			(((key_width) + (pointer_width)) * BITS_PER_BYTE + 1)))

/* bytes of the fingerprints and rows of a leaf */
#define SHIDX_MIN_KEY_WIDTH	5
#define SHIDX_MAX_KEY_WIDTH	8
#define SHIDX_MIN_ROW_WIDTH	3
#define SHIDX_MAX_ROW_WIDTH	6

/* no page has more entries than a leaf of the narrowest ones */
#define SHIDX_MAX_ENTRIES \
	SHIDX_LEAF_CAPACITY_OF(SHIDX_MIN_KEY_WIDTH, SHIDX_MIN_ROW_WIDTH)

/* the position of the fingerprint among the columns of an index, from 0: the last */
static inline int
shidx_fp_column(Relation index)
{
	return IndexRelationGetNumberOfKeyAttributes(index) - 1;
}

/* do the entries of an index have groups? */
static inline bool
shidx_is_grouped(Relation index)
{
	return IndexRelationGetNumberOfAttributes(index) > 1;
}

/*
 * Can a row have this TID?  Check before looking it up: reading an invalid
 * block would extend the table.
 */
static inline bool
shidx_is_row(ShIdxRow row)
{
	return BlockNumberIsValid((BlockNumber) (row >> 16)) &&
		(OffsetNumber) row != InvalidOffsetNumber;
}

static inline ShIdxRow
shidx_tid_to_int(const ItemPointerData *tid)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline void
shidx_int_to_tid(ShIdxRow value, ItemPointerData *tid)
{
	ItemPointerSet(tid, (BlockNumber) (value >> 16), (OffsetNumber) (value & 0xFFFF));
}

static inline ShIdxKey
shidx_make_key(uint32 group, ShPermuted fp, ShIdxRow tid)
{
	ShIdxKey	key;

	key.fp = fp;
	key.tid = tid;
	key.group = group;
	return key;
}

static inline bool
shidx_key_less(ShIdxKey a, ShIdxKey b)
{
	if (a.group != b.group)
		return a.group < b.group;
	return a.fp < b.fp || (a.fp == b.fp && a.tid < b.tid);
}

static inline bool
shidx_key_equal(ShIdxKey a, ShIdxKey b)
{
	return a.fp == b.fp && a.tid == b.tid && a.group == b.group;
}

/* fences of the first and the last page of a level */
#define SHIDX_LOWEST_KEY	shidx_make_key(0, 0, 0)
#define SHIDX_HIGHEST_KEY	shidx_make_key(PG_UINT32_MAX, PG_UINT64_MAX, SHIDX_MAX_TID)

/*
 * The first key beyond those of a fingerprint in a group.  Behind the greatest
 * fingerprint the next group begins, and behind that of the last group nothing.
 */
static inline ShIdxKey
shidx_key_after(uint32 group, ShPermuted fp)
{
	if (fp < PG_UINT64_MAX)
		return shidx_make_key(group, fp + 1, 0);
	if (group < PG_UINT32_MAX)
		return shidx_make_key(group + 1, 0, 0);
	return SHIDX_HIGHEST_KEY;
}

static inline ShIdxKey
shidx_page_low(Page page)
{
	ShIdxOpaque opaque = ShIdxPageGetOpaque(page);

	return shidx_make_key(opaque->low_group, opaque->low_fp, shidx_tid_to_int(&opaque->low_tid));
}

static inline ShIdxKey
shidx_page_high(Page page)
{
	ShIdxOpaque opaque = ShIdxPageGetOpaque(page);

	return shidx_make_key(opaque->high_group, opaque->high_fp,
						  shidx_tid_to_int(&opaque->high_tid));
}

static inline void
shidx_set_right(Page page, BlockNumber right)
{
	ShIdxPageGetOpaque(page)->right = right;
}

static inline int
shidx_page_tree(Page page)
{
	return ShIdxPageGetOpaque(page)->tree;
}

static inline int
shidx_page_level(Page page)
{
	return ShIdxPageGetOpaque(page)->level;
}

static inline bool
shidx_page_is_root(Page page)
{
	return (ShIdxPageGetOpaque(page)->flags & SHIDX_ROOT) != 0;
}

/* the page to the right of a page, or InvalidBlockNumber */
static inline BlockNumber
shidx_page_right(Page page)
{
	return ShIdxPageGetOpaque(page)->right;
}

static inline bool
shidx_page_is_leaf(Page page)
{
	return ShIdxPageGetOpaque(page)->level == 0;
}

static inline bool
shidx_page_is_grouped(Page page)
{
	return (ShIdxPageGetOpaque(page)->flags & SHIDX_GROUPED) != 0;
}

/* what the entries of a page are like, as flags */
static inline uint8
shidx_page_contents(Page page)
{
	return ShIdxPageGetOpaque(page)->flags & SHIDX_CONTENTS;
}

/* and those of all pages of an index */
static inline uint8
shidx_contents(Relation index, const ShIdxGeometry *geometry)
{
	return (shidx_is_grouped(index) ? SHIDX_GROUPED : 0) |
		(geometry->prefix_bits > 0 ? SHIDX_SHORT : 0);
}

/* bytes of a fingerprint, of a leaf or an inner page */
static inline int
shidx_key_width(Page page)
{
	return SHIDX_MAX_KEY_WIDTH - ((ShIdxPageGetOpaque(page)->flags >> SHIDX_KEY_SHIFT) & 3);
}

/* bytes of an entry's pointer */
static inline int
shidx_pointer_width(Page page)
{
	const ShIdxOpaqueData *opaque = ShIdxPageGetOpaque(page);

	return (opaque->level > 0 ? sizeof(ShIdxDownlink) :
			SHIDX_MAX_ROW_WIDTH - (opaque->flags >> SHIDX_ROW_SHIFT)) +
		(opaque->flags & SHIDX_GROUPED ? sizeof(uint32) : 0);
}

/*
 * Number of entries, of a leaf or an inner page.  The bytes on a page are few
 * enough that a product by 2^16 / width, rounded up, has the quotient exactly;
 * this is asked often, and a division takes long.
 */
static inline int
shidx_page_count(Page page)
{
	static const uint32 inverses[] = {13108, 10923, 9363, 8192};
	uint32		bytes = ((PageHeader) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData);

	return bytes * inverses[shidx_key_width(page) - SHIDX_MIN_KEY_WIDTH] >> 16;
}

/* most entries of an inner page */
static inline int
shidx_inner_capacity(bool grouped)
{
	return SHIDX_PAGE_SPACE /
		(sizeof(ShPermuted) + sizeof(ShIdxDownlink) + (grouped ? sizeof(uint32) : 0));
}

/* most entries of a leaf, by the bytes of one; to divide takes long */
static inline int
shidx_leaf_capacity_of(int width)
{
	static const uint16 capacities[] = {
		SHIDX_LEAF_CAPACITY_OF(8, 0), SHIDX_LEAF_CAPACITY_OF(9, 0), SHIDX_LEAF_CAPACITY_OF(10, 0),
		SHIDX_LEAF_CAPACITY_OF(11, 0), SHIDX_LEAF_CAPACITY_OF(12, 0), SHIDX_LEAF_CAPACITY_OF(13, 0),
		SHIDX_LEAF_CAPACITY_OF(14, 0), SHIDX_LEAF_CAPACITY_OF(15, 0), SHIDX_LEAF_CAPACITY_OF(16, 0),
		SHIDX_LEAF_CAPACITY_OF(17, 0), SHIDX_LEAF_CAPACITY_OF(18, 0)
	};

	return capacities[width - SHIDX_MIN_KEY_WIDTH - SHIDX_MIN_ROW_WIDTH];
}

/* most entries of a page */
static inline int
shidx_page_capacity(Page page)
{
	return shidx_page_is_leaf(page) ?
		shidx_leaf_capacity_of(shidx_key_width(page) + shidx_pointer_width(page)) :
		shidx_inner_capacity(shidx_page_is_grouped(page));
}

static inline bool
shidx_page_is_full(Page page)
{
	return shidx_page_count(page) >= shidx_page_capacity(page);
}

/* the pointer of entry i */
static inline char *
shidx_page_pointer(Page page, int i)
{
	return (char *) ShIdxPageGetOpaque(page) - (i + 1) * shidx_pointer_width(page);
}

/* group of entry i, 0 on a page without groups */
static inline uint32
shidx_page_group(Page page, int i)
{
	uint32		group;

	if (!shidx_page_is_grouped(page))
		return 0;
	memcpy(&group, shidx_page_pointer(page, i) + shidx_pointer_width(page) - sizeof(uint32),
		   sizeof(uint32));
	return group;
}

static inline void
shidx_set_group(Page page, int i, uint32 group)
{
	if (shidx_page_is_grouped(page))
		memcpy(shidx_page_pointer(page, i) + shidx_pointer_width(page) - sizeof(uint32), &group,
			   sizeof(uint32));
}

/* the fingerprints of an inner page */
static inline ShPermuted *
shidx_inner_fps(Page page)
{
	return (ShPermuted *) PageGetContents(page);
}

/* downlink of entry i of an inner page */
static inline ShIdxDownlink *
shidx_inner_downlink(Page page, int i)
{
	return (ShIdxDownlink *) shidx_page_pointer(page, i);
}

static inline ShIdxKey
shidx_inner_key(Page page, int i)
{
	return shidx_make_key(shidx_page_group(page, i), shidx_inner_fps(page)[i],
						  shidx_tid_to_int(&shidx_inner_downlink(page, i)->tid));
}

static inline BlockNumber
shidx_inner_child(Page page, int i)
{
	return BlockIdGetBlockNumber(&shidx_inner_downlink(page, i)->child);
}

/* page.c */
extern void shidx_init_page(Page page, int tree, int level, uint16 flags,
							ShIdxKey low, ShIdxKey high, BlockNumber right);
extern ShIdxGeometry *shidx_make_geometry(int width, int blocks, int distance, bool bands);
extern void shidx_init_metapage(Page page, const ShIdxGeometry *geometry, int columns);
extern void shidx_set_root(Page metapage, int tree, BlockNumber block, int level);
extern void shidx_set_count(Page page, int count);
extern void shidx_set_fences(Page page, ShIdxKey low, ShIdxKey high);
extern void shidx_add_downlink(Page page, ShIdxKey key, BlockNumber child);
extern void shidx_copy_entry(Page to, int i, Page from, int j);
extern int	shidx_find_downlink(Page page, ShIdxKey key);
extern ShIdxKey shidx_separator(ShIdxKey left, ShIdxKey right);
extern const char *shidx_page_problem(Page page, int tree, int level);
extern const char *shidx_page_problem_in(Relation index, Page page, int tree, int level);
extern Page shidx_check_page(Relation index, Buffer buffer, int tree, int level);
SHCOMPAT_NORETURN extern void shidx_report_corrupted(Relation index, BlockNumber block,
													 const char *message);
SHCOMPAT_NORETURN extern void shidx_report_impossible_row(Relation index, BlockNumber block);
extern void shidx_check_tids(Relation index, BlockNumber block,
							 const ItemPointerData *tids, int count);

#endif							/* SIMHASH_INDEX_PAGE_H */
