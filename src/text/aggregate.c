/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  The aggregate simhash_agg: fingerprint of features in rows.
 *
 * Both variants have the same state.  Rows of weight 1 are only counted; sums
 * of weights are made when a row has another weight, or when states are
 * combined.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "libpq/pqformat.h"

#include "compat.h"
#include "text/majority.h"
#include "text/weights.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_agg_add);
PG_FUNCTION_INFO_V1(simhash_agg_add_weighted);
PG_FUNCTION_INFO_V1(simhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_agg_serialize);
PG_FUNCTION_INFO_V1(simhash_agg_deserialize);
PG_FUNCTION_INFO_V1(simhash_agg_result);

typedef struct AggState
{
	ShTextMajority majority;	/* of the rows of weight 1 */
	ShTextWeights *weights;		/* of all others; NULL if there are none */
} AggState;

static AggState *get_state(FunctionCallInfo fcinfo, int argument);
static AggState *make_state(FunctionCallInfo fcinfo);
static ShTextWeights *get_weights(FunctionCallInfo fcinfo, AggState *state);
static void sum_up(const AggState *state, ShTextWeights *weights);
static void send_int128(StringInfo buffer, int128 value);
static int128 receive_int128(StringInfo buffer);

/*
 * Transition of simhash_agg(hash bigint)
 */
Datum
simhash_agg_add(PG_FUNCTION_ARGS)
{
	AggState   *state = get_state(fcinfo, 0);

	if (!PG_ARGISNULL(1))
	{
		uint64		hash = (uint64) PG_GETARG_INT64(1);

		if (state == NULL)
			state = make_state(fcinfo);
		shtext_majority_add(&state->majority, &hash, 1);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

/*
 * Transition of simhash_agg(hash bigint, weight float8)
 */
Datum
simhash_agg_add_weighted(PG_FUNCTION_ARGS)
{
	AggState   *state = get_state(fcinfo, 0);

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		uint64		hash = (uint64) PG_GETARG_INT64(1);
		int128		weight = shtext_weight(PG_GETARG_FLOAT8(2));

		if (state == NULL)
			state = make_state(fcinfo);
		if (weight == SHTEXT_WEIGHT_ONE)
			shtext_majority_add(&state->majority, &hash, 1);
		else
			shtext_weights_add(get_weights(fcinfo, state), hash, weight);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

/*
 * Add the second state to the first.
 */
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	AggState   *state = get_state(fcinfo, 0);
	AggState   *other = get_state(fcinfo, 1);

	if (other != NULL)
	{
		ShTextWeights weights;

		if (state == NULL)
			state = make_state(fcinfo);
		sum_up(other, &weights);
		shtext_weights_combine(get_weights(fcinfo, state), &weights);
	}
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

/*
 * A state as a bytea: all sums, as numbers of 128 bits in network byte order.
 */
Datum
simhash_agg_serialize(PG_FUNCTION_ARGS)
{
	AggState   *state = get_state(fcinfo, 0);
	ShTextWeights weights;
	StringInfoData buffer;

	Assert(state != NULL);		/* declared strict */
	sum_up(state, &weights);

	pq_begintypsend(&buffer);
	send_int128(&buffer, (int128) weights.magnitude);
	send_int128(&buffer, weights.total);
	for (int i = 0; i < 64; i++)
		send_int128(&buffer, weights.ones[i]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

/*
 * The inverse
 */
Datum
simhash_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *serialized;
	StringInfoData buffer;
	AggState   *state;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");

	serialized = PG_GETARG_BYTEA_PP(0);
	initStringInfo(&buffer);
	appendBinaryStringInfo(&buffer, VARDATA_ANY(serialized),
						   VARSIZE_ANY_EXHDR(serialized));

	/* in the current context: the combine function copies it */
	state = palloc0(sizeof(AggState));
	state->weights = palloc0(sizeof(ShTextWeights));
	state->weights->magnitude = (uint128) receive_int128(&buffer);
	state->weights->total = receive_int128(&buffer);
	for (int i = 0; i < 64; i++)
		state->weights->ones[i] = receive_int128(&buffer);
	pq_getmsgend(&buffer);
	pfree(buffer.data);
	PG_RETURN_POINTER(state);
}

/*
 * The fingerprint, null if no row has a weight.
 */
Datum
simhash_agg_result(PG_FUNCTION_ARGS)
{
	AggState   *state = get_state(fcinfo, 0);
	ShTextWeights weights;
	uint64		result;

	if (state == NULL)
		PG_RETURN_NULL();
	sum_up(state, &weights);
	if (!shtext_weights_result(&weights, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

/*
 * The state that is an argument, NULL if there is none yet.
 */
static AggState *
get_state(FunctionCallInfo fcinfo, int argument)
{
	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return PG_ARGISNULL(argument) ? NULL :
		(AggState *) PG_GETARG_POINTER(argument);
}

static AggState *
make_state(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return MemoryContextAllocZero(context, sizeof(AggState));
}

/*
 * The sums of a state, to be added to.
 */
static ShTextWeights *
get_weights(FunctionCallInfo fcinfo, AggState *state)
{
	MemoryContext context;

	if (state->weights == NULL)
	{
		if (!AggCheckCallContext(fcinfo, &context))
			elog(ERROR, "aggregate function called in non-aggregate context");
		state->weights = MemoryContextAllocZero(context,
												sizeof(ShTextWeights));
	}
	return state->weights;
}

/*
 * The sums of all rows of a state, those of weight 1 included.
 */
static void
sum_up(const AggState *state, ShTextWeights *weights)
{
	ShTextWeights counted;

	counted.total = state->majority.count * SHTEXT_WEIGHT_ONE;
	counted.magnitude = counted.total;
	for (int i = 0; i < 64; i++)
		counted.ones[i] =
			shtext_majority_counter(&state->majority, i) * SHTEXT_WEIGHT_ONE;

	if (state->weights != NULL)
		shtext_weights_combine(&counted, state->weights);
	*weights = counted;
}

static void
send_int128(StringInfo buffer, int128 value)
{
	pq_sendint64(buffer, (uint64) ((uint128) value >> 64));
	pq_sendint64(buffer, (uint64) value);
}

static int128
receive_int128(StringInfo buffer)
{
	uint64		high = pq_getmsgint64(buffer);
	uint64		low = pq_getmsgint64(buffer);

	return (int128) ((uint128) high << 64 | low);
}
