/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  Aggregates: the fingerprint of features in rows.
 *
 * The states are byteas rather than pointers, so they need no serialization, and
 * engines that send partial states between servers can do so.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "text/states.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_agg_add);
PG_FUNCTION_INFO_V1(simhash_weighted_agg_add);
PG_FUNCTION_INFO_V1(simhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_agg_result);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_add);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_agg_add);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_result);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_agg_result);
PG_FUNCTION_INFO_V1(simhash_bands_agg_add);

/*
 * The state that is the first argument, which the caller may change; NULL if
 * there is none yet.
 *
 * In an aggregate, which *in_aggregate says, it is the server's copy for us alone.
 */
static bytea *
get_state(FunctionCallInfo fcinfo, bool *in_aggregate)
{
	*in_aggregate = AggCheckCallContext(fcinfo, NULL) != 0;
	if (PG_ARGISNULL(0))
		return NULL;
	return *in_aggregate ? PG_GETARG_BYTEA_P(0) : PG_GETARG_BYTEA_P_COPY(0);
}

static Datum
return_state(FunctionCallInfo fcinfo, bytea *state)
{
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(state);
}

/*
 * Add a row to the counters that are the first argument.
 *
 * In an aggregate, they were checked when they were passed in.  The numbers may be
 * anything if the aggregate was defined by a user.
 */
static Datum
add_counted(FunctionCallInfo fcinfo, bool counts, uint64 hash, int128 weight)
{
	bool		in_aggregate;
	bytea	   *state = get_state(fcinfo, &in_aggregate);

	if (state != NULL && in_aggregate)
		shtext_counter_state_check(state);
	else if (state != NULL)
		shtext_counter_state_verify(state);
	if (counts)
		state = shtext_counter_state_add(state != NULL ? state : shtext_counter_state_make(),
										 hash, weight);
	return return_state(fcinfo, state);
}

/*
 * simhash_agg_add(state bytea, hash bigint) -> bytea
 */
Datum
simhash_agg_add(PG_FUNCTION_ARGS)
{
	bool		counts = !PG_ARGISNULL(1);

	return add_counted(fcinfo, counts, counts ? (uint64) PG_GETARG_INT64(1) : 0, SHTEXT_WEIGHT_ONE);
}

/*
 * simhash_weighted_agg_add(state bytea, hash bigint, weight float8) -> bytea
 */
Datum
simhash_weighted_agg_add(PG_FUNCTION_ARGS)
{
	bool		counts = !PG_ARGISNULL(1) && !PG_ARGISNULL(2);

	return add_counted(fcinfo, counts, counts ? (uint64) PG_GETARG_INT64(1) : 0,
					   counts ? shtext_weight(PG_GETARG_FLOAT8(2)) : 0);
}

/*
 * simhash_agg_combine(state bytea, other bytea) -> bytea
 */
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	bytea	   *state = NULL;

	/*
	 * they may come from elsewhere, or from an aggregate that a user has
	 * defined
	 */
	for (int i = 0; i < 2; i++)
	{
		bytea	   *other;

		if (PG_ARGISNULL(i))
			continue;
		other = PG_GETARG_BYTEA_PP(i);
		shtext_counter_state_verify(other);
		state = state == NULL ? other : shtext_counter_state_combine(state, other);
	}
	return return_state(fcinfo, state);
}

/*
 * simhash_agg_result(state bytea) -> simhash
 *
 * Null if no row has a weight.
 */
Datum
simhash_agg_result(PG_FUNCTION_ARGS)
{
	bytea	   *state;
	ShFingerprint result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = PG_GETARG_BYTEA_PP(0);
	shtext_counter_state_verify(state);
	if (!shtext_counter_state_result(state, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

/*
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if two numbers are not the same, with a message
 * that has not been translated yet.
 */
static void
check_same(int number, int other, const char *message)
{
	if (number != other)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg_internal("%s", _(message)),
				 errdetail("It is %d in one row and %d in another.", number, other)));
}

/*
 * Raises the same error if sketches of rows are of different minima or widths.
 */
static void
check_same_kind(int minima, int other_minima, int width, int other_width)
{
	check_same(minima, other_minima, gettext_noop("number of minima must be the same in all rows"));
	if (minima == 0)
		check_same(width, other_width, gettext_noop("number of bits must be the same in all rows"));
	else
		check_same(width / SHBITS_WIDTH, other_width / SHBITS_WIDTH,
				   gettext_noop("number of bands must be the same in all rows"));
}

/*
 * Add a row to the sketch that is the first argument, for a result of width bits.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if it is of another width or minima.
 */
static bytea *
add_to_sketch(FunctionCallInfo fcinfo, uint64 hash, int width, int minima)
{
	int			state_width;
	int			state_minima;
	bool		in_aggregate;
	bytea	   *state = get_state(fcinfo, &in_aggregate);

	if (state == NULL)
	{
		ShTextSketch sketch;

		shtype_check_width(width);
		shtext_sketch_init(&sketch, width, minima);
		shtext_sketch_add(&sketch, &hash, 1);
		state = shtext_sketch_state_make(&sketch);
		shtext_sketch_free(&sketch);
		return state;
	}
	state_minima = shtext_sketch_state_head(state, &state_width);
	check_same_kind(state_minima, minima, state_width, width);
	shtext_sketch_state_add(state, hash);
	return state;
}

/*
 * simhash_minhash_agg_add(state bytea, hash bigint) -> bytea
 */
Datum
simhash_minhash_agg_add(PG_FUNCTION_ARGS)
{
	bool		in_aggregate;

	if (PG_ARGISNULL(1))
		return return_state(fcinfo, get_state(fcinfo, &in_aggregate));
	PG_RETURN_BYTEA_P(add_to_sketch(fcinfo, (uint64) PG_GETARG_INT64(1), SHBITS_WIDTH, 0));
}

/*
 * simhash_minhash_bits_agg_add(state bytea, hash bigint, bits integer) -> bytea
 */
Datum
simhash_minhash_bits_agg_add(PG_FUNCTION_ARGS)
{
	bool		in_aggregate;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return return_state(fcinfo, get_state(fcinfo, &in_aggregate));
	PG_RETURN_BYTEA_P(add_to_sketch(fcinfo, (uint64) PG_GETARG_INT64(1), PG_GETARG_INT32(2), 0));
}

/*
 * simhash_bands_agg_add(state bytea, hash bigint, minima integer, bands integer) -> bytea
 */
Datum
simhash_bands_agg_add(PG_FUNCTION_ARGS)
{
	bool		in_aggregate;
	int32		minima;
	int32		bands;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		return return_state(fcinfo, get_state(fcinfo, &in_aggregate));
	minima = PG_GETARG_INT32(2);
	bands = PG_GETARG_INT32(3);
	shtext_check_bands(minima, bands);
	PG_RETURN_BYTEA_P(add_to_sketch(fcinfo, (uint64) PG_GETARG_INT64(1),
									bands * SHBITS_WIDTH, minima));
}

/*
 * simhash_minhash_agg_combine(state bytea, other bytea) -> bytea, of all three aggregates
 */
Datum
simhash_minhash_agg_combine(PG_FUNCTION_ARGS)
{
	ShTextSketch sketches[2];
	int			n = 0;

	for (int i = 0; i < 2; i++)
	{
		if (!PG_ARGISNULL(i))
			shtext_sketch_state_read(PG_GETARG_BYTEA_PP(i), &sketches[n++]);
	}
	if (n == 0)
		PG_RETURN_NULL();
	if (n == 2)
	{
		check_same_kind(sketches[0].minima, sketches[1].minima,
						sketches[0].width, sketches[1].width);
		shtext_sketch_merge(&sketches[0], &sketches[1]);
	}
	PG_RETURN_BYTEA_P(shtext_sketch_state_make(&sketches[0]));
}

/*
 * simhash_minhash_agg_result(state bytea) -> simhash
 *
 * Null if there is no row.
 */
Datum
simhash_minhash_agg_result(PG_FUNCTION_ARGS)
{
	ShTextSketch sketch;
	ShFingerprint result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	shtext_sketch_state_read(PG_GETARG_BYTEA_PP(0), &sketch);
	if (sketch.width != SHBITS_WIDTH || sketch.minima != 0)
		shtext_report_invalid_state(gettext_noop("It has another number of bits."));
	shtext_sketch_result(&sketch, &result);
	PG_RETURN_SIMHASH(result);
}

/*
 * simhash_minhash_bits_agg_result(state bytea) -> simhash_bits, also of simhash_bands_agg
 *
 * Null if there is no row.
 */
Datum
simhash_minhash_bits_agg_result(PG_FUNCTION_ARGS)
{
	ShTextSketch sketch;
	ShFingerprint result[SHBITS_MAX_PARTS];

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	shtext_sketch_state_read(PG_GETARG_BYTEA_PP(0), &sketch);
	shtext_sketch_result(&sketch, result);
	PG_RETURN_BYTEA_P(shtype_bits_of_words(result, sketch.width));
}
