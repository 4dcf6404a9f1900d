/*-------------------------------------------------------------------------
 *
 * bands.c
 *	  Pairs of elements from the words of several tables.
 *
 * In a banded index, each table has another word of each row, and words that are near each
 * other in any table make a pair.  What tells rows apart is their values, which the index does
 * not have.  Equal values have equal words in all tables.  So during the walk over the first
 * table, the rows of each word are divided by their values into elements, each of which has
 * its first row as its number.  A row whose word no other has is an element, without having
 * been looked up.
 *
 * Rows that are not the first of their element, or not seen, are remembered with it.  Such a
 * row has another with an equal word beside it in every table, so only these are asked for.
 * Entries are settled as they are read (input.c): of the rows of a word, the elements are
 * left.  So a value takes the room of one row in a bucket, however often it is stored.
 *
 * Between two sides, each row is an element.
 *
 * Pairs of elements are sorted, beyond memory in temporary files, so that each is passed
 * once, however many tables have it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "index/sort.h"
#include "pairs/bands.h"
#include "pairs/temp_file.h"

/* in place of the first row of an element: the snapshot does not see the row */
#define NOT_SEEN	0

#define FIRST_CAPACITY	1024

/* the fraction of maintenance_work_mem for rows that are not the first */
#define ROWS_FRACTION	0.5

/* the most elements that have numbers at a time */
#define MAX_NUMBERED	0x10000

/* rows of the second side have this bit in addition, where both are asked for */
#define SECOND_SIDE		(UINT64CONST(1) << 63)

/* the number of an element */
typedef struct NumberEntry
{
	ShPairsRow	first;			/* its first row, and its side */
	uint32		number;
	char		status;
} NumberEntry;

/* users choose which rows are near each other, and so the rows that are asked for */
static inline uint32
hash_row(uint64 secret, ShPairsRow row)
{
	return (uint32) ((row + secret) * (secret | 1) >> 32);
}

#define SH_PREFIX numbers
#define SH_ELEMENT_TYPE NumberEntry
#define SH_KEY_TYPE ShPairsRow
#define SH_KEY first
#define SH_HASH_KEY(table, key) hash_row(*(uint64 *) (table)->private_data, key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define MAP_BLOCK_ITEMS	(BLCKSZ / sizeof(ShIdxSortItem))

/*
 * Rows that are not the first of their element, with that one or NOT_SEEN: items, whose keys
 * ascend once the map is sorted.  Beyond memory they are in a file, of which memory has the
 * first key of each block.
 */
typedef struct RowMap
{
	size_t		count;
	size_t		capacity;
	ShIdxSortItem *items;		/* in memory, or a block of the file */
	ShIdxSort  *sort;			/* of items that exceed memory, before they are
								 * in the file; or NULL */
	BufFile    *file;			/* or NULL */
	uint64	   *block_keys;
	size_t		block;			/* that is in memory */
} RowMap;

struct ShPairsBands
{
	ShPairsSink *sink;
	bool		two_sides;
	bool		of_array;		/* the first one is an array */
	bool		first_walk;
	ShIdxSort  *sort;			/* of pairs, by the first rows of both */

	RowMap		map;			/* by row, and after the last walk by the first */

	/* entries that have another with an equal word, as they are settled */
	size_t		capacity_repeated;
	uint32	   *words;			/* numbers of their words */
	ShPairsRow *repeated;		/* their rows, */
	ShPairsRow *firsts;			/* and the first ones of their elements */

	/* after the last walk */
	uint64		secret;
	struct numbers_hash *numbers;
	MemoryContext home;
	MemoryContext context;		/* of numbers, and of rows of elements */
	size_t		npairs;			/* found, and not yet passed */
	ShPairsPair pairs[SHPAIRS_MAX_PAIRS];
};

/*
 * Begin without pairs, in the current memory context.
 */
ShPairsBands *
shpairs_bands_begin(ShPairsSink *sink, bool two_sides, bool grouped)
{
	ShPairsBands *bands = palloc0(sizeof(ShPairsBands));

	bands->sink = sink;
	bands->two_sides = two_sides;
	bands->sort = shidx_sort_begin_distinct(maintenance_work_mem, grouped);
	bands->secret = pg_prng_uint64(&pg_global_prng_state);
	bands->home = CurrentMemoryContext;
	bands->context = AllocSetContextCreate(CurrentMemoryContext, "simhash elements of bands",
										   ALLOCSET_DEFAULT_SIZES);
	return bands;
}

static void *
replace_rows(ShPairsBands *bands, void *old, Size size)
{
	if (old != NULL)
		pfree(old);
	return MemoryContextAllocHuge(bands->home, bands->capacity_repeated * size);
}

/* make room for so many entries that are settled together; what was there is discarded */
static void
enlarge_repeated(ShPairsBands *bands, size_t count)
{
	if (count <= bands->capacity_repeated)
		return;
	bands->capacity_repeated = Max(count, 2 * bands->capacity_repeated);
	bands->words = replace_rows(bands, bands->words, sizeof(uint32));
	bands->repeated = replace_rows(bands, bands->repeated, sizeof(ShPairsRow));
	bands->firsts = replace_rows(bands, bands->firsts, sizeof(ShPairsRow));
}

/* to sort rows of the map, by either of both */
#define ST_SORT sort_rows_of_elements
#define ST_ELEMENT_TYPE ShIdxSortItem
#define ST_COMPARE(a, b) \
	(shidx_sort_item_less(*(a), *(b)) ? -1 : shidx_sort_item_less(*(b), *(a)))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort the items that follow, as memory is full.
 */
static void
begin_sorting_map(ShPairsBands *bands)
{
	RowMap	   *map = &bands->map;
	MemoryContext old = MemoryContextSwitchTo(bands->home);

	map->sort = shidx_sort_begin((int) (maintenance_work_mem * ROWS_FRACTION));
	for (size_t i = 0; i < map->count; i++)
	{
		shcompat_check_at(i);
		shidx_sort_add(map->sort, map->items[i].key, map->items[i].value);
	}
	if (map->items != NULL)
		pfree(map->items);
	map->items = NULL;
	MemoryContextSwitchTo(old);
}

static void
add_to_map(ShPairsBands *bands, uint64 key, uint64 value)
{
	RowMap	   *map = &bands->map;

	if (map->sort == NULL && map->count == map->capacity)
	{
		size_t		capacity = Max(2 * map->capacity, FIRST_CAPACITY);

		if (capacity * sizeof(ShIdxSortItem) > maintenance_work_mem * 1024.0 * ROWS_FRACTION)
			begin_sorting_map(bands);
		else
		{
			map->items = map->items == NULL ?
				MemoryContextAllocHuge(bands->home, capacity * sizeof(ShIdxSortItem)) :
				repalloc_huge(map->items, capacity * sizeof(ShIdxSortItem));
			map->capacity = capacity;
		}
	}
	if (map->sort != NULL)
		shidx_sort_add(map->sort, key, value);
	else
		map->items[map->count] = shidx_sort_item(key, value);
	map->count++;
}

/*
 * Move the items that have been sorted to the file of a map, one block of which stays in
 * memory.
 */
static void
write_map(ShPairsBands *bands)
{
	RowMap	   *map = &bands->map;
	size_t		nblocks = map->count / MAP_BLOCK_ITEMS + 1;
	MemoryContext old = MemoryContextSwitchTo(bands->home);

	shidx_sort_start(map->sort);
	map->items = palloc(BLCKSZ);
	map->block_keys = MemoryContextAllocHuge(bands->home, nblocks * sizeof(uint64));
	map->block = nblocks;
	map->file = shpairs_create_file();
	for (size_t i = 0; i < map->count; i++)
	{
		ShIdxSortItem item;

		shcompat_check_at(i);
		(void) shidx_sort_next(map->sort, &item);
		if (i % MAP_BLOCK_ITEMS == 0)
			map->block_keys[i / MAP_BLOCK_ITEMS] = item.key;
		BufFileWrite(map->file, &item, sizeof(item));
	}
	shidx_sort_end(map->sort);
	map->sort = NULL;
	MemoryContextSwitchTo(old);
}

static ShIdxSortItem
map_item(RowMap *map, size_t place)
{
	size_t		block = place / MAP_BLOCK_ITEMS;
	size_t		start = block * MAP_BLOCK_ITEMS;

	if (map->file == NULL)
		return map->items[place];
	if (block != map->block)
	{
		shpairs_seek_file(map->file, start * sizeof(ShIdxSortItem));
		shpairs_read_file(map->file, map->items,
						  Min(map->count - start, MAP_BLOCK_ITEMS) * sizeof(ShIdxSortItem));
		map->block = block;
	}
	return map->items[place - start];
}

/* the place of the first item of a sorted map whose key is not below this one */
static size_t
find_in_map(RowMap *map, uint64 key)
{
	size_t		low = 0;
	size_t		high = map->count;

	if (map->file != NULL)
	{
		size_t		last = (map->count + MAP_BLOCK_ITEMS - 1) / MAP_BLOCK_ITEMS;
		size_t		block = 0;

		/* it is in the last block that begins below the key, or right behind that */
		while (block < last)
		{
			size_t		middle = block + (last - block) / 2;

			if (map->block_keys[middle] < key)
				block = middle + 1;
			else
				last = middle;
		}
		low = block > 0 ? (block - 1) * MAP_BLOCK_ITEMS : 0;
		high = Min(block * MAP_BLOCK_ITEMS, map->count);
	}
	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (map_item(map, middle).key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The first row of the element of a row, or NOT_SEEN.
 */
static ShPairsRow
first_of_row(RowMap *map, ShPairsRow row)
{
	size_t		place = find_in_map(map, row);

	return place < map->count && map_item(map, place).key == row ? map_item(map, place).value : row;
}

static void
add_element_pair(ShPairsBands *bands, uint32 group, ShPairsRow a, ShPairsRow b)
{
	if (!bands->two_sides && a > b)
		shidx_sort_add_grouped(bands->sort, group, b, a);
	else
		shidx_sort_add_grouped(bands->sort, group, a, b);
}

/* the end of the entries that have the group and the word of the i-th */
static size_t
word_end(const ShPairsEntryArrays *entries, size_t i)
{
	size_t		end = i + 1;

	while (end < entries->count && shpairs_same_word(entries, i, end))
		end++;
	return end;
}

/*
 * Find the first rows of the elements of so many repeated rows in a map that is a file: row by
 * row, so that it is read from its beginning to its end.
 */
static void
ask_file(ShPairsBands *bands, size_t count)
{
	ShIdxSortItem *order = MemoryContextAllocHuge(bands->home, Max(count, 1) * sizeof(ShIdxSortItem));

	for (size_t i = 0; i < count; i++)
		order[i] = shidx_sort_item(bands->repeated[i], i);
	sort_rows_of_elements(order, count);
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		bands->firsts[order[i].value] = first_of_row(&bands->map, order[i].key);
	}
	pfree(order);
}

/*
 * Find the first rows of the elements of all rows that have others with equal words.
 */
static void
find_firsts(ShPairsBands *bands, const ShPairsEntryArrays *entries)
{
	size_t		count = 0;

	enlarge_repeated(bands, entries->count);
	for (size_t start = 0, end; start < entries->count; start = end)
	{
		end = word_end(entries, start);
		for (size_t i = start; i < end && end - start > 1; i++)
		{
			shcompat_check_at(i);
			bands->words[count] = (uint32) start;
			bands->repeated[count++] = entries->rows[i];
		}
	}
	if (bands->first_walk && count > 0)
		bands->sink->divide(bands->sink, bands->words, bands->repeated, count, bands->firsts);
	if (bands->map.file != NULL)
	{
		ask_file(bands, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		if (!bands->first_walk)
			bands->firsts[i] = first_of_row(&bands->map, bands->repeated[i]);
		else if (bands->firsts[i] != bands->repeated[i])
			add_to_map(bands, bands->repeated[i], bands->firsts[i]);
	}
}

/*
 * Keep the elements of a word, given their first rows for each row, from a place on.
 * Returns where they end.  The rows of an element are pairs with each other.
 */
static size_t
keep_elements(ShPairsBands *bands, ShPairsEntryArrays *entries, size_t start, ShPairsRow *firsts,
			  size_t count, size_t kept)
{
	uint32		group = shpairs_entry_group(entries, start);
	size_t		begin = kept;

	shidx_sort_numbers(firsts, count);
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		if (firsts[i] == NOT_SEEN)
			continue;
		if (kept > begin && entries->rows[kept - 1] == firsts[i])
		{
			if (bands->first_walk && (i == 1 || firsts[i - 2] != firsts[i]))
				add_element_pair(bands, group, firsts[i], firsts[i]);
			continue;
		}
		shpairs_move_entry(entries, kept, start);
		entries->rows[kept++] = firsts[i];
	}
	return kept;
}

/*
 * Replace the rows of entries, which come in order, by the elements that they make, each
 * once for each word.  All rows of a word must be there.
 */
void
shpairs_bands_settle(ShPairsBands *bands, ShPairsEntryArrays *entries)
{
	size_t		kept = 0;
	ShPairsRow *firsts;

	find_firsts(bands, entries);
	firsts = bands->firsts;
	for (size_t start = 0, end; start < entries->count; start = end)
	{
		end = word_end(entries, start);
		if (end - start == 1)
		{
			shpairs_move_entry(entries, kept, start);
			entries->rows[kept++] = entries->rows[start];
			continue;
		}
		kept = keep_elements(bands, entries, start, firsts, end - start, kept);
		firsts += end - start;
	}
	entries->count = kept;
}

/*
 * Word i of a bucket and word j of another are near each other, or are the same, which has
 * several rows.
 */
void
shpairs_bands_add(ShPairsBands *bands, const ShPairsBucket *a, size_t i, const ShPairsBucket *b,
				  size_t j)
{
	for (size_t x = a->starts[i]; x < shpairs_rows_end(a, i); x++)
	{
		for (size_t y = a == b && i == j ? x + 1 : b->starts[j]; y < shpairs_rows_end(b, j); y++)
		{
			CHECK_FOR_INTERRUPTS();
			add_element_pair(bands, a->group, a->rows[x], b->rows[y]);
		}
	}
}

/*
 * Sort a map, to which nothing is added any more.
 */
static void
sort_map(ShPairsBands *bands)
{
	if (bands->map.sort != NULL)
		write_map(bands);
	else
		sort_rows_of_elements(bands->map.items, bands->map.count);
}

/*
 * The entries of a table follow.
 */
void
shpairs_bands_start(ShPairsBands *bands, int table)
{
	if (bands->first_walk)
		sort_map(bands);
	bands->first_walk = table == 0;
}

/*
 * Forget the numbers of elements, and their rows.
 */
static void
forget_band_numbers(ShPairsBands *bands)
{
	if (bands->sink->leave != NULL)
		bands->sink->leave(bands->sink);
	MemoryContextReset(bands->context);
	bands->numbers = numbers_create(bands->context, FIRST_CAPACITY, &bands->secret);
}

/*
 * Pass the pairs that have been found to the sink.
 */
static void
pass_band_pairs(ShPairsBands *bands)
{
	size_t		npairs = bands->npairs;

	bands->npairs = 0;
	if (!bands->sink->pairs(bands->sink, bands->pairs, npairs) ||
		bands->numbers->members >= MAX_NUMBERED)
		forget_band_numbers(bands);
}

/*
 * The rows of an element, given the first.  Returns their number.
 */
static size_t
rows_of_element(ShPairsBands *bands, ShPairsRow first, ShPairsRow **rows)
{
	RowMap	   *map = &bands->map;
	size_t		start = find_in_map(map, first);
	size_t		count = find_in_map(map, first + 1) - start + 1;

	*rows = MemoryContextAllocHuge(bands->context, count * sizeof(ShPairsRow));
	(*rows)[0] = first;
	for (size_t i = 1; i < count; i++)
	{
		shcompat_check_at(i);
		(*rows)[i] = map_item(map, start + i - 1).value;
	}
	return count;
}

/*
 * The number of an element, given its first row, of the second side or not; or
 * SHPAIRS_NO_NUMBER if the sink has no room.  Elements of an array have no rows.
 */
static uint32
number_of_first(ShPairsBands *bands, uint32 group, ShPairsRow first, bool second)
{
	ShPairsRow	key = second ? first | SECOND_SIDE : first;
	NumberEntry *entry = numbers_lookup(bands->numbers, key);
	ShPairsElement element = {.group = group,.id = first};
	uint32		number;
	bool		found;

	if (entry != NULL)
		return entry->number;
	if (second || !bands->of_array)
		element.nrows = rows_of_element(bands, first, &element.rows);
	number = bands->sink->number(bands->sink, &element, false);
	if (bands->sink->takes_all_rows)
		pfree(element.rows);
	if (number != SHPAIRS_NO_NUMBER)
		numbers_insert(bands->numbers, key, &found)->number = number;
	return number;
}

/*
 * Let the rows be found by the first of their element.
 */
static void
turn_rows(ShPairsBands *bands)
{
	RowMap		rows;

	/* there may have been no table after the first */
	if (bands->map.sort != NULL)
		write_map(bands);
	rows = bands->map;
	memset(&bands->map, 0, sizeof(RowMap));
	if (rows.file != NULL)
		begin_sorting_map(bands);
	else
		bands->map = (RowMap)
	{
		.capacity = rows.capacity,.items = rows.items
	};
	for (size_t i = 0; i < rows.count; i++)
	{
		ShIdxSortItem item = map_item(&rows, i);

		shcompat_check_at(i);
		if (item.value != NOT_SEEN)
			add_to_map(bands, item.value, item.key);
	}
	if (rows.file != NULL)
	{
		BufFileClose(rows.file);
		pfree(rows.block_keys);
		pfree(rows.items);
	}
	sort_map(bands);
}

/*
 * Pass a pair, given by the first rows of its elements.
 */
static void
pass_element_pair(ShPairsBands *bands, uint32 group, ShPairsRow a, ShPairsRow b)
{
	ShPairsPair *pair = &bands->pairs[bands->npairs];

	while ((pair->a = number_of_first(bands, group, a, false)) == SHPAIRS_NO_NUMBER ||
		   (pair->b = number_of_first(bands, group, b, bands->two_sides)) == SHPAIRS_NO_NUMBER)
	{
		pass_band_pairs(bands);
		pair = &bands->pairs[0];
	}
	if (++bands->npairs == SHPAIRS_MAX_PAIRS)
		pass_band_pairs(bands);
}

/*
 * All walks have ended: pass the elements that are part of a pair, with their rows, and each
 * pair once; and each element of several rows as a pair with itself.  With of_array, the
 * first side is an array.  The entries of the progress are pairs then.
 */
void
shpairs_bands_finish(ShPairsBands *bands, bool of_array, ShPairsProgress *progress)
{
	ShIdxSortItems items;
	ShIdxSortItem last = {0};
	uint64		done = 0;
	size_t		count;

	bands->of_array = of_array;
	if (bands->capacity_repeated > 0)
	{
		pfree(bands->words);
		pfree(bands->repeated);
		pfree(bands->firsts);
		bands->words = NULL;
		bands->repeated = bands->firsts = NULL;
		bands->capacity_repeated = 0;
	}
	turn_rows(bands);
	forget_band_numbers(bands);
	shpairs_progress_begin(progress, SHPAIRS_COMPARING, shidx_sort_count(bands->sort));
	shidx_sort_start(bands->sort);
	while ((count = shidx_sort_next_items(bands->sort, &items)) > 0)
	{
		for (size_t i = 0; i < count; i++)
		{
			ShIdxSortItem item = items.items[i];

			CHECK_FOR_INTERRUPTS();
			/* a row is of one group, and no row of an index is 0 */
			if (item.key != last.key || item.value != last.value)
				pass_element_pair(bands, shidx_sort_group(items, i), item.key, item.value);
			last = item;
			if (++done % SHPAIRS_MAX_PAIRS == 0)
				shpairs_progress_entries(progress, (double) done);
		}
	}
	if (bands->npairs > 0)
		pass_band_pairs(bands);
	if (bands->sink->leave != NULL)
		bands->sink->leave(bands->sink);
	shidx_sort_end(bands->sort);
	if (bands->map.file != NULL)
		BufFileClose(bands->map.file);
}
