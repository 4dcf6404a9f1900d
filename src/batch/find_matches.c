/*-------------------------------------------------------------------------
 *
 * find_matches.c
 *	  SQL functions that return the pairs of near-duplicates between two sides.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"

#include "batch/batch_call.h"
#include "batch/match_source.h"
#include "batch/result.h"
#include "batch/row_pairs.h"
#include "bits/distance.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_find_matches);
PG_FUNCTION_INFO_V1(simhash_find_matches_in);

/* returns pairs */
typedef struct MatchSink
{
	ShBatchMatchSink sink;
	ShBatchRowPairs *pairs;
	ShBatchResult result;
	const ShBatchTables *tables;
} MatchSink;

static void
collect_pair(ShBatchMatchSink *base, const ShBatchBucket *a, size_t i,
			 const ShBatchBucket *b, size_t j)
{
	MatchSink  *sink = (MatchSink *) base;

	shbatch_row_pairs_add(sink->pairs, a, i, b, j);
}

static void
leave_buckets(ShBatchMatchSink *base)
{
	MatchSink  *sink = (MatchSink *) base;

	shbatch_row_pairs_leave(sink->pairs);
}

/*
 * Return a row of side a and one of side b, of the same kind.
 */
static void
return_rows(void *arg, uint64 a_row, uint64 a_fp, uint64 b_row, uint64 b_fp)
{
	MatchSink  *sink = arg;
	ItemPointerData a;
	ItemPointerData b;
	Datum		values[7];

	values[5] = ObjectIdGetDatum(shbatch_name_row(sink->tables, a_row, &a));
	values[6] = ObjectIdGetDatum(shbatch_name_row(sink->tables, b_row, &b));
	values[0] = PointerGetDatum(&a);
	values[1] = PointerGetDatum(&b);
	values[2] = SimhashGetDatum(a_fp);
	values[3] = SimhashGetDatum(b_fp);
	values[4] = Int32GetDatum(shbits_distance(a_fp, b_fp));
	shbatch_result_add(&sink->result, values);
	shbatch_progress_found();
}

/*
 * Return a value of the array, and a row.
 */
static void
return_value_and_row(void *arg, uint64 a_row, uint64 a_fp, uint64 b_row, uint64 b_fp)
{
	MatchSink  *sink = arg;
	ItemPointerData b;
	Datum		values[5];

	values[4] = ObjectIdGetDatum(shbatch_name_row(sink->tables, b_row, &b));
	values[0] = SimhashGetDatum(a_fp);
	values[1] = PointerGetDatum(&b);
	values[2] = SimhashGetDatum(b_fp);
	values[3] = Int32GetDatum(shbits_distance(a_fp, b_fp));
	shbatch_result_add(&sink->result, values);
	shbatch_progress_found();
}

/*
 * Find all pairs and return them by a function; then end the call.
 */
static void
return_matches(ShBatchCall *call, ShBatchMatchSource *input, bool of_values,
			   ShBatchRowPairFunction found)
{
	MatchSink	sink = {.sink = {.pair = collect_pair,.end = leave_buckets}};

	sink.tables = &call->tables;
	shbatch_result_begin(&sink.result, call->result);
	sink.pairs = shbatch_row_pairs_begin(&call->rows, of_values, found, &sink);
	shbatch_match_source_search(input, &sink.sink);
	shbatch_row_pairs_finish(sink.pairs);

	shbatch_match_source_end(input);
	shbatch_end_tables(call);
}

/*
 * simhash_find_matches(a regclass, b regclass, distance int) -> every row of index a
 * with every row of index b, of those that the snapshot sees, whose fingerprints
 * differ in at most distance bits, or if that is null as many as both indexes are for.
 */
Datum
simhash_find_matches(PG_FUNCTION_ARGS)
{
	ShBatchCall call;
	ShBatchMatchSource input;
	Oid			indexes[2];

	InitMaterializedSRF(fcinfo, 0);
	call.result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;

	if (!PG_ARGISNULL(2))
		shbatch_check_distance(PG_GETARG_INT32(2));
	indexes[0] = PG_GETARG_OID(0);
	indexes[1] = PG_GETARG_OID(1);
	if (indexes[0] == indexes[1])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("both sides are the same index"),
				 errhint("Use simhash_find_all to find the pairs of one index.")));
	shbatch_begin_tables(&call, SHBATCH_FIND_MATCHES, indexes, 2, true);
	shbatch_match_source_tables(&input, &call.tables, call.snapshot,
								!PG_ARGISNULL(2) ? PG_GETARG_INT32(2) :
								Min(shidx_named_distance(&call.tables.sides[0]),
									shidx_named_distance(&call.tables.sides[1])));
	return_matches(&call, &input, false, return_rows);
	return (Datum) 0;
}

/*
 * simhash_find_matches_in(queries simhash[], index regclass, distance int) -> every
 * different value of the array with every row that the snapshot sees whose
 * fingerprint differs from it in at most distance bits, or if that is null as many as
 * the index is for.
 */
Datum
simhash_find_matches_in(PG_FUNCTION_ARGS)
{
	ShBatchCall call;
	ShBatchMatchSource input;
	Oid			index;

	InitMaterializedSRF(fcinfo, 0);
	call.result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;

	if (!PG_ARGISNULL(2))
		shbatch_check_distance(PG_GETARG_INT32(2));
	index = PG_GETARG_OID(1);
	shbatch_begin_tables(&call, SHBATCH_FIND_MATCHES, &index, 1, false);
	shbatch_match_source_array(&input, PG_GETARG_ANY_ARRAY_P(0), &call.tables, call.snapshot,
							   !PG_ARGISNULL(2) ? PG_GETARG_INT32(2) :
							   shidx_named_distance(&call.tables.sides[0]));
	return_matches(&call, &input, true, return_value_and_row);
	return (Datum) 0;
}
