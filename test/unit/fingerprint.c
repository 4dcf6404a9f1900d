/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  Tests of src/text and src/bits without a server: whole fingerprints, and
 *	  the distances between them, with each of the kernels that this machine
 *	  can run.  A server only ever runs the best ones.
 *
 *-------------------------------------------------------------------------
 */
#include "with_kernels.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "bits/distance.h"
#include "type/hash.h"
#include "text/majority.h"
#include "text/normalize.h"

#include "pieces.h"
#include "server.h"

#define NTEXTS		300

/* A text, in memory that ends where it does */
typedef struct Text
{
	char	   *bytes;
	Size		length;
	ShTextUnit	unit;
	int			shingle;
} Text;

static Text texts[NTEXTS];

/* as simhash_compute does it; false if there is no feature */
static bool
compute(const Text *text, uint64 *result)
{
	ShTextMajority majority = {0};

	read_pieces(text->bytes, text->length, PG_UTF8, text->unit, text->shingle,
				shtext_majority_add, &majority);
	*result = shtext_majority_result(&majority);
	return majority.count > 0;
}

/* Is the fingerprint of a text made of the bits that more than half of its windows have? */
static bool
has_majority(const Text *text, const int *counters, int nwindows)
{
	uint64		expected = 0;
	uint64		result;

	for (int b = 0; b < 64; b++)
		expected |= (uint64) (2 * counters[b] > nwindows) << b;
	return compute(text, &result) == (nwindows > 0) && result == expected;
}

static Text
make_text(const char *bytes, Size length, ShTextUnit unit, int shingle)
{
	Text		text;

	text.bytes = memcpy(allocate(length), bytes, length);
	text.length = length;
	text.unit = unit;
	text.shingle = shingle;
	return text;
}

/*
 * A random character of a kind: of each, those that the normalization treats
 * in ways of their own are among them.
 */
static pg_wchar
random_character(int kind)
{
	static const struct
	{
		pg_wchar	first;
		pg_wchar	last;
	}			ranges[] = {
		{0x20, 0x7E}, {0x80, 0x24F}, {0x300, 0x345}, {0x370, 0x52F},
		{0x590, 0x6FF}, {0x1E00, 0x206F}, {0x3040, 0x33FF}, {0x4E00, 0x9FFF},
		{0xAC00, 0xD7A3}, {0x1100, 0x11FF}, {0xF900, 0xFDFF},
		{0x10000, 0x10FFF}, {0x1D100, 0x1F6FF}, {0x20000, 0x2FA1F},
		{0x1, 0x1F}, {0x10FF00, 0x10FFFF}
	};
	int			r = kind < lengthof(ranges) ? kind : next_random() % lengthof(ranges);

	return ranges[r].first +
		next_random() % (ranges[r].last - ranges[r].first + 1);
}

/* up to 1, 100 or 30,000 bytes; mostly ASCII, or not */
static void
make_texts(void)
{
	static const int limits[] = {12, 100, 9000, 30000};
	static char bytes[30000 + 6];

	for (int t = 0; t < NTEXTS; t++)
	{
		Size		limit = next_random() % limits[t % lengthof(limits)];
		int			kind = next_random() % 20;
		int			ascii = next_random() % 100;
		Size		length = 0;

		while (length < limit)
		{
			pg_wchar	c = random_character(next_random() % 100 < ascii ? 0 : kind);

			if (t % 7 == 0 && next_random() % 50 == 0)
			{
				/* a character without equivalent, as of another encoding */
				memcpy(bytes + length, "\xfd\x80\x80\x80\x81\x81", 6);
				length += 6;
				continue;
			}
			unicode_to_utf8(c, (unsigned char *) bytes + length);
			length += pg_utf_mblen((unsigned char *) bytes + length);
		}
		texts[t] = make_text(bytes, length,
							 t % 3 == 2 ? SHTEXT_WORD : SHTEXT_CHAR,
							 t % 5 == 4 ? 1 + next_random() % 12 : 4);
	}
}

/* Pinned fingerprints; the regression tests have many more */
static void
test_pinned(const char *kernels)
{
	static const struct
	{
		const char *text;
		uint64		fingerprint;
	}			expected[] = {
		{"a", UINT64CONST(0xe6c632b61e964e1f)},
		{"1234567890", UINT64CONST(0x83df94f2028ce790)},
		{"The quick brown fox jumps over the lazy dog", UINT64CONST(0x132167164ab71624)},
		{"\303\204pfel, \303\226l und \303\234bermut", UINT64CONST(0x8abf200840bd18be)},
		{"\345\244\251\345\234\260\347\216\204\351\273\203\357\274\214\345\256\207\345\256\231\346\264\252\350\215\222\343\200\202", UINT64CONST(0x72b101721a64b997)},
		{"\355\202\244\354\212\244\354\235\230 \352\263\240\354\234\240\354\241\260\352\261\264\354\235\200", UINT64CONST(0xb7f783a2b74d6874)},
		{"\360\220\200\200\360\220\200\201\360\220\220\200\360\235\237\216\360\220\220\201\360\237\231\202", UINT64CONST(0x8090ad8084002808)}
	};
	bool		passed = true;

	for (int i = 0; i < lengthof(expected); i++)
	{
		Text		text = make_text(expected[i].text, strlen(expected[i].text),
									 SHTEXT_CHAR, 4);
		uint64		result;

		passed &= compute(&text, &result) && result == expected[i].fingerprint;
		release(text.bytes, text.length);
	}
	report(passed, kernels, "pinned fingerprints");
}

/* Long ASCII, against a loop that is as plain as can be */
static void
test_ascii(const char *kernels)
{
	bool		passed = true;

	for (int n = 0; n < 20000; n = n * 3 / 2 + 1)
	{
		char	   *bytes = allocate(n);
		char	   *kept = allocate(n);
		int			nkept = 0;
		int			counters[64] = {0};
		int			nwindows;
		Text		text = {bytes, n, SHTEXT_CHAR, 4};

		for (int i = 0; i < n; i++)
		{
			int			c = bytes[i] = 1 + next_random() % 127;

			if (c >= 'A' && c <= 'Z')
				c += 'a' - 'A';
			if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
				kept[nkept++] = c;
		}
		nwindows = Max(nkept - 3, nkept > 0 ? 1 : 0);
		for (int i = 0; i < nwindows; i++)
		{
			uint64		hash = shtype_hash(kept + i, Min(nkept, 4));

			for (int b = 0; b < 64; b++)
				counters[b] += (hash >> b) & 1;
		}
		passed &= has_majority(&text, counters, nwindows);
		release(bytes, n);
		release(kept, n);
	}
	report(passed, kernels, "ASCII against a plain loop");
}

/*
 * Long ASCII by words, of which some are longer than the pieces that a text is
 * read in, against a loop that is as plain as can be
 */
static void
test_words(const char *kernels)
{
	static const int shingles[] = {1, 2, 3, 5, 63, 64};
	bool		passed = true;

	for (int n = 0; n < 60000; n = n * 3 / 2 + 1)
	{
		char	   *bytes = allocate(n);
		char	   *joined = allocate(n + 1);	/* words, each with a space */
		int		   *starts = malloc((n + 1) * sizeof(int));
		int			shingle = shingles[n % lengthof(shingles)];
		int			length = 0;
		int			nwords = 0;
		int			nwindows;
		int			rare = next_random() % 2 ? 6 : 3000;
		int			counters[64] = {0};
		Text		text = {bytes, n, SHTEXT_WORD, shingle};

		for (int i = 0; i < n; i++)
		{
			int			c = bytes[i] = next_random() % rare == 0 ? 1 + next_random() % 47 :
				'a' + next_random() % 26;

			if (c >= 'a')
			{
				if (length == 0 || joined[length - 1] == ' ')
					starts[nwords++] = length;
				joined[length++] = c;
			}
			else if (length > 0 && joined[length - 1] != ' ')
				joined[length++] = ' ';
		}
		if (length == 0 || joined[length - 1] != ' ')
			joined[length++] = ' ';
		starts[nwords] = length;

		nwindows = nwords < shingle ? Min(nwords, 1) : nwords - shingle + 1;
		for (int i = 0; i < nwindows; i++)
		{
			int			end = starts[Min(i + shingle, nwords)] - 1;
			uint64		hash = shtype_hash(joined + starts[i], end - starts[i]);

			for (int b = 0; b < 64; b++)
				counters[b] += (hash >> b) & 1;
		}
		passed &= has_majority(&text, counters, nwindows);
		release(bytes, n);
		release(joined, n + 1);
		free(starts);
	}
	report(passed, kernels, "words against a plain loop");
}

/*
 * A letter with a million marks is a single piece.  Each pass over it checks for
 * interrupts every 65,536 characters: one over its bytes, to find its end, and others
 * over its characters.  Marks out of order are sorted.
 */
static void
test_interrupts(const char *first, const char *second, int passes, const char *what)
{
	const int	marks = 1 << 20;
	const int	checks = marks / 65536;
	char	   *bytes = allocate(1 + 2 * marks);
	Text		text = {bytes, 1 + 2 * marks, SHTEXT_WORD, 1};
	uint64		result;

	bytes[0] = 'b';
	for (int i = 0; i < marks; i++)
		memcpy(bytes + 1 + 2 * i, i % 2 == 0 ? first : second, 2);
	server_checks = 0;
	InterruptPending = true;
	compute(&text, &result);
	InterruptPending = false;
	report(server_checks >= (2 + passes) * checks, what, "interrupts within a million marks");
	release(bytes, 1 + 2 * marks);
}

/* All random texts; the first kernels say what is expected of the others */
static void
test_random(const char *kernels)
{
	static uint64 expected[NTEXTS];
	static bool first = true;
	bool		passed = true;
	int			nfound = 0;

	for (int t = 0; t < NTEXTS; t++)
	{
		uint64		result = 0;

		nfound += compute(&texts[t], &result);
		if (first)
			expected[t] = result;
		passed &= result == expected[t];
	}
	first = false;
	report(passed && nfound > NTEXTS / 2, kernels, "random texts");
}

/* Distances between their fingerprints, by the filter that is set */
static void
test_distances(const char *kernel)
{
	static uint64 keys[NTEXTS];
	uint16		found[NTEXTS];
	bool		passed = true;

	for (int t = 0; t < NTEXTS; t++)
		compute(&texts[t], &keys[t]);
	for (int t = 0; t < NTEXTS; t++)
	{
		int			radius = t % 65;
		int			nfound = shbits_filter(keys, NTEXTS, keys[t], radius, found);
		int			n = 0;

		for (int i = 0; i < NTEXTS; i++)
		{
			if (__builtin_popcountll(keys[i] ^ keys[t]) <= radius)
				passed &= n < nfound && found[n++] == i;
		}
		passed &= n == nfound;
	}
	report(passed, kernel, "distances between fingerprints");
}

static void
test_kernels(const char *subject)
{
	test_pinned(subject);
	test_ascii(subject);
	test_words(subject);
	test_random(subject);
}

int
main(void)
{
	static const char *const filters[] = {"portable", "neon", "popcnt", "avx2", "avx512"};

	make_texts();

	with_text_kernels(test_kernels);
	/* U+0316, which is left as it is; U+0301, before which U+0316 must be */
	test_interrupts("\xcc\x96", "\xcc\x96", 2, "plain");
	test_interrupts("\xcc\x81", "\xcc\x96", 8, "sorted");
	shbits_choose_kernels();
	test_distances("chosen filter");
	for (int i = 0; i < lengthof(filters); i++)
	{
		char		what[100];

		snprintf(what, sizeof(what), "filter %s", filters[i]);
		if (shbits_kernels_named(filters[i]) == NULL)
		{
			skip(what, "this machine cannot run it");
			continue;
		}
		shbits_kernels = shbits_kernels_named(filters[i]);
		test_distances(what);
	}

	for (int t = 0; t < NTEXTS; t++)
		release(texts[t].bytes, texts[t].length);
	return finish();
}
