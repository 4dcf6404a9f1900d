/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  The aggregates simhash_agg and simhash_weighted_agg: fingerprint of
 *	  features in rows.
 *
 * They share all functions but the one that adds a row.  The state is a bytea
 * rather than a pointer, so it needs no serialization, and engines that send
 * partial states between servers can do so.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "text/aggregate_state.h"
#include "text/state_bytes.h"
#include "text/weights.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_agg_add);
PG_FUNCTION_INFO_V1(simhash_weighted_agg_add);
PG_FUNCTION_INFO_V1(simhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_agg_result);

static bytea *get_state(FunctionCallInfo fcinfo);

/*
 * simhash_agg_add(state bytea, hash bigint) -> bytea
 */
Datum
simhash_agg_add(PG_FUNCTION_ARGS)
{
	bytea	   *state = get_state(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		if (state == NULL)
			state = shtext_state_make();
		state = shtext_state_add(state, (uint64) PG_GETARG_INT64(1));
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
	bytea	   *state = get_state(fcinfo);

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		uint64		hash = (uint64) PG_GETARG_INT64(1);
		int128		weight = shtext_weight(PG_GETARG_FLOAT8(2));

		if (state == NULL)
			state = shtext_state_make();
		state = shtext_state_add_weighted(state, hash, weight);
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
	bytea	   *state = get_state(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		bytea	   *other = PG_GETARG_BYTEA_PP(1);

		/* the first one may have been made by a caller's own aggregate */
		shtext_state_verify(other);
		if (state == NULL)
			state = shtext_state_make();
		else
			shtext_state_verify(state);
		state = shtext_state_combine(state, other);
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
	uint64		result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = PG_GETARG_BYTEA_PP(0);
	shtext_state_verify(state);
	if (!shtext_state_result(state, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

/*
 * The state that is the first argument, which the caller may change; NULL if
 * there is none yet.
 *
 * In an aggregate it is the server's copy for us alone, and was checked when
 * it came in; it may then have any numbers if the aggregate is not ours.
 */
static bytea *
get_state(FunctionCallInfo fcinfo)
{
	bool		in_aggregate;
	bytea	   *state = shtext_get_state(fcinfo, &in_aggregate);

	if (state == NULL)
		return NULL;
	if (in_aggregate)
		shtext_state_check(state);
	else
		shtext_state_verify(state);
	return state;
}
