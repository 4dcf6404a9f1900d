/*-------------------------------------------------------------------------
 *
 * stream.c
 *	  Reading the entries of the tables of a scheme, in order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pairs/stream.h"

static void
use_buffers(ShPairsStream *stream, ShPermuted *keys, ShRowsNumber *rows, uint32 *groups)
{
	stream->keys = keys;
	stream->rows = rows;
	stream->groups = groups;
}

/*
 * Begin a stream that copies its entries from a sort.
 */
static void
begin_copying(ShPairsStream *stream)
{
	use_buffers(stream, palloc(SHPAIRS_STREAM_MAX * sizeof(uint64)),
				palloc(SHPAIRS_STREAM_MAX * sizeof(uint64)),
				stream->grouped ? palloc(SHPAIRS_STREAM_MAX * sizeof(uint32)) : NULL);
}

static void
begin_readers(ShPairsStream *stream, const ShRowsHeap *heaps, int count, Snapshot snapshot)
{
	stream->nreaders = count;
	stream->readers = palloc(count * sizeof(ShPairsLeafReader *));
	for (int i = 0; i < count; i++)
	{
		ShPairsLeafReader *reader = palloc(sizeof(ShPairsLeafReader));

		reader->heap = &heaps[i];
		reader->grouped = stream->grouped;
		reader->snapshot = snapshot;
		stream->readers[i] = reader;
	}
	if (count == 1)
		use_buffers(stream, stream->readers[0]->keys, stream->readers[0]->rows,
					stream->readers[0]->groups);
	else
		stream->merge = shpairs_merge_begin(stream->readers, count, stream->grouped);
}

/*
 * Read the indexes of one or more tables, all of which have the scheme.  All
 * arguments must outlive the stream.
 */
void
shpairs_stream_heaps(ShPairsStream *stream, const ShRowsHeaps *heaps,
					 const ShBitsScheme *scheme, Snapshot snapshot)
{
	memset(stream, 0, sizeof(ShPairsStream));
	stream->scheme = scheme;
	stream->grouped = heaps->grouped;
	begin_readers(stream, heaps->heaps, heaps->count, snapshot);
}

/*
 * The same for a single one of the tables.
 */
void
shpairs_stream_heap(ShPairsStream *stream, const ShRowsHeaps *heaps, int number,
					const ShBitsScheme *scheme, Snapshot snapshot)
{
	memset(stream, 0, sizeof(ShPairsStream));
	stream->scheme = scheme;
	stream->grouped = heaps->grouped;
	begin_readers(stream, &heaps->heaps[number], 1, snapshot);
}

/*
 * Read entries that were added to a sort, which may have groups.
 */
void
shpairs_stream_sort(ShPairsStream *stream, ShSort *sort, const ShBitsScheme *scheme,
					bool grouped)
{
	memset(stream, 0, sizeof(ShPairsStream));
	stream->scheme = scheme;
	stream->sort = sort;
	stream->grouped = grouped;
	begin_copying(stream);
}

/*
 * Begin before the first entry of a table.
 */
void
shpairs_stream_start(ShPairsStream *stream, int table)
{
	stream->count = stream->next = 0;
	stream->nitems = 0;
	for (int i = 0; i < stream->nreaders; i++)
		shpairs_leaf_start(stream->readers[i], table);
	if (stream->merge != NULL)
		shpairs_merge_start(stream->merge);
	if (stream->sort != NULL)
		shsort_start_table(stream->sort, &stream->scheme->tables[table]);
}

/*
 * Copy the next sorted entries.
 */
static void
copy_entries(ShPairsStream *stream)
{
	CHECK_FOR_INTERRUPTS();
	if (stream->nitems == 0)
		stream->nitems = shsort_next_items(stream->sort, &stream->items);
	stream->count = Min(stream->nitems, SHPAIRS_STREAM_MAX);
	for (int i = 0; i < stream->count; i++)
	{
		stream->keys[i] = stream->items.items[i].key;
		stream->rows[i] = stream->items.items[i].value;
	}
	if (stream->grouped)
		memcpy(stream->groups, stream->items.groups, stream->count * sizeof(uint32));
	stream->items = shsort_items_from(stream->items, stream->count);
	stream->nitems -= stream->count;
}

/*
 * Read the next entries.  There are none after the last.
 */
static void
read_entries(ShPairsStream *stream)
{
	stream->next = 0;
	if (stream->sort != NULL)
		copy_entries(stream);
	else if (stream->merge != NULL)
	{
		shpairs_merge_next(stream->merge);
		stream->count = stream->merge->count;
		use_buffers(stream, stream->merge->keys, stream->merge->rows, stream->merge->groups);
	}
	else
		stream->count = shpairs_leaf_next(stream->readers[0]) ?
			stream->readers[0]->count : 0;
}

/*
 * Skip entries before a key of a group.  Some of them may still be returned.
 *
 * In an index, leaves that have no other entries are not read: searching for
 * the leaf of the key takes about as long as moving to the next leaf.
 */
void
shpairs_stream_seek(ShPairsStream *stream, uint32 group, ShPermuted key)
{
	ShBtKey		target = shbt_make_key(group, key, 0);

	if (stream->next < stream->count)
	{
		if (!shpairs_is_before(stream->keys, stream->grouped ? stream->groups : NULL,
							   stream->count - 1, target))
			return;
		stream->next = stream->count;
	}
	if (stream->merge != NULL)
		shpairs_merge_seek(stream->merge, target);
	else if (stream->nreaders == 1)
		shpairs_leaf_seek(stream->readers[0], target);
}

/*
 * Return the next entries of the table, all of one group: their permuted
 * fingerprints, ascending, and their rows.  Groups ascend.  The arrays are
 * valid until the next call, and the caller may change them.  Returns the
 * number of entries, 0 after the last.
 *
 * From an index, a row that exists all the time is returned exactly once, no
 * matter what is inserted or vacuumed concurrently (shbt_walk_next).  Holds no
 * lock or pin on return.
 */
int
shpairs_stream_next(ShPairsStream *stream, uint32 *group, ShPermuted **keys, ShRowsNumber **rows)
{
	size_t		start;
	size_t		end;

	if (stream->next == stream->count)
		read_entries(stream);
	start = stream->next;
	end = Min(stream->count, start + SHPAIRS_STREAM_MAX);
	*keys = stream->keys + start;
	*rows = stream->rows + start;
	*group = 0;
	if (stream->grouped && start < end)
	{
		*group = stream->groups[start];
		for (end = start + 1; end < stream->count && stream->groups[end] == *group &&
			 end < start + SHPAIRS_STREAM_MAX;)
			end++;
	}
	stream->next = end;
	return end - start;
}

/*
 * Free the memory of the stream itself.
 */
void
shpairs_stream_end(ShPairsStream *stream)
{
	for (int i = 0; i < stream->nreaders; i++)
		pfree(stream->readers[i]);
	if (stream->nreaders > 0)
		pfree(stream->readers);
	if (stream->merge != NULL)
		shpairs_merge_end(stream->merge);
	if (stream->sort != NULL)
	{
		pfree(stream->keys);
		pfree(stream->rows);
		if (stream->grouped)
			pfree(stream->groups);
	}
}
