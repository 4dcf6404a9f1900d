/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  All pairs within a distance among some keys, or between two sets of them.
 *
 * A few keys are compared each with each.  More are subdivided by the method
 * that the tables of a scheme follow: the bits in which the keys vary are cut
 * into distance + 1 parts, in one of which the keys of a pair agree.  For each
 * part the keys are sorted by it, and those that agree in it are searched in
 * the same way.  A pair belongs to the first part in which it agrees; so that
 * no later one finds it again, the parts before are remembered as masks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/pairs.h"
#include "bits/distance.h"
#include "bits/scheme.h"
#include "sort/radix.h"

/* up to how many keys are compared each with each: sorting more is cheaper */
#define COMPARE_MAX		512

/* how many keys are compared with how many others by one call */
#define TILE			SHBITS_MAX_TILE

/* how many keys one tile is compared with before interrupts are checked */
#define CHECK_INTERVAL	0x10000

/* up to how many keys of one set are each compared with all of the other */
#define FEW_KEYS		4

/* how many keys one such is compared with by one call */
#define FILTER_MAX		1024

/* how many keys are sorted by a part before that is reported */
#define REPORT_INTERVAL	65536

/*
 * Prepare to search.  Pairs that differ in at most distance bits, 0..64, are
 * passed to found, with arg; report is told how far a long search is.
 */
void
shbatch_pairs_init(ShBatchPairs *pairs, int distance, ShBatchPairFunction found,
				   ShBatchPartFunction report, void *arg)
{
	pairs->distance = distance;
	pairs->found = found;
	pairs->report = report;
	pairs->arg = arg;
	pairs->nmasks = 0;
	pairs->two_sets = false;
	pairs->capacity = 0;
	pairs->entries = NULL;
	pairs->scratch = NULL;
	pairs->column = NULL;
}

/*
 * Has this pair, by the bits in which it differs, been found before?
 */
static inline bool
found_before(const ShBatchPairs *pairs, uint64 difference)
{
	for (int i = 0; i < pairs->nmasks; i++)
	{
		if ((difference & pairs->masks[i]) == 0)
			return true;
	}
	return false;
}

/*
 * A part of the search, out of 1: where it begins, and how much it is.
 */
typedef struct Share
{
	double		start;
	double		size;
} Share;

static const Share whole = {0, 1};

/* what a fraction of a share is, from another fraction on */
static Share
share_of(Share share, double start, double size)
{
	Share		result = {share.start + share.size * start, share.size * size};

	return result;
}

/* a fraction of a share is done */
static void
report_done(ShBatchPairs *pairs, Share share, double fraction)
{
	pairs->report(pairs->arg, share.start + share.size * Min(fraction, 1));
}

/*
 * Keys to compare.  entries[], if given, has their positions.
 */
typedef struct Keys
{
	const uint64 *keys;
	const ShSortItem *entries;
	size_t		count;
} Keys;

static inline size_t
position(Keys keys, size_t i)
{
	return keys.entries == NULL ? i : keys.entries[i].value / 2;
}

/* key i of a and key j of b are within the distance of each other */
static inline void
found_pair(ShBatchPairs *pairs, Keys a, Keys b, size_t i, size_t j)
{
	if (!found_before(pairs, a.keys[i] ^ b.keys[j]))
		pairs->found(pairs->arg, position(a, i), position(b, j));
}

/*
 * Pairs of keys of a from i on with those of b from j on, as the filters return
 * them.
 */
static inline void
found_in_tile(ShBatchPairs *pairs, Keys a, Keys b, size_t i, size_t j,
			  uint64 with_others, uint64 *others)
{
	for (; with_others != 0; with_others &= with_others - 1)
	{
		int			row = pg_rightmost_one_pos64(with_others);

		/* a found pair takes much longer than a comparison */
		CHECK_FOR_INTERRUPTS();
		for (; others[row] != 0; others[row] &= others[row] - 1)
			found_pair(pairs, a, b, i + row, j + pg_rightmost_one_pos64(others[row]));
	}
}

/*
 * Compare keys each with each.
 */
static void
compare_all(ShBatchPairs *pairs, Keys keys, Share share)
{
	size_t		count = keys.count;
	double		square = (double) count * count;
	uint64		others[TILE];
	uint64		found;

	for (size_t i = 0; i < count; i += TILE)
	{
		found = shbits_filter_pairs(keys.keys + i, Min(TILE, count - i), pairs->distance,
									others);
		found_in_tile(pairs, keys, keys, i, i, found, others);
		for (size_t j = i + TILE; j < count; j += TILE)
		{
			found = shbits_filter_product(keys.keys + i, TILE, keys.keys + j,
										  Min(TILE, count - j), pairs->distance, others);
			found_in_tile(pairs, keys, keys, i, j, found, others);
			if (unlikely(j % CHECK_INTERVAL == 0))
				CHECK_FOR_INTERRUPTS();
		}
		if (unlikely(count > COMPARE_MAX))
		{
			CHECK_FOR_INTERRUPTS();
			report_done(pairs, share, (2.0 * count - i) * i / square);
		}
	}
}

/*
 * Compare each of a few keys with all of others, which are b, or a if the few are
 * the second of each pair.
 */
static void
compare_few(ShBatchPairs *pairs, Keys few, Keys others, bool swapped)
{
	uint16		found[FILTER_MAX];

	for (size_t j = 0; j < others.count; j += FILTER_MAX)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < few.count; i++)
		{
			int			nfound = shbits_filter(others.keys + j, Min(FILTER_MAX, others.count - j),
											   few.keys[i], pairs->distance, found);

			for (int k = 0; k < nfound; k++)
			{
				if (swapped)
					found_pair(pairs, others, few, j + found[k], i);
				else
					found_pair(pairs, few, others, i, j + found[k]);
			}
		}
	}
}

/*
 * Compare each key of a with each of b.
 */
static void
compare_product(ShBatchPairs *pairs, Keys a, Keys b, Share share)
{
	uint64		others[TILE];

	if (a.count <= FEW_KEYS)
	{
		compare_few(pairs, a, b, false);
		return;
	}
	if (b.count <= FEW_KEYS)
	{
		compare_few(pairs, b, a, true);
		return;
	}
	for (size_t i = 0; i < a.count; i += TILE)
	{
		for (size_t j = 0; j < b.count; j += TILE)
		{
			uint64		found;

			found = shbits_filter_product(a.keys + i, Min(TILE, a.count - i),
										  b.keys + j, Min(TILE, b.count - j),
										  pairs->distance, others);
			found_in_tile(pairs, a, b, i, j, found, others);
			if (unlikely(j % CHECK_INTERVAL == 0))
				CHECK_FOR_INTERRUPTS();
		}
		if (unlikely(a.count > COMPARE_MAX))
			report_done(pairs, share, (double) i / a.count);
	}
}

/*
 * Of two sets an entry is of the second if its value is odd.
 */
static inline bool
of_second(ShSortItem entry)
{
	return entry.value % 2 == 1;
}

/* how many entries are of the second set */
static size_t
count_second(const ShSortItem *entries, size_t count)
{
	size_t		result = 0;

	for (size_t i = 0; i < count; i++)
		result += of_second(entries[i]);
	return result;
}

/* Move the entries of the second set behind the others. */
static size_t
separate_sets(ShBatchPairs *pairs, ShSortItem *entries, size_t count)
{
	size_t		nfirst = 0;
	size_t		nsecond = 0;

	for (size_t i = 0; i < count; i++)
	{
		if (of_second(entries[i]))
			pairs->scratch[nsecond++] = entries[i];
		else
			entries[nfirst++] = entries[i];
	}
	memcpy(entries + nfirst, pairs->scratch, nsecond * sizeof(ShSortItem));
	return nfirst;
}

static void
compare_entries(ShBatchPairs *pairs, ShSortItem *entries, size_t count, Share share)
{
	Keys		a = {pairs->column, entries, count};
	Keys		b;

	if (pairs->two_sets)
		a.count = separate_sets(pairs, entries, count);
	for (size_t i = 0; i < count; i++)
		pairs->column[i] = entries[i].key;
	if (!pairs->two_sets)
	{
		compare_all(pairs, a, share);
		return;
	}
	b.keys = a.keys + a.count;
	b.entries = a.entries + a.count;
	b.count = count - a.count;
	compare_product(pairs, a, b, share);
}

/* the bits in which keys vary */
static uint64
varying_bits(const ShSortItem *entries, size_t count)
{
	uint64		varying = 0;

	for (size_t i = 1; i < count; i++)
		varying |= entries[i].key ^ entries[0].key;
	return varying;
}

/*
 * Cut a range of bits that has the given number of bits of varying off its
 * upper end.  Returns the range as a mask, and takes its bits out of varying.
 */
static uint64
cut_part(uint64 *varying, int nbits)
{
	int			top = pg_leftmost_one_pos64(*varying);
	int			bottom = top;
	uint64		part;

	for (int i = 0; i < nbits; i++)
	{
		bottom = pg_leftmost_one_pos64(*varying);
		*varying &= ~(UINT64CONST(1) << bottom);
	}
	part = (PG_UINT64_MAX >> (63 - top)) & (PG_UINT64_MAX << bottom);
	return part;
}

/*
 * Sort entries by a range of bits first.
 */
static void
sort_by_part(ShBatchPairs *pairs, ShSortItem *entries, size_t count, uint64 part)
{
	int			rotate = 63 - pg_leftmost_one_pos64(part);

	for (size_t i = 0; i < count; i++)
		pairs->scratch[i] = shsort_item(shbits_rotate_left(entries[i].key, rotate),
										entries[i].value);
	shsort_radix(pairs->scratch, entries, count);
	for (size_t i = 0; i < count; i++)
		entries[i].key = shbits_rotate_left(entries[i].key, -rotate);
}

/* the end of the run of entries that agree with the first one in a part */
static size_t
run_end(const ShSortItem *entries, size_t start, size_t count, uint64 part)
{
	size_t		end = start + 1;

	while (end < count && ((entries[end].key ^ entries[start].key) & part) == 0)
		end++;
	return end;
}

/*
 * How many comparisons it takes to compare entries each with each.
 */
static double
comparisons(const ShBatchPairs *pairs, const ShSortItem *entries, size_t count)
{
	size_t		nsecond;

	if (!pairs->two_sets)
		return (double) count * count / 2;
	nsecond = count_second(entries, count);
	return (double) (count - nsecond) * nsecond;
}

/*
 * How many it takes if those that agree in a part are compared each with each.
 */
static double
comparisons_by_part(const ShBatchPairs *pairs, const ShSortItem *entries, size_t count,
					uint64 part)
{
	double		sum = 0;

	for (size_t start = 0, end; start < count; start = end)
	{
		end = run_end(entries, start, count, part);
		sum += comparisons(pairs, entries + start, end - start);
	}
	return sum;
}

/*
 * Can it pay to cut so many varying bits into parts?  Not if the parts are so
 * narrow that even keys that vary at random would mostly be compared.
 */
static bool
worth_cutting(int nvarying, int nparts)
{
	return nvarying >= nparts && exp2((double) nvarying / nparts) >= 2 * nparts;
}

/*
 * Find the pairs among entries, whose order changes.
 *
 * However the keys are chosen, this takes no more than a constant factor
 * longer than comparing each with each: if the parts turn out not to tell the
 * keys apart, those pairs that no part has found so far are found that way.
 */
static void
find_among(ShBatchPairs *pairs, ShSortItem *entries, size_t count, Share share)
{
	int			nparts = pairs->distance + 1;
	int			nmasks = pairs->nmasks;
	uint64		varying = varying_bits(entries, count);
	int			nvarying = pg_popcount64(varying);
	double		planned = 0;
	double		all = comparisons(pairs, entries, count);
	double		unit = 1 / ((double) count * nparts);	/* an entry, in one part */

	CHECK_FOR_INTERRUPTS();
	Assert(nmasks + nparts <= SHBATCH_MAX_MASKS);
	if (all == 0)
		return;
	if (all <= (double) count * (COMPARE_MAX / 2) || !worth_cutting(nvarying, nparts))
	{
		compare_entries(pairs, entries, count, share);
		return;
	}

	for (int i = 0; i < nparts; i++)
	{
		int			nbits = (i + 1) * nvarying / nparts - i * nvarying / nparts;
		uint64		part = cut_part(&varying, nbits);
		double		done = (double) i / nparts;

		report_done(pairs, share, done);
		sort_by_part(pairs, entries, count, part);
		planned += comparisons_by_part(pairs, entries, count, part);
		if (planned > all / 2)
		{
			compare_entries(pairs, entries, count, share_of(share, done, 1 - done));
			break;
		}
		for (size_t start = 0, end; start < count; start = end)
		{
			end = run_end(entries, start, count, part);
			if (end - start > 1)
				find_among(pairs, entries + start, end - start,
						   share_of(share, done + start * unit, (end - start) * unit));
			if (end / REPORT_INTERVAL > start / REPORT_INTERVAL)
				report_done(pairs, share, done + end * unit);
		}
		pairs->masks[pairs->nmasks++] = part;
	}
	pairs->nmasks = nmasks;
}

/* replace an array by a larger one; its contents are not needed any more */
static void *
replace_array(void *old, size_t count, Size size)
{
	if (old != NULL)
		pfree(old);
	return MemoryContextAllocHuge(CurrentMemoryContext, count * size);
}

/*
 * Have room for so many entries.
 */
static void
enlarge(ShBatchPairs *pairs, size_t count)
{
	if (count <= pairs->capacity)
		return;
	pairs->entries = replace_array(pairs->entries, count, sizeof(ShSortItem));
	pairs->scratch = replace_array(pairs->scratch, count, sizeof(ShSortItem));
	pairs->column = replace_array(pairs->column, count, sizeof(uint64));
	pairs->capacity = count;
}

/*
 * Find the pairs of keys, which must all be different, that differ in at most
 * the distance and agree in none of the masks.  Each is found once, in no
 * particular order.
 */
void
shbatch_find_pairs(ShBatchPairs *pairs, const uint64 *keys, size_t count)
{
	Keys		all = {keys, NULL, count};

	if (pairs->distance == 0)
		return;
	if (count <= COMPARE_MAX)
	{
		compare_all(pairs, all, whole);
		return;
	}

	enlarge(pairs, count);
	pairs->two_sets = false;
	for (size_t i = 0; i < count; i++)
		pairs->entries[i] = shsort_item(keys[i], 2 * i);
	find_among(pairs, pairs->entries, count, whole);
}

/*
 * Find the keys that are in both of two sets.
 */
static void
find_equal(ShBatchPairs *pairs, Keys a, Keys b)
{
	size_t		i = 0;
	size_t		j = 0;

	while (i < a.count && j < b.count)
	{
		if ((i + j) % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (a.keys[i] == b.keys[j])
			found_pair(pairs, a, b, i++, j++);
		else if (a.keys[i] < b.keys[j])
			i++;
		else
			j++;
	}
}

/*
 * Find the pairs of a key of a and one of b that differ in at most the distance
 * and agree in none of the masks.  The keys of each set must ascend; one that is
 * in both is a pair with itself.  Each is found once, the key of a first, in no
 * particular order.
 */
void
shbatch_find_matches(ShBatchPairs *pairs, const uint64 *a, size_t na,
					 const uint64 *b, size_t nb)
{
	Keys		first = {a, NULL, na};
	Keys		second = {b, NULL, nb};

	if (pairs->distance == 0)
	{
		find_equal(pairs, first, second);
		return;
	}
	if ((double) na * nb <= (double) (na + nb) * (COMPARE_MAX / 2))
	{
		compare_product(pairs, first, second, whole);
		return;
	}

	enlarge(pairs, na + nb);
	pairs->two_sets = true;
	for (size_t i = 0; i < na; i++)
		pairs->entries[i] = shsort_item(a[i], 2 * i);
	for (size_t j = 0; j < nb; j++)
		pairs->entries[na + j] = shsort_item(b[j], 2 * j + 1);
	find_among(pairs, pairs->entries, na + nb, whole);
}
