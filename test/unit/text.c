/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Tests of src/text without a server: all kernels that this machine can
 *	  run against naive loops.
 *
 * Prints TAP.  The exit status is 1 if a test failed, else 0.
 *
 *	make -C test/unit check
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>

#include "text/hash.h"
#include "text/text_kernels.h"

#undef printf

#define MAX_NUMBERS	5000

static int	ntests = 0;
static int	nfailed = 0;

static void
report(bool passed, const char *kernel, const char *what)
{
	ntests++;
	if (!passed)
		nfailed++;
	printf("%s %d - %s: %s\n", passed ? "ok" : "not ok", ntests, kernel, what);
}

/* splitmix64: each run tests the same values */
static uint64
next_random(void)
{
	static uint64 state = 42;
	uint64		x = (state += UINT64CONST(0x9e3779b97f4a7c15));

	x = (x ^ (x >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void *
allocate(size_t size)
{
	void	   *result = malloc(size);

	if (result == NULL)
	{
		printf("Bail out! out of memory\n");
		exit(1);
	}
	return result;
}

/*
 * Bytes of which about one in `rare` is not ASCII, in memory that ends where
 * they do.  What the kernel leaves must be short, or begin at most 64 bytes
 * before a byte that is not ASCII.
 */
static void
test_fold_ascii(const ShTextKernels *kernels, int rare, const char *what)
{
	bool		passed = true;

	for (int n = 0; n <= 2000; n += (n < 200 ? 1 : 89))
	{
		unsigned char *bytes = allocate(n + 1);
		char	   *written = allocate(n + 64);
		char	   *expected = allocate(n + 1);
		char	   *out = written;
		const unsigned char *end = bytes + n;
		const unsigned char *stop;
		int			length = 0;
		int			rest = 0;

		for (int i = 0; i < n; i++)
			bytes[i] = next_random() % rare == 0 ? 0x80 | next_random() : next_random() & 0x7f;
		bytes = realloc(bytes, Max(n, 1));
		end = bytes + n;
		stop = kernels->fold_ascii(bytes, end, &out);
		passed &= stop >= bytes && stop <= end;
		for (const unsigned char *b = bytes; b < stop; b++)
		{
			int			c = *b;

			passed &= c < 0x80 && (b + 1 == end || b[1] < 0x80);
			if (c >= 'A' && c <= 'Z')
				c += 'a' - 'A';
			if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
				expected[length++] = c;
		}
		while (stop + rest < end && stop[rest] < 0x80)
			rest++;
		passed &= rest <= 64 && out - written == length &&
			memcmp(written, expected, length) == 0;
		free(bytes);
		free(written);
		free(expected);
	}
	report(passed, kernels->name, what);
}

/*
 * Windows of four bytes, in memory that ends where the last one does; what
 * lies behind the hashes must stay.
 */
static void
test_hash_fours(const ShTextKernels *kernels)
{
	bool		passed = true;

	for (int n = 0; n <= 1100; n += (n < 100 ? 1 : 97))
	{
		char	   *bytes = allocate(n + 3);
		uint64	   *hashes = allocate((n + 1) * sizeof(uint64));

		for (int i = 0; i < n + 3; i++)
			bytes[i] = next_random();
		hashes[n] = 42;
		kernels->hash_fours(bytes, n, hashes);
		for (int i = 0; i < n; i++)
			passed &= hashes[i] == shtext_hash(bytes + i, 4);
		passed &= hashes[n] == 42;
		free(bytes);
		free(hashes);
	}
	report(passed, kernels->name, "hash_fours");
}

static uint64
counter(const uint64 *digits, int bit)
{
	uint64		result = 0;

	for (int d = 0; d < SHTEXT_COUNTER_DIGITS; d++)
		result |= ((digits[d] >> bit) & 1) << d;
	return result;
}

/*
 * Numbers are added to counters that are not zero.  kind 0: random, 1: all
 * bits set, so that every counter is as high as can be, 2: none, 3: few
 */
static void
test_count_bits(const ShTextKernels *kernels, int kind, const char *what)
{
	static const int lengths[] = {0, 1, 2, 15, 16, 17, 127, 128, 129, 255, 256,
	257, 1023, 1024, 1919, 1920, 1921, 2048, MAX_NUMBERS};
	static uint64 numbers[MAX_NUMBERS];
	uint64		digits[SHTEXT_COUNTER_DIGITS] = {0};
	uint64		expected[64] = {0};
	bool		passed = true;

	for (int l = 0; l < lengthof(lengths); l++)
	{
		for (int i = 0; i < lengths[l]; i++)
		{
			uint64		x = next_random();

			if (kind == 1)
				x = PG_UINT64_MAX;
			else if (kind == 2)
				x = 0;
			else if (kind == 3)
				x &= next_random() & next_random() & next_random();
			numbers[i] = x;
			for (int b = 0; b < 64; b++)
				expected[b] += (x >> b) & 1;
		}
		kernels->count_bits(digits, numbers, lengths[l]);
		for (int b = 0; b < 64; b++)
			passed &= counter(digits, b) == expected[b];
	}
	report(passed, kernels->name, what);
}

int
main(void)
{
	static const char *const names[] = {"portable", "avx2", "avx512", "avx512vbmi2"};

	for (int i = 0; i < lengthof(names); i++)
	{
		const ShTextKernels *kernels = shtext_kernels_named(names[i]);

		if (kernels == NULL)
		{
			printf("ok %d - %s # SKIP this machine cannot run it\n", ++ntests, names[i]);
			continue;
		}
		test_fold_ascii(kernels, 1000000000, "fold_ascii, nothing else");
		test_fold_ascii(kernels, 300, "fold_ascii, few others");
		test_fold_ascii(kernels, 20, "fold_ascii, some others");
		test_fold_ascii(kernels, 2, "fold_ascii, many others");
		test_hash_fours(kernels);
		test_count_bits(kernels, 0, "count_bits, random");
		test_count_bits(kernels, 1, "count_bits, all set");
		test_count_bits(kernels, 2, "count_bits, none set");
		test_count_bits(kernels, 3, "count_bits, few set");
	}
	report(shtext_kernels_named("portable") != NULL, "portable", "is always there");
	report(shtext_kernels_named("nonsense") == NULL, "nonsense", "is not there");
	report(shtext_kernels() == shtext_kernels_named(shtext_kernels()->name), "chosen", "has a name");

	printf("1..%d\n", ntests);
	return nfailed > 0 ? 1 : 0;
}
