/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Tests of src/text without a server: all kernels that this machine can
 *	  run against naive loops.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "type/hash.h"
#include "text/text_kernels.h"

/*
 * XXH3 as the reference in Python computes it, of bytes 7 + 131 * i: every
 * branch of the hash.
 */
static void
test_hash(void)
{
	static const struct
	{
		int			length;
		uint64		hash;
	}			expected[] = {
		{0, UINT64CONST(0x2d06800538d394c2)},
		{1, UINT64CONST(0x4c5cca45d0f4811f)},
		{2, UINT64CONST(0x29c60963cbfa4e6e)},
		{3, UINT64CONST(0x6e3e2670e61106ac)},
		{4, UINT64CONST(0x5c4c63133443d03f)},
		{5, UINT64CONST(0x49f5eb3111280b63)},
		{8, UINT64CONST(0xf9fd4dd0b04d78f5)},
		{9, UINT64CONST(0x7c20df9712c26edf)},
		{12, UINT64CONST(0x16d2dff54dc2ee45)},
		{16, UINT64CONST(0x86abf6baccea0858)},
		{17, UINT64CONST(0xb58bf5dc5022d071)},
		{32, UINT64CONST(0xe3712ed84c04a66e)},
		{128, UINT64CONST(0x10d17f72c0ccba41)},
		{129, UINT64CONST(0x1648bdc3db49d1a2)},
		{160, UINT64CONST(0x655c8dc33b4b4c4a)},
		{240, UINT64CONST(0xb6cfaf343fab81e6)},
		{241, UINT64CONST(0x956cae592c67279e)},
		{256, UINT64CONST(0xb15e550733c5dfac)},
		{512, UINT64CONST(0xa0e9790eb93990d7)},
		{1024, UINT64CONST(0x70bd377d9574f4bb)},
		{1025, UINT64CONST(0x66c4487c41e127a7)},
		{4999, UINT64CONST(0xc3af6109daa0965b)}
	};
	bool		passed = true;

	for (int i = 0; i < lengthof(expected); i++)
	{
		int			n = expected[i].length;
		unsigned char *bytes = allocate(n);

		for (int j = 0; j < n; j++)
			bytes[j] = 7 + 131 * j;
		if (shtype_hash((char *) bytes, n) != expected[i].hash)
		{
			printf("# length %d\n", n);
			passed = false;
		}
		release(bytes, n);
	}
	report(passed, "hash", "pinned values");
}

/*
 * Bytes of which about one in `rare` is not ASCII, in memory that ends where
 * they do.  What the kernel leaves must be short, or begin at most 8 bytes
 * before a byte that is not ASCII.
 */
static void
test_fold(const ShTextKernels *kernels, bool words, int rare, const char *others)
{
	bool		passed = true;
	char		what[60];

	for (int n = 0; n <= 2000; n += (n < 200 ? 1 : 89))
	{
		unsigned char *bytes = allocate(n);
		char	   *written = allocate(n + 64);
		char	   *expected = allocate(n);
		char	   *out = written;
		const unsigned char *end = bytes + n;
		const unsigned char *stop;
		bool		in_word = n % 2;
		bool		within = n % 2;
		int			length = 0;
		int			rest = 0;

		for (int i = 0; i < n; i++)
			bytes[i] = next_random() % rare == 0 ? 0x80 | next_random() :
				n % 3 == 0 && next_random() % 4 != 0 ? ' ' : next_random() & 0x7f;
		stop = (words ? kernels->fold_words : kernels->fold_chars) (bytes, end, &out, &in_word);
		passed &= stop >= bytes && stop <= end;
		for (const unsigned char *b = bytes; b < stop; b++)
		{
			int			c = *b;

			passed &= c < 0x80 && (b + 1 == end || b[1] < 0x80);
			if (c >= 'A' && c <= 'Z')
				c += 'a' - 'A';
			if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			{
				expected[length++] = c;
				within = true;
				continue;
			}
			if (words && within)
				expected[length++] = ' ';
			within = false;
		}
		while (stop + rest < end && stop[rest] < 0x80)
			rest++;
		passed &= rest <= 8 && out - written == length && (!words || in_word == within) &&
			memcmp(written, expected, length) == 0;
		release(bytes, n);
		release(written, n + 64);
		release(expected, n);
	}
	snprintf(what, sizeof(what), "fold %s, %s", words ? "words" : "characters", others);
	report(passed, kernels->name, what);
}

/* In memory that ends where the seeds do; the first number of seed 0 is known */
static void
test_mix_seeds(const ShTextKernels *kernels)
{
	bool		passed = true;
	uint64		seed = 0;
	uint64		number;

	for (int n = 0; n <= SHTEXT_VISITORS; n += (n < 100 ? 1 : 77))
	{
		uint64	   *seeds = allocate(n * sizeof(uint64));
		uint64	   *numbers = allocate((n + 1) * sizeof(uint64));

		for (int i = 0; i < n; i++)
			seeds[i] = next_random();
		numbers[n] = 42;
		kernels->mix_seeds(seeds, n, numbers);
		for (int i = 0; i < n; i++)
			passed &= numbers[i] == shtext_mix(seeds[i]);
		passed &= numbers[n] == 42;
		release(seeds, n * sizeof(uint64));
		release(numbers, (n + 1) * sizeof(uint64));
	}
	kernels->mix_seeds(&seed, 1, &number);
	report(passed && number == UINT64CONST(0xe220a8397b1dcdaf), kernels->name, "mix_seeds");
}

/*
 * Visits to bins that have been visited before, or not, by features some of
 * which come at the same time; only those of the set of bins must be right.
 */
static void
test_visit_bins(const ShTextKernels *kernels)
{
	bool		passed = true;

	for (int n = 1; n <= SHTEXT_VISITORS; n += (n < 100 ? 1 : 77))
	{
		uint64	   *numbers = allocate(n * sizeof(uint64));
		uint64	   *brought = allocate(n * sizeof(uint64));
		uint16	   *visits = allocate(64 * sizeof(uint16));
		uint64		bins = next_random() | next_random();
		uint16		expected[64];

		if (n % 3 == 0)
			bins &= next_random() & next_random() & next_random();
		for (int b = 0; b < 64; b++)
			visits[b] = expected[b] = n % 5 == 0 ? next_random() % 8000 : 65535;
		for (int i = 0; i < n; i++)
		{
			numbers[i] = n % 7 == 0 && i > 0 && next_random() % 2 == 0 ? numbers[i - 1] : next_random();
			brought[i] = next_random();
			for (int b = 0; b < 64; b++)
			{
				/* as the documentation has it */
				int			start = (numbers[i] >> 16) % 65536 / 2 * 2;
				int			step = ((numbers[i] >> 6) % 32 * 2 + 1) * 1024;
				int			visit = (start + b * step) % 65536 + (brought[i] >> b) % 2;

				expected[b] = Min(expected[b], visit);
			}
		}
		kernels->visit_bins(visits, bins, numbers, brought, n);
		for (int b = 0; b < 64; b++)
			passed &= visits[b] == expected[b] || !(bins >> b & 1);
		release(numbers, n * sizeof(uint64));
		release(brought, n * sizeof(uint64));
		release(visits, 64 * sizeof(uint16));
	}
	report(passed, kernels->name, "visit_bins");
}

static void
test_last_bits(const ShTextKernels *kernels)
{
	bool		passed = true;

	for (int i = 0; i < 1000; i++)
	{
		uint32	   *values = allocate(64 * sizeof(uint32));
		uint16	   *visits = allocate(64 * sizeof(uint16));
		uint64		bins = i == 0 ? 0 : i == 1 ? PG_UINT64_MAX : next_random();
		uint64		expected = 0;

		for (int b = 0; b < 64; b++)
		{
			values[b] = next_random();
			visits[b] = next_random();
			expected += (uint64) ((bins >> b & 1 ? visits[b] : values[b]) % 2) << b;
		}
		passed &= kernels->last_bits(values, visits, bins) == expected;
		release(values, 64 * sizeof(uint32));
		release(visits, 64 * sizeof(uint16));
	}
	report(passed, kernels->name, "last_bits");
}

int
main(void)
{
	static const char *const names[] = {"portable", "avx2", "avx512", "avx512vbmi2"};
	const ShTextKernels *fastest = NULL;

	test_hash();
	for (int i = 0; i < lengthof(names); i++)
	{
		const ShTextKernels *kernels = shtext_kernels_named(names[i]);

		if (kernels == NULL)
		{
			skip(names[i], "this machine cannot run it");
			continue;
		}
		for (int words = 0; words < 2; words++)
		{
			test_fold(kernels, words, 1000000000, "nothing else");
			test_fold(kernels, words, 300, "few others");
			test_fold(kernels, words, 20, "some others");
			test_fold(kernels, words, 2, "many others");
		}
		test_mix_seeds(kernels);
		test_visit_bins(kernels);
		test_last_bits(kernels);
	}
	report(shtext_kernels_named("portable") != NULL, "portable", "is always there");
	report(shtext_kernels_named("nonsense") == NULL, "nonsense", "is not there");

	/* the names are listed from the slowest to the fastest */
	for (int i = 0; i < lengthof(names); i++)
	{
		const ShTextKernels *kernels = shtext_kernels_named(names[i]);

		fastest = kernels != NULL ? kernels : fastest;
	}
	report(shtext_kernels == shtext_kernels_named("portable"), "before the choice", "portable");
	shtext_choose_kernels();
	report(shtext_kernels == fastest, "chosen", "the fastest");
	return finish();
}
