/*-------------------------------------------------------------------------
 *
 * counter_state.c
 *	  Transition states of simhash_agg and simhash_weighted_agg, as a bytea.
 *
 * Most rows have weight 1 and are only counted, which changes some seven
 * words.  Sums of weights are kept when a row has another weight.
 *
 * Anyone can call the functions in SQL, with any state.  The functions that
 * add a row check only the header, and are safe with any numbers.  The numbers
 * are verified when a state comes from elsewhere, and before the result is
 * computed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/counter_state.h"
#include "text/majority.h"
#include "text/state_bytes.h"
#include "text/weights.h"

#define MAGIC			"sim\001"

/* digits of a counter, and so the most rows that are counted */
#define DIGITS			24
#define MAX_COUNT		((UINT64CONST(1) << DIGITS) - 1)

#define COUNT_OFFSET	SHTEXT_MAGIC_LENGTH
#define DIGITS_OFFSET	(COUNT_OFFSET + 8)
#define SUMS_OFFSET		(DIGITS_OFFSET + DIGITS * 8)
#define MAGNITUDE_OFFSET	SUMS_OFFSET
#define TOTAL_OFFSET	(MAGNITUDE_OFFSET + 16)
#define ONES_OFFSET		(TOTAL_OFFSET + 16)

/* the two lengths of a state */
#define COUNTED_LENGTH	SUMS_OFFSET
#define WEIGHTED_LENGTH	(ONES_OFFSET + SHBITS_WIDTH * 16)

/* The numbers of a state */
typedef struct Numbers
{
	uint64		count;
	uint64		digits[DIGITS];
	bool		weighted;		/* are there sums? */
	ShTextWeights sums;			/* all 0 if not */
} Numbers;

static inline uint128
get_int128(const char *at)
{
	return (uint128) shtext_get_uint64(at + 8) << 64 | shtext_get_uint64(at);
}

static inline void
put_int128(char *at, uint128 x)
{
	shtext_put_uint64(at, (uint64) x);
	shtext_put_uint64(at + 8, (uint64) (x >> 64));
}

/*
 * Make a state without rows.
 */
bytea *
shtext_counter_state_make(void)
{
	return shtext_make_state_bytes(MAGIC, COUNTED_LENGTH);
}

/*
 * Check the length and the header, on which the functions below rely.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION.
 */
void
shtext_counter_state_check(const bytea *state)
{
	Size		length = VARSIZE_ANY_EXHDR(state);

	shtext_check_state_head(state, MAGIC,
							length == COUNTED_LENGTH || length == WEIGHTED_LENGTH);
}

static void
read_numbers(const bytea *state, Numbers *numbers)
{
	const char *data = VARDATA_ANY(state);

	memset(numbers, 0, sizeof(*numbers));
	numbers->count = shtext_get_uint64(data + COUNT_OFFSET);
	for (int d = 0; d < DIGITS; d++)
		numbers->digits[d] = shtext_get_uint64(data + DIGITS_OFFSET + d * 8);

	numbers->weighted = (VARSIZE_ANY_EXHDR(state) == WEIGHTED_LENGTH);
	if (numbers->weighted)
	{
		numbers->sums.magnitude = get_int128(data + MAGNITUDE_OFFSET);
		numbers->sums.total = (int128) get_int128(data + TOTAL_OFFSET);
		for (int i = 0; i < SHBITS_WIDTH; i++)
			numbers->sums.ones[i] =
				(int128) get_int128(data + ONES_OFFSET + i * 16);
	}
}

/*
 * Also check that the numbers are possible, on which all computations rely.
 * Raises the same error.
 */
void
shtext_counter_state_verify(const bytea *state)
{
	Numbers		numbers;

	shtext_counter_state_check(state);
	read_numbers(state, &numbers);

	if (numbers.count > MAX_COUNT ||
		shtext_counters_above(numbers.digits, DIGITS, numbers.count) != 0)
		shtext_report_invalid_state(gettext_noop("Its counters contradict each other."));
	if (!shtext_weights_are_possible(&numbers.sums))
		shtext_report_invalid_state(gettext_noop("Its sums contradict each other."));
}

/*
 * Copy a state without sums, with room for them.
 */
static bytea *
enlarge(bytea *state)
{
	bytea	   *larger = palloc0(VARHDRSZ + WEIGHTED_LENGTH);

	SET_VARSIZE(larger, VARHDRSZ + WEIGHTED_LENGTH);
	memcpy(VARDATA(larger), VARDATA(state), COUNTED_LENGTH);
	return larger;
}

/*
 * Write all numbers.  The state has room for sums if there are any.
 */
static void
write_numbers(bytea *state, const Numbers *numbers)
{
	char	   *data = VARDATA(state);

	shtext_put_uint64(data + COUNT_OFFSET, numbers->count);
	for (int d = 0; d < DIGITS; d++)
		shtext_put_uint64(data + DIGITS_OFFSET + d * 8, numbers->digits[d]);
	if (numbers->weighted)
	{
		put_int128(data + MAGNITUDE_OFFSET, numbers->sums.magnitude);
		put_int128(data + TOTAL_OFFSET, (uint128) numbers->sums.total);
		for (int i = 0; i < SHBITS_WIDTH; i++)
			put_int128(data + ONES_OFFSET + i * 16,
					   (uint128) numbers->sums.ones[i]);
	}
}

/*
 * Add the counted rows to sums.
 */
static void
add_counters(ShTextWeights *sums, const Numbers *numbers)
{
	ShTextWeights counted;

	counted.total = numbers->count * SHTEXT_WEIGHT_ONE;
	counted.magnitude = counted.total;
	for (int i = 0; i < SHBITS_WIDTH; i++)
	{
		uint64		counter = 0;

		for (int d = 0; d < DIGITS; d++)
			counter |= ((numbers->digits[d] >> i) & 1) << d;
		counted.ones[i] = counter * SHTEXT_WEIGHT_ONE;
	}
	shtext_weights_combine(sums, &counted);
}

/*
 * Move the counters of a state, with any numbers, to the sums.  Returns like
 * shtext_counter_state_add, with the same errors.
 */
static bytea *
move_to_sums(bytea *state)
{
	Numbers		numbers;

	shtext_counter_state_verify(state);
	if (VARSIZE(state) != VARHDRSZ + WEIGHTED_LENGTH)
		state = enlarge(state);
	read_numbers(state, &numbers);
	add_counters(&numbers.sums, &numbers);
	numbers.count = 0;
	memset(numbers.digits, 0, sizeof(numbers.digits));
	write_numbers(state, &numbers);
	return state;
}

/*
 * Add a row of weight 1 to a checked state, in place if there is room.
 * Returns the state; if it is a new one, the caller frees the argument.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION if the numbers are impossible,
 * and ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if the sums become too large.
 */
bytea *
shtext_counter_state_add(bytea *state, uint64 hash)
{
	char	   *data = VARDATA(state);
	uint64		count = shtext_get_uint64(data + COUNT_OFFSET);
	uint64		carry = hash;

	if (unlikely(count >= MAX_COUNT))
	{
		state = move_to_sums(state);
		data = VARDATA(state);
		count = 0;
	}

	/* increment the counters whose bit is set */
	for (char *digit = data + DIGITS_OFFSET; carry != 0; digit += 8)
	{
		uint64		sum;

		if (unlikely(digit == data + SUMS_OFFSET))
			shtext_report_invalid_state(gettext_noop("Its counters contradict each other."));
		sum = shtext_get_uint64(digit);
		shtext_put_uint64(digit, sum ^ carry);
		carry &= sum;
	}
	shtext_put_uint64(data + COUNT_OFFSET, count + 1);
	return state;
}

/*
 * The same for a row of any weight.
 */
bytea *
shtext_counter_state_add_weighted(bytea *state, uint64 hash, int128 weight)
{
	char	   *data;

	if (weight == SHTEXT_WEIGHT_ONE)
		return shtext_counter_state_add(state, hash);

	if (VARSIZE(state) != VARHDRSZ + WEIGHTED_LENGTH)
		state = enlarge(state);
	data = VARDATA(state);
	put_int128(data + MAGNITUDE_OFFSET,
			   shtext_add_magnitudes(get_int128(data + MAGNITUDE_OFFSET),
									 shtext_absolute(weight)));

	/* unsigned, so that impossible numbers do no harm */
	put_int128(data + TOTAL_OFFSET,
			   get_int128(data + TOTAL_OFFSET) + (uint128) weight);
	for (int i = 0; i < SHBITS_WIDTH; i++)
	{
		char	   *ones = data + ONES_OFFSET + i * 16;

		put_int128(ones, get_int128(ones) +
				   ((uint128) weight & -(uint128) ((hash >> i) & 1)));
	}
	return state;
}

/*
 * Add the rows of another state, in place if there is room.  Both have been
 * verified; returns as shtext_counter_state_add does.
 *
 * Raises ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if the sums become too large.
 */
bytea *
shtext_counter_state_combine(bytea *state, const bytea *other)
{
	Numbers		numbers;
	Numbers		others;

	read_numbers(state, &numbers);
	read_numbers(other, &others);

	if (numbers.count + others.count <= MAX_COUNT)
	{
		uint64		carry = 0;

		numbers.count += others.count;
		for (int d = 0; d < DIGITS; d++)
			carry = shtext_add_digits(&numbers.digits[d], others.digits[d],
									  carry);
		Assert(carry == 0);
	}
	else
	{
		add_counters(&numbers.sums, &others);
		numbers.weighted = true;
	}
	if (others.weighted)
	{
		shtext_weights_combine(&numbers.sums, &others.sums);
		numbers.weighted = true;
	}

	if (numbers.weighted && VARSIZE(state) != VARHDRSZ + WEIGHTED_LENGTH)
		state = enlarge(state);
	write_numbers(state, &numbers);
	return state;
}

/*
 * Compute the fingerprint of a verified state.  Returns false if no row has a
 * weight, so that there is no fingerprint.
 *
 * Raises ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if the sums are too large.
 */
bool
shtext_counter_state_result(const bytea *state, ShFingerprint *result)
{
	Numbers		numbers;

	read_numbers(state, &numbers);
	if (!numbers.weighted)
	{
		*result = shtext_counters_above(numbers.digits, DIGITS,
										numbers.count / 2);
		return numbers.count > 0;
	}
	add_counters(&numbers.sums, &numbers);
	return shtext_weights_result(&numbers.sums, result);
}
