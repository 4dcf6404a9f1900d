/*-------------------------------------------------------------------------
 *
 * build_tree.c
 *	  Writing a tree of a new index from its sorted entries.
 *
 * The leaves are written from left to right, and then the inner levels.  How
 * many entries a leaf holds depends on them: each gets as many as fit in the
 * fewest bytes (leaf.h), up to its share of a full one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"

#include "index/build.h"
#include "index/leaf.h"

#define INNER_FILLFACTOR	90

/* report progress after this many entries */
#define PROGRESS_ENTRIES	(64 * SHIDX_USUAL_ENTRIES)

/* a leaf that is being filled */
typedef struct BuildLeaf
{
	double		fill;			/* the part of a full one that it gets */
	ShIdxKey	low;			/* its low fence */
	int			count;
	ShIdxKey	keys[SHIDX_MAX_ENTRIES];

	/* as many entries are for this leaf, if none needs more bytes */
	int			limit;
	ShIdxKey	end;			/* fingerprints from here on need more */
	int			row_width;
} BuildLeaf;

/*
 * Report the phase in which the trees are written.
 */
void
shidx_report_writing(const ShIdxBuild *build)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_PHASE_WRITE);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) (build->rows * build->geometry->ntrees + build->nulls));
}

/*
 * Write the metapage, after the trees.
 */
void
shidx_write_metapage(ShIdxBuild *build, bool logged)
{
	ShIdxPageWriter *writer = shidx_begin_pages(build->index, logged, true);
	Page		page = shidx_metapage(writer);

	shidx_init_metapage(page, build->geometry, IndexRelationGetNumberOfAttributes(build->index));
	for (int tree = 0; tree <= build->geometry->ntrees; tree++)
		shidx_set_root(page, tree, build->roots[tree].block, build->roots[tree].level);
	shidx_end_pages(writer);
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

/*
 * Add a page to a level.
 */
static Page
add_page(ShIdxBuild *build, ShIdxPageList *level, int tree, int number, ShIdxKey low,
		 ShIdxKey high)
{
	bool		is_root = shidx_key_equal(low, SHIDX_LOWEST_KEY) &&
		shidx_key_equal(high, SHIDX_HIGHEST_KEY);
	Page		page = shidx_add_page(build->pages, level, low);

	shidx_init_page(page, tree, number,
					(is_root ? SHIDX_ROOT : 0) | shidx_contents(build->index, build->geometry),
					low, high, InvalidBlockNumber);
	return page;
}

/*
 * How full leaf number i of a tree is made, as a part of 1.
 *
 * If all leaves were equally full, they would all split at about the same time,
 * when the table has grown by the same part ("waves of misery": Glombiewski,
 * Seeger and Graefe, BTW 2019).  So some are left emptier than others, and few
 * of them much emptier; fillfactor is the mean.
 */
static double
fill_of_leaf(const ShIdxBuild *build, size_t i)
{
	const double golden = 0.6180339887498949;	/* spreads the multiples
												 * evenly */
	double		mean = build->fillfactor / 100.0;
	double		fullest = Min(1.2 * mean, 1);
	double		u = i * golden + 0.577; /* the first one gets the mean */

	u -= floor(u);
	return fullest - 3 * (fullest - mean) * u * u;
}

static void
begin_leaf(const ShIdxBuild *build, BuildLeaf *leaf, ShIdxKey low, size_t number)
{
	leaf->fill = fill_of_leaf(build, number);
	leaf->low = low;
	leaf->count = 0;
	leaf->limit = 0;
	leaf->row_width = SHIDX_MIN_ROW_WIDTH;
}

/*
 * Make a leaf as wide as an entry requires that is to be added.  Returns false,
 * with nothing changed, if the leaf has too many entries for that.
 */
static bool
widen_leaf(const ShIdxBuild *build, BuildLeaf *leaf, ShIdxKey key)
{
	uint8		contents = shidx_contents(build->index, build->geometry);
	ShIdxKey	end = shidx_make_key(key.group, key.fp, SHIDX_MAX_TID);
	int			row_width = Max(leaf->row_width, shidx_roomy_row_width_of(key.tid));
	int			limit = leaf->fill * shidx_leaf_capacity(leaf->low, end, row_width, contents);

	if (leaf->count > 0 && leaf->count >= limit)
		return false;
	leaf->limit = Max(limit, 1);
	leaf->row_width = row_width;
	leaf->end = shidx_end_as_wide(leaf->low, end, contents);
	return true;
}

/*
 * Add an entry to a leaf.  Returns false if it is for the next one.
 */
static bool
write_entry(const ShIdxBuild *build, BuildLeaf *leaf, ShIdxKey key)
{
	if (leaf->count >= leaf->limit || !shidx_key_less(key, leaf->end) ||
		shidx_roomy_row_width_of(key.tid) > leaf->row_width)
	{
		if (!widen_leaf(build, leaf, key))
			return false;
	}
	leaf->keys[leaf->count++] = key;
	return true;
}

/*
 * Write a leaf whose entries are below a key.  Returns the key at which it ends.
 *
 * If the entries do not fit when it ends at the given key, since fingerprints
 * below that need more bytes than theirs, it ends where these begin.
 */
static ShIdxKey
write_leaf(ShIdxBuild *build, ShIdxPageList *leaves, int tree, const BuildLeaf *leaf, ShIdxKey high)
{
	uint8		contents = shidx_contents(build->index, build->geometry);
	Page		page;

	if (leaf->count > shidx_leaf_capacity(leaf->low, high, leaf->row_width, contents))
		high = leaf->end;
	page = add_page(build, leaves, tree, 0, leaf->low, high);
	shidx_write_leaf(page, leaf->keys, leaf->count, leaf->row_width);
	shidx_set_sorted(page, leaf->count);
	count_written(build, leaf->count);
	return high;
}

/*
 * Write the leaves of a tree from the sorted entries.
 */
static void
write_leaves(ShIdxBuild *build, ShIdxSort *sort, int tree, ShIdxPageList *leaves)
{
	BuildLeaf  *leaf = palloc(sizeof(BuildLeaf));
	ShIdxKey	previous = SHIDX_LOWEST_KEY;
	ShIdxKey	end;
	ShIdxSortItems items;
	size_t		left;

	begin_leaf(build, leaf, SHIDX_LOWEST_KEY, 0);
	while ((left = shidx_sort_next_items(sort, &items)) > 0)
	{
		for (size_t i = 0; i < left; i++)
		{
			ShIdxKey	key = shidx_make_key(shidx_sort_group(items, i), items.items[i].key,
											 items.items[i].value);

			if (!write_entry(build, leaf, key))
			{
				end = write_leaf(build, leaves, tree, leaf, shidx_separator(previous, key));
				begin_leaf(build, leaf, end, leaves->count);
				write_entry(build, leaf, key);
			}
			previous = key;
		}
	}

	/* the last one may not fit up to the greatest key */
	end = write_leaf(build, leaves, tree, leaf, SHIDX_HIGHEST_KEY);
	if (!shidx_key_equal(end, SHIDX_HIGHEST_KEY))
	{
		begin_leaf(build, leaf, end, leaves->count);
		write_leaf(build, leaves, tree, leaf, SHIDX_HIGHEST_KEY);
	}
	pfree(leaf);
}

/*
 * Write a level of inner pages above the given level.
 */
static void
write_inner_level(ShIdxBuild *build, ShIdxPageList *level, int tree, int number,
				  const ShIdxPageList *below)
{
	size_t		fill = shidx_inner_capacity(shidx_is_grouped(build->index)) * INNER_FILLFACTOR / 100;

	for (size_t first = 0; first < below->count; first += fill)
	{
		size_t		end = Min(first + fill, below->count);
		Page		page = add_page(build, level, tree, number, below->lows[first],
									end < below->count ? below->lows[end] : SHIDX_HIGHEST_KEY);

		for (size_t i = first; i < end; i++)
			shidx_add_downlink(page, below->lows[i], below->blocks[i]);
	}
}

/*
 * Write a tree from its sorted entries, and note its root.  Other processes may
 * write other trees at the same time.
 */
void
shidx_write_tree(ShIdxBuild *build, ShIdxSort *sort, int tree)
{
	ShIdxPageList level = {0};
	int			number = 0;

	write_leaves(build, sort, tree, &level);
	shidx_end_level(build->pages);
	while (level.count > 1)
	{
		ShIdxPageList above = {0};

		write_inner_level(build, &above, tree, ++number, &level);
		shidx_end_level(build->pages);
		shidx_list_free(&level);
		level = above;
	}
	build->roots[tree].block = level.blocks[0];
	build->roots[tree].level = number;
	shidx_list_free(&level);
}
