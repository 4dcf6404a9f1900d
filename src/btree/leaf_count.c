/*-------------------------------------------------------------------------
 *
 * leaf_count.c
 *	  Estimating how many leaves a tree has for a group.
 *
 * The downlinks of the group are counted on the inner pages at its two ends.
 * The inner pages between these are assumed to have as many.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "btree/cache.h"
#include "btree/leaf_count.h"
#include "btree/search.h"

/* what one inner page tells about the pages below it */
typedef struct Count
{
	int			between;		/* start within the range of keys */
	int			all;
	bool		end;			/* the range does not continue to the right */
} Count;

/*
 * Count the downlinks with low < key <= high on the page of a level that holds
 * the key "at".
 */
static Count
count_downlinks(Relation index, int tree, int level, ShBtKey at, ShBtKey low, ShBtKey high)
{
	Buffer		buffer = shbt_search(index, tree, level, at, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buffer);
	Count		count = {0};

	count.all = shbt_page_count(page);
	count.end = shbt_key_less(high, shbt_page_high(page));
	for (int i = 0; i < count.all; i++)
	{
		ShBtKey		key = shbt_inner_key(page, i);

		count.between += shbt_key_less(low, key) && !shbt_key_less(high, key);
	}
	UnlockReleaseBuffer(buffer);
	return count;
}

/*
 * About how many pages of a level, below that of the root, start at keys with
 * low < key <= high.
 */
static double
count_starts(Relation index, int tree, int level, int root_level, ShBtKey low, ShBtKey high)
{
	Count		first = count_downlinks(index, tree, level + 1, low, low, high);
	Count		last;
	double		pages_between = 0;

	if (first.end)
		return first.between;
	last = count_downlinks(index, tree, level + 1, high, low, high);
	if (level + 1 < root_level)
		pages_between = count_starts(index, tree, level + 1, root_level, low, high) - 1;
	return first.between + last.between +
		Max(pages_between, 0) * (first.all + last.all) / 2;
}

/*
 * Estimate how many leaves a tree has for a group: at least 1, though other
 * groups may share it.
 *
 * Reads one or two inner pages of each level at most, and locks as shbt_search
 * does; holds no lock or pin on return.
 */
double
shbt_count_leaves(Relation index, int tree, uint32 group)
{
	ShBtKey		low = shbt_make_key(group, 0, 0);
	ShBtKey		high = shbt_make_key(group, PG_UINT64_MAX, SHBT_MAX_TID - 1);
	int			root_level = shbt_get_cache(index)->trees[tree].root.level;

	if (root_level == 0)
		return 1;
	return 1 + count_starts(index, tree, 0, root_level, low, high);
}
