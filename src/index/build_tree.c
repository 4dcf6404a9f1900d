/*-------------------------------------------------------------------------
 *
 * build_tree.c
 *	  Writing a tree of a new index from its sorted entries.
 *
 * The number of entries of a tree is known before it is written, and hence the
 * block number of each of its pages: the leaves from left to right, and then
 * the inner levels.  The trees follow one another, after the metapage.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"

#include "btree/page.h"
#include "index/am.h"
#include "index/build_tree.h"

#define INNER_FILLFACTOR	90

/* report progress after this many entries */
#define PROGRESS_ENTRIES	(64 * SHBT_MAX_ENTRIES)

/* a level of a tree that is being written */
typedef struct BuildLevel
{
	int			tree;
	int			level;
	uint64		first;			/* its first block */
	uint64		count;			/* pages in all */
	uint64		begun;			/* started so far */
	Page		page;			/* the current one */
	ShBtKey    *lows;			/* low fences of the pages */
} BuildLevel;

/* entries of a new leaf */
static int
leaf_fill(const ShIdxBuild *build)
{
	return shbt_leaf_capacity(shbt_is_grouped(build->index)) * build->fillfactor / 100;
}

/* and of a new inner page */
static int
inner_fill(const ShIdxBuild *build)
{
	return shbt_inner_capacity(shbt_is_grouped(build->index)) * INNER_FILLFACTOR / 100;
}

static double
entries_of(const ShIdxBuild *build, int tree)
{
	return tree == build->scheme->ntables ? build->nulls : build->rows;
}

static uint64
divide_up(uint64 a, uint64 b)
{
	return (a + b - 1) / b;
}

/*
 * Pages of the leaf level of a tree.
 */
static uint64
count_leaves(const ShIdxBuild *build, int tree)
{
	return Max(divide_up((uint64) entries_of(build, tree), leaf_fill(build)), 1);
}

/*
 * Pages of a tree, and the level of its root.
 */
static uint64
count_pages(const ShIdxBuild *build, int tree, int *root_level)
{
	uint64		count = count_leaves(build, tree);
	uint64		sum = count;

	for (*root_level = 0; count > 1; (*root_level)++)
	{
		count = divide_up(count, inner_fill(build));
		sum += count;
	}
	return sum;
}

/*
 * The first block of a tree.
 */
static uint64
first_block(const ShIdxBuild *build, int tree)
{
	uint64		block = SHBT_METAPAGE_BLOCK + 1;
	int			root_level;

	for (int before = 0; before < tree; before++)
		block += count_pages(build, before, &root_level);
	return block;
}

/*
 * Allocate the pages of all trees and the metapage, before any is written.
 * in_order means that the metapage is written first, and then one tree after
 * the other.
 */
void
shidx_allocate_trees(const ShIdxBuild *build, bool in_order)
{
	uint64		count = first_block(build, build->scheme->ntables + 1);

	if (count > MaxBlockNumber)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" would have more than %u pages",
						RelationGetRelationName(build->index), MaxBlockNumber)));
	shidx_allocate_pages(build->index, (BlockNumber) count, in_order);
}

/*
 * Report the phase in which the trees are written.
 */
void
shidx_report_writing(const ShIdxBuild *build)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_BUILD_PHASE_WRITE);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) (build->rows * build->scheme->ntables + build->nulls));
}

/*
 * Write the metapage, before or after the trees.
 */
void
shidx_write_metapage(ShIdxBuild *build)
{
	Page		page = shidx_add_page(build->pages, SHBT_METAPAGE_BLOCK);

	shbt_init_metapage(page, build->scheme->blocks, build->scheme->distance,
					   IndexRelationGetNumberOfAttributes(build->index));
	for (int tree = 0; tree <= build->scheme->ntables; tree++)
	{
		int			level;
		uint64		end = first_block(build, tree) + count_pages(build, tree, &level);

		shbt_set_root(page, tree, (BlockNumber) (end - 1), level);
	}
}

/*
 * Count entries that have been written, by any process.
 */
static void
count_written(ShIdxBuild *build, int entries)
{
	uint64		before = pg_atomic_fetch_add_u64(build->written, entries);

	if (build->is_leader && before / PROGRESS_ENTRIES != (before + entries) / PROGRESS_ENTRIES)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, before + entries);
}

static void
begin_level(BuildLevel *level, int tree, int number, uint64 first, uint64 count)
{
	level->tree = tree;
	level->level = number;
	level->first = first;
	level->count = count;
	level->begun = 0;
	level->page = NULL;
	level->lows = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(ShBtKey));
}

/*
 * Start the next page of a level.  Its low fence is the high fence of the page
 * before.
 */
static void
start_page(ShIdxBuild *build, BuildLevel *level, ShBtKey low)
{
	uint64		block = level->first + level->begun;
	bool		is_last = level->begun + 1 == level->count;
	uint16		flags = shbt_is_grouped(build->index) ? SHBT_GROUPED : 0;

	if (level->begun == level->count)
		elog(ERROR, "more entries than were counted");
	if (level->page != NULL)
		shbt_set_fences(level->page, shbt_page_low(level->page), low);
	level->lows[level->begun++] = low;
	level->page = shidx_add_page(build->pages, (BlockNumber) block);
	if (level->count == 1)
		flags |= SHBT_ROOT;
	shbt_init_page(level->page, level->tree, level->level, flags, low, SHBT_HIGHEST_KEY,
				   is_last ? InvalidBlockNumber : (BlockNumber) block + 1);
}

static void
finish_leaf(ShIdxBuild *build, Page page, int count)
{
	shbt_set_count(page, count);
	ShBtPageGetOpaque(page)->sorted = count;
	count_written(build, count);
}

/*
 * Write the leaves of a tree from the sorted entries.
 */
static void
write_leaves(ShIdxBuild *build, ShSort *sort, BuildLevel *leaves)
{
	int			fill = leaf_fill(build);
	ShBtKey		previous = SHBT_LOWEST_KEY;
	ShSortItems items;
	size_t		left;
	int			count = 0;

	start_page(build, leaves, SHBT_LOWEST_KEY);
	while ((left = shsort_next_items(sort, &items)) > 0)
	{
		for (size_t i = 0; i < left; i++)
		{
			ShBtKey		key = shbt_make_key(shsort_group(items, i), items.items[i].key,
											items.items[i].value);

			if (count == fill)
			{
				finish_leaf(build, leaves->page, count);
				start_page(build, leaves, shbt_separator(previous, key));
				count = 0;
			}
			shbt_set_entry(leaves->page, count++, key);
			previous = key;
		}
	}
	finish_leaf(build, leaves->page, count);
}

/*
 * Write a level of inner pages above the given level.
 */
static void
write_inner_level(ShIdxBuild *build, BuildLevel *level, const BuildLevel *below)
{
	int			fill = inner_fill(build);

	for (uint64 i = 0; i < below->count; i++)
	{
		if (i % fill == 0)
			start_page(build, level, below->lows[i]);
		shbt_add_downlink(level->page, below->lows[i], (BlockNumber) (below->first + i));
	}
}

/*
 * Write a tree from its sorted entries.  Other processes may write other trees
 * at the same time.
 */
void
shidx_write_tree(ShIdxBuild *build, ShSort *sort, int tree)
{
	BuildLevel	level;

	begin_level(&level, tree, 0, first_block(build, tree), count_leaves(build, tree));
	write_leaves(build, sort, &level);
	if (level.begun != level.count)
		elog(ERROR, "fewer entries than were counted");
	while (level.count > 1)
	{
		BuildLevel	above;

		begin_level(&above, tree, level.level + 1, level.first + level.count,
					divide_up(level.count, inner_fill(build)));
		write_inner_level(build, &above, &level);
		pfree(level.lows);
		level = above;
	}
	pfree(level.lows);
}
