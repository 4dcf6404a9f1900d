/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Making, changing and checking single pages.
 *
 * Nothing here takes a lock.  The caller holds the appropriate buffer lock, or works on a
 * copy.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "bits/distance.h"
#include "compat.h"
#include "index/page.h"

StaticAssertDecl(sizeof(ShIdxDownlink) == 10, "downlinks are packed");
StaticAssertDecl(sizeof(ShIdxOpaqueData) == 48, "no padding in the special area");
StaticAssertDecl(SHBITS_MAX_TABLES + 1 <= SHIDX_MAX_TREES,
				 "the metapage holds the roots of all tables of a scheme");

/*
 * Initialize an empty page of a tree.
 */
void
shidx_init_page(Page page, int tree, int level, uint16 flags,
				ShIdxKey low, ShIdxKey high, BlockNumber right)
{
	ShIdxOpaque opaque;

	PageInit(page, BLCKSZ, sizeof(ShIdxOpaqueData));
	opaque = ShIdxPageGetOpaque(page);
	opaque->right = right;
	opaque->tree = tree;
	opaque->level = level;
	opaque->flags = flags;
	opaque->page_id = SHIDX_PAGE_ID;
	shidx_set_fences(page, low, high);
}

/*
 * The trees for fingerprints of so many bits, whose parts have the scheme of blocks and
 * distance, in the current memory context.  Of bands, it is that of one block.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if that cannot be used.
 */
ShIdxGeometry *
shidx_make_geometry(int width, int blocks, int distance, bool bands)
{
	ShIdxGeometry *geometry = palloc(sizeof(ShIdxGeometry));

	geometry->width = width;
	geometry->nparts = shbits_nparts(width);
	geometry->scheme = shbits_make_scheme(shbits_part_bits(width, 0), blocks, distance);
	geometry->ntrees = geometry->nparts * geometry->scheme->ntables;
	geometry->prefix_bits = bands ? SHBITS_BAND_PREFIX_BITS : 0;
	return geometry;
}

/*
 * Initialize a metapage whose trees have no root yet.
 */
void
shidx_init_metapage(Page page, const ShIdxGeometry *geometry, int columns)
{
	ShIdxMetaPageData *meta;

	shidx_init_page(page, 0, 0, SHIDX_META,
					SHIDX_LOWEST_KEY, SHIDX_LOWEST_KEY, InvalidBlockNumber);
	meta = ShIdxPageGetMeta(page);
	meta->magic = SHIDX_MAGIC;
	meta->version = SHIDX_VERSION;
	meta->blocks = geometry->scheme->blocks;
	meta->distance = geometry->scheme->distance;
	meta->nparts = geometry->nparts;
	meta->columns = columns;
	meta->width = geometry->width;
	meta->kind = geometry->prefix_bits > 0;
	meta->ntables = geometry->scheme->ntables;
	meta->prefix_bits = geometry->prefix_bits;
	memset(meta->unused, 0, sizeof(meta->unused));
	for (int tree = 0; tree <= geometry->ntrees; tree++)
		shidx_set_root(page, tree, InvalidBlockNumber, 0);

	/* so that full-page images keep the contents */
	((PageHeader) page)->pd_lower =
		((char *) &meta->roots[geometry->ntrees + 1]) - (char *) page;
}

/*
 * Store the root of a tree in a metapage.
 */
void
shidx_set_root(Page metapage, int tree, BlockNumber block, int level)
{
	ShIdxRoot  *root = &ShIdxPageGetMeta(metapage)->roots[tree];

	root->block = block;
	root->level = level;
}

/*
 * Set the bounds of the free space so that the page has count entries.
 */
void
shidx_set_count(Page page, int count)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = MAXALIGN(SizeOfPageHeaderData) + count * shidx_key_width(page);
	header->pd_upper = header->pd_special - count * shidx_pointer_width(page);
}

void
shidx_set_fences(Page page, ShIdxKey low, ShIdxKey high)
{
	ShIdxOpaque opaque = ShIdxPageGetOpaque(page);

	opaque->low_group = low.group;
	opaque->low_fp = low.fp;
	shidx_int_to_tid(low.tid, &opaque->low_tid);
	opaque->high_group = high.group;
	opaque->high_fp = high.fp;
	shidx_int_to_tid(high.tid, &opaque->high_tid);
}

/*
 * Add an entry to an inner page that is not full.
 */
void
shidx_add_downlink(Page page, ShIdxKey key, BlockNumber child)
{
	int			count = shidx_page_count(page);
	ShIdxDownlink *link;

	Assert(!shidx_page_is_leaf(page) && !shidx_page_is_full(page));
	shidx_set_count(page, count + 1);
	shidx_inner_fps(page)[count] = key.fp;
	link = shidx_inner_downlink(page, count);
	shidx_int_to_tid(key.tid, &link->tid);
	BlockIdSet(&link->child, child);
	shidx_set_group(page, count, key.group);
}

/*
 * Copy entry j of a page to entry i of a page whose entries take as many bytes;
 * of a leaf, to one with the same fingerprints left out, which is itself.
 */
void
shidx_copy_entry(Page to, int i, Page from, int j)
{
	int			key_width = shidx_key_width(to);

	Assert(to == from || !shidx_page_is_leaf(to));
	memcpy((char *) PageGetContents(to) + i * key_width,
		   (char *) PageGetContents(from) + j * key_width, key_width);
	memcpy(shidx_page_pointer(to, i), shidx_page_pointer(from, j), shidx_pointer_width(to));
}

/*
 * shidx_find_downlink, compiled for pages with groups and for others.
 */
static pg_attribute_always_inline int
find_downlink(Page page, bool grouped, ShIdxKey key)
{
	const ShPermuted *fps = shidx_inner_fps(page);
	int			count = shidx_page_count(page);
	int			best = -1;
	ShIdxKey	best_key = SHIDX_LOWEST_KEY;

	for (int i = 0; i < count; i++)
	{
		ShIdxKey	candidate;

		/* decides nearly all cases */
		if (!grouped && (fps[i] > key.fp || fps[i] < best_key.fp))
			continue;
		candidate = shidx_inner_key(page, i);
		if (!shidx_key_less(key, candidate) && !shidx_key_less(candidate, best_key))
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
shidx_find_downlink(Page page, ShIdxKey key)
{
	return shidx_page_is_grouped(page) ? find_downlink(page, true, key) :
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
ShIdxKey
shidx_separator(ShIdxKey left, ShIdxKey right)
{
	int			differ;

	Assert(shidx_key_less(left, right));
	if (left.group != right.group)
		return shidx_make_key(right.group, 0, 0);
	if (left.fp == right.fp)
		return right;
	differ = pg_leftmost_one_pos64(left.fp ^ right.fp);
	return shidx_make_key(right.group, right.fp & (PG_UINT64_MAX << differ), 0);
}

/*
 * What is wrong with a page that should belong to a tree and level, as a
 * message for shidx_report_corrupted; NULL if nothing is.  Checks only what is
 * cheap to check, but enough that using the page cannot crash or loop.
 */
const char *
shidx_page_problem(Page page, int tree, int level)
{
	PageHeader	header = (PageHeader) page;
	ShIdxOpaque opaque;
	int			count;

	if (PageIsNew(page))
		return gettext_noop("index \"%s\" has an empty page at block %u");
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(ShIdxOpaqueData)))
		return gettext_noop("index \"%s\" has a special area of the wrong size at block %u");
	opaque = ShIdxPageGetOpaque(page);
	if (opaque->page_id != SHIDX_PAGE_ID)
		return gettext_noop("index \"%s\" has a page that is not one of a simhash index at block %u");
	if (opaque->flags & SHIDX_META)
		return gettext_noop("index \"%s\" has a metapage where a page of a tree should be, at block %u");
	if (opaque->tree != tree)
		return gettext_noop("index \"%s\" has a page of another tree at block %u");
	if (opaque->level != level)
		return gettext_noop("index \"%s\" has a page of another level at block %u");
	if (header->pd_lower < MAXALIGN(SizeOfPageHeaderData) ||
		header->pd_lower > header->pd_upper ||
		header->pd_upper > header->pd_special)
		return gettext_noop("index \"%s\" has impossible bounds of the free space at block %u");
	if (level > 0 && (opaque->flags & SHIDX_WIDTHS) != 0)
		return gettext_noop("index \"%s\" has an inner page with entries of a leaf at block %u");
	count = shidx_page_count(page);
	if (header->pd_lower - MAXALIGN(SizeOfPageHeaderData) != count * shidx_key_width(page) ||
		header->pd_special - header->pd_upper != count * shidx_pointer_width(page))
		return gettext_noop("index \"%s\" has arrays of different lengths at block %u");
	if (count > shidx_page_capacity(page))
		return gettext_noop("index \"%s\" has too many entries at block %u");
	if (opaque->sorted > count)
		return gettext_noop("index \"%s\" has more sorted entries than entries at block %u");
	if (!shidx_key_less(shidx_page_low(page), shidx_page_high(page)))
		return gettext_noop("index \"%s\" has fences in the wrong order at block %u");
	if (BlockNumberIsValid(opaque->right) ==
		shidx_key_equal(shidx_page_high(page), SHIDX_HIGHEST_KEY))
		return gettext_noop("index \"%s\" has a right sibling that contradicts the high fence of block %u");
	if (level > 0 && count == 0)
		return gettext_noop("index \"%s\" has an inner page without children at block %u");
	return NULL;
}

/*
 * The same for a page of an index.
 */
const char *
shidx_page_problem_in(Relation index, Page page, int tree, int level)
{
	const char *problem = shidx_page_problem(page, tree, level);

	if (problem == NULL &&
		unlikely(shidx_page_is_grouped(page) != shidx_is_grouped(index)))
		problem = gettext_noop("index \"%s\" has a page of an index with other columns at block %u");
	return problem;
}

/*
 * The page of a buffer, checked to belong to a tree and level.
 *
 * The caller holds a pin and a lock.  Reports ERRCODE_INDEX_CORRUPTED.
 */
Page
shidx_check_page(Relation index, Buffer buffer, int tree, int level)
{
	Page		page = BufferGetPage(buffer);
	const char *problem = shidx_page_problem_in(index, page, tree, level);

	if (unlikely(problem != NULL))
		shidx_report_corrupted(index, BufferGetBlockNumber(buffer), problem);
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
shidx_report_corrupted(Relation index, BlockNumber block, const char *message)
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
shidx_check_tids(Relation index, BlockNumber block, const ItemPointerData *tids, int count)
{
	bool		good = true;

	for (int i = 0; i < count; i++)
		good &= shidx_is_row(shidx_tid_to_int(&tids[i]));
	if (unlikely(!good))
		shidx_report_impossible_row(index, block);
}

/*
 * Report that an entry of a leaf, in the given block, cannot be that of a row.
 */
void
shidx_report_impossible_row(Relation index, BlockNumber block)
{
	shidx_report_corrupted(index, block,
						   "index \"%s\" has an entry with an impossible TID at block %u");
}
