/*-------------------------------------------------------------------------
 *
 * minhash_aggregate.c
 *	  The aggregate simhash_minhash_agg: fingerprint of minimum hashes of
 *	  features in rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "text/sketch_state.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_minhash_agg_add);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_result);

static bytea *get_state(FunctionCallInfo fcinfo);

/*
 * simhash_minhash_agg_add(state bytea, hash bigint) -> bytea
 */
Datum
simhash_minhash_agg_add(PG_FUNCTION_ARGS)
{
	bytea	   *state = get_state(fcinfo);

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
	bytea	   *state = get_state(fcinfo);

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
	uint64		result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	shtext_sketch_state_read(PG_GETARG_BYTEA_PP(0), &sketch);
	if (!shtext_sketch_result(&sketch, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

/*
 * Get the state from the first argument.  The caller may change it.  NULL if
 * there is none yet.  In an aggregate it is a private copy.
 */
static bytea *
get_state(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		return NULL;
	if (AggCheckCallContext(fcinfo, NULL))
		return PG_GETARG_BYTEA_P(0);
	return PG_GETARG_BYTEA_P_COPY(0);
}
