/*-------------------------------------------------------------------------
 *
 * sets.c
 *	  Tests of src/text/hash_sets.c without a server: two sets of numbers,
 *	  counted at once or range by range.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "text/hash_sets.h"

#define MAX_NUMBERS		20000

static uint64 universe[MAX_NUMBERS];
static int	membership[MAX_NUMBERS];

/* Add what has some bit of membership, as simhash_jaccard does */
static void
add_all(ShTextSets *sets, int n, int which, int max_slot_bits)
{
	for (int i = 0; i < n; i++)
	{
		/* the last two bits do not count */
		uint64		number = universe[i] ^ (next_random() & SHTEXT_IN_BOTH);

		if ((membership[i] & which) == 0)
			continue;
		while (shtext_sets_full(sets))
		{
			if (sets->slot_bits < max_slot_bits)
				shtext_sets_grow(sets);
			else
				shtext_sets_narrow(sets);
		}
		if (shtext_sets_cover(sets, number))
			shtext_sets_add(sets, number, which);
	}
}

/*
 * n numbers, each in either set, in both or in none; the array starts with and
 * has at most so many slots.  Returns the number of ranges; 0 if the counts are
 * wrong.
 */
static int
count_ranges(int n, int slot_bits, int max_slot_bits)
{
	uint64		expected[4] = {0};
	uint64		total_a = 0;
	uint64		total_b = 0;
	uint64		total_both = 0;
	uint64		low = 0;
	int			nranges = 0;

	for (int i = 0; i < n; i++)
		expected[membership[i] = next_random() % 4]++;
	do
	{
		ShTextSets	sets;
		uint64		in_a;
		uint64		in_b;
		uint64		in_both;

		shtext_sets_init(&sets, low, slot_bits);
		add_all(&sets, n, SHTEXT_IN_A, max_slot_bits);
		add_all(&sets, n, SHTEXT_IN_A, max_slot_bits);
		add_all(&sets, n, SHTEXT_IN_B, max_slot_bits);
		shtext_sets_count(&sets, &in_a, &in_b, &in_both);
		total_a += in_a;
		total_b += in_b;
		total_both += in_both;
		low = shtext_sets_end(&sets);
		shtext_sets_free(&sets);
		nranges++;
	} while (low != 0 && nranges < 4 * MAX_NUMBERS);

	return total_a == expected[SHTEXT_IN_A] + expected[SHTEXT_IN_BOTH] &&
		total_b == expected[SHTEXT_IN_B] + expected[SHTEXT_IN_BOTH] &&
		total_both == expected[SHTEXT_IN_BOTH] && low == 0 ? nranges : 0;
}

/* Different numbers, spread over all or over a part */
static void
make_universe(int bits)
{
	for (int i = 0; i < MAX_NUMBERS; i++)
	{
		uint64		spread = ((uint64) i << 1 | 1) << 48;

		universe[i] = (spread | next_random() >> 16) >> (64 - bits);
	}
}

int
main(void)
{
	bool		whole = true;
	bool		ranges = true;
	bool		few = true;
	bool		skewed = true;

	make_universe(64);
	for (int n = 0; n <= MAX_NUMBERS; n = n * 3 / 2 + 1)
	{
		whole &= count_ranges(n, 6, 40) == 1 && count_ranges(n, 16, 16) == 1;
		for (int bits = 6; bits <= 12; bits += 3)
		{
			int			nranges = count_ranges(n, bits, bits);
			int			least = n * 3 / 4 / (1 << (bits - 1));

			ranges &= nranges > 0 && nranges >= least;
			few &= nranges <= 4 * least + 8;
		}
	}
	report(whole, "two sets", "at once");
	report(ranges, "two sets", "range by range");
	report(few, "two sets", "not in too many ranges");

	/* all in a small part: many ranges have nothing, and numbers are crowded */
	for (int bits = 40; bits >= 20; bits -= 10)
	{
		make_universe(bits);
		skewed &= count_ranges(500, 6, 6) > 1;
		skewed &= count_ranges(500, 6, 40) == 1;
	}
	report(skewed, "two sets", "of numbers that are near each other");
	return finish();
}
