/*-------------------------------------------------------------------------
 *
 * sketch.c
 *	  Tests of sketches without a server: against the definition, in parts, as
 *	  states, and what their distances say of Jaccard coefficients.
 *
 * Prints TAP.  The exit status is 1 if a test failed, else 0.
 *
 *	make -C test/unit check
 *
 *-------------------------------------------------------------------------
 */
#include "with_kernels.h"

#include <math.h>

#include "compat.h"
#include "text/sketch.h"
#include "text/sketch_state.h"
#include "text/text_kernels.h"

#include "server.h"

#define MAX_FEATURES	20000
#define NPARTS			7

static uint64 hashes[2 * MAX_FEATURES];

/*
 * The fingerprint of a set as the documentation defines it, bin by bin.
 */
static uint64
defined(const uint64 *set, int n)
{
	uint64		result = 0;

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
		result |= ((fallen != PG_UINT64_MAX ? fallen : first) & 1) << b;
	}
	return result;
}

static uint64
fingerprint(const uint64 *set, int n)
{
	ShTextSketch sketch;
	uint64		result;

	shtext_sketch_init(&sketch);
	shtext_sketch_add(&sketch, set, n);
	if (!shtext_sketch_result(&sketch, &result))
		bail_out("no fingerprint");
	return result;
}

/*
 * The fingerprint of 64 nparts bits as the documentation defines it, part by part.
 */
static void
define_wide(const uint64 *set, int n, int nparts, uint64 *parts)
{
	static uint64 others[MAX_FEATURES];

	parts[0] = defined(set, n);
	for (int p = 1; p < nparts; p++)
	{
		for (int i = 0; i < n; i++)
			others[i] = shtext_mix(set[i]) ^ shtext_mix(p);
		parts[p] = defined(others, n);
	}
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

static bytea *
state_of(const ShTextSketch *sketch)
{
	bytea	   *state = shtext_sketch_state_make();

	shtext_sketch_state_write(state, sketch);
	return state;
}

/*
 * Sets in one piece and in parts that overlap, whose sketches travel as states
 * and are merged in some order: the same sketch, and what is defined.
 */
static void
test_definition(const char *kernels)
{
	bool		passed = true;
	int			nempty = 0;

	for (int n = 1; n < 3000; n += 1 + n / 6)
	{
		ShTextSketch whole;
		ShTextSketch merged;
		ShTextSketch parts[NPARTS];
		bytea	   *added = NULL;
		bytea	   *states[3];
		uint64		expected;
		uint64		result;

		make_set(n, n % 3);
		expected = defined(hashes, n);
		passed &= fingerprint(hashes, n) == expected;

		/* single features, in another order, some again */
		shtext_sketch_init(&whole);
		for (int p = 0; p < NPARTS; p++)
			shtext_sketch_init(&parts[p]);
		for (int i = 0; i < n + n / 3; i++)
		{
			uint64		hash = hashes[n - 1 - i % n];

			shtext_sketch_add(&whole, &hash, 1);
			shtext_sketch_add(&parts[next_random() % NPARTS], &hash, 1);
			if (i == 0)
				added = state_of(&whole);
			shtext_sketch_state_add(added, hash);
		}
		passed &= shtext_sketch_result(&whole, &result) && result == expected;
		nempty += whole.empty != 0;

		shtext_sketch_init(&merged);
		for (int p = 0; p < NPARTS; p++)
		{
			ShTextSketch *part = &parts[(p * 3 + n) % NPARTS];
			bytea	   *state;

			if (part->empty == PG_UINT64_MAX)
				continue;
			state = state_of(part);
			shtext_sketch_state_read(state, part);
			shtext_sketch_merge(&merged, part);
			free(state);
		}
		passed &= shtext_sketch_result(&merged, &result) && result == expected;

		/* the set decides on the state, too */
		states[0] = added;
		states[1] = state_of(&whole);
		states[2] = state_of(&merged);
		for (int s = 0; s < lengthof(states); s++)
		{
			passed &= VARSIZE(states[s]) == VARSIZE(added) &&
				memcmp(states[s], added, VARSIZE(added)) == 0;
		}
		for (int s = 0; s < lengthof(states); s++)
			free(states[s]);
	}
	report(passed && nempty > 10, kernels, "sketches are as defined, in any order and in parts");
}

/* bytes of which the first is the most significant one of the first part */
static bool
begins_with(const uint8 *bytes, int nbytes, const uint64 *parts)
{
	for (int i = 0; i < nbytes; i++)
	{
		if (bytes[i] != (uint8) (parts[i / 8] >> (56 - i % 8 * 8)))
			return false;
	}
	return true;
}

/*
 * Wide sketches are as defined, and begin with the shorter ones; in parts, as
 * states, row by row.
 */
static void
test_wide(const char *kernels)
{
	static const int lengths[] = {1, 7, 8, 9, 16, 32, 72, 512};
	bool		passed = true;

	for (int n = 1; n < 3000; n += 1 + n)
	{
		uint64		parts[64];

		make_set(n, n % 3);
		define_wide(hashes, n, 64, parts);
		for (int l = 0; l < lengthof(lengths); l++)
		{
			int			nbytes = lengths[l];
			ShTextWideSketch *whole = shtext_wide_sketch_make(nbytes);
			ShTextWideSketch *left = shtext_wide_sketch_make(nbytes);
			ShTextWideSketch *right;
			bytea	   *state = shtext_wide_state_make(nbytes * 8);
			bytea	   *again = shtext_wide_state_make(nbytes * 8);
			uint8		bytes[512];

			passed &= !shtext_wide_sketch_result(whole, bytes, nbytes);
			shtext_wide_sketch_add(whole, hashes, n);
			passed &= shtext_wide_sketch_result(whole, bytes, nbytes) &&
				begins_with(bytes, nbytes, parts);

			shtext_wide_sketch_add(left, hashes, (n + 1) / 2);
			shtext_wide_state_write(state, left);
			for (int i = n / 3; i < n; i++)
				shtext_wide_state_add(state, hashes[i]);
			passed &= shtext_wide_state_width(state) == nbytes * 8;
			right = shtext_wide_state_read(state);
			passed &= shtext_wide_sketch_result(right, bytes, nbytes) &&
				begins_with(bytes, nbytes, parts);
			shtext_wide_state_write(again, whole);
			passed &= memcmp(state, again, VARSIZE(state)) == 0;

			shtext_wide_sketch_merge(left, whole);
			passed &= shtext_wide_sketch_result(left, bytes, nbytes) &&
				begins_with(bytes, nbytes, parts);
			free(whole);
			free(left);
			free(right);
			free(state);
			free(again);
		}
	}
	report(passed, kernels, "wide sketches are as defined, in any order and in parts");
}

/*
 * What 256 bits say of a Jaccard coefficient.  As the parts are independent, their
 * distances scatter no more than those of independent bits: if they were not, the
 * variance would be up to four times as large.
 */
static void
test_wide_distances(void)
{
	static const int sizes[] = {1, 2, 3, 6, 20, 50, 200, 400, 2000};

	for (int s = 0; s < lengthof(sizes); s++)
	{
		for (int tenth = 0; tenth < 10; tenth += 3)
		{
			int			size = sizes[s];
			int			common = size * tenth / 10;
			int			both = 2 * size - common;
			int			nsets = Min(10000, 1000000 / both);
			double		jaccard = common / (double) both;
			double		expected = 128 * (1 - jaccard);
			double		variance = expected * (1 - expected / 256);
			double		sum = 0;
			double		squares = 0;
			char		what[100];

			for (int i = 0; i < nsets; i++)
			{
				uint8		bytes[2][32];
				int			distance = 0;

				make_set(both, i % 3 == 2 ? 0 : i % 3);
				/* small numbers, but others each time */
				for (int j = 0; j < both && i % 3 == 1; j++)
					hashes[j] += (uint64) i * both;
				for (int k = 0; k < 2; k++)
				{
					ShTextWideSketch *sketch = shtext_wide_sketch_make(32);

					shtext_wide_sketch_add(sketch, hashes + k * (size - common), size);
					shtext_wide_sketch_result(sketch, bytes[k], 32);
					free(sketch);
				}
				for (int j = 0; j < 32; j++)
					distance += __builtin_popcount(bytes[0][j] ^ bytes[1][j]);
				sum += distance - expected;
				squares += (distance - expected) * (distance - expected);
			}
			snprintf(what, sizeof(what), "%d features, Jaccard coefficient %.3f", size, jaccard);
			printf("# %s: mean/128 off by %+.5f, variance %.3f of binomial, error %.3f\n",
				   what, sum / nsets / 128, squares / nsets / variance, sqrt(squares / nsets) / 128);
			report(fabs(sum / nsets) < 5 * sqrt(variance / nsets) &&
				   squares / nsets < variance * (1 + 8 / sqrt(nsets)), "distances of 256 bits", what);
		}
	}
}

/*
 * n random sets of a size, and others that have so many features in common
 * with them: the mean distance must lie within five standard errors of 32
 * times 1 - J, and must not scatter more than that of independent bits does.
 */
static void
test_distances(void)
{
	static const int sizes[] = {1, 2, 3, 4, 6, 10, 20, 32, 50, 100, 200, 400, 1000, 10000};

	for (int s = 0; s < lengthof(sizes); s++)
	{
		for (int tenth = 0; tenth < 10; tenth += 3)
		{
			int			size = sizes[s];
			int			common = size * tenth / 10;
			int			both = 2 * size - common;
			int			nsets = Min(10000, 2000000 / both);
			double		jaccard = common / (double) both;
			double		expected = 32 * (1 - jaccard);
			double		variance = expected * (1 - expected / 64);
			double		sum = 0;
			double		squares = 0;
			char		what[100];

			for (int i = 0; i < nsets; i++)
			{
				int			distance;

				make_set(both, i % 3 == 2 ? 0 : i % 3);
				/* small numbers, but others each time */
				for (int j = 0; j < both && i % 3 == 1; j++)
					hashes[j] += (uint64) i * both;
				distance = __builtin_popcountll(fingerprint(hashes, size) ^
												fingerprint(hashes + size - common, size));
				sum += distance - expected;
				squares += (distance - expected) * (distance - expected);
			}
			snprintf(what, sizeof(what), "%d features, Jaccard coefficient %.3f", size, jaccard);
			printf("# %s: mean/32 off by %+.5f, variance %.3f of binomial\n",
				   what, sum / nsets / 32, squares / nsets / variance);
			report(fabs(sum / nsets) < 5 * sqrt(variance / nsets) &&
				   squares / nsets < variance * (1 + 8 / sqrt(nsets)), "distances", what);
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

	for (volatile int round = 0; round < 100000; round++)
	{
		jmp_buf		catch;
		ShTextSketch sketch;
		bytea	   *volatile state;

		shtext_sketch_init(&sketch);
		make_set(1 + round % 50, 0);
		shtext_sketch_add(&sketch, hashes, 1 + round % 50);
		state = state_of(&sketch);
		for (int i = next_random() % 3; i > 0; i--)
			VARDATA(state)[next_random() % (VARSIZE(state) - VARHDRSZ)] = next_random();
		if (round % 10 == 0)
			SET_VARSIZE(state, VARHDRSZ + next_random() % (VARSIZE(state) - VARHDRSZ));
		if (round % 11 == 0 && VARSIZE(state) - VARHDRSZ > 4)
			memset(VARDATA(state) + 4, 0xFF, VARSIZE(state) - VARHDRSZ - 4);

		server_catch = &catch;
		if (setjmp(catch) == 0)
		{
			uint64		result;
			uint64		hash = next_random();

			if (round % 2 == 0)
				shtext_sketch_state_add(state, hash);
			shtext_sketch_state_read(state, &sketch);
			shtext_sketch_add(&sketch, &hash, 1);
			shtext_sketch_state_write(state, &sketch);
			shtext_sketch_state_read(state, &sketch);
			passed &= shtext_sketch_result(&sketch, &result);
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

/*
 * The same for states of wide sketches.
 */
static void
test_forged_wide(void)
{
	volatile int nrefused = 0;
	volatile int ntaken = 0;
	volatile bool passed = true;

	for (volatile int round = 0; round < 100000; round++)
	{
		jmp_buf		catch;
		bytea	   *volatile state = shtext_wide_state_make(8 + round % 25 * 8);
		ShTextWideSketch *volatile sketch = shtext_wide_sketch_make(1 + round % 25);

		make_set(1 + round % 50, 0);
		shtext_wide_sketch_add(sketch, hashes, 1 + round % 50);
		shtext_wide_state_write(state, sketch);
		free(sketch);
		sketch = NULL;
		for (int i = next_random() % 3; i > 0; i--)
			VARDATA(state)[next_random() % (round % 2 ? 8 : VARSIZE(state) - VARHDRSZ)] = next_random();
		if (round % 10 == 0)
			SET_VARSIZE(state, VARHDRSZ + next_random() % (VARSIZE(state) - VARHDRSZ));

		server_catch = &catch;
		if (setjmp(catch) == 0)
		{
			uint8		result[512];

			if (round % 3 == 0)
				shtext_wide_state_add(state, next_random());
			sketch = shtext_wide_state_read(state);
			shtext_wide_state_write(state, sketch);
			passed &= shtext_wide_sketch_result(sketch, result, shtext_wide_state_width(state) / 8);
			ntaken++;
		}
		else
		{
			passed &= server_sqlstate == ERRCODE_INVALID_BINARY_REPRESENTATION;
			nrefused++;
		}
		server_catch = NULL;
		free(state);
		free(sketch);
	}
	printf("# %d refused, %d taken\n", nrefused, ntaken);
	report(passed && nrefused > 1000 && ntaken > 1000, "forged wide states",
		   "are refused or taken");
}

int
main(void)
{
	ShTextSketch sketch;
	uint64		result;

	shtext_sketch_init(&sketch);
	report(!shtext_sketch_result(&sketch, &result), "empty set", "has no fingerprint");

	with_text_kernels(test_definition);
	test_distances();
	with_text_kernels(test_wide);
	test_wide_distances();
	test_forged();
	test_forged_wide();
	return finish();
}
