/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building a simhash index.
 *
 * The pages are written through the buffer manager and logged afterwards, by
 * page ranges: nobody can read the index before the build commits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"

#include "btree/cache.h"
#include "btree/page.h"
#include "btree/pagelist.h"
#include "index/am.h"
#include "sort/entrysort.h"
#include "type/simhash.h"

#define INNER_FILLFACTOR	90

/* how often the progress view is brought up to date, in pages */
#define PROGRESS_PAGES		64

typedef struct BuildState
{
	Relation	index;
	ShSort  *sort;			/* rows with a fingerprint */
	ShSort  *nulls;			/* and without */
	double		written;		/* entries, over all trees */
} BuildState;

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

static void
collect_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			bool alive, void *arg)
{
	BuildState *state = arg;

	if (isnull[0])
		shsort_add(state->nulls, 0, shbt_tid_to_int(tid));
	else
		shsort_add(state->sort, DatumGetSimhash(values[0]), shbt_tid_to_int(tid));
}

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
start_page(BuildState *state, ShBtPageList *pages, BuildPage *page, int tree, int level, ShBtKey low)
{
	Buffer		next = shbt_new_buffer(state->index, MAIN_FORKNUM);

	LockBuffer(next, BUFFER_LOCK_UNLOCK);
	if (BufferIsValid(page->buffer))
	{
		Page		copy = (Page) page->copy.data;

		ShBtPageGetOpaque(copy)->right = BufferGetBlockNumber(next);
		shbt_set_fences(copy, shbt_page_low(copy), low);
		write_page(page);
	}
	shbt_init_page((Page) page->copy.data, tree, level, 0, low, SHBT_HIGHEST_KEY,
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

static void
report_progress(BuildState *state, double more)
{
	double		before = state->written;

	state->written += more;
	if ((int64) (before / (PROGRESS_PAGES * SHBT_LEAF_CAPACITY)) !=
		(int64) (state->written / (PROGRESS_PAGES * SHBT_LEAF_CAPACITY)))
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) state->written);
}

static void
finish_leaf(BuildState *state, BuildPage *page, int count)
{
	shbt_set_count((Page) page->copy.data, count);
	ShBtPageGetOpaque((Page) page->copy.data)->sorted = count;
	report_progress(state, count);
}

/*
 * Write the leaves of a tree from the sorted entries.
 */
static void
write_leaves(BuildState *state, ShSort *sort, int tree, ShBtPageList *pages)
{
	int			fill = SHBT_LEAF_CAPACITY * shidx_get_options(state->index).fillfactor / 100;
	BuildPage	page = {InvalidBuffer};
	ShBtKey		previous = SHBT_LOWEST_KEY;
	ShSortItem	item;
	int			count = 0;

	start_page(state, pages, &page, tree, 0, SHBT_LOWEST_KEY);
	while (shsort_next(sort, &item))
	{
		ShBtKey		key = shbt_make_key(item.key, item.value);

		if (count == fill)
		{
			finish_leaf(state, &page, count);
			start_page(state, pages, &page, tree, 0, shbt_separator(previous, key));
			count = 0;
			CHECK_FOR_INTERRUPTS();
		}
		shbt_set_entry((Page) page.copy.data, count++, key);
		previous = key;
	}
	finish_leaf(state, &page, count);
	finish_level(pages, &page);
}

/*
 * Write the inner pages of a level above the pages below it.
 */
static void
write_inner_level(BuildState *state, int tree, int level, const ShBtPageList *below, ShBtPageList *pages)
{
	int			fill = SHBT_INNER_CAPACITY * INNER_FILLFACTOR / 100;
	BuildPage	page = {InvalidBuffer};

	for (size_t i = 0; i < below->count; i++)
	{
		if (i % fill == 0)
		{
			start_page(state, pages, &page, tree, level, below->lows[i]);
			CHECK_FOR_INTERRUPTS();
		}
		shbt_add_downlink((Page) page.copy.data, below->lows[i], below->blocks[i]);
	}
	finish_level(pages, &page);
}

/*
 * Write a tree from its sorted entries, and make its root known.
 */
static void
write_tree(BuildState *state, ShSort *sort, int tree)
{
	ShBtPageList pages = {0};
	Buffer		metabuffer;
	int			level = 0;

	write_leaves(state, sort, tree, &pages);
	while (pages.count > 1)
	{
		ShBtPageList above = {0};

		write_inner_level(state, tree, ++level, &pages, &above);
		shbt_pagelist_free(&pages);
		pages = above;
	}

	metabuffer = ReadBuffer(state->index, SHBT_METAPAGE_BLOCK);
	LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
	shbt_set_root(BufferGetPage(metabuffer), tree, pages.blocks[0], level);
	MarkBufferDirty(metabuffer);
	UnlockReleaseBuffer(metabuffer);

	shbt_pagelist_free(&pages);
}

static void
write_metapage(Relation index, int blocks, int distance)
{
	Buffer		buffer = shbt_new_buffer(index, MAIN_FORKNUM);

	Assert(BufferGetBlockNumber(buffer) == SHBT_METAPAGE_BLOCK);
	shbt_init_metapage(BufferGetPage(buffer), blocks, distance);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

/*
 * ambuild
 */
IndexBuildResult *
shidx_build(Relation heap, Relation index, struct IndexInfo *info)
{
	ShIdxOptions options = shidx_get_options(index);
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	BuildState	state = {0};
	ShBitsScheme *scheme;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	/* what is remembered may be of the contents before a truncation */
	shbt_forget_cache(index);

	scheme = shbits_make_scheme(options.blocks, options.distance);

	state.index = index;
	state.sort = shsort_begin(maintenance_work_mem);
	state.nulls = shsort_begin(maintenance_work_mem / 8);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true,
												 collect_row, &state, NULL);
	result->index_tuples = shsort_count(state.sort) + shsort_count(state.nulls);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_PHASE_WRITE);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) (shsort_count(state.sort) * scheme->ntables +
										  shsort_count(state.nulls)));
	write_metapage(index, scheme->blocks, scheme->distance);
	for (int t = 0; t < scheme->ntables; t++)
	{
		shsort_start_table(state.sort, &scheme->tables[t]);
		write_tree(&state, state.sort, t);
	}
	/* the first table permutes nothing where all fingerprints are 0 */
	shsort_start_table(state.nulls, &scheme->tables[0]);
	write_tree(&state, state.nulls, scheme->ntables);

	shsort_end(state.sort);
	shsort_end(state.nulls);

	if (RelationNeedsWAL(index))
	{
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_PHASE_LOG);
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);
	}
	return result;
}

/*
 * Log a page of the init fork and let it go.
 */
static void
finish_init_page(Buffer buffer)
{
	START_CRIT_SECTION();
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * ambuildempty: write an empty index to the init fork of an unlogged one.
 */
void
shidx_buildempty(Relation index)
{
	ShIdxOptions options = shidx_get_options(index);
	Buffer		metabuffer = shbt_new_buffer(index, INIT_FORKNUM);
	Page		metapage = BufferGetPage(metabuffer);
	ShBtMetaPageData *meta = ShBtPageGetMeta(metapage);

	shbt_init_metapage(metapage, options.blocks, options.distance);
	for (int tree = 0; tree < meta->ntrees; tree++)
	{
		Buffer		root = shbt_new_buffer(index, INIT_FORKNUM);

		shbt_init_page(BufferGetPage(root), tree, 0, SHBT_ROOT,
						SHBT_LOWEST_KEY, SHBT_HIGHEST_KEY, InvalidBlockNumber);
		shbt_set_root(metapage, tree, BufferGetBlockNumber(root), 0);
		finish_init_page(root);
	}
	finish_init_page(metabuffer);
}

/*
 * ambuildphasename
 */
char *
shidx_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case SHIDX_PHASE_SCAN:
			return "scanning table";
		case SHIDX_PHASE_WRITE:
			return "sorting and writing tables";
		case SHIDX_PHASE_LOG:
			return "writing WAL";
		default:
			return NULL;
	}
}
