/*-------------------------------------------------------------------------
 *
 * find_matches.c
 *	  SQL functions that return the pairs of near-duplicates between two sides.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "batch/batch_call.h"
#include "batch/class_check.h"
#include "batch/result.h"
#include "batch/row_pairs.h"
#include "bits/distance.h"
#include "pairs/source.h"
#include "rows/workers.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_find_matches);
PG_FUNCTION_INFO_V1(simhash_find_matches_in);

/* state of a call */
typedef struct FindMatches
{
	ShPairsMatchSink sink;
	ShBatchCall call;
	ShPairsMatchSource input;
	ShBatchRowPairs *pairs;
	ShBatchRowCheck *check;		/* by the operator class, or NULL */
	void		(*make_row) (struct FindMatches *find, const ShBatchRowPair *pair,
							 Datum *values);
	ShBatchResult *result;		/* or NULL */
	ItemPointerData tids[2];	/* of the last returned row */
} FindMatches;

/*
 * Make the result row of a row of side a and a row of side b.
 */
static void
make_row_of_rows(FindMatches *find, const ShBatchRowPair *pair, Datum *values)
{
	shbatch_pair_values(&find->call.heaps, pair, find->tids, values);
}

/*
 * Make the result row of an element of the array and a row.
 */
static void
make_row_of_value(FindMatches *find, const ShBatchRowPair *pair, Datum *values)
{
	values[4] = ObjectIdGetDatum(shrows_name(&find->call.heaps, pair->b_row,
											 &find->tids[1]));
	values[0] = SimhashGetDatum(pair->a_fp);
	values[1] = PointerGetDatum(&find->tids[1]);
	values[2] = SimhashGetDatum(pair->b_fp);
	values[3] = Int32GetDatum(shbits_distance(pair->a_fp, pair->b_fp));
}

/*
 * Do the values of two rows belong together, and not only their fingerprints?
 */
static bool
holds(const FindMatches *find, const ShBatchRowPair *pair)
{
	return find->check == NULL || shbatch_check_rows(find->check, pair->a_row, pair->b_row);
}

static void
take_rows(void *arg, const ShBatchRowPair *pair)
{
	FindMatches *find = arg;
	Datum		values[SHBATCH_RESULT_COLUMNS];

	if (!holds(find, pair))
		return;
	find->make_row(find, pair, values);
	shbatch_result_add(find->result, values);
}

static void
add_pair(ShPairsMatchSink *base, const ShPairsBucket *a, size_t i, const ShPairsBucket *b, size_t j)
{
	FindMatches *find = (FindMatches *) base;

	shbatch_row_pairs_add(find->pairs, a, i, b, j);
}

static void
leave_buckets(ShPairsMatchSink *base)
{
	FindMatches *find = (FindMatches *) base;

	shbatch_row_pairs_leave(find->pairs);
}

static bool
search_buckets(void *arg)
{
	FindMatches *find = arg;

	return shpairs_match_source_next(&find->input);
}

/* both sides are known: begin the search */
static void
begin_search(FindMatches *find, bool of_values)
{
	find->make_row = of_values ? make_row_of_value : make_row_of_rows;
	find->pairs = shbatch_row_pairs_begin(&find->call.rows, of_values, search_buckets,
										  find->result != NULL ? take_rows : NULL, find);
	find->sink.pair = add_pair;
	find->sink.leave = leave_buckets;
	shpairs_match_source_begin(&find->input, &find->sink);
}

static bool
next_match(void *state, Datum *values)
{
	FindMatches *find = state;
	ShBatchRowPair pair;

	shrows_heaps_verify(&find->call.heaps);
	do
	{
		if (!shbatch_row_pairs_next(find->pairs, &pair))
			return false;
	} while (!holds(find, &pair));
	find->make_row(find, &pair, values);
	return true;
}

static void
end_find_matches(void *state)
{
	FindMatches *find = state;

	shbatch_row_pairs_end(find->pairs);
	if (find->check != NULL)
		shbatch_check_end(find->check);
	shpairs_match_source_end(&find->input);
	shbatch_end_heaps(&find->call);
}

static FindMatches *
make_state(ShBatchResult *result)
{
	FindMatches *find = palloc0(sizeof(FindMatches));

	find->result = result;
	return find;
}

/* the command, for the progress view */
static ShRowsCommand
command_of(const FindMatches *find)
{
	return find->result != NULL ? SHROWS_FIND_MATCHES : SHROWS_UNWATCHED;
}

static void *
begin_find_matches(FunctionCallInfo fcinfo, ShBatchResult *result)
{
	Oid			indexes[2];
	FindMatches *find;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return NULL;
	shbatch_check_distance_argument(fcinfo, 2);
	indexes[0] = PG_GETARG_OID(0);
	indexes[1] = PG_GETARG_OID(1);
	if (indexes[0] == indexes[1])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("both sides are the same index"),
				 errhint("Use simhash_find_all to find the pairs of one index.")));

	find = make_state(result);
	shbatch_begin_heaps(&find->call, command_of(find), indexes, 2, true);
	shpairs_match_source_heaps(&find->input, &find->call.heaps, find->call.snapshot,
							   shbatch_get_distance(fcinfo, 2, &find->call.heaps));
	find->check = shbatch_class_check_begin(&find->call.heaps, find->call.snapshot);
	if (result != NULL)
		find->input.search.workers = shrows_choose_workers(&find->call.heaps,
														   find->input.distance);
	begin_search(find, false);
	return find;
}

static void *
begin_find_matches_in(FunctionCallInfo fcinfo, ShBatchResult *result)
{
	Oid			index;
	FindMatches *find;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return NULL;
	shbatch_check_distance_argument(fcinfo, 2);
	index = PG_GETARG_OID(1);

	find = make_state(result);
	shbatch_begin_heaps(&find->call, command_of(find), &index, 1, false);
	shpairs_match_source_array(&find->input, PG_GETARG_ANY_ARRAY_P(0), &find->call.heaps,
							   find->call.snapshot,
							   shbatch_get_distance(fcinfo, 2, &find->call.heaps));
	begin_search(find, true);
	return find;
}

/*
 * simhash_find_matches(a regclass, b regclass, distance int) -> every row of
 * index a with every row of index b, among those that the snapshot sees, whose
 * fingerprints differ in at most distance bits or, if that is null, the
 * smaller distance of the two indexes.  If the operator class of the indexes
 * compares the values, it must hold for them.
 */
Datum
simhash_find_matches(PG_FUNCTION_ARGS)
{
	static const ShBatchProducer producer = {begin_find_matches, next_match, end_find_matches};

	return shbatch_return(fcinfo, &producer);
}

/*
 * simhash_find_matches_in(queries simhash[], index regclass, distance int) ->
 * every different value of the array with every row that the snapshot sees
 * whose fingerprint differs from it in at most distance bits or, if that is
 * null, the distance of the index.  The values of the rows do not matter.
 */
Datum
simhash_find_matches_in(PG_FUNCTION_ARGS)
{
	static const ShBatchProducer producer = {begin_find_matches_in, next_match, end_find_matches};

	return shbatch_return(fcinfo, &producer);
}
