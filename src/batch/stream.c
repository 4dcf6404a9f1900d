/*-------------------------------------------------------------------------
 *
 * stream.c
 *	  The entries of the tables of a scheme, in order.
 *
 * The same table of several indexes is merged in rounds.  The leaves that were read
 * of them are sorted, and what follows them has greater keys.  So all that is not
 * above the smallest of their last keys can be taken out of them and put in order by
 * itself: each round comes to the end of at least one leaf, and takes about as many
 * entries as that has.  Fingerprints being spread as they are, the key of an entry tells
 * about where among these it belongs, so there is little to compare.  An index costs
 * some 30 kB of memory: there may be thousands of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bitutils.h"

#include "batch/stream.h"
#include "compat.h"

/* what the arrays of merged entries begin with */
#define MERGE_CAPACITY	4096

/*
 * Merged entries are distributed to so many places.  Where they cluster so much that
 * they must then be moved by more than so many entries each, on average, they are
 * sorted.
 */
#define PREFETCHED		40
#define MIN_PLACES		64
#define MAX_PLACES		4096
#define MOST_MOVES		8

static void
use_buffers(ShBatchStream *stream, uint64 *keys, uint64 *rows, uint32 *groups)
{
	stream->keys = keys;
	stream->rows = rows;
	stream->groups = groups;
}

/*
 * Begin a stream that copies its entries from where they were sorted.
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
	stream->reading = palloc(count * sizeof(ShBatchReader *));
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
	stream->capacity = MERGE_CAPACITY;
	use_buffers(stream, palloc(MERGE_CAPACITY * sizeof(uint64)),
				palloc(MERGE_CAPACITY * sizeof(uint64)),
				stream->grouped ? palloc(MERGE_CAPACITY * sizeof(uint32)) : NULL);
	stream->places = palloc(MAX_PLACES * sizeof(uint32));
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

		stream->reading[i] = reader;
		reader->count = reader->next = 0;
		shbt_walk_start(&reader->walk, reader->table->index, table, 0);
	}
	if (stream->sort != NULL)
		shsort_start_table(stream->sort, &stream->scheme->tables[table]);
}

/*
 * Sort entries of a leaf, by row where keys are equal.
 */
static void
sort_entries(uint64 *keys, uint64 *rows, uint32 *groups, int count)
{
	ShSortItem	items[SHBATCH_STREAM_MAX];
	ShSortItem	sorted_items[SHBATCH_STREAM_MAX];
	uint32		old_groups[SHBATCH_STREAM_MAX];
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
 * Drop entries that lead beyond the table (tables.c).
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
read_leaf(const ShBatchStream *stream, ShBatchReader *reader)
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
	for (int i = 0; stream->grouped && i < count; i++)
		reader->groups[i] = shbt_page_group(page, i, true);
	if (!sorted)
		sort_entries(reader->keys, reader->rows, stream->grouped ? reader->groups : NULL,
					 count);
	if (last >= reader->table->end_row)
		drop_beyond(reader);
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

/*
 * What of an entry decides about where among others it belongs: the first 64 bits of
 * what entries are sorted by.  groups is NULL if there are none, here and below.
 */
static inline uint64
leading_bits(const uint64 *keys, const uint32 *groups, size_t i)
{
	return groups != NULL ? (uint64) groups[i] << 32 | keys[i] >> 32 : keys[i];
}

/* is entry i greater than another, by group and key? */
static inline bool
is_greater(const uint64 *keys, const uint32 *groups, size_t i, uint32 group, uint64 key)
{
	if (groups != NULL && groups[i] != group)
		return groups[i] > group;
	return keys[i] > key;
}

/* entries that are to be merged, and how they are distributed */
typedef struct Round
{
	uint32		group;			/* there are none greater than this, */
	uint64		key;			/* by group and key */
	size_t		count;
	uint64		low;			/* least leading bits */
	int			shift;			/* of leading bits, above low, to a place */
	uint32		nplaces;
} Round;

/*
 * Have something of each index that has not been read to its end, and choose what to
 * merge: all up to the smallest of the last entries.
 */
static void
begin_round(ShBatchStream *stream, Round *round)
{
	int			nreading = 0;
	uint64		width;

	round->group = PG_UINT32_MAX;
	round->key = PG_UINT64_MAX;
	round->low = PG_UINT64_MAX;
	for (int i = 0; i < stream->nreading; i++)
	{
		ShBatchReader *reader = stream->reading[i];
		const uint32 *groups = stream->grouped ? reader->groups : NULL;
		int			last;

		if (reader->next == reader->count)
		{
			if (!read_index(stream, reader))
				continue;
			reader->first = leading_bits(reader->keys, groups, 0);
		}
		last = reader->count - 1;
		if (!is_greater(reader->keys, groups, last, round->group, round->key))
		{
			round->group = stream->grouped ? groups[last] : 0;
			round->key = reader->keys[last];
		}
		round->low = Min(round->low, reader->first);
		stream->reading[nreading++] = reader;
	}
	stream->nreading = nreading;
	if (nreading == 0)
		return;

	/* about as many places as there were entries in the last round, or more */
	width = leading_bits(&round->key, stream->grouped ? &round->group : NULL, 0) - round->low;
	round->shift = width == 0 ? 0 :
		Max(pg_leftmost_one_pos64(width) -
			pg_leftmost_one_pos64(Min(2 * Max(stream->count, MIN_PLACES), MAX_PLACES / 2)), 0);
	round->nplaces = (uint32) (width >> round->shift) + 1;
}

static void
make_room(ShBatchStream *stream, size_t count)
{
	if (count <= stream->capacity)
		return;
	stream->capacity = Max(count, stream->capacity * 2);
	stream->keys = repalloc_huge(stream->keys, stream->capacity * sizeof(uint64));
	stream->rows = repalloc_huge(stream->rows, stream->capacity * sizeof(uint64));
	if (stream->grouped)
		stream->groups = repalloc_huge(stream->groups, stream->capacity * sizeof(uint32));
}

/*
 * Have the CPU fetch what a round will probably take of a reader.
 */
static inline void
prefetch_entries(const ShBatchReader *reader)
{
	for (int i = 0; i < PREFETCHED; i += 8)
	{
		shcompat_prefetch(&reader->keys[reader->next + i]);
		shcompat_prefetch(&reader->rows[reader->next + i]);
	}
}

/*
 * Count the entries that are not above the limit: of each reader they lie before its
 * end, and places[] has how many there are of each place.
 */
static pg_attribute_always_inline void
count_entries(ShBatchStream *stream, Round *round, bool grouped)
{
	uint32	   *places = stream->places;
	uint32		limit_group = round->group;
	uint64		limit_key = round->key;
	uint64		low = round->low;
	int			shift = round->shift;

	memset(places, 0, round->nplaces * sizeof(uint32));
	round->count = 0;
	for (int i = 0; i < stream->nreading; i++)
	{
		ShBatchReader *reader = stream->reading[i];
		const uint64 *keys = reader->keys;
		const uint32 *groups = grouped ? reader->groups : NULL;
		int			count = reader->count;
		int			end = reader->next;

		if (i + 1 < stream->nreading)
			prefetch_entries(stream->reading[i + 1]);

		for (; end < count && !is_greater(keys, groups, end, limit_group, limit_key); end++)
			places[(leading_bits(keys, groups, end) - low) >> shift]++;
		reader->end = end;
		round->count += end - reader->next;
	}
}

/*
 * Take the entries of a round out of the readers, about in order.
 */
static pg_attribute_always_inline void
distribute(ShBatchStream *stream, const Round *round, bool grouped)
{
	uint64	   *to_keys = stream->keys;
	uint64	   *to_rows = stream->rows;
	uint32	   *to_groups = stream->groups;
	uint32	   *places = stream->places;
	uint64		low = round->low;
	int			shift = round->shift;
	uint32		nplaces = round->nplaces;
	uint32		start = 0;

	/* from numbers to starts; what is put at a place moves its start on */
	for (uint32 place = 0; place < nplaces; place++)
	{
		uint32		size = places[place];

		places[place] = start;
		start += size;
	}
	for (int i = 0; i < stream->nreading; i++)
	{
		ShBatchReader *reader = stream->reading[i];
		const uint64 *keys = reader->keys;
		const uint64 *rows = reader->rows;
		const uint32 *groups = grouped ? reader->groups : NULL;
		int			end = reader->end;

		for (int j = reader->next; j < end; j++)
		{
			uint32		to = places[(leading_bits(keys, groups, j) - low) >> shift]++;

			to_keys[to] = keys[j];
			to_rows[to] = rows[j];
			if (grouped)
				to_groups[to] = groups[j];
		}
		reader->next = end;
		if (end < reader->count)
			reader->first = leading_bits(keys, groups, end);
	}
}

/*
 * Have entries in order that are about so.  Returns false where that takes too long.
 */
static pg_attribute_always_inline bool
insert_entries(ShBatchStream *stream, size_t count, bool grouped)
{
	uint64	   *keys = stream->keys;
	uint64	   *rows = stream->rows;
	uint32	   *groups = grouped ? stream->groups : NULL;
	size_t		moves = MOST_MOVES * count;

	for (size_t i = 1; i < count; i++)
	{
		uint64		key = keys[i];
		uint64		row = rows[i];
		uint32		group = grouped ? groups[i] : 0;
		size_t		to = i;

		if (!is_greater(keys, groups, i - 1, group, key))
			continue;
		do
		{
			keys[to] = keys[to - 1];
			rows[to] = rows[to - 1];
			if (grouped)
				groups[to] = groups[to - 1];
			to--;
		} while (to > 0 && is_greater(keys, groups, to - 1, group, key));
		keys[to] = key;
		rows[to] = row;
		if (grouped)
			groups[to] = group;

		if (i - to > moves)
			return false;
		moves -= i - to;
	}
	return true;
}

static pg_attribute_always_inline bool
merge_round(ShBatchStream *stream, Round *round, bool grouped)
{
	count_entries(stream, round, grouped);
	make_room(stream, round->count);
	distribute(stream, round, grouped);
	return insert_entries(stream, round->count, grouped);
}

/*
 * Sort entries that are in no order.
 */
static void
sort_merged(ShBatchStream *stream, size_t count)
{
	ShSortItems items;
	ShSortItems sorted;

	items.items = MemoryContextAllocHuge(CurrentMemoryContext, 2 * count * sizeof(ShSortItem));
	items.groups = stream->grouped ?
		MemoryContextAllocHuge(CurrentMemoryContext, 2 * count * sizeof(uint32)) : NULL;
	sorted = shsort_items_from(items, count);
	for (size_t i = 0; i < count; i++)
		items.items[i] = shsort_item(stream->keys[i], stream->rows[i]);
	if (stream->grouped)
		memcpy(items.groups, stream->groups, count * sizeof(uint32));
	shsort_radix_table(items, sorted, count, NULL, shsort_varying(items, count));
	for (size_t i = 0; i < count; i++)
	{
		stream->keys[i] = sorted.items[i].key;
		stream->rows[i] = sorted.items[i].value;
	}
	if (stream->grouped)
	{
		memcpy(stream->groups, sorted.groups, count * sizeof(uint32));
		pfree(items.groups);
	}
	pfree(items.items);
}

/*
 * Merge the next entries of the indexes.
 */
static void
merge_entries(ShBatchStream *stream)
{
	Round		round;
	bool		in_order;

	begin_round(stream, &round);
	stream->count = 0;
	if (stream->nreading == 0)
		return;
	in_order = stream->grouped ? merge_round(stream, &round, true) :
		merge_round(stream, &round, false);
	if (!in_order)
		sort_merged(stream, round.count);
	stream->count = round.count;
}

/*
 * Copy the next entries that were sorted.
 */
static void
copy_entries(ShBatchStream *stream)
{
	CHECK_FOR_INTERRUPTS();
	if (stream->nitems == 0)
		stream->nitems = shsort_next_items(stream->sort, &stream->items);
	stream->count = Min(stream->nitems, SHBATCH_STREAM_MAX);
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
read_entries(ShBatchStream *stream)
{
	stream->next = 0;
	if (stream->sort != NULL)
		copy_entries(stream);
	else if (stream->nreaders > 1)
		merge_entries(stream);
	else
		stream->count = read_index(stream, stream->readers[0]) ?
			stream->readers[0]->count : 0;
}

/* is an entry less than a key of a group, whatever its row? */
static inline bool
is_before(const uint64 *keys, const uint32 *groups, size_t i, ShBtKey key)
{
	return shbt_key_less(shbt_make_key(groups != NULL ? groups[i] : 0, keys[i], SHBT_MAX_TID),
						 key);
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
		if (!is_before(stream->keys, stream->grouped ? stream->groups : NULL,
					   stream->count - 1, target))
			return;
		stream->next = stream->count;
	}
	for (int i = 0; i < stream->nreading; i++)
	{
		ShBatchReader *reader = stream->reading[i];

		/* of one index, the entries that it has were returned */
		if (stream->nreaders > 1 && reader->next < reader->count &&
			!is_before(reader->keys, stream->grouped ? reader->groups : NULL,
					   reader->count - 1, target))
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
	size_t		start;
	size_t		end;

	if (stream->next == stream->count)
		read_entries(stream);
	start = stream->next;
	end = Min(stream->count, start + SHBATCH_STREAM_MAX);
	*keys = stream->keys + start;
	*rows = stream->rows + start;
	*group = 0;
	if (stream->grouped && start < end)
	{
		*group = stream->groups[start];
		for (end = start + 1; end < stream->count && stream->groups[end] == *group &&
			 end < start + SHBATCH_STREAM_MAX;)
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
	{
		pfree(stream->readers);
		pfree(stream->reading);
	}
	if (stream->nreaders == 1)
		return;
	pfree(stream->keys);
	pfree(stream->rows);
	if (stream->grouped)
		pfree(stream->groups);
	if (stream->places != NULL)
		pfree(stream->places);
}
