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
 * Make room for more rows, none of which has been ordered.
 */
static void
enlarge(ShPairsWideBucket *wide)
{
	int			nwords = wide->bucket.nwords;

	pfree(wide->keys);
	pfree(wide->starts);
	pfree(wide->rows);
	pfree(wide->places);
	pfree(wide->items);
	pfree(wide->sorted);
	pfree(wide->part_keys);
	pfree(wide->part_starts);
	wide->capacity = Min(wide->capacity * 2, wide->most);
	wide->added = repalloc_huge(wide->added, wide->capacity * sizeof(ShRowsNumber));
	wide->values = repalloc_huge(wide->values, wide->capacity * nwords * sizeof(uint64));
	allocate(wide);
}

/*
 * Add a row.  There must be room: see shpairs_wide_bucket_full.  If rows have been
 * ordered already, there must have been as many before.
 */
void
shpairs_wide_bucket_add(ShPairsWideBucket *wide, ShRowsNumber row, const uint64 *value)
{
	int			nwords = wide->bucket.nwords;

	if (wide->count == wide->capacity)
		enlarge(wide);
	wide->added[wide->count] = row;
	memcpy(wide->values + wide->count * nwords, value, nwords * sizeof(uint64));
	wide->count++;
}

/* compare the values at two places */
static int
compare_places(const void *a, const void *b, void *arg)
{
	const ShPairsWideBucket *wide = arg;
	int			nwords = wide->bucket.nwords;
	uint64		x_place = ((const ShSortItem *) a)->value;
	uint64		y_place = ((const ShSortItem *) b)->value;
	const uint64 *x = wide->values + x_place * nwords;
	const uint64 *y = wide->values + y_place * nwords;

	for (int i = 0; i < nwords; i++)
	{
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return x_place < y_place ? -1 : x_place > y_place;
}

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
		{
			CHECK_FOR_INTERRUPTS();
			qsort_arg(wide->sorted + start, end - start, sizeof(ShSortItem), compare_places,
					  wide);
		}
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
