/*-------------------------------------------------------------------------
 *
 * radix.c
 *	  Sorting keys in memory.
 *
 * Keys are distributed by the first bits of their fingerprints, then each
 * bucket by the next bits, until few are left together.  Fingerprints spread
 * well, so two rounds are the rule: one that leaves buckets that fit the
 * cache, and one that leaves single keys or little more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "index/sort.h"

#define ST_SORT sort_keys
#define ST_ELEMENT_TYPE ShIdxKey
#define ST_COMPARE(a, b) \
	(shidx_key_less(*(a), *(b)) ? -1 : shidx_key_less(*(b), *(a)))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* most buckets of a round: their ends should fit the first-level cache */
#define MAX_DIGIT_BITS	12

/* how many keys a bucket should have on average, as a power of two */
#define BUCKET_BITS		2

/* up to how many keys a comparison sort is the faster one */
#define FEW_KEYS		16

static bool
all_same_fp(const ShIdxKey *keys, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		if (keys[i].fp != keys[0].fp)
			return false;
	}
	return true;
}

static void
insertion_sort(ShIdxKey *keys, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		ShIdxKey	key = keys[i];
		size_t		j = i;

		for (; j > 0 && shidx_key_less(key, keys[j - 1]); j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
	}
}

static void sort_bucket(ShIdxKey *keys, ShIdxKey *scratch, size_t count, int bits);

/*
 * Distribute keys, whose first 64 - bits bits agree, over to[] by the next
 * bits, and sort each bucket there.  What is in keys[] afterwards is not
 * defined.
 */
static void
distribute(ShIdxKey *keys, ShIdxKey *to, size_t count, int bits)
{
	int			digit_bits = Min(Min(bits, MAX_DIGIT_BITS),
								 Max(pg_leftmost_one_pos64(count) - BUCKET_BITS, 1));
	int			shift = bits - digit_bits;
	uint64		mask = (UINT64CONST(1) << digit_bits) - 1;
	size_t	   *ends = palloc0((mask + 1) * sizeof(size_t));
	size_t		start = 0;

	for (size_t i = 0; i < count; i++)
		ends[(keys[i].fp >> shift) & mask]++;
	for (uint64 digit = 0; digit <= mask; digit++)
	{
		size_t		size = ends[digit];

		ends[digit] = start;
		start += size;
	}
	/* so far these are starts; placing the keys moves them to the ends */
	for (size_t i = 0; i < count; i++)
		to[ends[(keys[i].fp >> shift) & mask]++] = keys[i];

	start = 0;
	for (uint64 digit = 0; digit <= mask; digit++)
	{
		if (ends[digit] - start > 1)
			sort_bucket(to + start, keys + start, ends[digit] - start, shift);
		start = ends[digit];
	}
	pfree(ends);
}

/*
 * Sort keys, whose first 64 - bits bits agree, in place.
 */
static void
sort_bucket(ShIdxKey *keys, ShIdxKey *scratch, size_t count, int bits)
{
	if (count <= FEW_KEYS)
		insertion_sort(keys, count);
	else if (bits == 0 || all_same_fp(keys, count))
	{
		/* linear where the TIDs are in order, as they mostly come */
		sort_keys(keys, count);
	}
	else
	{
		CHECK_FOR_INTERRUPTS();
		distribute(keys, scratch, count, bits);
		memcpy(keys, scratch, count * sizeof(ShIdxKey));
	}
}

/*
 * Sort keys, ascending.  The result is in sorted[], which has room for as
 * many; what is in keys[] afterwards is not defined.
 */
void
shidx_radix_sort(ShIdxKey *keys, ShIdxKey *sorted, size_t count)
{
	uint64		varying = 1;

	/* begin with the first bits that tell the keys apart */
	for (size_t i = 1; i < count; i++)
		varying |= keys[i].fp ^ keys[0].fp;
	if (count > 0)
		distribute(keys, sorted, count, pg_leftmost_one_pos64(varying) + 1);
}
