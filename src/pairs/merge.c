/*-------------------------------------------------------------------------
 *
 * merge.c
 *	  Merging the entries of several indexes.
 *
 * The same table of several indexes is merged in rounds.  One leaf of each
 * index has been read and sorted, and later leaves have greater keys.  So all
 * entries up to the smallest of the last keys can be taken and put in order by
 * themselves.  Each round finishes at least one leaf, and takes about as many
 * entries as a leaf has.  Since fingerprints are uniformly distributed, as a
 * rule, the key of an entry tells roughly where it belongs in the result, so
 * few comparisons are needed.  An index takes some 30 kB of memory, so there
 * may be thousands of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "compat.h"
#include "pairs/merge.h"
#include "sort/radix.h"

/* initial size of the arrays of merged entries */
#define MERGE_CAPACITY	4096

/*
 * Merged entries are distributed to between MIN_PLACES and MAX_PLACES places.
 * If they are so clustered that each must then be moved past more than
 * MOST_MOVES entries, on average, they are sorted instead.
 */
#define MIN_PLACES		64
#define MAX_PLACES		4096
#define MOST_MOVES		8

/*
 * entries of each index to prefetch; with 16 indexes, a round takes about 32
 */
#define PREFETCHED		40

/*
 * Prepare to merge the entries of some readers, which must live as long.
 */
ShPairsMerge *
shpairs_merge_begin(ShPairsLeafReader **readers, int nreaders, bool grouped)
{
	ShPairsMerge *merge = palloc0(sizeof(ShPairsMerge));

	/* entries must be in the order by which they are merged */
	Assert(grouped == shbt_is_grouped(readers[0]->heap->index));

	merge->grouped = grouped;
	merge->nreaders = nreaders;
	merge->readers = readers;
	merge->reading = palloc(nreaders * sizeof(ShPairsLeafReader *));
	merge->capacity = MERGE_CAPACITY;
	merge->keys = palloc(MERGE_CAPACITY * sizeof(ShPermuted));
	merge->rows = palloc(MERGE_CAPACITY * sizeof(ShRowsNumber));
	merge->groups = grouped ? palloc(MERGE_CAPACITY * sizeof(uint32)) : NULL;
	merge->places = palloc(MAX_PLACES * sizeof(uint32));
	return merge;
}

/*
 * Start anew, after the readers have been restarted.
 */
void
shpairs_merge_start(ShPairsMerge *merge)
{
	merge->count = 0;
	merge->nreading = merge->nreaders;
	memcpy(merge->reading, merge->readers, merge->nreaders * sizeof(ShPairsLeafReader *));
}

/*
 * Skip entries before a target, including those that have been merged.
 */
void
shpairs_merge_seek(ShPairsMerge *merge, ShBtKey target)
{
	for (int i = 0; i < merge->nreading; i++)
	{
		ShPairsLeafReader *reader = merge->reading[i];

		if (reader->next == reader->count ||
			shpairs_is_before(reader->keys, shpairs_leaf_groups(reader), reader->count - 1,
							  target))
			shpairs_leaf_seek(reader, target);
	}
}

/*
 * The leading 64 bits of the sort key of an entry, which tell roughly where it
 * belongs.  groups is NULL if there are none, here and below.
 */
static inline uint64
leading_bits(const ShPermuted *keys, const uint32 *groups, size_t i)
{
	return groups != NULL ? (uint64) groups[i] << 32 | keys[i] >> 32 : keys[i];
}

/* is entry i greater than another, by group and key? */
static inline bool
is_greater(const ShPermuted *keys, const uint32 *groups, size_t i, uint32 group, ShPermuted key)
{
	if (groups != NULL && groups[i] != group)
		return groups[i] > group;
	return keys[i] > key;
}

/* entries that are to be merged, and how they are distributed */
typedef struct Round
{
	uint32		group;			/* none of them is greater than this, */
	ShPermuted	key;			/* by group and key */
	size_t		count;
	uint64		low;			/* least leading bits */
	int			shift;			/* from leading bits above low to a place */
	uint32		nplaces;
} Round;

/*
 * Make sure that each index that has not been read to its end has entries, and
 * choose what to merge: everything up to the smallest of the last entries.
 */
static void
begin_round(ShPairsMerge *merge, Round *round)
{
	int			nreading = 0;
	uint64		width;

	round->group = PG_UINT32_MAX;
	round->key = PG_UINT64_MAX;
	round->low = PG_UINT64_MAX;
	for (int i = 0; i < merge->nreading; i++)
	{
		ShPairsLeafReader *reader = merge->reading[i];
		const uint32 *groups = merge->grouped ? reader->groups : NULL;
		int			last;

		if (reader->next == reader->count)
		{
			if (!shpairs_leaf_next(reader))
				continue;
			reader->first = leading_bits(reader->keys, groups, 0);
		}
		last = reader->count - 1;
		if (!is_greater(reader->keys, groups, last, round->group, round->key))
		{
			round->group = merge->grouped ? groups[last] : 0;
			round->key = reader->keys[last];
		}
		round->low = Min(round->low, reader->first);
		merge->reading[nreading++] = reader;
	}
	merge->nreading = nreading;
	if (nreading == 0)
		return;

	/* about as many places as there were entries in the last round, or more */
	width = leading_bits(&round->key, merge->grouped ? &round->group : NULL, 0) - round->low;
	round->shift = width == 0 ? 0 :
		Max(pg_leftmost_one_pos64(width) -
			pg_leftmost_one_pos64(Min(2 * Max(merge->count, MIN_PLACES), MAX_PLACES / 2)), 0);
	round->nplaces = (uint32) (width >> round->shift) + 1;
}

static void
make_room(ShPairsMerge *merge, size_t count)
{
	if (count <= merge->capacity)
		return;
	merge->capacity = Max(count, merge->capacity * 2);
	merge->keys = repalloc_huge(merge->keys, merge->capacity * sizeof(ShPermuted));
	merge->rows = repalloc_huge(merge->rows, merge->capacity * sizeof(ShRowsNumber));
	if (merge->grouped)
		merge->groups = repalloc_huge(merge->groups, merge->capacity * sizeof(uint32));
}

/*
 * Prefetch the entries that a round will probably take from a reader.
 */
static inline void
prefetch_entries(const ShPairsLeafReader *reader)
{
	for (int i = 0; i < PREFETCHED; i += 8)
	{
		shcompat_prefetch(&reader->keys[reader->next + i]);
		shcompat_prefetch(&reader->rows[reader->next + i]);
	}
}

/*
 * Count the entries that are not above the limit.  Sets the end of each reader
 * accordingly, and places[] to the number of entries for each place.
 */
static pg_attribute_always_inline void
count_entries(ShPairsMerge *merge, Round *round, bool grouped)
{
	uint32	   *places = merge->places;
	uint32		limit_group = round->group;
	ShPermuted	limit_key = round->key;
	uint64		low = round->low;
	int			shift = round->shift;

	memset(places, 0, round->nplaces * sizeof(uint32));
	round->count = 0;
	for (int i = 0; i < merge->nreading; i++)
	{
		ShPairsLeafReader *reader = merge->reading[i];
		const ShPermuted *keys = reader->keys;
		const uint32 *groups = grouped ? reader->groups : NULL;
		int			count = reader->count;
		int			end = reader->next;

		if (i + 1 < merge->nreading)
			prefetch_entries(merge->reading[i + 1]);
		for (; end < count && !is_greater(keys, groups, end, limit_group, limit_key); end++)
			places[(leading_bits(keys, groups, end) - low) >> shift]++;
		reader->end = end;
		round->count += end - reader->next;
	}
}

/*
 * Take the entries of a round from the readers, roughly in order.
 */
static pg_attribute_always_inline void
distribute(ShPairsMerge *merge, const Round *round, bool grouped)
{
	ShPermuted *to_keys = merge->keys;
	ShRowsNumber *to_rows = merge->rows;
	uint32	   *to_groups = merge->groups;
	uint32	   *places = merge->places;
	uint64		low = round->low;
	int			shift = round->shift;
	uint32		nplaces = round->nplaces;
	uint32		start = 0;

	/* turn counts into starts; each entry put at a place advances its start */
	for (uint32 place = 0; place < nplaces; place++)
	{
		uint32		size = places[place];

		places[place] = start;
		start += size;
	}
	for (int i = 0; i < merge->nreading; i++)
	{
		ShPairsLeafReader *reader = merge->reading[i];
		const ShPermuted *keys = reader->keys;
		const ShRowsNumber *rows = reader->rows;
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
 * Sort entries that are roughly in order, by insertion.  Returns false if that
 * takes too long.
 */
static pg_attribute_always_inline bool
insert_entries(ShPairsMerge *merge, size_t count, bool grouped)
{
	ShPermuted *keys = merge->keys;
	ShRowsNumber *rows = merge->rows;
	uint32	   *groups = grouped ? merge->groups : NULL;
	size_t		moves = MOST_MOVES * count;

	for (size_t i = 1; i < count; i++)
	{
		ShPermuted	key = keys[i];
		ShRowsNumber row = rows[i];
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
merge_round(ShPairsMerge *merge, Round *round, bool grouped)
{
	count_entries(merge, round, grouped);
	make_room(merge, round->count);
	distribute(merge, round, grouped);
	return insert_entries(merge, round->count, grouped);
}

/*
 * Sort entries that are in no particular order.
 */
static void
sort_merged(ShPairsMerge *merge, size_t count)
{
	ShSortItems items = shsort_allocate_items(CurrentMemoryContext, count, merge->grouped);
	ShSortItems sorted = shsort_allocate_items(CurrentMemoryContext, count, merge->grouped);

	for (size_t i = 0; i < count; i++)
		items.items[i] = shsort_item(merge->keys[i], merge->rows[i]);
	if (merge->grouped)
		memcpy(items.groups, merge->groups, count * sizeof(uint32));
	shsort_radix_table(items, sorted, count, NULL, shsort_varying(items, count));
	for (size_t i = 0; i < count; i++)
	{
		merge->keys[i] = sorted.items[i].key;
		merge->rows[i] = sorted.items[i].value;
	}
	if (merge->grouped)
		memcpy(merge->groups, sorted.groups, count * sizeof(uint32));
	shsort_free_items(&items);
	shsort_free_items(&sorted);
}

/*
 * Merge the next entries of the indexes.  On return, keys[], rows[] and
 * groups[] have count of them, 0 after the last.
 */
void
shpairs_merge_next(ShPairsMerge *merge)
{
	Round		round;
	bool		in_order;

	begin_round(merge, &round);
	merge->count = 0;
	if (merge->nreading == 0)
		return;
	in_order = merge->grouped ? merge_round(merge, &round, true) :
		merge_round(merge, &round, false);
	if (!in_order)
		sort_merged(merge, round.count);
	merge->count = round.count;
}

/*
 * Free its memory, but not that of the readers.
 */
void
shpairs_merge_end(ShPairsMerge *merge)
{
	pfree(merge->reading);
	pfree(merge->keys);
	pfree(merge->rows);
	if (merge->groups != NULL)
		pfree(merge->groups);
	pfree(merge->places);
	pfree(merge);
}
