/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  All pairs within a distance among some keys.
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

/* keys i and j are within the distance of each other */
static inline void
found_pair(ShBatchPairs *pairs, const uint64 *keys, const ShSortItem *entries, size_t i, size_t j)
{
	if (found_before(pairs, keys[i] ^ keys[j]))
		return;
	if (entries == NULL)
		pairs->found(pairs->arg, i, j);
	else
		pairs->found(pairs->arg, entries[i].value, entries[j].value);
}

/*
 * Pairs of keys from i on with others from j on, as the filters return them.
 */
static inline void
found_in_tile(ShBatchPairs *pairs, const uint64 *keys, const ShSortItem *entries,
			  size_t i, size_t j, uint64 with_others, uint64 *others)
{
	for (; with_others != 0; with_others &= with_others - 1)
	{
		int			row = pg_rightmost_one_pos64(with_others);

		for (; others[row] != 0; others[row] &= others[row] - 1)
			found_pair(pairs, keys, entries, i + row, j + pg_rightmost_one_pos64(others[row]));
	}
}

/*
 * Compare keys each with each.  entries[], if given, has their positions.
 */
static void
compare_all(ShBatchPairs *pairs, const uint64 *keys, const ShSortItem *entries, size_t count,
			Share share)
{
	double		square = (double) count * count;
	uint64		others[TILE];
	uint64		found;

	for (size_t i = 0; i < count; i += TILE)
	{
		found = shbits_filter_pairs(keys + i, Min(TILE, count - i), pairs->distance, others);
		found_in_tile(pairs, keys, entries, i, i, found, others);
		for (size_t j = i + TILE; j < count; j += TILE)
		{
			found = shbits_filter_product(keys + i, TILE, keys + j, Min(TILE, count - j),
										  pairs->distance, others);
			found_in_tile(pairs, keys, entries, i, j, found, others);
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

static void
compare_entries(ShBatchPairs *pairs, const ShSortItem *entries, size_t count, Share share)
{
	for (size_t i = 0; i < count; i++)
		pairs->column[i] = entries[i].key;
	compare_all(pairs, pairs->column, entries, count, share);
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
 * How many comparisons it takes if those that agree in a part are compared
 * each with each.
 */
static double
comparisons(const ShSortItem *entries, size_t count, uint64 part)
{
	double		sum = 0;

	for (size_t start = 0, end; start < count; start = end)
	{
		end = run_end(entries, start, count, part);
		sum += (double) (end - start) * (end - start) / 2;
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
	double		all = (double) count * count / 2;
	double		unit = 1 / ((double) count * nparts);	/* an entry, in one part */

	CHECK_FOR_INTERRUPTS();
	Assert(nmasks + nparts <= SHBATCH_MAX_MASKS);
	if (count <= COMPARE_MAX || !worth_cutting(nvarying, nparts))
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
		planned += comparisons(entries, count, part);
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
 * Find the pairs of keys, which must all be different, that differ in at most
 * the distance and agree in none of the masks.  Each is found once, in no
 * particular order.
 */
void
shbatch_find_pairs(ShBatchPairs *pairs, const uint64 *keys, size_t count)
{
	if (pairs->distance == 0)
		return;
	if (count <= COMPARE_MAX)
	{
		compare_all(pairs, keys, NULL, count, whole);
		return;
	}

	if (count > pairs->capacity)
	{
		pairs->entries = replace_array(pairs->entries, count, sizeof(ShSortItem));
		pairs->scratch = replace_array(pairs->scratch, count, sizeof(ShSortItem));
		pairs->column = replace_array(pairs->column, count, sizeof(uint64));
		pairs->capacity = count;
	}
	for (size_t i = 0; i < count; i++)
		pairs->entries[i] = shsort_item(keys[i], i);
	find_among(pairs, pairs->entries, count, whole);
}
