/*-------------------------------------------------------------------------
 *
 * build_tree.c
 *	  Writing a tree of a new index from its sorted entries.
 *
 * Leaves are written from left to right, and the inner levels after them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/backend_progress.h"

#include "btree/page.h"
#include "btree/pagelist.h"
#include "index/am.h"
#include "index/build_tree.h"

#define INNER_FILLFACTOR	90

/* how often the progress view is brought up to date, in entries */
#define PROGRESS_ENTRIES	(64 * SHBT_MAX_ENTRIES)

/*
 * The page of a level that is being filled: a copy, so that its buffer need
 * not be locked meanwhile.  A lock would hold off interrupts, and so the
 * cancelling of the build, until the end of the level.
 */
typedef struct BuildPage
{
	Buffer		buffer;			/* pinned, or InvalidBuffer */
	PGAlignedBlock copy;
} BuildPage;

/*
 * Write the page that is being filled to its buffer, and let that go.
 */
static void
write_page(BuildPage *page)
{
	LockBuffer(page->buffer, BUFFER_LOCK_EXCLUSIVE);
	memcpy(BufferGetPage(page->buffer), page->copy.data, BLCKSZ);
	MarkBufferDirty(page->buffer);
	UnlockReleaseBuffer(page->buffer);
	page->buffer = InvalidBuffer;
}

/*
 * Start the page of a level that follows *page, and write that one: its high
 * fence is the new page's low one.  *page has no buffer before the first.
 *
 * On return the new page's buffer is pinned, not locked.
 */
static void
start_page(ShIdxBuild *build, ShBtPageList *pages, BuildPage *page, int tree, int level, ShBtKey low)
{
	Buffer		next = shbt_new_buffer(build->index, MAIN_FORKNUM);

	LockBuffer(next, BUFFER_LOCK_UNLOCK);
	if (BufferIsValid(page->buffer))
	{
		Page		copy = (Page) page->copy.data;

		ShBtPageGetOpaque(copy)->right = BufferGetBlockNumber(next);
		shbt_set_fences(copy, shbt_page_low(copy), low);
		write_page(page);
	}
	shbt_init_page((Page) page->copy.data, tree, level,
				   shbt_is_grouped(build->index) ? SHBT_GROUPED : 0, low, SHBT_HIGHEST_KEY,
				   InvalidBlockNumber);
	shbt_pagelist_add(pages, low, BufferGetBlockNumber(next));
	page->buffer = next;
}

/*
 * Write the last page of a level; if it is the only one, it is the root.
 */
static void
finish_level(const ShBtPageList *pages, BuildPage *page)
{
	if (pages->count == 1)
		ShBtPageGetOpaque((Page) page->copy.data)->flags |= SHBT_ROOT;
	write_page(page);
}

/*
 * Report that the trees are being written: so many rows with a fingerprint,
 * and without.
 */
void
shidx_report_writing(const ShBitsScheme *scheme, double rows, double nulls)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_PHASE_WRITE);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) (rows * scheme->ntables + nulls));
}

/*
 * Count entries that have been written, by whichever process.
 */
static void
count_written(ShIdxBuild *build, int entries)
{
	uint64		before = pg_atomic_fetch_add_u64(build->written, entries);

	if (build->is_leader && before / PROGRESS_ENTRIES != (before + entries) / PROGRESS_ENTRIES)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, before + entries);
}

static void
finish_leaf(ShIdxBuild *build, BuildPage *page, int count)
{
	shbt_set_count((Page) page->copy.data, count);
	ShBtPageGetOpaque((Page) page->copy.data)->sorted = count;
	count_written(build, count);
}

/*
 * Write the leaves of a tree from the sorted entries.
 */
static void
write_leaves(ShIdxBuild *build, ShSort *sort, int tree, ShBtPageList *pages)
{
	int			fill = shbt_leaf_capacity(shbt_is_grouped(build->index)) * build->fillfactor / 100;
	BuildPage	page = {InvalidBuffer};
	ShBtKey		previous = SHBT_LOWEST_KEY;
	ShSortItem	item;
	int			count = 0;

	start_page(build, pages, &page, tree, 0, SHBT_LOWEST_KEY);
	while (shsort_next(sort, &item))
	{
		ShBtKey		key = shbt_make_key(0, item.key, item.value);

		if (count == fill)
		{
			finish_leaf(build, &page, count);
			start_page(build, pages, &page, tree, 0, shbt_separator(previous, key));
			count = 0;
			CHECK_FOR_INTERRUPTS();
		}
		shbt_set_entry((Page) page.copy.data, count++, key);
		previous = key;
	}
	finish_leaf(build, &page, count);
	finish_level(pages, &page);
}

/*
 * Write the inner pages of a level above the pages below it.
 */
static void
write_inner_level(ShIdxBuild *build, int tree, int level, const ShBtPageList *below, ShBtPageList *pages)
{
	int			fill = shbt_inner_capacity(shbt_is_grouped(build->index)) * INNER_FILLFACTOR / 100;
	BuildPage	page = {InvalidBuffer};

	for (size_t i = 0; i < below->count; i++)
	{
		if (i % fill == 0)
		{
			start_page(build, pages, &page, tree, level, below->lows[i]);
			CHECK_FOR_INTERRUPTS();
		}
		shbt_add_downlink((Page) page.copy.data, below->lows[i], below->blocks[i]);
	}
	finish_level(pages, &page);
}

/*
 * Write a tree from its sorted entries, and make its root known to the
 * metapage, which must be there.
 *
 * Other processes may write other trees at the same time.  No lock or pin is
 * held on return.
 */
void
shidx_write_tree(ShIdxBuild *build, ShSort *sort, int tree)
{
	ShBtPageList pages = {0};
	Buffer		metabuffer;
	int			level = 0;

	write_leaves(build, sort, tree, &pages);
	while (pages.count > 1)
	{
		ShBtPageList above = {0};

		write_inner_level(build, tree, ++level, &pages, &above);
		shbt_pagelist_free(&pages);
		pages = above;
	}

	metabuffer = ReadBuffer(build->index, SHBT_METAPAGE_BLOCK);
	LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
	shbt_set_root(BufferGetPage(metabuffer), tree, pages.blocks[0], level);
	MarkBufferDirty(metabuffer);
	UnlockReleaseBuffer(metabuffer);

	shbt_pagelist_free(&pages);
}
