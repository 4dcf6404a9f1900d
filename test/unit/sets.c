/*-------------------------------------------------------------------------
 *
 * sets.c
 *	  Tests of src/text/hash_sets.c without a server: two sets of numbers,
 *	  counted at once or range by range.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "miscadmin.h"

#include "text/hash_sets.h"

#include "server.h"

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

/* numbers of each of two documents, of which each has every third one, against a loop */
static void
test_distinct(void)
{
	uint64		key = next_random() | 1;
	uint64	   *a = malloc(MAX_NUMBERS * sizeof(uint64));
	uint64	   *b = malloc(MAX_NUMBERS * sizeof(uint64));
	bool		passed = true;

	for (int n = 0; n <= MAX_NUMBERS; n = n * 3 / 2 + 1)
	{
		Size		na = 0;
		Size		nb = 0;
		Size		expected = 0;

		for (int i = 0; i < n; i++)
		{
			if (i % 3 == 0)
				a[na++] = universe[i] & ~UINT64CONST(3);
			if (i % 5 == 0)
				b[nb++] = universe[i] | 3;
			expected += i % 15 == 0;
		}
		/* some come again */
		for (int i = 0; i + 3 < n; i += 7)
			a[na++] = a[i / 7];
		na = shtext_distinct_numbers(a, na, key);
		nb = shtext_distinct_numbers(b, nb, key);
		passed &= na == (n + 2) / 3 && nb == (n + 4) / 5;
		for (Size i = 1; i < na; i++)
			passed &= a[i - 1] < a[i];
		passed &= shtext_count_common(a, na, b, nb) == expected;
	}
	report(passed, "distinct numbers", "and those that two arrays share");
	free(a);
	free(b);
}

/* each pass over a million numbers, or over two million slots, can be cancelled */
static void
test_interrupts(void)
{
	const Size	n = 1 << 20;
	const int	checks = n / 65536;
	uint64	   *numbers = malloc(n * sizeof(uint64));
	ShTextSets	sets;
	uint64		counts[3];

	for (Size i = 0; i < n; i++)
		numbers[i] = next_random() << 32 ^ next_random();
	InterruptPending = true;
	server_checks = 0;
	shtext_distinct_numbers(numbers, n, 1);
	report(server_checks >= 3 * checks, "interrupts", "as numbers are sorted");
	server_checks = 0;
	shtext_count_common(numbers, n, numbers, n);
	report(server_checks >= checks, "interrupts", "as they are compared");
	shtext_sets_init(&sets, 0, 21);
	server_checks = 0;
	shtext_sets_count(&sets, &counts[0], &counts[1], &counts[2]);
	report(server_checks >= 2 * checks, "interrupts", "as they are counted");
	InterruptPending = false;
	shtext_sets_free(&sets);
	free(numbers);
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

	test_distinct();
	test_interrupts();

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
