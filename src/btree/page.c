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

#include "btree/page.h"
#include "compat.h"

StaticAssertDecl(sizeof(ShBtDownlink) == 10, "downlinks are packed");
StaticAssertDecl(sizeof(ShBtOpaqueData) == 48, "no padding in the special area");
StaticAssertDecl(offsetof(ShBtMetaPageData, roots) +
				 SHBT_MAX_TREES * sizeof(ShBtRoot) <= SHBT_PAGE_SPACE,
				 "metapage holds the roots of all trees");

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
 * Initialize a metapage whose trees have no root yet.
 */
void
shbt_init_metapage(Page page, int blocks, int distance, int columns)
{
	ShBtMetaPageData *meta;

	shbt_init_page(page, 0, 0, SHBT_META,
				   SHBT_LOWEST_KEY, SHBT_LOWEST_KEY, InvalidBlockNumber);
	meta = ShBtPageGetMeta(page);
	meta->magic = SHBT_MAGIC;
	meta->version = SHBT_VERSION;
	meta->blocks = blocks;
	meta->distance = distance;
	meta->ntrees = shbits_ntables(blocks, distance) + 1;
	meta->columns = columns;
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
	Size		width = shbt_pointer_width(shbt_page_is_leaf(page), shbt_page_is_grouped(page));

	header->pd_lower = MAXALIGN(SizeOfPageHeaderData) + count * sizeof(uint64);
	header->pd_upper = header->pd_special - count * width;
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

static void
set_group(Page page, int i, uint32 value)
{
	bool		leaf = shbt_page_is_leaf(page);
	ShBtGroup  *group;

	if (!shbt_page_is_grouped(page))
		return;
	group = (ShBtGroup *) (shbt_page_pointer(page, i, leaf) + shbt_pointer_width(leaf, false));
	group->high = value >> 16;
	group->low = value & 0xFFFF;
}

/*
 * Overwrite entry i of a leaf.
 */
void
shbt_set_entry(Page page, int i, ShBtKey key)
{
	shbt_page_fps(page)[i] = key.fp;
	shbt_int_to_tid(key.tid, shbt_leaf_tid(page, i));
	set_group(page, i, key.group);
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
	shbt_page_fps(page)[count] = key.fp;
	link = shbt_inner_downlink(page, count);
	shbt_int_to_tid(key.tid, &link->tid);
	BlockIdSet(&link->child, child);
	set_group(page, count, key.group);
}

/*
 * Copy entry j of a page to entry i of a page of the same kind.
 */
void
shbt_copy_entry(Page to, int i, Page from, int j)
{
	bool		leaf = shbt_page_is_leaf(to);

	shbt_page_fps(to)[i] = shbt_page_fps(from)[j];
	memcpy(shbt_page_pointer(to, i, leaf), shbt_page_pointer(from, j, leaf),
		   shbt_pointer_width(leaf, shbt_page_is_grouped(to)));
}

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE ShBtSortedEntry
#define ST_COMPARE(a, b) \
	(shbt_key_less((a)->key, (b)->key) ? -1 : shbt_key_less((b)->key, (a)->key))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * List the entries of a page, ascending.  Returns how many there are;
 * entries[] must have room for SHBT_MAX_ENTRIES.
 */
int
shbt_sort_entries(Page page, ShBtSortedEntry *entries)
{
	int			count = shbt_page_count(page);

	for (int i = 0; i < count; i++)
	{
		entries[i].key = shbt_page_key(page, i);
		entries[i].position = i;
	}
	sort_entries(entries, count);
	return count;
}

/*
 * shbt_find_downlink, compiled for pages with groups and for others.
 */
static pg_attribute_always_inline int
find_downlink(Page page, bool grouped, ShBtKey key)
{
	const uint64 *fps = shbt_page_fps(page);
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
 * Is entry i of a leaf below (group, fp)?
 */
static pg_attribute_always_inline bool
is_below(Page page, int i, bool grouped, uint32 group, uint64 fp)
{
	if (grouped)
	{
		uint32		other = shbt_page_group(page, i, true);

		if (other != group)
			return other < group;
	}
	return shbt_page_fps(page)[i] < fp;
}

/*
 * shbt_find_sorted, compiled for pages with groups and for others.
 */
static pg_attribute_always_inline int
find_sorted(Page page, bool grouped, uint32 group, uint64 fp)
{
	const ShBtOpaqueData *opaque = ShBtPageGetOpaque(page);
	int			count = opaque->sorted;
	int			below = -1;		/* this one is below */
	int			above = count;	/* this one is not */
	int			step = 8;
	int			at;

	if (count == 0)
		return 0;
	if (grouped && opaque->low_group != opaque->high_group)
		at = count / 2;
	else if (fp <= opaque->low_fp || opaque->high_fp == opaque->low_fp)
		return 0;
	else
		at = (int) (count * ((double) (fp - opaque->low_fp) /
							 (double) (opaque->high_fp - opaque->low_fp)));
	at = Min(at, count - 1);

	/* bracket it, doubling the step each time */
	if (is_below(page, at, grouped, group, fp))
	{
		below = at;
		while (below + step < count && is_below(page, below + step, grouped, group, fp))
		{
			below += step;
			step *= 2;
		}
		above = Min(below + step, count);
	}
	else
	{
		above = at;
		while (above - step >= 0 && !is_below(page, above - step, grouped, group, fp))
		{
			above -= step;
			step *= 2;
		}
		below = Max(above - step, -1);
	}
	while (above - below > 1)
	{
		int			middle = (above + below) / 2;

		if (is_below(page, middle, grouped, group, fp))
			below = middle;
		else
			above = middle;
	}
	return above;
}

/*
 * Position, among the sorted entries of a leaf, of the first one that is
 * >= (group, fp); their number if there is none.
 *
 * Fingerprints are uniformly distributed, as a rule, so the position of fp
 * between the fences tells roughly where it is.  Looking there first touches
 * one or two cache lines; a binary search would wait for memory several times.
 */
int
shbt_find_sorted(Page page, uint32 group, uint64 fp)
{
	return shbt_page_is_grouped(page) ? find_sorted(page, true, group, fp) :
		find_sorted(page, false, group, fp);
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
	Size		pointers;
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
	count = shbt_page_count(page);
	pointers = header->pd_special - header->pd_upper;
	if (pointers != count * shbt_pointer_width(level == 0, shbt_page_is_grouped(page)))
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
	return shbt_page_problem(page, ShBtPageGetOpaque(page)->tree,
							 ShBtPageGetOpaque(page)->level);
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
		good &= shbt_is_row_tid(&tids[i]);
	if (unlikely(!good))
		shbt_report_corrupted(index, block,
							  "index \"%s\" has an entry with an impossible TID at block %u");
}

/*
 * The same for all entries of a leaf.
 */
void
shbt_check_leaf_tids(Relation index, BlockNumber block, Page leaf)
{
	int			count = shbt_page_count(leaf);

	if (!shbt_page_is_grouped(leaf))
	{
		shbt_check_tids(index, block, shbt_leaf_tid(leaf, count - 1), count);
		return;
	}
	for (int i = 0; i < count; i++)
		shbt_check_tids(index, block, shbt_leaf_tid(leaf, i), 1);
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
