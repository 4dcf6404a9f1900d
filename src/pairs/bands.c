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

/* in place of the first row of an element: the snapshot does not see the row */
#define NOT_SEEN	0

/*
 * A pair in the sort has the first rows of two elements, and the halves of their group in the
 * bits above.
 */
#define ROW_BITS	48
#define ROW_MASK	((UINT64CONST(1) << ROW_BITS) - 1)

#define FIRST_CAPACITY	1024

/* the fraction of maintenance_work_mem for rows that are not the first */
#define ROWS_FRACTION	0.5

/* the most elements that have numbers at a time */
#define MAX_NUMBERED	0x10000

/* the number of an element */
typedef struct NumberEntry
{
	ShPairsRow	first;
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

struct ShPairsBands
{
	ShPairsSink *sink;
	bool		first_walk;
	ShIdxSort  *sort;			/* of pairs */

	/*
	 * rows that are not the first of their element, with that one or NOT_SEEN:
	 * by row, and after the last walk by the first
	 */
	size_t		nrows;
	size_t		capacity;
	ShIdxSortItem *rows;

	ShPairsRow *firsts;			/* of the rows of a word */
	size_t		max_firsts;

	/* after the last walk */
	uint64		secret;
	struct numbers_hash *numbers;
	MemoryContext context;		/* of these, and of rows of elements */
	size_t		npairs;			/* found, and not yet passed */
	ShPairsPair pairs[SHPAIRS_MAX_PAIRS];
};

/*
 * Begin without pairs, in the current memory context.
 */
ShPairsBands *
shpairs_bands_begin(ShPairsSink *sink)
{
	ShPairsBands *bands = palloc0(sizeof(ShPairsBands));

	bands->sink = sink;
	bands->first_walk = true;
	bands->sort = shidx_sort_begin_distinct(maintenance_work_mem);
	bands->capacity = FIRST_CAPACITY;
	bands->rows = palloc(FIRST_CAPACITY * sizeof(ShIdxSortItem));
	bands->secret = pg_prng_uint64(&pg_global_prng_state);
	bands->context = AllocSetContextCreate(CurrentMemoryContext, "simhash elements of bands",
										   ALLOCSET_DEFAULT_SIZES);
	return bands;
}

/* make room for the first rows of so many rows, whose old ones are discarded */
static void
enlarge_firsts(ShPairsBands *bands, size_t count)
{
	if (count <= bands->max_firsts)
		return;
	if (bands->firsts != NULL)
		pfree(bands->firsts);
	bands->max_firsts = Max(count, 2 * bands->max_firsts);
	bands->firsts = MemoryContextAllocHuge(CurrentMemoryContext,
										   bands->max_firsts * sizeof(ShPairsRow));
}

/*
 * Remember the first row of the element of another row.
 */
static void
remember_row(ShPairsBands *bands, ShPairsRow row, ShPairsRow first)
{
	if (bands->nrows == bands->capacity)
	{
		double		bytes = 2.0 * bands->capacity * sizeof(ShIdxSortItem);

		if (bytes > maintenance_work_mem * 1024.0 * ROWS_FRACTION)
			ereport(ERROR,
					(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					 errmsg("more than %zu rows that are equal to others do not fit into maintenance_work_mem",
							bands->nrows),
					 errhint("Increase maintenance_work_mem, which is now %d kB.",
							 maintenance_work_mem)));
		bands->capacity *= 2;
		bands->rows = repalloc_huge(bands->rows, bands->capacity * sizeof(ShIdxSortItem));
	}
	bands->rows[bands->nrows++] = shidx_sort_item(row, first);
}

/* the place of the first item that is not below the key, or not before the value with it */
static size_t
find_item(const ShPairsBands *bands, ShIdxSortItem item)
{
	size_t		low = 0;
	size_t		high = bands->nrows;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (shidx_sort_item_less(bands->rows[middle], item))
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
first_of_row(const ShPairsBands *bands, ShPairsRow row)
{
	size_t		place = find_item(bands, shidx_sort_item(row, 0));

	return place < bands->nrows && bands->rows[place].key == row ? bands->rows[place].value : row;
}

/*
 * Divide the rows of a word by their values, and remember what is found.
 */
static void
divide_word(ShPairsBands *bands, uint32 group, const ShPairsRow *rows, size_t count)
{
	bands->sink->divide(bands->sink, group, rows, count, bands->firsts);
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		if (bands->firsts[i] != rows[i])
			remember_row(bands, rows[i], bands->firsts[i]);
	}
}

/* add a pair of elements of a group, the one with the lower number first */
static void
add_element_pair(ShPairsBands *bands, uint32 group, ShPairsRow a, ShPairsRow b)
{
	if (a > b)
	{
		ShPairsRow	swap = a;

		a = b;
		b = swap;
	}
	shidx_sort_add(bands->sort, (uint64) (group >> 16) << ROW_BITS | a,
				   (uint64) (group & 0xFFFF) << ROW_BITS | b);
}

/*
 * Replace the rows of a word by the elements that they make, each once, and NOT_SEEN behind
 * them.
 */
static void
settle_word(ShPairsBands *bands, uint32 group, ShPairsRow *rows, size_t count)
{
	size_t		nfirsts = 0;
	size_t		kept = 0;

	enlarge_firsts(bands, count);
	if (bands->first_walk)
		divide_word(bands, group, rows, count);
	for (size_t i = 0; i < count; i++)
	{
		ShPairsRow	first = bands->first_walk ? bands->firsts[i] : first_of_row(bands, rows[i]);

		shcompat_check_at(i);
		/* the rows of an element are pairs with each other */
		if (bands->first_walk && first != NOT_SEEN && first != rows[i])
			add_element_pair(bands, group, first, first);
		if (first != NOT_SEEN)
			bands->firsts[nfirsts++] = first;
	}
	shidx_sort_numbers(bands->firsts, nfirsts);
	for (size_t i = 0; i < nfirsts; i++)
	{
		shcompat_check_at(i);
		if (i == 0 || bands->firsts[i] != bands->firsts[i - 1])
			rows[kept++] = bands->firsts[i];
	}
	memset(rows + kept, 0, (count - kept) * sizeof(ShPairsRow));
	for (size_t i = 0; i < kept; i++)
	{
		for (size_t j = i + 1; j < kept; j++)
		{
			CHECK_FOR_INTERRUPTS();
			add_element_pair(bands, group, rows[i], rows[j]);
		}
	}
}

/*
 * Find the elements of a bucket, whose rows are replaced by them, and the pairs of elements
 * that have equal words.  The bucket must have all rows.
 */
void
shpairs_bands_settle(ShPairsBands *bands, ShPairsBucket *bucket)
{
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		size_t		count = shpairs_rows_end(bucket, i) - bucket->starts[i];

		shcompat_check_at(i);
		if (count > 1)
			settle_word(bands, bucket->group, bucket->rows + bucket->starts[i], count);
	}
}

/*
 * Word i of a settled bucket and word j of another are near each other.
 */
void
shpairs_bands_add(ShPairsBands *bands, const ShPairsBucket *a, size_t i, const ShPairsBucket *b,
				  size_t j)
{
	for (size_t x = a->starts[i]; x < shpairs_rows_end(a, i) && a->rows[x] != NOT_SEEN; x++)
	{
		for (size_t y = b->starts[j]; y < shpairs_rows_end(b, j) && b->rows[y] != NOT_SEEN; y++)
		{
			CHECK_FOR_INTERRUPTS();
			/* an element may be on both sides if its rows are in several chunks */
			if (a->rows[x] != b->rows[y])
				add_element_pair(bands, a->group, a->rows[x], b->rows[y]);
		}
	}
}

/* to sort rows by the first of their element */
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
 * A walk over a table has ended.
 */
void
shpairs_bands_end_walk(ShPairsBands *bands)
{
	if (bands->first_walk)
		sort_rows_of_elements(bands->rows, bands->nrows);
	bands->first_walk = false;
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
	size_t		start = find_item(bands, shidx_sort_item(first, 0));
	size_t		count = 1;

	while (start + count <= bands->nrows && bands->rows[start + count - 1].key == first)
		count++;
	*rows = MemoryContextAllocHuge(bands->context, count * sizeof(ShPairsRow));
	(*rows)[0] = first;
	for (size_t i = 1; i < count; i++)
	{
		shcompat_check_at(i);
		(*rows)[i] = bands->rows[start + i - 1].value;
	}
	return count;
}

/*
 * The number of an element, given its first row; or SHPAIRS_NO_NUMBER if the sink has no room.
 */
static uint32
number_of_first(ShPairsBands *bands, uint32 group, ShPairsRow first)
{
	NumberEntry *entry = numbers_lookup(bands->numbers, first);
	ShPairsElement element = {.group = group,.id = first};
	uint32		number;
	bool		found;

	if (entry != NULL)
		return entry->number;
	element.nrows = rows_of_element(bands, first, &element.rows);
	number = bands->sink->number(bands->sink, &element, false);
	if (bands->sink->takes_all_rows)
		pfree(element.rows);
	if (number != SHPAIRS_NO_NUMBER)
		numbers_insert(bands->numbers, first, &found)->number = number;
	return number;
}

/*
 * Let the rows be found by the first of their element.
 */
static void
turn_rows(ShPairsBands *bands)
{
	size_t		kept = 0;

	for (size_t i = 0; i < bands->nrows; i++)
	{
		ShIdxSortItem item = bands->rows[i];

		shcompat_check_at(i);
		if (item.value != NOT_SEEN)
			bands->rows[kept++] = shidx_sort_item(item.value, item.key);
	}
	bands->nrows = kept;
	sort_rows_of_elements(bands->rows, kept);
}

/*
 * All walks have ended: pass the elements that are part of a pair, with their rows, and each
 * pair once; and each element of several rows as a pair with itself.
 */
void
shpairs_bands_finish(ShPairsBands *bands)
{
	ShIdxSortItem item;
	ShIdxSortItem last = {0};

	turn_rows(bands);
	forget_band_numbers(bands);
	shidx_sort_start(bands->sort);
	while (shidx_sort_next(bands->sort, &item))
	{
		uint32		group = (uint32) (item.key >> ROW_BITS << 16 | item.value >> ROW_BITS);
		ShPairsPair *pair = &bands->pairs[bands->npairs];

		CHECK_FOR_INTERRUPTS();
		if (item.key == last.key && item.value == last.value)
			continue;
		last = item;
		while ((pair->a = number_of_first(bands, group, item.key & ROW_MASK)) == SHPAIRS_NO_NUMBER ||
			   (pair->b = number_of_first(bands, group, item.value & ROW_MASK)) == SHPAIRS_NO_NUMBER)
		{
			pass_band_pairs(bands);
			pair = &bands->pairs[0];
		}
		if (++bands->npairs == SHPAIRS_MAX_PAIRS)
			pass_band_pairs(bands);
	}
	if (bands->npairs > 0)
		pass_band_pairs(bands);
	if (bands->sink->leave != NULL)
		bands->sink->leave(bands->sink);
	shidx_sort_end(bands->sort);
}
