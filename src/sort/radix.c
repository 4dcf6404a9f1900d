/*-------------------------------------------------------------------------
 *
 * radix.c
 *	  Sorting pairs of integers in memory.
 *
 * Items are distributed by the first bits of their keys, then each
 * bucket by the next bits, until few are left together.  Fingerprints spread
 * well, so two rounds are the rule: one that leaves buckets that fit the
 * cache, and one that leaves single items or little more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "sort/radix.h"

#define ST_SORT sort_keys
#define ST_ELEMENT_TYPE ShSortItem
#define ST_COMPARE(a, b) \
	(shsort_item_less(*(a), *(b)) ? -1 : shsort_item_less(*(b), *(a)))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* most buckets of a round: their ends should fit the first-level cache */
#define MAX_DIGIT_BITS	12

/* how many keys a bucket should have on average, as a power of two */
#define BUCKET_BITS		2

/* check for interrupts each time this many items have been gone through */
#define CHECK_INTERVAL	0x10000

/* up to how many keys a comparison sort is the faster one */
#define FEW_KEYS		16

static bool
all_same_key(const ShSortItem *items, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		if (items[i].key != items[0].key)
			return false;
	}
	return true;
}

static void
insertion_sort(ShSortItem *items, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		ShSortItem	item = items[i];
		size_t		j = i;

		for (; j > 0 && shsort_item_less(item, items[j - 1]); j--)
			items[j] = items[j - 1];
		items[j] = item;
	}
}

static void sort_bucket(ShSortItem *items, ShSortItem *scratch, size_t count, int bits);

/*
 * Distribute items, whose first 64 - bits bits agree, over to[] by the next
 * bits, and sort each bucket there.  What is in items[] afterwards is not
 * defined.
 */
static void
distribute(ShSortItem *items, ShSortItem *to, size_t count, int bits)
{
	int			digit_bits = Min(Min(bits, MAX_DIGIT_BITS),
								 Max(pg_leftmost_one_pos64(count) - BUCKET_BITS, 1));
	int			shift = bits - digit_bits;
	uint64		mask = (UINT64CONST(1) << digit_bits) - 1;
	size_t	   *ends = palloc0((mask + 1) * sizeof(size_t));
	size_t		start = 0;

	for (size_t i = 0; i < count; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		ends[(items[i].key >> shift) & mask]++;
	}
	for (uint64 digit = 0; digit <= mask; digit++)
	{
		size_t		size = ends[digit];

		ends[digit] = start;
		start += size;
	}
	/* so far these are starts; placing the keys moves them to the ends */
	for (size_t i = 0; i < count; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		to[ends[(items[i].key >> shift) & mask]++] = items[i];
	}

	start = 0;
	for (uint64 digit = 0; digit <= mask; digit++)
	{
		if (ends[digit] - start > 1)
			sort_bucket(to + start, items + start, ends[digit] - start, shift);
		start = ends[digit];
	}
	pfree(ends);
}

/*
 * Sort items, whose first 64 - bits bits agree, in place.
 */
static void
sort_bucket(ShSortItem *items, ShSortItem *scratch, size_t count, int bits)
{
	if (count <= FEW_KEYS)
		insertion_sort(items, count);
	else if (bits == 0 || all_same_key(items, count))
	{
		/* linear where the TIDs are in order, as they mostly come */
		sort_keys(items, count);
	}
	else
	{
		distribute(items, scratch, count, bits);
		memcpy(items, scratch, count * sizeof(ShSortItem));
	}
}

/*
 * Sort items, ascending.  The result is in sorted[], which has room for as
 * many; what is in items[] afterwards is not defined.
 */
void
shsort_radix(ShSortItem *items, ShSortItem *sorted, size_t count)
{
	uint64		varying = 1;

	/* begin with the first bits that tell the keys apart */
	for (size_t i = 1; i < count; i++)
		varying |= items[i].key ^ items[0].key;
	if (count > 0)
		distribute(items, sorted, count, pg_leftmost_one_pos64(varying) + 1);
}
