/*-------------------------------------------------------------------------
 *
 * sketch.c
 *	  Tests of sketches without a server: against the definition, in parts, as
 *	  states, and what their distances say of Jaccard coefficients.
 *
 *-------------------------------------------------------------------------
 */
#include "with_kernels.h"

#include <math.h>

#include "text/similar.h"
#include "text/states.h"
#include "type/hash.h"

#include "server.h"

#define MAX_FEATURES	20000
#define NPARTS			7

static uint64 hashes[2 * MAX_FEATURES];

/* what a sketch is for */
typedef struct Kind
{
	int			width;
	int			minima;			/* of a band */
} Kind;

/*
 * The minima of a set as the documentation defines them, bin by bin.
 */
static void
define_part(const uint64 *set, int n, uint64 *minima)
{
	for (int b = 0; b < 64; b++)
	{
		uint64		fallen = PG_UINT64_MAX;
		uint64		first = PG_UINT64_MAX;

		for (int i = 0; i < n; i++)
		{
			uint64		x = shtext_mix(set[i]);
			uint64		start = (x >> 16) % 65536 / 2 * 2;
			uint64		step = ((x >> 6) % 32 * 2 + 1) * 1024;

			if (x % 64 == b)
				fallen = Min(fallen, x >> 32);
			first = Min(first, (start + b * step) % 65536 + (shtext_mix(x) >> b) % 2);
		}
		minima[b] = fallen != PG_UINT64_MAX ? fallen : first;
	}
}

/*
 * The minima of all parts as the documentation defines them, part by part.
 */
static void
define_minima(const uint64 *set, int n, int nparts, uint64 *minima)
{
	static uint64 others[MAX_FEATURES];

	define_part(set, n, minima);
	for (int p = 1; p < nparts; p++)
	{
		for (int i = 0; i < n; i++)
			others[i] = shtext_mix(set[i]) ^ shtext_mix(p);
		define_part(others, n, minima + p * 64);
	}
}

/*
 * A word of a fingerprint or of bands as the documentation defines it, of these minima.
 */
static uint64
define_word(const uint64 *minima, Kind kind, int word)
{
	const uint64 *first = minima + word * (kind.minima == 0 ? 64 : kind.minima);
	uint64		result = 0;

	for (int i = 0; i < (kind.minima == 0 ? 64 : 32); i++)
		result |= (first[kind.minima + i] & 1) << i;
	if (kind.minima > 0)
	{
		uint8		bytes[128];	/* compilers that inline the hash see longer inputs */

		for (int i = 0; i < kind.minima * 4; i++)
			bytes[i] = first[i / 4] >> i % 4 * 8;
		result |= shtype_hash(bytes, kind.minima * 4) >> 40 << 32;
	}
	return result;
}

/* kind 0: random hashes, 1: small numbers, 2: multiples of what is added to seeds */
static void
make_set(int n, int kind)
{
	uint64		first = next_random();

	for (int i = 0; i < n; i++)
		hashes[i] = kind == 0 ? next_random() : kind == 1 ? i :
			(first + i) * UINT64CONST(0x9e3779b97f4a7c15);
}

/* Does the sketch have the result that follows from these minima? */
static bool
has_result(const ShTextSketch *sketch, Kind kind, const uint64 *minima)
{
	uint64		result[64];

	if (!shtext_sketch_result(sketch, result))
		return false;
	for (int i = 0; i * 64 < kind.width; i++)
	{
		if (result[i] != define_word(minima, kind, i))
			return false;
	}
	return true;
}

/*
 * Sets in one piece and in parts that overlap, whose sketches travel as states
 * and are merged in some order: the same sketch, and what is defined.
 */
static void
test_definition(const char *kernels, const Kind *kinds, int nkinds, int nparts, int least,
				const char *what)
{
	static uint64 minima[64 * 64];
	bool		passed = true;
	int			nempty = 0;

	for (int n = 1; n < 3000; n += 1 + n / least)
	{
		make_set(n, n % 3);
		define_minima(hashes, n, nparts, minima);
		for (int k = 0; k < nkinds; k++)
		{
			Kind		kind = kinds[k];
			int			state_width;
			ShTextSketch together;
			ShTextSketch whole;
			ShTextSketch merged;
			ShTextSketch parts[NPARTS];
			bytea	   *added = NULL;
			bytea	   *states[3];
			uint64		result[64];

			shtext_sketch_init(&together, kind.width, kind.minima);
			passed &= !shtext_sketch_result(&together, result);
			shtext_sketch_add(&together, hashes, n);
			passed &= has_result(&together, kind, minima);

			/* single features, in another order, some again */
			shtext_sketch_init(&whole, kind.width, kind.minima);
			for (int p = 0; p < NPARTS; p++)
				shtext_sketch_init(&parts[p], kind.width, kind.minima);
			for (int i = 0; i < n + n / 3; i++)
			{
				uint64		hash = hashes[n - 1 - i % n];

				shtext_sketch_add(&whole, &hash, 1);
				shtext_sketch_add(&parts[next_random() % NPARTS], &hash, 1);
				if (i == 0)
					added = shtext_sketch_state_make(&whole);
				shtext_sketch_state_add(added, hash);
			}
			passed &= has_result(&whole, kind, minima);
			nempty += whole.parts[0].empty != 0;

			shtext_sketch_init(&merged, kind.width, kind.minima);
			for (int p = 0; p < NPARTS; p++)
			{
				ShTextSketch *part = &parts[(p * 3 + n) % NPARTS];

				if (part->parts[0].empty != PG_UINT64_MAX)
				{
					bytea	   *state = shtext_sketch_state_make(part);

					passed &= shtext_sketch_state_head(state, &state_width) == kind.minima &&
						state_width == kind.width;
					shtext_sketch_free(part);
					shtext_sketch_state_read(state, part);
					shtext_sketch_merge(&merged, part);
					free(state);
				}
				shtext_sketch_free(part);
			}
			passed &= has_result(&merged, kind, minima);

			/* the set decides on the state, too */
			states[0] = added;
			states[1] = shtext_sketch_state_make(&together);
			states[2] = shtext_sketch_state_make(&merged);
			for (int s = 0; s < lengthof(states); s++)
			{
				passed &= VARSIZE(states[s]) == VARSIZE(added) &&
					memcmp(states[s], added, VARSIZE(added)) == 0;
			}
			for (int s = 0; s < lengthof(states); s++)
				free(states[s]);
			shtext_sketch_free(&together);
			shtext_sketch_free(&whole);
			shtext_sketch_free(&merged);
		}
	}
	report(passed && nempty > 10, kernels, what);
}

/* an error writes the number that it names */
char *
float8out_internal(double number)
{
	return NULL;
}

/* Is this similarity an error? */
static bool
is_refused(double similarity, ShBitsDocuments documents)
{
	volatile bool refused = true;
	jmp_buf		catch;
	int			radius;

	server_catch = &catch;
	if (setjmp(catch) == 0)
	{
		shtext_similar_bands(similarity, documents, &radius);
		refused = false;
	}
	server_catch = NULL;
	return refused && server_sqlstate == ERRCODE_INVALID_PARAMETER_VALUE;
}

/*
 * How many bands are compared, within which radius: never less at a lesser similarity, no
 * more than there are, and the same from one step to the next.
 */
static void
test_similarities(void)
{
	static const double steps[] = {.5, .55, .6, .65, .7, .75, .8, .85, .9, .95, 1};
	bool		passed = true;

	for (ShBitsDocuments documents = SHBITS_TEXTS; documents <= SHBITS_TITLES; documents++)
	{
		bool		titles = documents == SHBITS_TITLES;
		int			first = titles ? 4 : 0;
		int			last_bands = 32;
		int			last_radius = 32;

		for (int i = first; i < lengthof(steps); i++)
		{
			int			radius;
			int			bands = shtext_similar_bands(steps[i], documents, &radius);
			double		next = i + 1 < lengthof(steps) ? nextafter(steps[i + 1], 0) : 1;
			int			next_radius;

			passed &= bands >= 1 && bands <= last_bands && radius >= 0 && radius <= last_radius &&
				shtext_similar_bands(next, documents, &next_radius) == bands && next_radius == radius &&
				shtext_similar_bands((float) steps[i], documents, &next_radius) == bands && next_radius == radius;
			last_bands = bands;
			last_radius = radius;
		}
		passed &= titles ? last_bands == 16 && last_radius == 9 : last_bands == 1 && last_radius == 0;
		passed &= is_refused(nextafter(steps[first], 0), documents) && is_refused(nextafter(1, 2), documents) &&
			is_refused(0, documents) && is_refused(NAN, documents);
	}
	report(passed, "similarities", "have bands and a radius");
}

static void
test_sketches(const char *kernels)
{
	static const Kind one = {64, 0};
	static const Kind wide[] = {{8, 0}, {56, 0}, {64, 0}, {72, 0}, {128, 0}, {256, 0}, {576, 0}, {4096, 0}};
	static const Kind bands[] = {{64, 1}, {64, 8}, {7 * 64, 3}, {10 * 64, 3}, {11 * 64, 3}, {2048, 3},
	{16 * 64, 4}, {4096, 1}, {4096, 5}, {4096, 8}};

	test_definition(kernels, &one, 1, 1, 6, "64 bits, as defined, in any order and in parts");
	test_definition(kernels, wide, lengthof(wide), 64, 1, "any number of bits, as defined, in any order and in parts");
	test_definition(kernels, bands, lengthof(bands), 9, 1, "bands, as defined, in any order and in parts");
}

/*
 * n random sets of a size, and others that have so many features in common with them:
 * the mean distance must lie within five standard errors of half the bits times 1 - J,
 * and must not scatter more than that of independent bits does.  If the parts of wide
 * fingerprints were not independent, the variance would be up to four times as large.
 */
static void
test_distances(int width, const int *sizes, int nsizes, int most_features)
{
	char		subject[40];

	snprintf(subject, sizeof(subject), "distances of %d bits", width);
	for (int s = 0; s < nsizes; s++)
	{
		for (int tenth = 0; tenth < 10; tenth += 3)
		{
			int			size = sizes[s];
			int			common = size * tenth / 10;
			int			both = 2 * size - common;
			int			nsets = Min(10000, most_features / both);
			double		jaccard = common / (double) both;
			double		expected = width / 2 * (1 - jaccard);
			double		variance = expected * (1 - expected / width);
			double		sum = 0;
			double		squares = 0;
			char		what[100];

			for (int i = 0; i < nsets; i++)
			{
				uint64		result[2][4];
				int			distance = 0;

				make_set(both, i % 3 == 2 ? 0 : i % 3);
				/* small numbers, but others each time */
				for (int j = 0; j < both && i % 3 == 1; j++)
					hashes[j] += (uint64) i * both;
				for (int k = 0; k < 2; k++)
				{
					ShTextSketch sketch;

					shtext_sketch_init(&sketch, width, 0);
					shtext_sketch_add(&sketch, hashes + k * (size - common), size);
					if (!shtext_sketch_result(&sketch, result[k]))
						bail_out("no fingerprint");
					shtext_sketch_free(&sketch);
				}
				for (int j = 0; j < width / 64; j++)
					distance += __builtin_popcountll(result[0][j] ^ result[1][j]);
				sum += distance - expected;
				squares += (distance - expected) * (distance - expected);
			}
			snprintf(what, sizeof(what), "%d features, Jaccard coefficient %.3f", size, jaccard);
			printf("# %s: mean/%d off by %+.5f, variance %.3f of binomial, error %.3f\n", what, width / 2,
				   sum / nsets / (width / 2), squares / nsets / variance, sqrt(squares / nsets) / (width / 2));
			report(fabs(sum / nsets) < 5 * sqrt(variance / nsets) &&
				   squares / nsets < variance * (1 + 8 / sqrt(nsets)), subject, what);
		}
	}
}

/*
 * Whatever the bytes of a state are, it is refused or has a fingerprint, and
 * nothing beyond it is touched.
 */
static void
test_forged(void)
{
	volatile int nrefused = 0;
	volatile int ntaken = 0;
	volatile bool passed = true;

	for (volatile int round = 0; round < 200000; round++)
	{
		jmp_buf		catch;
		ShTextSketch sketch;
		bytea	   *volatile state;
		Size		length;

		if (round % 5 == 0)
			shtext_sketch_init(&sketch, (1 + round % 64) * 64, 1 + round % 8);
		else
			shtext_sketch_init(&sketch, round % 2 == 0 ? 64 : 8 + round % 25 * 8, 0);
		make_set(1 + round % 50, 0);
		shtext_sketch_add(&sketch, hashes, 1 + round % 50);
		state = shtext_sketch_state_make(&sketch);
		shtext_sketch_free(&sketch);
		length = VARSIZE(state) - VARHDRSZ;
		for (int i = next_random() % 3; i > 0; i--)
			VARDATA(state)[next_random() % (round % 3 == 0 ? 8 : length)] = next_random();
		if (round % 11 == 0)
			memset(VARDATA(state) + 8, 0xFF, length - 8);
		if (round % 10 == 0)
		{
			/* in memory that ends where it does */
			length = next_random() % length;
			state = realloc(state, VARHDRSZ + length);
			SET_VARSIZE(state, VARHDRSZ + length);
		}

		server_catch = &catch;
		if (setjmp(catch) == 0)
		{
			uint64		result[64];
			uint64		hash = next_random();

			if (round % 4 < 2)
				shtext_sketch_state_add(state, hash);
			shtext_sketch_state_read(state, &sketch);
			shtext_sketch_add(&sketch, &hash, 1);
			passed &= shtext_sketch_result(&sketch, result);
			shtext_sketch_free(&sketch);
			ntaken++;
		}
		else
		{
			passed &= server_sqlstate == ERRCODE_INVALID_BINARY_REPRESENTATION;
			nrefused++;
		}
		server_catch = NULL;
		free(state);
	}
	printf("# %d refused, %d taken\n", nrefused, ntaken);
	report(passed && nrefused > 1000 && ntaken > 1000, "forged states",
		   "are refused or taken");
}

int
main(void)
{
	static const int sizes[] = {1, 2, 3, 4, 6, 10, 20, 32, 50, 100, 200, 400, 1000, 10000};
	static const int wide_sizes[] = {1, 2, 3, 6, 20, 50, 200, 400, 2000};

	with_text_kernels(test_sketches);
	test_distances(64, sizes, lengthof(sizes), 2000000);
	test_distances(256, wide_sizes, lengthof(wide_sizes), 1000000);
	test_forged();
	test_similarities();
	return finish();
}
