/*-------------------------------------------------------------------------
 *
 * find_all.c
 *	  SQL functions that return all pairs of near-duplicates.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "batch/batch_call.h"
#include "batch/result.h"
#include "batch/row_pairs.h"
#include "bits/distance.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_find_all);
PG_FUNCTION_INFO_V1(simhash_find_all_in);

/* returns pairs of rows */
typedef struct RowPairSink
{
	ShBatchSink sink;
	ShBatchRowPairs *pairs;
	ShBatchResult result;
	const ShBatchTables *tables;
} RowPairSink;

/*
 * Return a pair of rows of the same kind, the one with the lower number first.
 */
static void
return_rows(void *arg, uint64 a_row, uint64 a_fp, uint64 b_row, uint64 b_fp)
{
	RowPairSink *sink = arg;
	ItemPointerData a;
	ItemPointerData b;
	Datum		values[7];

	if (a_row > b_row)
	{
		return_rows(arg, b_row, b_fp, a_row, a_fp);
		return;
	}
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
 * Equal fingerprints share all prefixes: their pairs belong to the first walk.
 */
static void
collect_repeated(ShBatchSink *base, const ShBatchBucket *bucket)
{
	RowPairSink *sink = (RowPairSink *) base;

	if (bucket->first_walk && bucket->nrows > bucket->nkeys)
		shbatch_row_pairs_add_repeated(sink->pairs, bucket);
}

static void
collect_pair(ShBatchSink *base, const ShBatchBucket *bucket, size_t i, size_t j)
{
	RowPairSink *sink = (RowPairSink *) base;

	shbatch_row_pairs_add(sink->pairs, bucket, i, bucket, j);
}

static void
leave_bucket(ShBatchSink *base, const ShBatchBucket *bucket)
{
	RowPairSink *sink = (RowPairSink *) base;

	shbatch_row_pairs_leave(sink->pairs);
}

/*
 * simhash_find_all(index regclass, distance int) -> every pair of rows that the
 * snapshot sees whose fingerprints differ in at most distance bits, or as many
 * as the index's own distance if that is null; once, the first by table and TID
 * first.
 */
Datum
simhash_find_all(PG_FUNCTION_ARGS)
{
	RowPairSink sink = {
		.sink = {
			.begin = collect_repeated,
			.pair = collect_pair,
			.end = leave_bucket
		}
	};
	ShBatchCall call;

	if (!shbatch_begin_index(fcinfo, SHBATCH_FIND_ALL, &call))
		return (Datum) 0;

	shbatch_result_begin(&sink.result, call.result);
	sink.tables = &call.tables;
	sink.pairs = shbatch_row_pairs_begin(&call.rows, false, return_rows, &sink);
	shbatch_source_search(&call.input, &sink.sink);
	shbatch_row_pairs_finish(sink.pairs);

	shbatch_end_index(&call);
	return (Datum) 0;
}

/* returns pairs of values */
typedef struct ValuePairSink
{
	ShBatchSink sink;
	ShBatchResult result;
} ValuePairSink;

static void
return_values(ShBatchSink *base, const ShBatchBucket *bucket, size_t i, size_t j)
{
	ValuePairSink *sink = (ValuePairSink *) base;
	uint64		a = shbatch_fingerprint(bucket, i);
	uint64		b = shbatch_fingerprint(bucket, j);
	Datum		values[3];

	values[0] = SimhashGetDatum(Min(a, b));
	values[1] = SimhashGetDatum(Max(a, b));
	values[2] = Int32GetDatum(shbits_distance(a, b));
	shbatch_result_add(&sink->result, values);
	shbatch_progress_found();
}

/*
 * simhash_find_all_in(fingerprints simhash[], distance int, blocks int, table_no
 * int) -> every pair of different values in the array that differ in at most
 * distance bits; once, the smaller first.  With table_no, only the pairs whose
 * first table with a common prefix it is.
 */
Datum
simhash_find_all_in(PG_FUNCTION_ARGS)
{
	ValuePairSink sink = {.sink = {.repeat = shbatch_drop_repeat,.pair = return_values}};
	ShBatchCall call;

	if (!shbatch_begin_array(fcinfo, SHBATCH_FIND_ALL, &call))
		return (Datum) 0;

	shbatch_result_begin(&sink.result, call.result);
	shbatch_source_search(&call.input, &sink.sink);

	shbatch_end_array(&call);
	return (Datum) 0;
}
