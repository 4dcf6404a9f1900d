/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  Aggregates: the fingerprint of features in rows.
 *
 * simhash_agg and simhash_weighted_agg share all functions but the one that
 * adds a row.  The states are byteas rather than pointers, so they need no
 * serialization, and engines that send partial states between servers can do
 * so.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "text/counter_state.h"
#include "text/sketch_state.h"
#include "text/state_bytes.h"
#include "text/weights.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_agg_add);
PG_FUNCTION_INFO_V1(simhash_weighted_agg_add);
PG_FUNCTION_INFO_V1(simhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_agg_result);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_add);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_result);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_agg_add);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_agg_combine);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_agg_result);

/*
 * Get the counters from the first argument, which the caller may change; NULL if
 * there are none yet.
 *
 * In an aggregate, they were checked when they were passed in.  The numbers may be
 * anything if the aggregate was defined by a user.
 */
static bytea *
get_counter_state(FunctionCallInfo fcinfo)
{
	bool		in_aggregate;
	bytea	   *state = shtext_get_state(fcinfo, &in_aggregate);

	if (state == NULL)
		return NULL;
	if (in_aggregate)
		shtext_counter_state_check(state);
	else
		shtext_counter_state_verify(state);
	return state;
}

/*
 * simhash_agg_add(state bytea, hash bigint) -> bytea
 */
Datum
simhash_agg_add(PG_FUNCTION_ARGS)
{
	bytea	   *state = get_counter_state(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		if (state == NULL)
			state = shtext_counter_state_make();
		state = shtext_counter_state_add(state, (uint64) PG_GETARG_INT64(1));
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(state);
}

/*
 * simhash_weighted_agg_add(state bytea, hash bigint, weight float8) -> bytea
 */
Datum
simhash_weighted_agg_add(PG_FUNCTION_ARGS)
{
	bytea	   *state = get_counter_state(fcinfo);

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		uint64		hash = (uint64) PG_GETARG_INT64(1);
		int128		weight = shtext_weight(PG_GETARG_FLOAT8(2));

		if (state == NULL)
			state = shtext_counter_state_make();
		state = shtext_counter_state_add_weighted(state, hash, weight);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(state);
}

/*
 * simhash_agg_combine(state bytea, other bytea) -> bytea
 */
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	bytea	   *state = get_counter_state(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		bytea	   *other = PG_GETARG_BYTEA_PP(1);

		/* the first one may come from a user-defined aggregate */
		shtext_counter_state_verify(other);
		if (state == NULL)
			state = shtext_counter_state_make();
		else
			shtext_counter_state_verify(state);
		state = shtext_counter_state_combine(state, other);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(state);
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
 * simhash_minhash_agg_add(state bytea, hash bigint) -> bytea
 */
Datum
simhash_minhash_agg_add(PG_FUNCTION_ARGS)
{
	bool		in_aggregate;
	bytea	   *state = shtext_get_state(fcinfo, &in_aggregate);

	if (!PG_ARGISNULL(1))
	{
		uint64		hash = (uint64) PG_GETARG_INT64(1);

		if (state == NULL)
		{
			ShTextSketch sketch;

			shtext_sketch_init(&sketch);
			shtext_sketch_add(&sketch, &hash, 1);
			state = shtext_sketch_state_make();
			shtext_sketch_state_write(state, &sketch);
		}
		else
			shtext_sketch_state_add(state, hash);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(state);
}

/*
 * simhash_minhash_agg_combine(state bytea, other bytea) -> bytea
 */
Datum
simhash_minhash_agg_combine(PG_FUNCTION_ARGS)
{
	bool		in_aggregate;
	bytea	   *state = shtext_get_state(fcinfo, &in_aggregate);

	if (!PG_ARGISNULL(1))
	{
		ShTextSketch sketch;
		ShTextSketch other;

		shtext_sketch_state_read(PG_GETARG_BYTEA_PP(1), &other);
		if (state == NULL)
		{
			state = shtext_sketch_state_make();
			sketch = other;
		}
		else
		{
			shtext_sketch_state_read(state, &sketch);
			shtext_sketch_merge(&sketch, &other);
		}
		shtext_sketch_state_write(state, &sketch);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(state);
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
	if (!shtext_sketch_result(&sketch, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

/*
 * simhash_minhash_bits_agg_add(state bytea, hash bigint, bits integer) -> bytea
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if the number of bits is not the same
 * in all rows.
 */
Datum
simhash_minhash_bits_agg_add(PG_FUNCTION_ARGS)
{
	bool		in_aggregate;
	bytea	   *state = shtext_get_state(fcinfo, &in_aggregate);

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		uint64		hash = (uint64) PG_GETARG_INT64(1);
		int32		width = PG_GETARG_INT32(2);

		if (state == NULL)
		{
			ShTextWideSketch *sketch;

			shtype_check_width(width);
			sketch = shtext_wide_sketch_make(width / BITS_PER_BYTE);
			shtext_wide_sketch_add(sketch, &hash, 1);
			state = shtext_wide_state_make(width);
			shtext_wide_state_write(state, sketch);
			pfree(sketch);
		}
		else if (shtext_wide_state_width(state) != width)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number of bits must be the same in all rows"),
					 errdetail("It is %d in one row and %d in another.",
							   shtext_wide_state_width(state), width)));
		else
			shtext_wide_state_add(state, hash);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(state);
}

/*
 * simhash_minhash_bits_agg_combine(state bytea, other bytea) -> bytea
 */
Datum
simhash_minhash_bits_agg_combine(PG_FUNCTION_ARGS)
{
	bool		in_aggregate;
	bytea	   *state = shtext_get_state(fcinfo, &in_aggregate);

	if (!PG_ARGISNULL(1))
	{
		bytea	   *other = PG_GETARG_BYTEA_PP(1);
		ShTextWideSketch *sketch = shtext_wide_state_read(other);
		int			width = shtext_wide_state_width(other);

		if (state == NULL)
			state = shtext_wide_state_make(width);
		else
		{
			if (shtext_wide_state_width(state) != width)
				shtext_report_invalid_state(gettext_noop("The other state has another number of bits."));
			shtext_wide_sketch_merge(sketch, shtext_wide_state_read(state));
		}
		shtext_wide_state_write(state, sketch);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(state);
}

/*
 * simhash_minhash_bits_agg_result(state bytea) -> simhash_bits
 *
 * Null if there is no row.
 */
Datum
simhash_minhash_bits_agg_result(PG_FUNCTION_ARGS)
{
	bytea	   *state;
	int			nbytes;
	uint8		result[SIMHASH_BITS_MAX_BYTES];

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = PG_GETARG_BYTEA_PP(0);
	nbytes = shtext_wide_state_width(state) / BITS_PER_BYTE;
	if (!shtext_wide_sketch_result(shtext_wide_state_read(state), result, nbytes))
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(shtype_new_bits(result, nbytes));
}
