/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Making, changing and checking single pages.
 *
 * Nothing here takes a lock, except shbt_new_buffer.  The caller holds the
 * appropriate buffer lock, or works on a copy.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "bits/distance.h"
#include "btree/page.h"
#include "compat.h"

StaticAssertDecl(sizeof(ShBtDownlink) == 10, "downlinks are packed");
StaticAssertDecl(sizeof(ShBtOpaqueData) == 48, "no padding in the special area");
StaticAssertDecl(SHBITS_MAX_TABLES + 1 <= SHBT_MAX_TREES,
				 "the metapage holds the roots of all tables of a scheme");

/*
 * Initialize an empty page of a tree.
 */
void
shbt_init_page(Page page, int tree, int level, uint16 flags,
			   ShBtKey low, ShBtKey high, BlockNumber right)
{
	ShBtOpaque	opaque;

	PageInit(page, BLCKSZ, sizeof(ShBtOpaqueData));
	opaque = ShBtPageGetOpaque(page);
	opaque->right = right;
	opaque->tree = tree;
	opaque->level = level;
	opaque->flags = flags;
	opaque->page_id = SHBT_PAGE_ID;
	shbt_set_fences(page, low, high);
}

/*
 * Initialize a metapage whose trees have no root yet.  width is that of the
 * fingerprints, in bits.
 */
void
shbt_init_metapage(Page page, const ShBitsScheme *scheme, int width, int columns)
{
	ShBtMetaPageData *meta;

	shbt_init_page(page, 0, 0, SHBT_META,
				   SHBT_LOWEST_KEY, SHBT_LOWEST_KEY, InvalidBlockNumber);
	meta = ShBtPageGetMeta(page);
	meta->magic = SHBT_MAGIC;
	meta->version = SHBT_VERSION;
	meta->blocks = scheme->blocks;
	meta->distance = scheme->distance;
	meta->ntrees = shbits_nparts(width) * scheme->ntables + 1;
	meta->columns = columns;
	meta->width = width;
	memset(meta->unused, 0, sizeof(meta->unused));
	for (int i = 0; i < meta->ntrees; i++)
	{
		meta->roots[i].block = InvalidBlockNumber;
		meta->roots[i].level = 0;
	}

	/* so that full-page images keep the contents */
	((PageHeader) page)->pd_lower =
		((char *) &meta->roots[meta->ntrees]) - (char *) page;
}

/*
 * Store the root of a tree in a metapage.
 */
void
shbt_set_root(Page metapage, int tree, BlockNumber block, int level)
{
	ShBtRoot   *root = &ShBtPageGetMeta(metapage)->roots[tree];

	root->block = block;
	root->level = level;
}

/*
 * Set the bounds of the free space so that the page has count entries.
 */
void
shbt_set_count(Page page, int count)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = MAXALIGN(SizeOfPageHeaderData) + count * shbt_key_width(page);
	header->pd_upper = header->pd_special - count * shbt_pointer_width(page);
}

void
shbt_set_fences(Page page, ShBtKey low, ShBtKey high)
{
	ShBtOpaque	opaque = ShBtPageGetOpaque(page);

	opaque->low_group = low.group;
	opaque->low_fp = low.fp;
	shbt_int_to_tid(low.tid, &opaque->low_tid);
	opaque->high_group = high.group;
	opaque->high_fp = high.fp;
	shbt_int_to_tid(high.tid, &opaque->high_tid);
}

/*
 * Add an entry to an inner page that is not full.
 */
void
shbt_add_downlink(Page page, ShBtKey key, BlockNumber child)
{
	int			count = shbt_page_count(page);
	ShBtDownlink *link;

	Assert(!shbt_page_is_leaf(page) && !shbt_page_is_full(page));
	shbt_set_count(page, count + 1);
	shbt_inner_fps(page)[count] = key.fp;
	link = shbt_inner_downlink(page, count);
	shbt_int_to_tid(key.tid, &link->tid);
	BlockIdSet(&link->child, child);
	shbt_set_group(page, count, key.group);
}

/*
 * Copy entry j of a page to entry i of a page whose entries take as many bytes;
 * of a leaf, to one with the same fingerprints left out, which is itself.
 */
void
shbt_copy_entry(Page to, int i, Page from, int j)
{
	int			key_width = shbt_key_width(to);

	Assert(to == from || !shbt_page_is_leaf(to));
	memcpy((char *) PageGetContents(to) + i * key_width,
		   (char *) PageGetContents(from) + j * key_width, key_width);
	memcpy(shbt_page_pointer(to, i), shbt_page_pointer(from, j), shbt_pointer_width(to));
}

/*
 * shbt_find_downlink, compiled for pages with groups and for others.
 */
static pg_attribute_always_inline int
find_downlink(Page page, bool grouped, ShBtKey key)
{
	const ShPermuted *fps = shbt_inner_fps(page);
	int			count = shbt_page_count(page);
	int			best = -1;
	ShBtKey		best_key = SHBT_LOWEST_KEY;

	for (int i = 0; i < count; i++)
	{
		ShBtKey		candidate;

		/* decides nearly all cases */
		if (!grouped && (fps[i] > key.fp || fps[i] < best_key.fp))
			continue;
		candidate = shbt_inner_key(page, i);
		if (!shbt_key_less(key, candidate) && !shbt_key_less(candidate, best_key))
		{
			best = i;
			best_key = candidate;
		}
	}
	return best;
}

/*
 * Position of the greatest entry of an inner page that is <= key; -1 if there
 * is none, which means that the page is corrupted if its range holds the key.
 */
int
shbt_find_downlink(Page page, ShBtKey key)
{
	return shbt_page_is_grouped(page) ? find_downlink(page, true, key) :
		find_downlink(page, false, key);
}

/*
 * The key that separates two neighboring entries, left < separator <= right.
 *
 * Where the groups differ it is the start of a group.  Where the fingerprints
 * differ it is the one with the most trailing zero bits.  A page then starts
 * where a range of fingerprints with a common prefix starts, and such a range
 * rarely spans two pages.
 */
ShBtKey
shbt_separator(ShBtKey left, ShBtKey right)
{
	int			differ;

	Assert(shbt_key_less(left, right));
	if (left.group != right.group)
		return shbt_make_key(right.group, 0, 0);
	if (left.fp == right.fp)
		return right;
	differ = pg_leftmost_one_pos64(left.fp ^ right.fp);
	return shbt_make_key(right.group, right.fp & (PG_UINT64_MAX << differ), 0);
}

/*
 * What is wrong with a page that should belong to a tree and level, as a
 * message for shbt_report_corrupted; NULL if nothing is.  Checks only what is
 * cheap to check, but enough that using the page cannot crash or loop.
 */
const char *
shbt_page_problem(Page page, int tree, int level)
{
	PageHeader	header = (PageHeader) page;
	ShBtOpaque	opaque;
	int			count;

	if (PageIsNew(page))
		return gettext_noop("index \"%s\" has an empty page at block %u");
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(ShBtOpaqueData)))
		return gettext_noop("index \"%s\" has a special area of the wrong size at block %u");
	opaque = ShBtPageGetOpaque(page);
	if (opaque->page_id != SHBT_PAGE_ID)
		return gettext_noop("index \"%s\" has a page that is not one of a simhash index at block %u");
	if (opaque->flags & SHBT_META)
		return gettext_noop("index \"%s\" has a metapage where a page of a tree should be, at block %u");
	if (opaque->tree != tree)
		return gettext_noop("index \"%s\" has a page of another tree at block %u");
	if (opaque->level != level)
		return gettext_noop("index \"%s\" has a page of another level at block %u");
	if (header->pd_lower < MAXALIGN(SizeOfPageHeaderData) ||
		header->pd_lower > header->pd_upper ||
		header->pd_upper > header->pd_special)
		return gettext_noop("index \"%s\" has impossible bounds of the free space at block %u");
	if (level > 0 && (opaque->flags & SHBT_WIDTHS) != 0)
		return gettext_noop("index \"%s\" has an inner page with entries of a leaf at block %u");
	count = shbt_page_count(page);
	if (header->pd_lower - MAXALIGN(SizeOfPageHeaderData) != count * shbt_key_width(page) ||
		header->pd_special - header->pd_upper != count * shbt_pointer_width(page))
		return gettext_noop("index \"%s\" has arrays of different lengths at block %u");
	if (count > shbt_page_capacity(page))
		return gettext_noop("index \"%s\" has too many entries at block %u");
	if (opaque->sorted > count)
		return gettext_noop("index \"%s\" has more sorted entries than entries at block %u");
	if (!shbt_key_less(shbt_page_low(page), shbt_page_high(page)))
		return gettext_noop("index \"%s\" has fences in the wrong order at block %u");
	if (BlockNumberIsValid(opaque->right) ==
		shbt_key_equal(shbt_page_high(page), SHBT_HIGHEST_KEY))
		return gettext_noop("index \"%s\" has a right sibling that contradicts the high fence of block %u");
	if (level > 0 && count == 0)
		return gettext_noop("index \"%s\" has an inner page without children at block %u");
	return NULL;
}

/*
 * The same for a page of any tree and level.
 */
const char *
shbt_page_problem_anywhere(Page page)
{
	if (PageIsNew(page) ||
		PageGetSpecialSize(page) != MAXALIGN(sizeof(ShBtOpaqueData)))
		return shbt_page_problem(page, 0, 0);
	return shbt_page_problem(page, shbt_page_tree(page), shbt_page_level(page));
}

/*
 * The same for a page of an index.
 */
const char *
shbt_page_problem_in(Relation index, Page page, int tree, int level)
{
	const char *problem = shbt_page_problem(page, tree, level);

	if (problem == NULL &&
		unlikely(shbt_page_is_grouped(page) != shbt_is_grouped(index)))
		problem = gettext_noop("index \"%s\" has a page of an index with other columns at block %u");
	return problem;
}

/*
 * The page of a buffer, checked to belong to a tree and level.
 *
 * The caller holds a pin and a lock.  Reports ERRCODE_INDEX_CORRUPTED.
 */
Page
shbt_check_page(Relation index, Buffer buffer, int tree, int level)
{
	Page		page = BufferGetPage(buffer);
	const char *problem = shbt_page_problem_in(index, page, tree, level);

	if (unlikely(problem != NULL))
		shbt_report_corrupted(index, BufferGetBlockNumber(buffer), problem);
	return page;
}

/*
 * Report that an index is corrupted, with ERRCODE_INDEX_CORRUPTED.  Does not
 * return.
 *
 * message is a complete sentence, so that it can be searched for and
 * translated.  It has %s for the name of the index, followed by %u for the
 * block.
 */
void
shbt_report_corrupted(Relation index, BlockNumber block, const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg(message, RelationGetRelationName(index), block),
			 errhint("Please REINDEX it.")));
}

/*
 * Check that the TIDs of entries of a leaf, in the given block, can be those
 * of rows.  Reports ERRCODE_INDEX_CORRUPTED.
 *
 * All code that passes TIDs of a leaf to the table access method checks them
 * first.
 */
void
shbt_check_tids(Relation index, BlockNumber block, const ItemPointerData *tids, int count)
{
	bool		good = true;

	for (int i = 0; i < count; i++)
		good &= shbt_is_row(shbt_tid_to_int(&tids[i]));
	if (unlikely(!good))
		shbt_report_impossible_row(index, block);
}

/*
 * Report that an entry of a leaf, in the given block, cannot be that of a row.
 */
void
shbt_report_impossible_row(Relation index, BlockNumber block)
{
	shbt_report_corrupted(index, block,
						  "index \"%s\" has an entry with an impossible TID at block %u");
}

/*
 * Extend the index by a page.
 *
 * Returns its buffer, pinned and exclusively locked; the page is all zeros.
 * New pages are always at the end of the relation; VACUUM relies on that.
 */
Buffer
shbt_new_buffer(Relation index, ForkNumber fork)
{
	return shcompat_extend(index, fork);
}
