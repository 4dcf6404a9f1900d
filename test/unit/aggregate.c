/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  Tests of the states of the aggregates without a server: against sums that
 *	  are made otherwise, and with numbers that no rows have.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "compat.h"
#include "text/states.h"

#include "server.h"

#define NROWS		2000
#define NPARTS		7

#define MAX_NUMBERS	5000
#define WORDS_OFFSET	4

static bytea *
add(bytea *state, uint64 hash, int128 weight)
{
	bytea	   *result = shtext_counter_state_add(state, hash, weight);

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
	free(state);
	return result;
}

static uint64
counter(const ShTextMajority *majority, int bit)
{
	uint64		result = 0;

	for (int d = 0; d < SHTEXT_COUNTER_DIGITS; d++)
		result |= ((majority->digits[d] >> bit) & 1) << d;
	return result;
}

/*
 * Numbers are added to counters that are not zero.  kind 0: random, 1: all
 * bits set, so that every counter is as high as can be, 2: none, 3: few
 */
static void
test_majority(int kind, const char *what)
{
	static const int lengths[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 1024, MAX_NUMBERS};
	static uint64 numbers[MAX_NUMBERS];
	ShTextMajority majority = {0};
	uint64		expected[64] = {0};
	uint64		count = 0;
	uint64		most = 0;
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
		shtext_majority_add(&majority, numbers, lengths[l]);
		count += lengths[l];
		most = 0;
		for (int b = 0; b < 64; b++)
		{
			passed &= counter(&majority, b) == expected[b];
			most |= (uint64) (2 * expected[b] > count) << b;
		}
		passed &= majority.count == count && shtext_majority_result(&majority) == most;
	}
	report(passed, "majority", what);
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

/*
 * As many rows as can be counted, and one more.
 */
static void
test_full(void)
{
	bytea	   *full = shtext_counter_state_make();
	bytea	   *one = shtext_counter_state_add(shtext_counter_state_make(), 8, SHTEXT_WEIGHT_ONE);
	bytea	   *combined;
	bytea	   *more;
	uint64		result;
	bool		passed = true;

	memset(VARDATA(full) + WORDS_OFFSET, 0xFF, 4);
	memset(VARDATA(full) + WORDS_OFFSET + 4, 0xFF, 8);
	combined = shtext_counter_state_combine(full, one);
	more = shtext_counter_state_add(full, 8, SHTEXT_WEIGHT_ONE);
	passed &= more != full && VARSIZE(more) == VARSIZE(combined) &&
		memcmp(more, combined, VARSIZE(more)) == 0;
	shtext_counter_state_verify(more);
	passed &= shtext_counter_state_result(more, &result) && result == 3;
	report(passed, "rows", "more than can be counted");
	free(full);
	free(one);
	free(combined);
	free(more);
}

/* A state, with sums or without, of numbers that may be anything */
static bytea *
forge(void)
{
	static const Size lengths[] = {264, 1060};
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
	for (Size i = WORDS_OFFSET; i + 8 <= length; i += 8)
	{
		static const uint64 words[] = {
			0, 1, PG_UINT32_MAX, (uint64) PG_UINT32_MAX + 1, PG_UINT64_MAX, PG_INT64_MAX,
			UINT64CONST(1) << 63, UINT64CONST(1) << 62, (UINT64CONST(1) << 62) - 1
		};
		uint64		word = words[next_random() % lengthof(words)];

		if (next_random() % 8 == 0)
			word = next_random();
		if (next_random() % rare == 0)
			memcpy(data + i, &word, sizeof(word));
	}
	/* counters that are full, of few rows or of as many as can be counted */
	if (next_random() % 10 == 0)
		memset(data + WORDS_OFFSET, 0xFF, 260);
	if (next_random() % 20 == 0)
		memset(data + WORDS_OFFSET, 0, 4);
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
	test_majority(0, "of random numbers");
	test_majority(1, "of all bits");
	test_majority(2, "of none");
	test_majority(3, "of few");
	test_parts(0, "rows that are counted");
	test_parts(1, "rows of any weight");
	test_parts(2, "some of both");
	test_full();
	test_forged();
	return finish();
}
