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
#include "utils/snapmgr.h"

#include "batch/batch_call.h"
#include "batch/match_source.h"
#include "batch/result.h"
#include "batch/row_pairs.h"
#include "bits/distance.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_find_matches_in);

/* returns pairs */
typedef struct MatchSink
{
	ShBatchMatchSink sink;
	ShBatchRowPairs *pairs;
	ShBatchResult result;
	Oid			table;
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
 * Return a value of an array and a row.
 */
static void
return_value_and_row(void *arg, uint64 a_row, uint64 a_fp, uint64 b_row, uint64 b_fp)
{
	MatchSink  *sink = arg;
	ItemPointerData b;
	Datum		values[5];

	shbt_int_to_tid(b_row, &b);
	values[0] = SimhashGetDatum(a_fp);
	values[1] = PointerGetDatum(&b);
	values[2] = SimhashGetDatum(b_fp);
	values[3] = Int32GetDatum(shbits_distance(a_fp, b_fp));
	values[4] = ObjectIdGetDatum(sink->table);
	shbatch_result_add(&sink->result, values);
	shbatch_progress_found();
}

/*
 * simhash_find_matches_in(queries simhash[], index regclass, distance int) -> every
 * different value of the array with every row that the snapshot sees whose
 * fingerprint differs from it in at most distance bits, or as many as the index's
 * own distance if that is null.
 */
Datum
simhash_find_matches_in(PG_FUNCTION_ARGS)
{
	MatchSink	sink = {.sink = {.pair = collect_pair,.end = leave_buckets}};
	int			distance = SHBATCH_INDEX_DISTANCE;
	ShIdxOpened target;
	Snapshot	snapshot;
	ShBatchRows rows;
	ShBatchMatchSource input;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	if (!PG_ARGISNULL(2))
	{
		distance = PG_GETARG_INT32(2);
		shbatch_check_distance(distance);
	}
	shidx_open(PG_GETARG_OID(1), SHIDX_ACCESS_ROWS, &target);
	snapshot = RegisterSnapshot(GetActiveSnapshot());
	shidx_check_snapshot(target.index, snapshot);
	shbatch_progress_start(SHBATCH_FIND_MATCHES, RelationGetRelid(target.heap),
						   RelationGetRelid(target.index));
	shbatch_rows_begin(&rows, target.heap, target.index, snapshot);
	shbatch_matches_of_array(&input, PG_GETARG_ANY_ARRAY_P(0), target.index, snapshot, distance);

	shbatch_result_begin(&sink.result, (ReturnSetInfo *) fcinfo->resultinfo);
	sink.table = RelationGetRelid(target.heap);
	sink.pairs = shbatch_row_pairs_begin(&rows, true, return_value_and_row, &sink);
	shbatch_match_source_search(&input, &sink.sink);
	shbatch_row_pairs_finish(sink.pairs);

	shbatch_match_source_end(&input);
	shbatch_rows_end(&rows);
	shbatch_progress_end();
	UnregisterSnapshot(snapshot);
	shidx_close(&target);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(simhash_find_matches);
Datum
simhash_find_matches(PG_FUNCTION_ARGS)
{
	elog(ERROR, "not yet");
}
