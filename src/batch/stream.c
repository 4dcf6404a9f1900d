/*-------------------------------------------------------------------------
 *
 * stream.c
 *	  The entries of the tables of a scheme, in order.
 *
 * The same table of several indexes is merged in rounds.  The leaves that were read
 * of them are sorted, and what follows them has greater keys.  So all that is not
 * above the smallest of their last keys can be taken out of them and sorted by itself:
 * each round comes to the end of at least one leaf, and takes about as many entries as
 * that has.  Distributing these by their bits is faster than comparing them two by
 * two; and an index costs some 35 kB of memory, so there may be thousands of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"

#include "batch/stream.h"
#include "compat.h"

/* what the arrays of entries to be merged begin with */
#define MERGE_CAPACITY	4096

static ShSortItems
allocate_items(size_t count, bool grouped)
{
	ShSortItems items;

	items.items = palloc(count * sizeof(ShSortItem));
	items.groups = grouped ? palloc(count * sizeof(uint32)) : NULL;
	return items;
}

static void
use_buffers(ShBatchStream *stream, uint64 *keys, uint64 *rows, uint32 *groups)
{
	stream->keys = keys;
	stream->rows = rows;
	stream->groups = groups;
}

/*
 * Begin a stream that copies its entries from where they were sorted or merged.
 */
static void
begin_copying(ShBatchStream *stream)
{
	use_buffers(stream, palloc(SHBATCH_STREAM_MAX * sizeof(uint64)),
				palloc(SHBATCH_STREAM_MAX * sizeof(uint64)),
				stream->grouped ? palloc(SHBATCH_STREAM_MAX * sizeof(uint32)) : NULL);
}

static void
begin_readers(ShBatchStream *stream, const ShBatchTable *tables, int count)
{
	stream->nreaders = count;
	stream->readers = palloc(count * sizeof(ShBatchReader *));
	for (int i = 0; i < count; i++)
	{
		stream->readers[i] = palloc(sizeof(ShBatchReader));
		stream->readers[i]->table = &tables[i];
	}
	if (count == 1)
	{
		use_buffers(stream, stream->readers[0]->keys, stream->readers[0]->rows,
					stream->readers[0]->groups);
		return;
	}
	begin_copying(stream);
	stream->capacity = MERGE_CAPACITY;
	stream->taken = allocate_items(stream->capacity, stream->grouped);
	stream->merged = allocate_items(stream->capacity, stream->grouped);
}

/*
 * Read the indexes of some tables, one at least, all of which have the scheme.  All
 * arguments must outlive the stream.
 */
void
shbatch_stream_tables(ShBatchStream *stream, const ShBatchTables *tables,
					  const ShBitsScheme *scheme, Snapshot snapshot)
{
	memset(stream, 0, sizeof(ShBatchStream));
	stream->scheme = scheme;
	stream->snapshot = snapshot;
	stream->grouped = tables->grouped;
	begin_readers(stream, tables->tables, tables->count);
}

/*
 * The same for one of the tables alone.
 */
void
shbatch_stream_table(ShBatchStream *stream, const ShBatchTables *tables, int number,
					 const ShBitsScheme *scheme, Snapshot snapshot)
{
	memset(stream, 0, sizeof(ShBatchStream));
	stream->scheme = scheme;
	stream->snapshot = snapshot;
	stream->grouped = tables->grouped;
	begin_readers(stream, &tables->tables[number], 1);
}

/*
 * Read entries that were added to a sort, which may have groups.
 */
void
shbatch_stream_sort(ShBatchStream *stream, ShSort *sort, const ShBitsScheme *scheme,
					bool grouped)
{
	memset(stream, 0, sizeof(ShBatchStream));
	stream->scheme = scheme;
	stream->sort = sort;
	stream->grouped = grouped;
	begin_copying(stream);
}

/*
 * Begin before the first entry of a table.
 */
void
shbatch_stream_start(ShBatchStream *stream, int table)
{
	stream->count = stream->next = 0;
	stream->nitems = 0;
	stream->nreading = stream->nreaders;
	for (int i = 0; i < stream->nreaders; i++)
	{
		ShBatchReader *reader = stream->readers[i];

		reader->count = reader->next = 0;
		shbt_walk_start(&reader->walk, reader->table->index, table, 0);
	}
	if (stream->sort != NULL)
		shsort_start_table(stream->sort, &stream->scheme->tables[table]);
}

static void
sort_entries(uint64 *keys, uint64 *rows, int count)
{
	ShSortItem	entries[SHBATCH_STREAM_MAX];
	ShSortItem	sorted[SHBATCH_STREAM_MAX];

	for (int i = 0; i < count; i++)
		entries[i] = shsort_item(keys[i], rows[i]);
	shsort_radix(entries, sorted, count);
	for (int i = 0; i < count; i++)
	{
		keys[i] = sorted[i].key;
		rows[i] = sorted[i].value;
	}
}

/*
 * The same by group first: sorted by fingerprint, then by the group of what is at
 * each place in that order.
 */
static void
sort_grouped_entries(uint64 *keys, uint64 *rows, uint32 *groups, int count)
{
	ShSortItem	entries[SHBATCH_STREAM_MAX];
	ShSortItem	by_key[SHBATCH_STREAM_MAX];
	ShSortItem	sorted[SHBATCH_STREAM_MAX];
	uint64		old_rows[SHBATCH_STREAM_MAX];

	for (int i = 0; i < count; i++)
		entries[i] = shsort_item(keys[i], i);
	shsort_radix(entries, by_key, count);
	for (int i = 0; i < count; i++)
		entries[i] = shsort_item(groups[by_key[i].value], i);
	shsort_radix(entries, sorted, count);

	memcpy(old_rows, rows, count * sizeof(uint64));
	for (int i = 0; i < count; i++)
	{
		ShSortItem	entry = by_key[sorted[i].value];

		groups[i] = (uint32) sorted[i].key;
		keys[i] = entry.key;
		rows[i] = old_rows[entry.value];
	}
}

/*
 * Make the TIDs of entries numbers of rows, and drop entries that lead beyond the
 * table (tables.c).
 */
static void
number_entries(ShBatchReader *reader)
{
	const ShBatchTable *table = reader->table;
	int			kept = 0;

	for (int i = 0; i < reader->count; i++)
	{
		uint64		row = reader->rows[i] + table->first_row;

		if (row >= table->end_row)
			continue;
		reader->keys[kept] = reader->keys[i];
		reader->rows[kept] = row;
		reader->groups[kept] = reader->groups[i];
		kept++;
	}
	reader->count = kept;
}

/*
 * Read the entries of a leaf, in order.
 */
static void
read_leaf(const ShBatchStream *stream, ShBatchReader *reader)
{
	Page		page = (Page) reader->walk.page.data;
	int			count = shbt_page_count(page);
	bool		sorted = ShBtPageGetOpaque(page)->sorted >= count;

	reader->count = count;
	memcpy(reader->keys, shbt_page_fps(page), count * sizeof(uint64));
	for (int i = 0; i < count; i++)
		reader->rows[i] = shbt_tid_to_int(shbt_leaf_tid(page, i));
	if (stream->grouped)
	{
		for (int i = 0; i < count; i++)
			reader->groups[i] = shbt_page_group(page, i, true);
		if (!sorted)
			sort_grouped_entries(reader->keys, reader->rows, reader->groups, count);
	}
	else if (!sorted)
		sort_entries(reader->keys, reader->rows, count);
	if (shbatch_is_numbered(reader->table))
		number_entries(reader);
}

/*
 * Read the next entries of an index.  Returns false after the last.
 */
static bool
read_index(const ShBatchStream *stream, ShBatchReader *reader)
{
	Relation	index = reader->table->index;

	/* pages that VACUUM emptied stay */
	reader->count = reader->next = 0;
	while (reader->count == 0 && shbt_walk_next(&reader->walk))
	{
		shcompat_test_old_snapshot(stream->snapshot, index, (Page) reader->walk.page.data);
		read_leaf(stream, reader);
		pgstat_count_index_tuples(index, reader->count);
	}
	return reader->count > 0;
}

/* an entry of those that were read of an index */
static inline ShBtKey
entry_at(const ShBatchStream *stream, const ShBatchReader *reader, int i)
{
	return shbt_make_key(stream->grouped ? reader->groups[i] : 0, reader->keys[i],
						 reader->rows[i]);
}

/*
 * Have something of each index that has not been read to its end.  Returns the
 * smallest of the last entries.
 */
static ShBtKey
fill_readers(ShBatchStream *stream)
{
	ShBtKey		limit = SHBT_HIGHEST_KEY;

	for (int i = 0; i < stream->nreading;)
	{
		ShBatchReader *reader = stream->readers[i];
		ShBtKey		last;

		if (reader->next == reader->count && !read_index(stream, reader))
		{
			stream->readers[i] = stream->readers[--stream->nreading];
			stream->readers[stream->nreading] = reader;
			continue;
		}
		last = entry_at(stream, reader, reader->count - 1);
		if (shbt_key_less(last, limit))
			limit = last;
		i++;
	}
	return limit;
}

static void
enlarge_items(ShSortItems *items, size_t count)
{
	items->items = repalloc_huge(items->items, count * sizeof(ShSortItem));
	if (items->groups != NULL)
		items->groups = repalloc_huge(items->groups, count * sizeof(uint32));
}

/*
 * Have room for so many entries to be merged.
 */
static void
make_room(ShBatchStream *stream, size_t count)
{
	if (count <= stream->capacity)
		return;
	stream->capacity = Max(count, stream->capacity * 2);
	enlarge_items(&stream->taken, stream->capacity);
	enlarge_items(&stream->merged, stream->capacity);
}

/*
 * Take the entries out of a reader that are not above the limit, to follow the first
 * count that were taken.  Returns how many have been taken then.
 */
static size_t
take_entries(ShBatchStream *stream, ShBatchReader *reader, ShBtKey limit, size_t count)
{
	int			end = reader->next;

	while (end < reader->count && !shbt_key_less(limit, entry_at(stream, reader, end)))
		end++;
	make_room(stream, count + end - reader->next);
	if (stream->grouped)
		memcpy(stream->taken.groups + count, reader->groups + reader->next,
			   (end - reader->next) * sizeof(uint32));
	for (; reader->next < end; reader->next++)
		stream->taken.items[count++] = shsort_item(reader->keys[reader->next],
												   reader->rows[reader->next]);
	return count;
}

/*
 * Merge the next entries of the indexes.  Returns how many they are, 0 after the last.
 */
static size_t
merge_entries(ShBatchStream *stream)
{
	ShBtKey		limit = fill_readers(stream);
	size_t		count = 0;

	for (int i = 0; i < stream->nreading; i++)
		count = take_entries(stream, stream->readers[i], limit, count);
	shsort_radix_table(stream->taken, stream->merged, count, NULL,
					   shsort_varying(stream->taken, count));
	return count;
}

/*
 * Copy the next entries that were sorted or merged.
 */
static void
copy_entries(ShBatchStream *stream)
{
	int			count;

	CHECK_FOR_INTERRUPTS();
	if (stream->nitems == 0 && stream->sort != NULL)
		stream->nitems = shsort_next_items(stream->sort, &stream->items);
	else if (stream->nitems == 0)
	{
		stream->nitems = merge_entries(stream);
		stream->items = stream->merged;
	}
	count = Min(stream->nitems, SHBATCH_STREAM_MAX);
	for (int i = 0; i < count; i++)
	{
		stream->keys[i] = stream->items.items[i].key;
		stream->rows[i] = stream->items.items[i].value;
	}
	if (stream->grouped)
		memcpy(stream->groups, stream->items.groups, count * sizeof(uint32));
	stream->items = shsort_items_from(stream->items, count);
	stream->nitems -= count;
	stream->count = count;
}

/*
 * Read the next entries.  There are none after the last.
 */
static void
read_entries(ShBatchStream *stream)
{
	stream->count = stream->next = 0;
	if (stream->nreaders != 1)
		copy_entries(stream);
	else if (read_index(stream, stream->readers[0]))
		stream->count = stream->readers[0]->count;
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
	ShBtKey		target = shbt_make_key(group, key, 0);

	if (stream->next < stream->count)
	{
		ShBtKey		last = shbt_make_key(stream->grouped ? stream->groups[stream->count - 1] : 0,
										 stream->keys[stream->count - 1], SHBT_MAX_TID);

		if (!shbt_key_less(last, target))
			return;
		stream->next = stream->count;
	}
	for (int i = 0; i < stream->nreading; i++)
	{
		ShBatchReader *reader = stream->readers[i];

		/* of one index, the entries that it has were returned */
		if (stream->nreaders > 1 && reader->next < reader->count &&
			!shbt_key_less(entry_at(stream, reader, reader->count - 1), target))
			continue;
		reader->next = reader->count;
		shbt_walk_seek(&reader->walk, target);
	}
}

/*
 * The next entries of the table, all of one group: their permuted fingerprints,
 * ascending, and their rows.  Groups ascend.  The arrays are the caller's to
 * change until the next call.  Returns how many there are, 0 after the last.
 *
 * Of an index, a row that is there all the time is returned exactly once,
 * whatever is inserted or vacuumed meanwhile (shbt_walk_next).  Holds no lock
 * or pin on return.
 */
int
shbatch_stream_next(ShBatchStream *stream, uint32 *group, uint64 **keys, uint64 **rows)
{
	int			start;
	int			end;

	if (stream->next == stream->count)
		read_entries(stream);
	start = stream->next;
	end = stream->count;
	*keys = stream->keys + start;
	*rows = stream->rows + start;
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

/*
 * Free what the stream itself has taken.
 */
void
shbatch_stream_end(ShBatchStream *stream)
{
	for (int i = 0; i < stream->nreaders; i++)
		pfree(stream->readers[i]);
	if (stream->nreaders > 0)
		pfree(stream->readers);
	if (stream->nreaders == 1)
		return;
	pfree(stream->keys);
	pfree(stream->rows);
	if (stream->grouped)
		pfree(stream->groups);
	if (stream->taken.items != NULL)
	{
		pfree(stream->taken.items);
		pfree(stream->merged.items);
	}
	if (stream->taken.groups != NULL)
	{
		pfree(stream->taken.groups);
		pfree(stream->merged.groups);
	}
}
