/*-------------------------------------------------------------------------
 *
 * wide_bucket.c
 *	  Wide fingerprints in memory, each once, with their rows.
 *
 * Rows are added with their values.  Then they are ordered by value, so that
 * equal ones become one key of a bucket.  The values stay where they are, and
 * each key knows the place of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pairs/wide_bucket.h"
#include "pairs/wide_input.h"

#define FIRST_CAPACITY		1024

/* the bytes that a row takes, without its value, in a search */
#define BYTES_PER_ROW		(2 * sizeof(ShRowsNumber) + sizeof(ShPermuted) + \
							 sizeof(size_t) + SHPAIRS_WIDE_BYTES_PER_KEY)

static void *
allocate_array(size_t count, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, count * size);
}

/* what the search of the parts needs */
static void
allocate_for_parts(ShPairsWideBucket *wide)
{
	size_t		capacity = wide->capacity;

	wide->places = allocate_array(capacity, sizeof(uint32));
	wide->items = allocate_array(capacity, sizeof(ShSortItem));
	wide->sorted = allocate_array(capacity, sizeof(ShSortItem));
	wide->part_keys = allocate_array(capacity, sizeof(ShPermuted));
	wide->part_starts = allocate_array(capacity + 1, sizeof(uint32));
}

static void
allocate(ShPairsWideBucket *wide)
{
	wide->keys = allocate_array(wide->capacity, sizeof(ShPermuted));
	wide->starts = allocate_array(wide->capacity, sizeof(size_t));
	wide->rows = allocate_array(wide->capacity, sizeof(ShRowsNumber));
	allocate_for_parts(wide);
}

/*
 * Prepare for values of so many words, in this much memory.
 */
void
shpairs_wide_bucket_init(ShPairsWideBucket *wide, int nwords, Size memory)
{
	memset(wide, 0, sizeof(ShPairsWideBucket));
	wide->bucket.table = &shbits_make_scheme(1, 0)->tables[0];
	wide->bucket.nwords = nwords;
	wide->most = Max(memory / (BYTES_PER_ROW + nwords * sizeof(uint64)), 2 * FIRST_CAPACITY);
	wide->most = Min(wide->most, SHPAIRS_MAX_KEYS);
	wide->capacity = FIRST_CAPACITY;
	wide->added = palloc(FIRST_CAPACITY * sizeof(ShRowsNumber));
	wide->values = palloc(FIRST_CAPACITY * nwords * sizeof(uint64));
	allocate(wide);
}

/*
 * The memory that the rows take, in a search, or that earlier ones have taken.
 */
Size
shpairs_wide_bucket_bytes(const ShPairsWideBucket *wide)
{
	return Max(wide->count, wide->largest) * (BYTES_PER_ROW + wide->bucket.nwords * sizeof(uint64));
}

/*
 * Make a bucket of different values that are already in memory, in this order.  It
 * has no rows.
 */
void
shpairs_wide_bucket_show(ShPairsWideBucket *wide, int nwords, uint64 *values, size_t count)
{
	memset(wide, 0, sizeof(ShPairsWideBucket));
	wide->capacity = Max(count, 1);
	allocate_for_parts(wide);
	for (size_t i = 0; i < count; i++)
		wide->places[i] = i;
	wide->bucket.nwords = nwords;
	wide->bucket.nkeys = count;
	wide->bucket.values = values;
	wide->bucket.places = wide->places;
}

/*
 * Remove all rows.  Those that are added next are of a group.
 */
void
shpairs_wide_bucket_clear(ShPairsWideBucket *wide, uint32 group)
{
	wide->largest = Max(wide->largest, wide->count);
	wide->count = wide->ordered = 0;
	wide->bucket.group = group;
	wide->bucket.nkeys = 0;
	wide->bucket.nrows = 0;
}

/*
 * Make room for so many rows in all, before any has been ordered.
 */
void
shpairs_wide_bucket_reserve(ShPairsWideBucket *wide, size_t capacity)
{
	if (capacity <= wide->capacity)
		return;
	pfree(wide->keys);
	pfree(wide->starts);
	pfree(wide->rows);
	pfree(wide->places);
	pfree(wide->items);
	pfree(wide->sorted);
	pfree(wide->part_keys);
	pfree(wide->part_starts);
	wide->capacity = capacity;
	wide->added = repalloc_huge(wide->added, capacity * sizeof(ShRowsNumber));
	wide->values = repalloc_huge(wide->values, capacity * wide->bucket.nwords * sizeof(uint64));
	allocate(wide);
}

/*
 * Add a row.  There must be room: see shpairs_wide_bucket_full and _reserve.
 */
void
shpairs_wide_bucket_add(ShPairsWideBucket *wide, ShRowsNumber row, const uint64 *value)
{
	int			nwords = wide->bucket.nwords;

	if (wide->count == wide->capacity)
		shpairs_wide_bucket_reserve(wide, Min(wide->capacity * 2, wide->most));
	wide->added[wide->count] = row;
	memcpy(wide->values + wide->count * nwords, value, nwords * sizeof(uint64));
	wide->count++;
}

/* which of the values at two places comes first */
static inline int
compare_places(const ShSortItem *a, const ShSortItem *b, const ShPairsWideBucket *wide)
{
	int			nwords = wide->bucket.nwords;
	int			result = shpairs_compare_values(wide->values + a->value * nwords,
											wide->values + b->value * nwords, nwords);

	if (result == 0)
		result = a->value < b->value ? -1 : a->value > b->value;
	return result;
}

/* the server's qsort does not look for interrupts */
#define ST_SORT sort_places
#define ST_ELEMENT_TYPE ShSortItem
#define ST_COMPARE(a, b, wide) compare_places(a, b, wide)
#define ST_COMPARE_ARG_TYPE const ShPairsWideBucket
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Order the rows from one on: first by one word of their values, then those that
 * have the same.
 */
static void
sort_rows(ShPairsWideBucket *wide, size_t from)
{
	int			nwords = wide->bucket.nwords;

	for (size_t i = from; i < wide->count; i++)
		wide->items[i] = shsort_item(wide->values[i * nwords], i);
	shsort_radix(wide->items + from, wide->sorted + from, wide->count - from);
	for (size_t start = from, end; start < wide->count; start = end)
	{
		end = start + 1;
		while (end < wide->count && wide->sorted[end].key == wide->sorted[start].key)
			end++;
		if (end - start > 1)
			sort_places(wide->sorted + start, end - start, wide);
	}
}

/*
 * Add the rows that have been added since the last call to the bucket, as keys
 * that are numbered from first_number on.
 */
void
shpairs_wide_bucket_order(ShPairsWideBucket *wide, uint64 first_number, ShPairsWideRepeat repeat)
{
	ShPairsBucket *bucket = &wide->bucket;
	size_t		from = wide->ordered;
	size_t		first_key = bucket->nkeys;
	Size		size = bucket->nwords * sizeof(uint64);

	sort_rows(wide, from);
	wide->ordered = wide->count;
	bucket->keys = wide->keys;
	bucket->starts = wide->starts;
	bucket->rows = wide->rows;
	bucket->values = wide->values;
	bucket->places = wide->places;
	for (size_t i = from; i < wide->count; i++)
	{
		uint32		place = wide->sorted[i].value;
		ShRowsNumber row = wide->added[place];

		if (bucket->nkeys > first_key &&
			memcmp(shpairs_bucket_value(bucket, bucket->nkeys - 1),
				   wide->values + (size_t) place * bucket->nwords, size) == 0)
		{
			if (repeat.function == NULL || repeat.function(repeat.arg, bucket, row))
				wide->rows[bucket->nrows++] = row;
			bucket->last_repeated = true;
			continue;
		}
		wide->keys[bucket->nkeys] = first_number + (bucket->nkeys - first_key);
		wide->starts[bucket->nkeys] = bucket->nrows;
		wide->places[bucket->nkeys++] = place;
		wide->rows[bucket->nrows++] = row;
		bucket->last_repeated = false;
	}
}
