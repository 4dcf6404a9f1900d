/*-------------------------------------------------------------------------
 *
 * stream.c
 *	  The entries of the tables of a scheme, in order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"

#include "batch/stream.h"
#include "compat.h"

/*
 * Read the tables of an index.  All arguments must outlive the stream.
 */
void
shbatch_stream_index(ShBatchStream *stream, Relation index, const ShBitsScheme *scheme,
					 Snapshot snapshot)
{
	stream->scheme = scheme;
	stream->index = index;
	stream->snapshot = snapshot;
	stream->sort = NULL;
	stream->grouped = shbt_is_grouped(index);
}

/*
 * Read entries that were added to a sort, which may have groups.
 */
void
shbatch_stream_sort(ShBatchStream *stream, ShSort *sort, const ShBitsScheme *scheme,
					bool grouped)
{
	stream->scheme = scheme;
	stream->index = NULL;
	stream->snapshot = NULL;
	stream->sort = sort;
	stream->grouped = grouped;
}

/*
 * Begin before the first entry of a table.
 */
void
shbatch_stream_start(ShBatchStream *stream, int table)
{
	stream->count = stream->next = 0;
	stream->nsorted = 0;
	if (stream->index != NULL)
		shbt_walk_start(&stream->walk, stream->index, table, 0);
	else
		shsort_start_table(stream->sort, &stream->scheme->tables[table]);
}

static void
sort_entries(uint64 *keys, uint64 *tids, int count)
{
	ShSortItem	entries[SHBATCH_STREAM_MAX];
	ShSortItem	sorted[SHBATCH_STREAM_MAX];

	for (int i = 0; i < count; i++)
		entries[i] = shsort_item(keys[i], tids[i]);
	shsort_radix(entries, sorted, count);
	for (int i = 0; i < count; i++)
	{
		keys[i] = sorted[i].key;
		tids[i] = sorted[i].value;
	}
}

/*
 * The same by group first: sorted by fingerprint, then by the group of what is at
 * each place in that order.
 */
static void
sort_grouped_entries(uint64 *keys, uint64 *tids, uint32 *groups, int count)
{
	ShSortItem	entries[SHBATCH_STREAM_MAX];
	ShSortItem	by_key[SHBATCH_STREAM_MAX];
	ShSortItem	sorted[SHBATCH_STREAM_MAX];
	uint64		old_tids[SHBATCH_STREAM_MAX];

	for (int i = 0; i < count; i++)
		entries[i] = shsort_item(keys[i], i);
	shsort_radix(entries, by_key, count);
	for (int i = 0; i < count; i++)
		entries[i] = shsort_item(groups[by_key[i].value], i);
	shsort_radix(entries, sorted, count);

	memcpy(old_tids, tids, count * sizeof(uint64));
	for (int i = 0; i < count; i++)
	{
		ShSortItem	entry = by_key[sorted[i].value];

		groups[i] = (uint32) sorted[i].key;
		keys[i] = entry.key;
		tids[i] = old_tids[entry.value];
	}
}

/*
 * Read the entries of a leaf, in order.
 */
static void
read_leaf(ShBatchStream *stream, Page page)
{
	int			count = shbt_page_count(page);
	bool		sorted = ShBtPageGetOpaque(page)->sorted >= count;

	stream->count = count;
	memcpy(stream->keys, shbt_page_fps(page), count * sizeof(uint64));
	for (int i = 0; i < count; i++)
		stream->tids[i] = shbt_tid_to_int(shbt_leaf_tid(page, i));
	if (stream->grouped)
	{
		for (int i = 0; i < count; i++)
			stream->groups[i] = shbt_page_group(page, i, true);
		if (!sorted)
			sort_grouped_entries(stream->keys, stream->tids, stream->groups, count);
	}
	else if (!sorted)
		sort_entries(stream->keys, stream->tids, count);
}

/*
 * Read the next entries that were sorted.
 */
static void
read_sorted(ShBatchStream *stream)
{
	int			count;

	CHECK_FOR_INTERRUPTS();
	if (stream->nsorted == 0)
		stream->nsorted = shsort_next_items(stream->sort, &stream->sorted);
	count = Min(stream->nsorted, SHBATCH_STREAM_MAX);
	for (int i = 0; i < count; i++)
	{
		stream->keys[i] = stream->sorted.items[i].key;
		stream->tids[i] = stream->sorted.items[i].value;
	}
	if (stream->grouped)
		memcpy(stream->groups, stream->sorted.groups, count * sizeof(uint32));
	stream->sorted = shsort_items_from(stream->sorted, count);
	stream->nsorted -= count;
	stream->count = count;
}

/*
 * Read the next entries.  There are none after the last.
 */
static void
read_entries(ShBatchStream *stream)
{
	stream->count = stream->next = 0;
	if (stream->index != NULL)
	{
		/* pages that VACUUM emptied stay */
		while (stream->count == 0 && shbt_walk_next(&stream->walk))
		{
			Page		page = (Page) stream->walk.page.data;

			shcompat_test_old_snapshot(stream->snapshot, stream->index, page);
			read_leaf(stream, page);
			pgstat_count_index_tuples(stream->index, stream->count);
		}
	}
	else
		read_sorted(stream);
}

/*
 * Entries that come before a key of a group are not wanted any more.  Some of
 * them may still be returned.
 *
 * Of an index, leaves that have no others are not read: the search for the leaf
 * of the key takes about as long as going to the next one.
 */
void
shbatch_stream_seek(ShBatchStream *stream, uint32 group, uint64 key)
{
	ShBtKey		target = {.fp = key,.tid = 0,.group = group};

	if (stream->next < stream->count)
	{
		uint32		last_group = stream->grouped ? stream->groups[stream->count - 1] : 0;

		if (last_group > group ||
			(last_group == group && stream->keys[stream->count - 1] >= key))
			return;
		stream->next = stream->count;
	}
	if (stream->index != NULL)
		shbt_walk_seek(&stream->walk, target);
}

/*
 * The next entries of the table, all of one group: their permuted fingerprints,
 * ascending, and their TIDs.  Groups ascend.  The arrays are the caller's to
 * change until the next call.  Returns how many there are, 0 after the last.
 *
 * Of an index, a row that is there all the time is returned exactly once,
 * whatever is inserted or vacuumed meanwhile (shbt_walk_next).  Holds no lock
 * or pin on return.
 */
int
shbatch_stream_next(ShBatchStream *stream, uint32 *group, uint64 **keys, uint64 **tids)
{
	int			start;
	int			end;

	if (stream->next == stream->count)
		read_entries(stream);
	start = stream->next;
	end = stream->count;
	*keys = stream->keys + start;
	*tids = stream->tids + start;
	*group = 0;
	if (stream->grouped && start < end)
	{
		*group = stream->groups[start];
		for (end = start + 1; end < stream->count && stream->groups[end] == *group;)
			end++;
	}
	stream->next = end;
	return end - start;
}
