/*-------------------------------------------------------------------------
 *
 * states.c
 *	  Fuzzing of the aggregates' states, which anybody can pass to the functions: bytes
 *	  that are no state, and states that rows were added to.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "text/states.h"
#include "type/wide.h"

/* bytes of the two kinds of counters, and of a sketch of some bits */
#define COUNTED_LENGTH	(8 + 64 * 4)
#define SUMS_LENGTH		(36 + 64 * 16)
#define SKETCH_LENGTH(nparts)	(8 + (nparts) * (64 * 4 + 8))

/*
 * Bytes of the length of a state that begin as one, the rest from the input and then
 * repeated, so that few bytes make a state whose numbers are possible.
 */
static bytea *
take_state(const char *magic, Size length)
{
	char	   *bytes = palloc0(length);
	int			given = take_byte();
	int			period = 1 + take_byte() % 32;

	for (Size i = 0; i < length; i++)
		bytes[i] = i < given || i < period ? take_byte() : bytes[i - period];
	if (take_byte() % 16 != 0)
		memcpy(bytes, magic, 4);
	return (bytea *) make_varlena(bytes, length - take_byte() % 64 / 63);
}

static int128
take_weight(void)
{
	int			size = take_byte();
	double		weight;
	uint64		bits = take_integer(8);

	if (size % 4 == 0)
		return SHTEXT_WEIGHT_ONE;
	memcpy(&weight, &bits, sizeof(weight));
	return shtext_weight(weight);
}

/* as the server calls them: whatever a state is, rows can be added */
static bytea *
add_rows(bytea *state)
{
	shtext_counter_state_check(state);
	for (int n = take_byte() % 8; n > 0; n--)
	{
		int128		weight = take_weight();

		state = shtext_counter_state_add(state, take_integer(8), weight);
	}
	return state;
}

static bytea *
take_counters(void)
{
	switch (take_byte() % 3)
	{
		case 0:
			return add_rows(shtext_counter_state_make());
		case 1:
			return add_rows(take_state("sim\001", COUNTED_LENGTH));
		default:
			return add_rows(take_state("sim\001", SUMS_LENGTH));
	}
}

static void
fuzz_counters(void)
{
	bytea	   *first = take_counters();
	bytea	   *second = take_counters();
	bytea	   *both;
	bytea	   *reversed;
	ShFingerprint result;

	shtext_counter_state_verify(first);
	shtext_counter_state_result(first, &result);
	shtext_counter_state_verify(second);
	both = shtext_counter_state_combine(first, second);
	reversed = shtext_counter_state_combine(second, first);
	require(VARSIZE(both) == VARSIZE(reversed) && memcmp(both, reversed, VARSIZE(both)) == 0);
	shtext_counter_state_verify(both);
	shtext_counter_state_result(both, &result);
}

static bytea *
take_sketch(int width, int minima)
{
	ShTextSketch sketch;
	uint64		hash = take_integer(8);
	bytea	   *state;

	shtext_sketch_init(&sketch, width, minima);
	shtext_sketch_add(&sketch, &hash, 1);
	state = shtext_sketch_state_make(&sketch);
	if (take_byte() % 2)
	{
		state = take_state("min\001", SKETCH_LENGTH(sketch.nparts));
		if (VARSIZE_ANY_EXHDR(state) >= 8 && take_byte() % 16 != 0)
			shbits_store_bytes(VARDATA(state) + 4, width | minima << 16, 4);
	}
	shtext_sketch_state_head(state, &width);
	for (int n = take_byte() % 8; n > 0; n--)
		shtext_sketch_state_add(state, take_integer(8));
	return state;
}

static void
fuzz_sketches(void)
{
	int			minima = take_byte() % 12 % 9;
	int			width = minima == 0 ? 8 * (1 + take_byte() % 48) : 64 * (1 + take_byte() % 64);
	ShTextSketch first;
	ShTextSketch second;
	uint64		words[64];
	uint64		again[64];
	ShTextSketch copy;

	shtext_sketch_state_read(take_sketch(width, minima), &first);
	shtext_sketch_state_read(take_sketch(width, minima), &second);
	/* the first one may be for another result whose state has as many bytes */
	require(first.nparts == second.nparts);
	if (first.width != second.width || first.minima != second.minima)
		return;
	shtext_sketch_merge(&first, &second);
	require(shtext_sketch_result(&first, words));
	shtext_sketch_state_read(shtext_sketch_state_make(&first), &copy);
	require(shtext_sketch_result(&copy, again) &&
			memcmp(words, again, (first.width + 63) / 64 * sizeof(uint64)) == 0);
}

static void
fuzz_one(void)
{
	if (take_byte() % 2)
		fuzz_counters();
	else
		fuzz_sketches();
}
