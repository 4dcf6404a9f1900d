/*-------------------------------------------------------------------------
 *
 * entries.c
 *	  The entries of one word, in the order of a table.
 *
 * They are read from the leaves of indexes, or from a sort.  The same tree of several
 * indexes is merged by a heap.  An index takes some 30 kB of memory, so there may be
 * thousands of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "pgstat.h"

#include "compat.h"
#include "index/index.h"
#include "index/sort.h"
#include "pairs/input.h"

/* the most entries that one call returns */
#define MOST_ENTRIES	SHIDX_MAX_ENTRIES

/*
 * The entries of a leaf, in order; those from next on have not been taken yet.
 */
typedef struct LeafReader
{
	const ShPairsIndex *from;
	bool		grouped;
	Snapshot	snapshot;		/* of the reading query */
	ShIdxWalk	walk;
	int			count;
	int			next;
	ShPermuted	keys[SHIDX_MAX_ENTRIES];
	ShPairsRow	rows[SHIDX_MAX_ENTRIES];
	uint32		groups[SHIDX_MAX_ENTRIES];	/* if grouped, else not set */
} LeafReader;

/*
 * Sort the entries of a leaf, by group and fingerprint.
 */
static void
sort_leaf(ShPermuted *keys, ShPairsRow *rows, uint32 *groups, int count)
{
	ShIdxSortItem items[SHIDX_MAX_ENTRIES];
	ShIdxSortItem sorted_items[SHIDX_MAX_ENTRIES];
	uint32		old_groups[SHIDX_MAX_ENTRIES];
	ShIdxSortItems from = {items, groups != NULL ? old_groups : NULL};
	ShIdxSortItems sorted = {sorted_items, groups};

	for (int i = 0; i < count; i++)
		items[i] = shidx_sort_item(keys[i], rows[i]);
	if (groups != NULL)
		memcpy(old_groups, groups, count * sizeof(uint32));
	shidx_sort_radix_table(from, sorted, count, NULL, shidx_sort_varying(from, count));
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
drop_later_rows(LeafReader *reader)
{
	int			kept = 0;

	for (int i = 0; i < reader->count; i++)
	{
		if (reader->rows[i] >= reader->from->end_row)
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
read_leaf(LeafReader *reader)
{
	Page		page = (Page) reader->walk.page.data;
	uint32	   *groups = reader->grouped ? reader->groups : NULL;
	int			count = shidx_read_leaf(page, reader->keys, reader->rows, groups);
	ShPairsRow	last = 0;

	reader->count = count;
	for (int i = 0; i < count; i++)
	{
		reader->rows[i] += reader->from->first_row;
		last = Max(last, reader->rows[i]);
	}
	if (shidx_leaf_sorted(page) < count)
		sort_leaf(reader->keys, reader->rows, groups, count);
	if (last >= reader->from->end_row)
		drop_later_rows(reader);
}

/*
 * Replace the current entries by those of the next leaf that has any.  Returns
 * false after the last.
 *
 * Searches and entries are counted as those of an index scan are: an index that
 * only functions read is in use, too.  Holds no lock or pin on return.
 */
static bool
next_leaf(LeafReader *reader)
{
	Relation	index = reader->from->index;

	/* pages that VACUUM has emptied remain */
	reader->count = reader->next = 0;
	while (reader->count == 0 && shidx_walk_next(&reader->walk))
	{
		shcompat_test_old_snapshot(reader->snapshot, index, (Page) reader->walk.page.data);
		read_leaf(reader);
		pgstat_count_index_tuples(index, reader->count);
	}
	return reader->count > 0;
}

static inline ShIdxKey
entry_key(const ShPermuted *keys, const uint32 *groups, int i, ShIdxRow row)
{
	return shidx_make_key(groups != NULL ? groups[i] : 0, keys[i], row);
}

/* the next entry of a reader, without its row */
static inline ShIdxKey
next_key(const LeafReader *reader)
{
	return entry_key(reader->keys, reader->grouped ? reader->groups : NULL, reader->next, 0);
}

/* of the heap, whose first reader is the one with the lowest entry */
static int
compare_readers(Datum a, Datum b, void *arg)
{
	ShIdxKey	x = next_key((const LeafReader *) DatumGetPointer(a));
	ShIdxKey	y = next_key((const LeafReader *) DatumGetPointer(b));

	return shidx_key_less(x, y) ? 1 : shidx_key_less(y, x) ? -1 : 0;
}

static void
use_buffers(ShPairsEntries *entries, ShPermuted *keys, ShPairsRow *rows, uint32 *groups)
{
	entries->keys = keys;
	entries->rows = rows;
	entries->groups = groups;
}

static void
allocate_buffers(ShPairsEntries *entries)
{
	use_buffers(entries, palloc(MOST_ENTRIES * sizeof(ShPermuted)),
				palloc(MOST_ENTRIES * sizeof(ShPairsRow)),
				entries->grouped ? palloc(MOST_ENTRIES * sizeof(uint32)) : NULL);
}

/*
 * Read indexes, all of which have the scheme.  All arguments must outlive the reading.
 */
void
shpairs_entries_of_indexes(ShPairsEntries *entries, const ShPairsIndex *list, int count,
						   bool grouped, const ShBitsScheme *scheme, Snapshot snapshot)
{
	memset(entries, 0, sizeof(ShPairsEntries));
	entries->scheme = scheme;
	entries->grouped = grouped;
	entries->nreaders = count;
	entries->readers = palloc(count * sizeof(LeafReader *));
	for (int i = 0; i < count; i++)
	{
		LeafReader *reader = palloc(sizeof(LeafReader));

		reader->from = &list[i];
		reader->grouped = grouped;
		reader->snapshot = snapshot;
		entries->readers[i] = reader;
	}
	if (count == 1)
		use_buffers(entries, entries->readers[0]->keys, entries->readers[0]->rows,
					entries->readers[0]->groups);
	else
	{
		allocate_buffers(entries);
		entries->merge = binaryheap_allocate(Max(count, 1), compare_readers, NULL);
	}
}

/*
 * Read entries that were added to a sort, which may have groups.
 */
void
shpairs_entries_of_sort(ShPairsEntries *entries, ShIdxSort *sort, const ShBitsScheme *scheme,
						bool grouped)
{
	memset(entries, 0, sizeof(ShPairsEntries));
	entries->scheme = scheme;
	entries->sort = sort;
	entries->grouped = grouped;
	allocate_buffers(entries);
}

/* let a reader take part in the merge if it has more entries */
static void
add_reader(ShPairsEntries *entries, LeafReader *reader)
{
	if (next_leaf(reader))
		binaryheap_add_unordered(entries->merge, PointerGetDatum(reader));
}

/*
 * Begin before the first entry of a tree, or of a table of the scheme.
 */
void
shpairs_entries_start(ShPairsEntries *entries, int tree)
{
	entries->count = entries->next = 0;
	entries->nitems = 0;
	if (entries->sort != NULL)
		shidx_sort_start_table(entries->sort, &entries->scheme->tables[tree]);
	if (entries->merge != NULL)
		binaryheap_reset(entries->merge);
	for (int i = 0; i < entries->nreaders; i++)
	{
		LeafReader *reader = entries->readers[i];

		reader->count = reader->next = 0;
		shidx_walk_start(&reader->walk, reader->from->index, tree, 0);
		if (entries->merge != NULL)
			add_reader(entries, reader);
	}
	if (entries->merge != NULL)
		binaryheap_build(entries->merge);
}

/*
 * Copy the next sorted entries.
 */
static void
copy_entries(ShPairsEntries *entries)
{
	CHECK_FOR_INTERRUPTS();
	if (entries->nitems == 0)
		entries->nitems = shidx_sort_next_items(entries->sort, &entries->items);
	entries->count = Min(entries->nitems, MOST_ENTRIES);
	for (int i = 0; i < entries->count; i++)
	{
		entries->keys[i] = entries->items.items[i].key;
		entries->rows[i] = entries->items.items[i].value;
	}
	if (entries->grouped)
		memcpy(entries->groups, entries->items.groups, entries->count * sizeof(uint32));
	entries->items = shidx_sort_items_from(entries->items, entries->count);
	entries->nitems -= entries->count;
}

/*
 * Merge the next entries of several indexes.
 */
static void
merge_entries(ShPairsEntries *entries)
{
	binaryheap *merge = entries->merge;
	int			count = 0;

	while (count < MOST_ENTRIES && !binaryheap_empty(merge))
	{
		LeafReader *reader = (LeafReader *) DatumGetPointer(binaryheap_first(merge));

		entries->keys[count] = reader->keys[reader->next];
		entries->rows[count] = reader->rows[reader->next];
		if (entries->grouped)
			entries->groups[count] = reader->groups[reader->next];
		count++;
		if (++reader->next < reader->count || next_leaf(reader))
			binaryheap_replace_first(merge, PointerGetDatum(reader));
		else
			(void) binaryheap_remove_first(merge);
	}
	entries->count = count;
}

/*
 * Read the next entries.  There are none after the last.
 */
static void
read_entries(ShPairsEntries *entries)
{
	entries->next = 0;
	if (entries->sort != NULL)
		copy_entries(entries);
	else if (entries->merge != NULL)
		merge_entries(entries);
	else
		entries->count = next_leaf(entries->readers[0]) ? entries->readers[0]->count : 0;
}

/*
 * Skip the leaves of a reader that is merged if they have nothing but entries before a
 * target.
 */
static void
seek_reader(ShPairsEntries *entries, LeafReader *reader, ShIdxKey target)
{
	if (reader->next < reader->count &&
		shidx_key_less(entry_key(reader->keys, reader->grouped ? reader->groups : NULL,
								 reader->count - 1, SHIDX_MAX_TID), target))
	{
		shidx_walk_seek(&reader->walk, target);
		reader->count = reader->next = 0;
		(void) next_leaf(reader);
	}
	if (reader->next < reader->count)
		binaryheap_add_unordered(entries->merge, PointerGetDatum(reader));
}

/*
 * Skip entries before a key of a group.  Some of them may still be returned.
 *
 * In an index, leaves that have no other entries are not read: searching for
 * the leaf of the key takes about as long as moving to the next leaf.
 */
void
shpairs_entries_seek(ShPairsEntries *entries, uint32 group, ShPermuted key)
{
	ShIdxKey	target = shidx_make_key(group, key, 0);

	if (entries->next < entries->count)
	{
		if (!shidx_key_less(entry_key(entries->keys, entries->grouped ? entries->groups : NULL,
									  entries->count - 1, SHIDX_MAX_TID), target))
			return;
		entries->next = entries->count;
	}
	if (entries->merge != NULL)
	{
		binaryheap_reset(entries->merge);
		for (int i = 0; i < entries->nreaders; i++)
			seek_reader(entries, entries->readers[i], target);
		binaryheap_build(entries->merge);
	}
	else if (entries->nreaders == 1)
		shidx_walk_seek(&entries->readers[0]->walk, target);
}

/*
 * Return the next entries of the tree, all of one group: their permuted
 * fingerprints, ascending, and their rows.  Groups ascend.  The arrays are
 * valid until the next call, and the caller may change them.  Returns the
 * number of entries, 0 after the last.
 *
 * From an index, a row that exists all the time is returned exactly once, no
 * matter what is inserted or vacuumed concurrently (shidx_walk_next).  Holds no
 * lock or pin on return.
 */
int
shpairs_entries_next(ShPairsEntries *entries, uint32 *group, ShPermuted **keys, ShPairsRow **rows)
{
	int			start;
	int			end;

	if (entries->next == entries->count)
		read_entries(entries);
	start = entries->next;
	end = entries->count;
	*keys = entries->keys + start;
	*rows = entries->rows + start;
	*group = 0;
	if (entries->grouped && start < end)
	{
		*group = entries->groups[start];
		for (end = start + 1; end < entries->count && entries->groups[end] == *group;)
			end++;
	}
	entries->next = end;
	return end - start;
}

/*
 * Free the memory, and the sort.
 */
void
shpairs_entries_end(ShPairsEntries *entries)
{
	for (int i = 0; i < entries->nreaders; i++)
		pfree(entries->readers[i]);
	if (entries->nreaders > 0)
		pfree(entries->readers);
	if (entries->merge != NULL)
		binaryheap_free(entries->merge);
	if (entries->nreaders != 1)
	{
		pfree(entries->keys);
		pfree(entries->rows);
		if (entries->groups != NULL)
			pfree(entries->groups);
	}
	if (entries->sort != NULL)
		shidx_sort_end(entries->sort);
}
