/*-------------------------------------------------------------------------
 *
 * radix.c
 *	  Sorting integers, and pairs of them, in memory.
 *
 * Items are distributed by the leading bits in which they differ: those of
 * their groups, otherwise of their keys, otherwise of their values.  Then each
 * bucket is distributed in place by the next such bits, until few items are
 * left together.  Fingerprints are well distributed, so two rounds are the
 * rule: one that leaves buckets that fit in the cache, and one that leaves
 * single items or little more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "compat.h"
#include "index/sort.h"

/* most buckets of a round, within the cache and beyond it */
#define MAX_DIGIT_BITS			12
#define MAX_FAR_DIGIT_BITS		10

/* how many items a bucket should have on average, as powers of two */
#define BUCKET_BITS				2
#define FAR_BUCKET_BITS			15

/* check for interrupts after this many items */
#define CHECK_INTERVAL			0x10000

/* use insertion sort up to this many items */
#define FEW_ITEMS				16

/* distribute buckets of up to this many items by way of a copy */
#define SCRATCH_ITEMS			0x10000

/* the bits that determine the bucket of an item */
typedef struct Digit
{
	enum
	{
		OF_GROUP,
		OF_KEY,
		OF_VALUE
	}			part;
	int			bits;			/* 0 if all items are equal */
	int			shift;
} Digit;

/*
 * In which bits do items differ?
 */
ShIdxSortVarying
shidx_sort_varying(ShIdxSortItems items, size_t count)
{
	ShIdxSortVarying varying = {0};

	for (size_t start = 0; start < count; start += CHECK_INTERVAL)
	{
		size_t		end = Min(count, start + CHECK_INTERVAL);

		CHECK_FOR_INTERRUPTS();
		for (size_t i = start; i < end; i++)
		{
			varying.keys |= items.items[i].key ^ items.items[0].key;
			varying.values |= items.items[i].value ^ items.items[0].value;
		}
		for (size_t i = start; items.groups != NULL && i < end; i++)
			varying.groups |= items.groups[i] ^ items.groups[0];
	}
	return varying;
}

/*
 * Choose the digit by which to distribute the given number of items.
 */
static Digit
choose_digit(ShIdxSortVarying varying, size_t count)
{
	Digit		digit;
	uint64		bits;
	int			wanted = pg_leftmost_one_pos64(count);

	if (wanted <= MAX_DIGIT_BITS + BUCKET_BITS + 1)
		wanted = Min(wanted - BUCKET_BITS, MAX_DIGIT_BITS);
	else
		wanted = Min(wanted - FAR_BUCKET_BITS, MAX_FAR_DIGIT_BITS);
	wanted = Max(wanted, 1);

	digit.part = varying.groups != 0 ? OF_GROUP : varying.keys != 0 ? OF_KEY : OF_VALUE;
	bits = digit.part == OF_GROUP ? varying.groups :
		digit.part == OF_KEY ? varying.keys : varying.values;
	digit.bits = bits == 0 ? 0 : Min(pg_leftmost_one_pos64(bits) + 1, wanted);
	digit.shift = bits == 0 ? 0 : pg_leftmost_one_pos64(bits) + 1 - digit.bits;
	return digit;
}

static inline size_t
digit_of(Digit digit, ShIdxSortItems items, size_t i)
{
	uint64		bits = digit.part == OF_KEY ? items.items[i].key :
		digit.part == OF_VALUE ? items.items[i].value : items.groups[i];

	return (bits >> digit.shift) & ((UINT64CONST(1) << digit.bits) - 1);
}

static void
insertion_sort(ShIdxSortItems items, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		ShIdxSortItem item = items.items[i];
		uint32		group = shidx_sort_group(items, i);
		size_t		j = i;

		for (; j > 0 && shidx_sort_grouped_less(item, group, items.items[j - 1], shidx_sort_group(items, j - 1)); j--)
		{
			items.items[j] = items.items[j - 1];
			if (items.groups != NULL)
				items.groups[j] = items.groups[j - 1];
		}
		items.items[j] = item;
		if (items.groups != NULL)
			items.groups[j] = group;
	}
}

static bool
is_sorted(ShIdxSortItems items, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		shcompat_check_at(i);
		if (shidx_sort_grouped_less(items.items[i], shidx_sort_group(items, i),
									items.items[i - 1], shidx_sort_group(items, i - 1)))
			return false;
	}
	return true;
}

/*
 * Turn the sizes of buckets into their starts.
 */
static void
find_starts(size_t *sizes, size_t nbuckets)
{
	size_t		start = 0;

	for (size_t bucket = 0; bucket < nbuckets; bucket++)
	{
		size_t		size = sizes[bucket];

		sizes[bucket] = start;
		start += size;
	}
}

static void sort_in_place(ShIdxSortItems items, ShIdxSortItems scratch, size_t count);

/*
 * Sort each of the buckets, whose ends are in ends[].
 */
static void
sort_buckets(ShIdxSortItems items, ShIdxSortItems scratch, const size_t *ends, size_t nbuckets)
{
	size_t		start = 0;

	for (size_t bucket = 0; bucket < nbuckets; bucket++)
	{
		if (ends[bucket] - start > 1)
			sort_in_place(shidx_sort_items_from(items, start), scratch, ends[bucket] - start);
		start = ends[bucket];
	}
}

/*
 * Put each item into its bucket, by exchanging it with the item found there.
 * next[] has the starts of the buckets, and afterwards their ends.
 */
static void
exchange(ShIdxSortItems items, size_t count, Digit digit, size_t *next)
{
	size_t		nbuckets = (size_t) 1 << digit.bits;
	size_t	   *starts = palloc((nbuckets + 1) * sizeof(size_t));
	size_t		steps = 0;

	memcpy(starts, next, nbuckets * sizeof(size_t));
	starts[nbuckets] = count;
	for (size_t bucket = 0; bucket < nbuckets; bucket++)
	{
		while (next[bucket] < starts[bucket + 1])
		{
			size_t		from = next[bucket];
			size_t		to = digit_of(digit, items, from);

			shcompat_check_at(steps++);
			if (to != bucket)
			{
				ShIdxSortItem item = items.items[from];
				size_t		place = next[to];

				items.items[from] = items.items[place];
				items.items[place] = item;
				if (items.groups != NULL)
				{
					uint32		group = items.groups[from];

					items.groups[from] = items.groups[place];
					items.groups[place] = group;
				}
			}
			next[to]++;
		}
	}
	pfree(starts);
}

/*
 * Put each item into its bucket, by way of a copy.  next[] has the starts of
 * the buckets, and afterwards their ends.
 */
static void
scatter(ShIdxSortItems items, ShIdxSortItems copy, size_t count, Digit digit, size_t *next)
{
	memcpy(copy.items, items.items, count * sizeof(ShIdxSortItem));
	if (items.groups != NULL)
		memcpy(copy.groups, items.groups, count * sizeof(uint32));
	for (size_t i = 0; i < count; i++)
	{
		size_t		place = next[digit_of(digit, copy, i)]++;

		items.items[place] = copy.items[i];
		if (items.groups != NULL)
			items.groups[place] = copy.groups[i];
	}
}

/*
 * Sort items in place.  scratch has room for SCRATCH_ITEMS, or for all items
 * if there are fewer.
 */
static void
sort_in_place(ShIdxSortItems items, ShIdxSortItems scratch, size_t count)
{
	Digit		digit;
	size_t		nbuckets;
	size_t	   *buckets;

	if (count <= FEW_ITEMS)
	{
		insertion_sort(items, count);
		return;
	}
	if (is_sorted(items, count))
		return;

	digit = choose_digit(shidx_sort_varying(items, count), count);
	nbuckets = (size_t) 1 << digit.bits;
	buckets = palloc0(nbuckets * sizeof(size_t));
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		buckets[digit_of(digit, items, i)]++;
	}
	find_starts(buckets, nbuckets);
	if (count <= SCRATCH_ITEMS)
		scatter(items, scratch, count, digit, buckets);
	else
		exchange(items, count, digit, buckets);
	sort_buckets(items, scratch, buckets, nbuckets);
	pfree(buckets);
}

/*
 * An item with its key permuted for a table.
 */
static inline ShIdxSortItem
permuted(const ShBitsTable *table, ShIdxSortItem item)
{
	if (table != NULL)
		item.key = shbits_permute(table, item.key);
	return item;
}

/*
 * Sort a few rows, as shidx_sort_radix_table does.
 */
static void
sort_few(ShIdxSortItems rows, ShIdxSortItems sorted, size_t count, const ShBitsTable *table)
{
	for (size_t i = 0; i < count; i++)
	{
		sorted.items[i] = permuted(table, rows.items[i]);
		if (rows.groups != NULL)
			sorted.groups[i] = rows.groups[i];
	}
	insertion_sort(sorted, count);
}

/*
 * Sort rows, ascending, with their keys permuted for a table unless table is
 * NULL. The result is in sorted, which has room for as many items.  varying
 * has the bits in which the rows differ once permuted; further bits do no
 * harm.
 */
void
shidx_sort_radix_table(ShIdxSortItems rows, ShIdxSortItems sorted, size_t count,
					   const ShBitsTable *table, ShIdxSortVarying varying)
{
	Digit		digit;
	ShIdxSortItems scratch = {NULL, NULL};
	size_t		nbuckets;
	size_t	   *buckets;

	if (count <= FEW_ITEMS)
	{
		sort_few(rows, sorted, count, table);
		return;
	}
	digit = choose_digit(varying, count);
	nbuckets = (size_t) 1 << digit.bits;
	buckets = palloc0(nbuckets * sizeof(size_t));
	for (size_t i = 0; i < count; i++)
	{
		ShIdxSortItem item = permuted(table, rows.items[i]);
		ShIdxSortItems one = {&item, rows.groups == NULL ? NULL : &rows.groups[i]};

		shcompat_check_at(i);
		buckets[digit_of(digit, one, 0)]++;
	}
	find_starts(buckets, nbuckets);

	/* placing the items advances the starts to the ends */
	for (size_t i = 0; i < count; i++)
	{
		ShIdxSortItem item = permuted(table, rows.items[i]);
		ShIdxSortItems one = {&item, rows.groups == NULL ? NULL : &rows.groups[i]};
		size_t		place = buckets[digit_of(digit, one, 0)]++;

		shcompat_check_at(i);
		sorted.items[place] = item;
		if (rows.groups != NULL)
			sorted.groups[place] = rows.groups[i];
	}

	scratch.items = palloc(Min(count, SCRATCH_ITEMS) * sizeof(ShIdxSortItem));
	if (rows.groups != NULL)
		scratch.groups = palloc(Min(count, SCRATCH_ITEMS) * sizeof(uint32));
	sort_buckets(sorted, scratch, buckets, nbuckets);
	pfree(scratch.items);
	if (scratch.groups != NULL)
		pfree(scratch.groups);
	pfree(buckets);
}

/*
 * Sort items, ascending.  The result is in sorted[], which has room for as
 * many; items[] is not changed.
 */
void
shidx_sort_radix(ShIdxSortItem *items, ShIdxSortItem *sorted, size_t count)
{
	ShIdxSortItems from = {items, NULL};
	ShIdxSortItems to = {sorted, NULL};

	shidx_sort_radix_table(from, to, count, NULL, shidx_sort_varying(from, count));
}

/* the server's qsort does not look for interrupts */
#define ST_SORT quicksort
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort numbers in place, ascending.
 */
void
shidx_sort_numbers(uint64 *numbers, size_t count)
{
	quicksort(numbers, count);
}
