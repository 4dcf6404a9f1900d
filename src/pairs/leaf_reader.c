/*-------------------------------------------------------------------------
 *
 * leaf_reader.c
 *	  Reading the entries of the leaves of an index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"

#include "compat.h"
#include "pairs/leaf_reader.h"
#include "sort/radix.h"

/*
 * Begin before the first entry of a table of the scheme.
 */
void
shpairs_leaf_start(ShPairsLeafReader *reader, int table)
{
	reader->count = reader->next = 0;
	shbt_walk_start(&reader->walk, reader->heap->index, table, 0);
}

/*
 * Sort the entries of a leaf, by row if keys are equal.
 */
static void
sort_entries(ShPermuted *keys, ShRowsNumber *rows, uint32 *groups, int count)
{
	ShSortItem	items[SHBT_MAX_ENTRIES];
	ShSortItem	sorted_items[SHBT_MAX_ENTRIES];
	uint32		old_groups[SHBT_MAX_ENTRIES];
	ShSortItems from = {items, groups != NULL ? old_groups : NULL};
	ShSortItems sorted = {sorted_items, groups};

	for (int i = 0; i < count; i++)
		items[i] = shsort_item(keys[i], rows[i]);
	if (groups != NULL)
		memcpy(old_groups, groups, count * sizeof(uint32));
	shsort_radix_table(from, sorted, count, NULL, shsort_varying(from, count));
	for (int i = 0; i < count; i++)
	{
		keys[i] = sorted_items[i].key;
		rows[i] = sorted_items[i].value;
	}
}

/*
 * Drop entries that point beyond the end of the table (heaps.c).
 */
static void
drop_beyond(ShPairsLeafReader *reader)
{
	int			kept = 0;

	for (int i = 0; i < reader->count; i++)
	{
		if (reader->rows[i] >= reader->heap->end_row)
			continue;
		reader->keys[kept] = reader->keys[i];
		reader->rows[kept] = reader->rows[i];
		reader->groups[kept] = reader->groups[i];
		kept++;
	}
	reader->count = kept;
}

/*
 * Read the entries of a leaf, in order.
 */
static void
read_leaf(ShPairsLeafReader *reader)
{
	Page		page = (Page) reader->walk.page.data;
	uint32	   *groups = reader->grouped ? reader->groups : NULL;
	int			count = shbt_read_leaf(page, reader->keys, reader->rows, groups);
	ShRowsNumber last = 0;

	reader->count = count;
	for (int i = 0; i < count; i++)
	{
		reader->rows[i] += reader->heap->first_row;
		last = Max(last, reader->rows[i]);
	}
	if (shbt_leaf_sorted(page) < count)
		sort_entries(reader->keys, reader->rows, groups, count);
	if (last >= reader->heap->end_row)
		drop_beyond(reader);
}

/*
 * Replace the current entries by the next ones.  Returns false after the last.
 *
 * Searches and entries are counted as those of an index scan are: an index that
 * only functions read is in use, too.  Holds no lock or pin on return.
 */
bool
shpairs_leaf_next(ShPairsLeafReader *reader)
{
	Relation	index = reader->heap->index;

	/* pages that VACUUM has emptied remain */
	reader->count = reader->next = 0;
	while (reader->count == 0 && shbt_walk_next(&reader->walk))
	{
		shcompat_test_old_snapshot(reader->snapshot, index, (Page) reader->walk.page.data);
		read_leaf(reader);
		pgstat_count_index_tuples(index, reader->count);
	}
	return reader->count > 0;
}

/*
 * Drop the current entries, and continue with the leaf of an entry.
 */
void
shpairs_leaf_seek(ShPairsLeafReader *reader, ShBtKey target)
{
	reader->next = reader->count;
	shbt_walk_seek(&reader->walk, target);
}
