/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Making, changing and checking single pages.
 *
 * Nothing here takes a lock, except shidx_new_buffer; the caller holds the
 * lock on the buffer that what it asks for needs, or works on a copy.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "index/page.h"

#include "compat.h"

StaticAssertDecl(sizeof(ShIdxDownlink) == 10, "downlinks are packed");
StaticAssertDecl(sizeof(ShIdxOpaqueData) == 48, "no padding in the special area");
StaticAssertDecl(offsetof(ShIdxMetaPageData, roots) +
				 SHIDX_MAX_TREES * sizeof(ShIdxRoot) <= SHIDX_PAGE_SPACE,
				 "metapage holds the roots of all trees");

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
 * Initialize a metapage whose trees have no root yet.
 */
void
shidx_init_metapage(Page page, int blocks, int distance)
{
	ShIdxMetaPageData *meta;

	shidx_init_page(page, 0, 0, SHIDX_META,
					SHIDX_LOWEST_KEY, SHIDX_LOWEST_KEY, InvalidBlockNumber);
	meta = ShIdxPageGetMeta(page);
	meta->magic = SHIDX_MAGIC;
	meta->version = SHIDX_VERSION;
	meta->blocks = blocks;
	meta->distance = distance;
	meta->ntrees = shbits_ntables(blocks, distance) + 1;
	for (uint32 i = 0; i < meta->ntrees; i++)
	{
		meta->roots[i].block = InvalidBlockNumber;
		meta->roots[i].level = 0;
	}

	/* so that full-page images keep the contents */
	((PageHeader) page)->pd_lower =
		((char *) &meta->roots[meta->ntrees]) - (char *) page;
}

/*
 * Make known, in a metapage, the root of a tree.
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
	Size		width = shidx_page_is_leaf(page) ? sizeof(ItemPointerData) : sizeof(ShIdxDownlink);

	header->pd_lower = MAXALIGN(SizeOfPageHeaderData) + count * sizeof(uint64);
	header->pd_upper = header->pd_special - count * width;
}

void
shidx_set_fences(Page page, ShIdxKey low, ShIdxKey high)
{
	ShIdxOpaque opaque = ShIdxPageGetOpaque(page);

	opaque->low_fp = low.fp;
	shidx_int_to_tid(low.tid, &opaque->low_tid);
	opaque->high_fp = high.fp;
	shidx_int_to_tid(high.tid, &opaque->high_tid);
}

/*
 * Overwrite entry i of a leaf.
 */
void
shidx_set_entry(Page page, int i, ShIdxKey key)
{
	shidx_page_fps(page)[i] = key.fp;
	shidx_int_to_tid(key.tid, shidx_leaf_tid(page, i));
}

/*
 * Add an entry to an inner page that is not full.
 */
void
shidx_add_downlink(Page page, ShIdxKey key, BlockNumber child)
{
	int			count = shidx_page_count(page);
	ShIdxDownlink *link = shidx_inner_downlink(page, count);

	Assert(!shidx_page_is_leaf(page) && !shidx_page_is_full(page));
	shidx_set_count(page, count + 1);
	shidx_page_fps(page)[count] = key.fp;
	shidx_int_to_tid(key.tid, &link->tid);
	BlockIdSet(&link->child, child);
}

/*
 * Make entry i of a page what entry j of a page of the same kind is.
 */
void
shidx_copy_entry(Page to, int i, Page from, int j)
{
	shidx_page_fps(to)[i] = shidx_page_fps(from)[j];
	if (shidx_page_is_leaf(to))
		*shidx_leaf_tid(to, i) = *shidx_leaf_tid(from, j);
	else
		*shidx_inner_downlink(to, i) = *shidx_inner_downlink(from, j);
}

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE ShIdxSortedEntry
#define ST_COMPARE(a, b) \
	(shidx_key_less((a)->key, (b)->key) ? -1 : shidx_key_less((b)->key, (a)->key))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * List the entries of a page, ascending.  Returns how many there are;
 * entries[] must have room for SHIDX_LEAF_CAPACITY.
 */
int
shidx_sort_entries(Page page, ShIdxSortedEntry *entries)
{
	int			count = shidx_page_count(page);

	for (int i = 0; i < count; i++)
	{
		entries[i].key = shidx_page_key(page, i);
		entries[i].position = i;
	}
	sort_entries(entries, count);
	return count;
}

/*
 * Position of the greatest entry of an inner page that is <= key; -1 if there
 * is none, which means that the page is corrupted if its range holds the key.
 */
int
shidx_find_downlink(Page page, ShIdxKey key)
{
	const uint64 *fps = shidx_page_fps(page);
	int			count = shidx_page_count(page);
	int			best = -1;
	ShIdxKey	best_key = SHIDX_LOWEST_KEY;

	for (int i = 0; i < count; i++)
	{
		ShIdxKey	candidate;

		/* settles nearly all of them */
		if (fps[i] > key.fp || fps[i] < best_key.fp)
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
 * Position, among the sorted entries of a leaf, of the first fingerprint that
 * is >= fp; their number if there is none.
 *
 * Fingerprints are spread evenly, as a rule, so where fp lies between the
 * fences tells about where it is.  Looking there first touches one or two
 * cache lines; a binary search would wait for memory several times.
 */
int
shidx_find_sorted(Page page, uint64 fp)
{
	const ShIdxOpaqueData *opaque = ShIdxPageGetOpaque(page);
	const uint64 *fps = shidx_page_fps(page);
	int			count = opaque->sorted;
	int			below = -1;		/* fps[below] < fp */
	int			above = count;	/* fps[above] >= fp */
	int			step = 8;
	int			at;

	if (count == 0 || fp <= opaque->low_fp || opaque->high_fp == opaque->low_fp)
		return 0;
	at = (int) (count * ((double) (fp - opaque->low_fp) /
						 (double) (opaque->high_fp - opaque->low_fp)));
	at = Min(at, count - 1);

	/* enclose it, in steps that double */
	if (fps[at] < fp)
	{
		below = at;
		while (below + step < count && fps[below + step] < fp)
		{
			below += step;
			step *= 2;
		}
		above = Min(below + step, count);
	}
	else
	{
		above = at;
		while (above - step >= 0 && fps[above - step] >= fp)
		{
			above -= step;
			step *= 2;
		}
		below = Max(above - step, -1);
	}
	while (above - below > 1)
	{
		int			middle = (above + below) / 2;

		if (fps[middle] < fp)
			below = middle;
		else
			above = middle;
	}
	return above;
}

/*
 * The key that separates two neighbouring entries, left < separator <= right.
 *
 * Where the fingerprints differ it is the one with the most zero bits at its
 * end: a page then starts where a range of fingerprints with a common prefix
 * does, and such a range seldom lies on two pages.
 */
ShIdxKey
shidx_separator(ShIdxKey left, ShIdxKey right)
{
	int			differ;

	Assert(shidx_key_less(left, right));
	if (left.fp == right.fp)
		return right;
	differ = pg_leftmost_one_pos64(left.fp ^ right.fp);
	return shidx_make_key(right.fp & (PG_UINT64_MAX << differ), 0);
}

/*
 * What is wrong with a page that should belong to a tree and level, in words;
 * NULL if nothing is.  Looks only at what is cheap to look at: enough that
 * using the page cannot crash or loop.
 */
const char *
shidx_page_problem(Page page, int tree, int level)
{
	PageHeader	header = (PageHeader) page;
	ShIdxOpaque opaque;
	Size		pointers;
	int			count;

	if (PageIsNew(page))
		return "is empty";
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(ShIdxOpaqueData)))
		return "has a special area of the wrong size";
	opaque = ShIdxPageGetOpaque(page);
	if (opaque->page_id != SHIDX_PAGE_ID)
		return "is not a page of a simhash index";
	if (opaque->flags & SHIDX_META)
		return "is a metapage where a tree page should be";
	if (opaque->tree != tree)
		return "belongs to another tree";
	if (opaque->level != level)
		return "belongs to another level";
	if (header->pd_lower < MAXALIGN(SizeOfPageHeaderData) ||
		header->pd_lower > header->pd_upper ||
		header->pd_upper > header->pd_special)
		return "has impossible bounds of its free space";
	count = shidx_page_count(page);
	pointers = header->pd_special - header->pd_upper;
	if (pointers != count * (level == 0 ? sizeof(ItemPointerData) : sizeof(ShIdxDownlink)))
		return "has arrays of different length";
	if (opaque->sorted > count)
		return "has more sorted entries than entries";
	if (!shidx_key_less(shidx_page_low(page), shidx_page_high(page)))
		return "has its fences in the wrong order";
	if (level > 0 && count == 0)
		return "is an inner page without children";
	return NULL;
}

/*
 * The same for a page of whatever tree and level.
 */
const char *
shidx_page_problem_anywhere(Page page)
{
	if (PageIsNew(page) ||
		PageGetSpecialSize(page) != MAXALIGN(sizeof(ShIdxOpaqueData)))
		return shidx_page_problem(page, 0, 0);
	return shidx_page_problem(page, ShIdxPageGetOpaque(page)->tree,
							  ShIdxPageGetOpaque(page)->level);
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
	const char *problem = shidx_page_problem(page, tree, level);

	if (unlikely(problem != NULL))
		shidx_report_corrupted(index, BufferGetBlockNumber(buffer), problem);
	return page;
}

void
shidx_report_corrupted(Relation index, BlockNumber block, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted: block %u %s",
					RelationGetRelationName(index), block, problem),
			 errhint("Please REINDEX it.")));
}

/*
 * Check that a page can be a child at all.
 */
void
shidx_check_child(Relation index, BlockNumber parent, BlockNumber child)
{
	if (unlikely(!shidx_is_tree_block(child)))
		shidx_report_corrupted(index, parent, "has an impossible child");
}

/*
 * Extend the index by a page.
 *
 * Returns its buffer, pinned and exclusively locked; the page is all zeros.
 * New pages always lie behind all others: VACUUM counts on it.
 */
Buffer
shidx_new_buffer(Relation index, ForkNumber fork)
{
	return shcompat_extend(index, fork);
}
