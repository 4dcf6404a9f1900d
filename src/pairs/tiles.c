/*-------------------------------------------------------------------------
 *
 * tiles.c
 *	  Comparing keys with each other, many by one call of a kernel.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "bits/distance.h"
#include "compat.h"
#include "pairs/pairs.h"

/* how many keys are compared with as many others by one call */
#define TILE			SHBITS_MAX_TILE

/* how many keys such a key is compared with by one call */
#define FILTER_MAX		1024

/* comparisons between reports of progress */
#define REPORT_INTERVAL	0x1000000

/*
 * Process the pairs of keys of a, from i on, with keys of b, from j on, that a
 * filter has returned.
 */
static inline void
found_in_tile(ShPairs *pairs, const ShPairsKeys *a, const ShPairsKeys *b, size_t i, size_t j,
			  uint64 with_others, uint64 *others)
{
	for (; with_others != 0; with_others &= with_others - 1)
	{
		int			row = pg_rightmost_one_pos64(with_others);

		/* processing a pair takes much longer than a comparison */
		CHECK_FOR_INTERRUPTS();
		for (; others[row] != 0; others[row] &= others[row] - 1)
			shpairs_found(pairs, a, b, i + row, j + pg_rightmost_one_pos64(others[row]));
	}
}

/*
 * So many comparisons have been made.
 */
static inline void
count_compared(ShPairs *pairs, double count)
{
	pairs->compared += count;
	pairs->done += count;
	if (unlikely(pairs->compared - pairs->reported > REPORT_INTERVAL))
	{
		pairs->reported = pairs->compared;
		pairs->report(pairs->arg, pairs->stretch_start +
					  pairs->stretch_size * Min(pairs->done / pairs->needed, 1));
	}
}

/*
 * Compare all pairs of keys.
 */
void
shpairs_compare_among(ShPairs *pairs, const ShPairsKeys *keys)
{
	size_t		count = keys->count;
	uint64		others[TILE];
	size_t		ntiles = 0;

	for (size_t i = 0; i < count; i += TILE)
	{
		uint64		found = shbits_kernels->pairs(keys->keys + i, Min(TILE, count - i),
												  pairs->distance, others);

		found_in_tile(pairs, keys, keys, i, i, found, others);
		for (size_t j = i + TILE; j < count; j += TILE)
		{
			shcompat_check_at(++ntiles);
			found = shbits_kernels->product(keys->keys + i, TILE, keys->keys + j,
											Min(TILE, count - j), pairs->distance, others);
			found_in_tile(pairs, keys, keys, i, j, found, others);
		}
		count_compared(pairs, (double) Min(TILE, count - i) * (count - i));
	}
}

/*
 * Compare each of a few keys with all other keys.
 */
static void
compare_few(ShPairs *pairs, const ShPairsKeys *few, const ShPairsKeys *others)
{
	uint16		found[FILTER_MAX];

	for (size_t j = 0; j < others->count; j += FILTER_MAX)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < few->count; i++)
		{
			int			nfound = shbits_filter(others->keys + j,
											   Min(FILTER_MAX, others->count - j),
											   few->keys[i], pairs->distance, found);

			for (int k = 0; k < nfound; k++)
				shpairs_found(pairs, few, others, i, j + found[k]);
		}
	}
	count_compared(pairs, (double) few->count * others->count);
}

/*
 * Compare each key of a with each of b.
 */
void
shpairs_compare_product(ShPairs *pairs, const ShPairsKeys *a, const ShPairsKeys *b)
{
	uint64		others[TILE];
	size_t		ntiles = 0;

	if (a->count <= SHPAIRS_FEW_KEYS && b->count > TILE)
		compare_few(pairs, a, b);
	else if (b->count <= SHPAIRS_FEW_KEYS && a->count > TILE)
		compare_few(pairs, b, a);
	else
	{
		for (size_t i = 0; i < a->count; i += TILE)
		{
			for (size_t j = 0; j < b->count; j += TILE)
			{
				uint64		found;

				shcompat_check_at(++ntiles);
				found = shbits_kernels->product(a->keys + i, Min(TILE, a->count - i),
												b->keys + j, Min(TILE, b->count - j),
												pairs->distance, others);

				found_in_tile(pairs, a, b, i, j, found, others);
			}
			count_compared(pairs, (double) Min(TILE, a->count - i) * b->count);
		}
	}
}
