/*-------------------------------------------------------------------------
 *
 * sets.c
 *	  Tests of src/text/hash_sets.c without a server: sets of hashes, asked and in
 *	  order, up to the memory that they may take.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "miscadmin.h"

#include "text/hash_sets.h"

#include "server.h"

#define MAX_NUMBERS		20000

/* what is read in place of a document */
static uint64 *hashes;
static int	nhashes;

static void
read_hashes(const ShTextFeatures *features, ShTextConsumer consumer, void *state)
{
	for (int i = 0; i < nhashes; i += SHTEXT_BATCH)
		consumer(state, hashes + i, Min(nhashes - i, SHTEXT_BATCH));
}

/* of a document of so many bytes, which tell how many features are expected */
static ShTextFeatures
features_of(uint64 *of, int n, int length)
{
	static varattrib_4b document;

	hashes = of;
	nhashes = n;
	SET_VARSIZE(&document, VARHDRSZ + length);
	return (ShTextFeatures)
	{
		.read = read_hashes,.document = (struct varlena *) &document,.unit = SHTEXT_BYTE
	};
}

static bool
read_set(ShTextSet *set, uint64 *of, int n, int length)
{
	ShTextFeatures features = features_of(of, n, length);

	return shtext_set_read(set, &features);
}

static bool
meets(const ShTextSet *set, uint64 hash)
{
	ShTextFeatures features = features_of(&hash, 1, 1);

	return shtext_set_meets(set, &features);
}

static uint64 universe[MAX_NUMBERS];

/* the hashes whose numbers are the n last ones, or as random as they usually are */
static void
make_universe(bool crowded)
{
	uint64		key = shtext_set_number(4) >> 2;	/* the bits that matter */
	uint64		inverse = 1;

	for (int i = 0; i < 6; i++)
		inverse *= 2 - key * inverse;
	for (int i = 0; i < MAX_NUMBERS; i++)
	{
		uint64		spread = ((uint64) i << 1 | 1) << 48;

		universe[i] = crowded ? -4 * (uint64) (i + 1) * inverse : spread | next_random() >> 16;
	}
	if (crowded && shtext_set_number(universe[3]) != (uint64) -16)
		abort();
}

/* sets of each third and each fifth one, against a loop */
static void
test_sets(const char *which, int most)
{
	uint64	   *a = malloc(MAX_NUMBERS * sizeof(uint64));
	uint64	   *b = malloc(MAX_NUMBERS * sizeof(uint64));
	bool		sorted = true;
	bool		asked = true;

	for (int n = 0; n <= most; n = n * 3 / 2 + 1)
	{
		int			na = 0;
		int			nb = 0;
		Size		expected = 0;
		ShTextSet	of_a;
		ShTextSet	of_b;

		for (int i = 0; i < n; i++)
		{
			/* the last two bits do not count */
			if (i % 3 == 0)
				a[na++] = universe[i] & ~UINT64CONST(3);
			if (i % 5 == 0)
				b[nb++] = universe[i] | 3;
			expected += i % 15 == 0;
		}
		/* some come again */
		for (int i = 0; i + 3 < n; i += 7)
			a[na++] = a[i / 7];
		/* one has room at once, the other grows */
		sorted &= read_set(&of_a, a, na, na) && read_set(&of_b, b, nb, 1);
		for (int i = 0; i < n; i++)
			asked &= meets(&of_a, universe[i]) == (i % 3 == 0) && meets(&of_b, universe[i]) == (i % 5 == 0);
		shtext_set_sort(&of_a);
		shtext_set_sort(&of_b);
		sorted &= of_a.used == (n + 2) / 3 && of_b.used == (n + 4) / 5;
		for (Size i = 1; i < of_a.used; i++)
			sorted &= of_a.slots[i - 1] < of_a.slots[i];
		sorted &= shtext_count_common(of_a.slots, of_a.used, of_b.slots, of_b.used) == expected;
		free(of_a.slots);
		free(of_b.slots);
	}
	report(asked, which, "are asked");
	report(sorted, which, "in order, and those that two share");
	free(a);
	free(b);
}

/* half of the slots that fit twice are used, and not one more */
static void
test_limit(void)
{
	Size		no_limit = server_memory_limit;
	bool		passed = true;

	for (int bits = 6; bits <= 14; bits++)
	{
		int			most = 1 << (bits - 1);
		ShTextSet	set;

		server_memory_limit = sizeof(uint64) << (bits + 1);
		passed &= read_set(&set, universe, most, 1) && set.used == most;
		free(set.slots);
		passed &= read_set(&set, universe, most, 1000000) && set.used == most;
		free(set.slots);
		passed &= !read_set(&set, universe, most + 1, 1) && !read_set(&set, universe, MAX_NUMBERS, 1000000);
	}
	server_memory_limit = no_limit;
	report(passed, "sets", "that are too large");
}

/* each pass over a million numbers, or over two million slots, can be cancelled */
static void
test_interrupts(void)
{
	const Size	n = 1 << 20;
	const int	checks = n / 65536;
	uint64	   *numbers = malloc(n * sizeof(uint64));
	ShTextSet	set;

	for (Size i = 0; i < n; i++)
		numbers[i] = next_random();
	InterruptPending = true;
	server_checks = 0;
	read_set(&set, numbers, n, n);
	report(server_checks >= checks, "interrupts", "as sets grow");
	server_checks = 0;
	shtext_set_sort(&set);
	report(server_checks >= 2 * checks, "interrupts", "as numbers are sorted");
	server_checks = 0;
	shtext_count_common(set.slots, set.used, set.slots, set.used);
	report(server_checks >= checks, "interrupts", "as they are compared");
	InterruptPending = false;
	free(set.slots);
	free(numbers);
}

int
main(void)
{
	make_universe(false);
	test_sets("numbers", MAX_NUMBERS);
	test_limit();
	make_universe(true);
	test_sets("numbers that are near each other", 1000);
	test_interrupts();
	return finish();
}
