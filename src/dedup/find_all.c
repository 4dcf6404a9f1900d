/*-------------------------------------------------------------------------
 *
 * find_all.c
 *	  SQL functions that return all pairs of near-duplicates.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "bits/distance.h"
#include "dedup/call.h"
#include "dedup/checks.h"
#include "pairs/collector.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_find_all);
PG_FUNCTION_INFO_V1(simhash_find_all_in);
PG_FUNCTION_INFO_V1(simhash_find_all_in_bits);

/* the columns of the fingerprints */
#define A_FP	2
#define B_FP	3

/* returns pairs of rows */
typedef struct FindAll
{
	ShPairsSink sink;
	ShDupCall	call;
	ShDupRowPairs *pairs;
	ShDupResult result;
} FindAll;

/*
 * Return a pair of rows, the one with the lower number first.
 */
static void
take_found_rows(void *arg, const ShDupRowPair *pair)
{
	FindAll    *find = arg;
	ShDupRowPair ordered = *pair;
	ItemPointerData tids[2];
	Datum		values[SHDUP_RESULT_COLUMNS];

	if (pair->a_row > pair->b_row)
	{
		ordered.a_row = pair->b_row;
		ordered.a_fp = pair->b_fp;
		ordered.b_row = pair->a_row;
		ordered.b_fp = pair->a_fp;
	}
	shdup_pair_values(&find->call.heaps, &ordered, tids, values);
	shdup_result_add(&find->result, values);
}

static void
add_found_pair(ShPairsSink *base, const ShPairsBucket *a, size_t i, const ShPairsBucket *b, size_t j)
{
	FindAll    *find = (FindAll *) base;

	shdup_row_pairs_add(find->pairs, a, i, b, j);
}

static void
leave_found_buckets(ShPairsSink *base)
{
	FindAll    *find = (FindAll *) base;

	shdup_row_pairs_leave(find->pairs);
}

/*
 * simhash_find_all(index regclass, distance int, similarity float8) -> every pair of
 * rows that the snapshot sees whose fingerprints differ in at most distance bits, or
 * in at most the index's own distance if that is null.  If the operator class
 * compares the values, they must be as similar, or its operator must hold.  Each pair
 * is returned once, with the first row by table and TID first.
 */
Datum
simhash_find_all(PG_FUNCTION_ARGS)
{
	FindAll		find = {.sink = {.pair = add_found_pair,.leave = leave_found_buckets}};
	ShDupRowCheck *check;

	if (!shdup_begin_index(fcinfo, SHDUP_FIND_ALL, 2, &find.call))
		return (Datum) 0;
	shdup_result_begin(&find.result, find.call.result);
	if (find.call.width > 0)
	{
		/* they cannot hold a wide one */
		shdup_result_set_null(&find.result, A_FP);
		shdup_result_set_null(&find.result, B_FP);
	}
	check = shdup_begin_checks(&find.call, NULL);
	find.pairs = shdup_row_pairs_begin(&find.call.rows, false, check, take_found_rows, &find);
	shdup_search(&find.call, &find.sink);
	shdup_row_pairs_finish(find.pairs);

	shdup_check_end(check);
	shdup_end_heaps(&find.call);
	return (Datum) 0;
}

/* returns pairs of values */
typedef struct ValuePairSink
{
	ShPairsSink sink;
	ShDupResult result;
} ValuePairSink;

static void
return_pair_values(ShPairsSink *base, const ShPairsBucket *a, size_t i, const ShPairsBucket *b, size_t j)
{
	ValuePairSink *sink = (ValuePairSink *) base;
	ShFingerprint x = shpairs_key(a, i);
	ShFingerprint y = shpairs_key(b, j);
	Datum		values[3];

	values[0] = SimhashGetDatum(Min(x, y));
	values[1] = SimhashGetDatum(Max(x, y));
	values[2] = Int32GetDatum(shbits_distance(x, y));
	shdup_result_add(&sink->result, values);
	shdup_progress_found();
}

/*
 * simhash_find_all_in(fingerprints simhash[], distance int, blocks int,
 * table_no int) -> every pair of different values in the array that differ in
 * at most distance bits.  Each pair is returned once, with the smaller value
 * first.  With table_no, only those pairs are returned for which this is the
 * first table with a common prefix.
 */
Datum
simhash_find_all_in(PG_FUNCTION_ARGS)
{
	ValuePairSink sink = {.sink = {.pair = return_pair_values}};
	ShDupCall	call;

	if (!shdup_begin_array(fcinfo, SHDUP_FIND_ALL, &call))
		return (Datum) 0;

	shdup_result_begin(&sink.result, call.result);
	shdup_search(&call, &sink.sink);

	shdup_end_array(&call);
	return (Datum) 0;
}

/* returns pairs of wide values */
typedef struct WidePairSink
{
	ShPairsSink sink;
	ShDupResult result;
	int			width;
} WidePairSink;

static void
return_wide_pairs(ShPairsSink *base, const ShPairsBucket *a, size_t i, const ShPairsBucket *b,
				  size_t j)
{
	WidePairSink *sink = (WidePairSink *) base;
	uint64		words[2];
	const uint64 *x = shpairs_words(a, i, &words[0]);
	const uint64 *y = shpairs_words(b, j, &words[1]);
	bool		swap = shpairs_compare(x, y, a->nwords) > 0;
	Datum		values[3];

	values[0] = PointerGetDatum(shtype_join_bits(swap ? y : x, sink->width));
	values[1] = PointerGetDatum(shtype_join_bits(swap ? x : y, sink->width));
	values[2] = Int32GetDatum(shpairs_distance(x, y, a->nwords));
	shdup_result_add(&sink->result, values);
	pfree(DatumGetPointer(values[0]));
	pfree(DatumGetPointer(values[1]));
	shdup_progress_found();
}

/*
 * simhash_find_all_in_bits(fingerprints simhash_bits[], distance int) -> every pair of
 * different values in the array that differ in at most distance bits or, if that is
 * null, in less than an eighth of their bits.  Each pair is returned once, with the
 * smaller value first.
 */
Datum
simhash_find_all_in_bits(PG_FUNCTION_ARGS)
{
	WidePairSink sink = {.sink = {.pair = return_wide_pairs}};
	ShDupCall	call;

	if (!shdup_begin_wide_array(fcinfo, SHDUP_FIND_ALL, &call))
		return (Datum) 0;

	sink.width = call.width;
	shdup_result_begin(&sink.result, call.result);
	shdup_search(&call, &sink.sink);

	shdup_end_array(&call);
	return (Datum) 0;
}
