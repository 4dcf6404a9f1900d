/*-------------------------------------------------------------------------
 *
 * leaf_reader.c
 *	  Reading the entries of the leaves of an index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"

#include "batch/leaf_reader.h"
#include "compat.h"
#include "sort/radix.h"

/*
 * Begin before the first entry of a table of the scheme.
 */
void
shbatch_reader_start(ShBatchReader *reader, int table)
{
	reader->count = reader->next = 0;
	shbt_walk_start(&reader->walk, reader->table->index, table, 0);
}

/*
 * Sort the entries of a leaf, by row if keys are equal.
 */
static void
sort_entries(uint64 *keys, uint64 *rows, uint32 *groups, int count)
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
 * Drop entries that point beyond the end of the table (tables.c).
 */
static void
drop_beyond(ShBatchReader *reader)
{
	int			kept = 0;

	for (int i = 0; i < reader->count; i++)
	{
		if (reader->rows[i] >= reader->table->end_row)
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
read_leaf(ShBatchReader *reader)
{
	Page		page = (Page) reader->walk.page.data;
	int			count = shbt_page_count(page);
	bool		sorted = ShBtPageGetOpaque(page)->sorted >= count;
	uint64		first_row = reader->table->first_row;
	uint64		last = 0;

	reader->count = count;
	memcpy(reader->keys, shbt_page_fps(page), count * sizeof(uint64));
	for (int i = 0; i < count; i++)
	{
		uint64		row = shbt_tid_to_int(shbt_leaf_tid(page, i)) + first_row;

		reader->rows[i] = row;
		last = Max(last, row);
	}
	for (int i = 0; reader->grouped && i < count; i++)
		reader->groups[i] = shbt_page_group(page, i, true);
	if (!sorted)
		sort_entries(reader->keys, reader->rows, reader->grouped ? reader->groups : NULL,
					 count);
	if (last >= reader->table->end_row)
		drop_beyond(reader);
}

/*
 * Replace the current entries by the next ones.  Returns false after the last.
 *
 * Searches and entries are counted as those of an index scan are: an index that
 * only functions read is in use, too.  Holds no lock or pin on return.
 */
bool
shbatch_reader_next(ShBatchReader *reader)
{
	Relation	index = reader->table->index;

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
shbatch_reader_seek(ShBatchReader *reader, ShBtKey target)
{
	reader->next = reader->count;
	shbt_walk_seek(&reader->walk, target);
}
