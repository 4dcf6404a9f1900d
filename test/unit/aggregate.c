/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  Tests of the states of the aggregates without a server: against sums that
 *	  are made otherwise, and with numbers that no rows have.
 *
 * Prints TAP.  The exit status is 1 if a test failed, else 0.
 *
 *	make -C test/unit check
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "compat.h"
#include "text/counter_state.h"
#include "text/weights.h"

#include "server.h"

#define NROWS		2000
#define NPARTS		7

#define MAX_COUNT	((1 << 24) - 1)
#define WORDS_OFFSET	4

static bytea *
add(bytea *state, uint64 hash, int128 weight)
{
	bytea	   *result = shtext_counter_state_add_weighted(state, hash, weight);

	/* as the server does it */
	if (result != state)
		free(state);
	return result;
}

static bytea *
combine(bytea *state, const bytea *other)
{
	bytea	   *result;

	shtext_counter_state_verify(state);
	shtext_counter_state_verify(other);
	result = shtext_counter_state_combine(state, other);
	if (result != state)
		free(state);
	return result;
}

/*
 * Rows in parts that are combined, in any order, and all in one state.  kind 0:
 * weight 1 only, 1: any weights, 2: weights of some parts only
 */
static void
test_parts(int kind, const char *what)
{
	bool		passed = true;

	for (int round = 0; round < 20; round++)
	{
		bytea	   *parts[NPARTS];
		bytea	   *combined = shtext_counter_state_make();
		bytea	   *whole = shtext_counter_state_make();
		ShTextWeights weights = {0};
		uint64		expected;
		uint64		result;

		for (int p = 0; p < NPARTS; p++)
			parts[p] = shtext_counter_state_make();
		for (int i = 0; i < NROWS; i++)
		{
			int			p = next_random() % NPARTS;
			uint64		hash = next_random() & next_random();
			int128		weight = SHTEXT_WEIGHT_ONE;

			if (kind == 1 || (kind == 2 && p % 2 == 1))
				weight = (int128) (int64) next_random() * (1 << next_random() % 20);
			parts[p] = add(parts[p], hash, weight);
			whole = add(whole, hash, weight);
			shtext_weights_add(&weights, hash, weight);
		}
		for (int p = 0; p < NPARTS; p++)
			combined = combine(combined, parts[(p * 3 + round) % NPARTS]);

		passed &= shtext_weights_result(&weights, &expected);
		shtext_counter_state_verify(whole);
		passed &= shtext_counter_state_result(whole, &result) && result == expected;
		shtext_counter_state_verify(combined);
		passed &= shtext_counter_state_result(combined, &result) && result == expected;
		for (int p = 0; p < NPARTS; p++)
			free(parts[p]);
		free(combined);
		free(whole);
	}
	report(passed, "parts", what);
}

/* A state, with sums or without, of numbers that may be anything */
static bytea *
forge(void)
{
	static const Size lengths[] = {204, 1260};
	bytea	   *state = shtext_counter_state_make();
	Size		length = lengths[next_random() % 2];
	bytea	   *forged = calloc(1, VARHDRSZ + length);
	char	   *data = VARDATA(forged);
	int			rare = 1 + next_random() % 40;

	if (forged == NULL)
		bail_out("out of memory");
	memcpy(forged, state, VARSIZE(state));
	SET_VARSIZE(forged, VARHDRSZ + length);
	free(state);

	/* words of the extremes and around them, and any others */
	for (Size i = WORDS_OFFSET; i < length; i += 8)
	{
		static const uint64 words[] = {
			0, 1, MAX_COUNT, MAX_COUNT + 1, PG_UINT64_MAX, PG_INT64_MAX,
			UINT64CONST(1) << 63, UINT64CONST(1) << 62, (UINT64CONST(1) << 62) - 1
		};
		uint64		word = words[next_random() % lengthof(words)];

		if (next_random() % 8 == 0)
			word = next_random();
		if (next_random() % rare == 0)
			memcpy(data + i, &word, sizeof(word));
	}
	/* counters that are full, of few rows */
	if (next_random() % 10 == 0)
	{
		memset(data + WORDS_OFFSET, 0, 8);
		memset(data + WORDS_OFFSET + 8, 0xFF, 192);
	}
	return forged;
}

/*
 * Whatever is done with a forged state, there is no overflow and no access
 * beyond it, which the sanitizers watch; it is refused, or counted as it is.
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
		bytea	   *volatile state = forge();
		bytea	   *volatile other = forge();

		server_catch = &catch;
		if (setjmp(catch) == 0)
		{
			uint64		result;

			/* as in an aggregate: only the head is checked */
			if (round % 2 == 0)
			{
				shtext_counter_state_check(state);
				for (int i = 0; i < 3; i++)
					state = add(state, next_random(),
								i == 1 ? (int128) (int64) next_random() * (1 << 30) : SHTEXT_WEIGHT_ONE);
			}
			if (round % 3 == 0)
				state = combine(state, other);
			shtext_counter_state_verify(state);
			shtext_counter_state_result(state, &result);
			ntaken++;
		}
		else
		{
			passed &= server_sqlstate == ERRCODE_INVALID_BINARY_REPRESENTATION ||
				server_sqlstate == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
			nrefused++;
		}
		server_catch = NULL;
		free(state);
		free(other);
	}
	printf("# %d refused, %d taken\n", nrefused, ntaken);
	report(passed && nrefused > 1000 && ntaken > 1000, "forged states",
		   "are refused or taken");
}

int
main(void)
{
	test_parts(0, "rows that are counted");
	test_parts(1, "rows of any weight");
	test_parts(2, "some of both");
	test_forged();
	return finish();
}
