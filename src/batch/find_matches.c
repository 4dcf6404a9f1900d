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
#include "batch/match_source.h"
#include "batch/returning.h"
#include "batch/row_pairs.h"
#include "bits/distance.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_find_matches);
PG_FUNCTION_INFO_V1(simhash_find_matches_in);

/* state of a call */
typedef struct FindMatches
{
	ShBatchCall call;
	ShBatchMatchSource input;
	ShBatchMatchSearch *search;
	ShBatchRowPairs *pairs;
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
	shbatch_pair_values(&find->call.tables, pair, find->tids, values);
}

/*
 * Make the result row of an element of the array and a row.
 */
static void
make_row_of_value(FindMatches *find, const ShBatchRowPair *pair, Datum *values)
{
	values[4] = ObjectIdGetDatum(shbatch_name_row(&find->call.tables, pair->b_row,
												  &find->tids[1]));
	values[0] = SimhashGetDatum(pair->a_fp);
	values[1] = PointerGetDatum(&find->tids[1]);
	values[2] = SimhashGetDatum(pair->b_fp);
	values[3] = Int32GetDatum(shbits_distance(pair->a_fp, pair->b_fp));
}

static void
take_rows(void *arg, const ShBatchRowPair *pair)
{
	FindMatches *find = arg;
	Datum		values[SHBATCH_RESULT_COLUMNS];

	find->make_row(find, pair, values);
	shbatch_result_add(find->result, values);
}

static void
add_pair(void *arg, const ShBatchBucket *a, size_t i, const ShBatchBucket *b, size_t j)
{
	FindMatches *find = arg;

	shbatch_row_pairs_add(find->pairs, a, i, b, j);
}

static bool
search_buckets(void *arg)
{
	FindMatches *find = arg;

	return shbatch_match_search_next(find->search);
}

/* both sides are known: begin the search */
static void
begin_search(FindMatches *find, bool of_values)
{
	find->make_row = of_values ? make_row_of_value : make_row_of_rows;
	find->pairs = shbatch_row_pairs_begin(&find->call.rows, of_values, search_buckets,
										  find->result != NULL ? take_rows : NULL, find);
	find->search = shbatch_match_source_search(&find->input, add_pair, find);
}

static bool
next_match(void *state, Datum *values)
{
	FindMatches *find = state;
	ShBatchRowPair pair;

	shbatch_tables_verify(&find->call.tables);
	if (!shbatch_row_pairs_next(find->pairs, &pair))
		return false;
	find->make_row(find, &pair, values);
	return true;
}

static void
end_find_matches(void *state)
{
	FindMatches *find = state;

	shbatch_row_pairs_end(find->pairs);
	shbatch_match_source_end(&find->input);
	shbatch_end_tables(&find->call);
}

static FindMatches *
make_state(ShBatchResult *result)
{
	FindMatches *find = palloc0(sizeof(FindMatches));

	find->result = result;
	return find;
}

/* the command, for the progress view */
static ShIdxCommand
command_of(const FindMatches *find)
{
	return find->result != NULL ? SHIDX_FIND_MATCHES : SHIDX_UNWATCHED;
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
	shbatch_begin_tables(&find->call, command_of(find), indexes, 2, true);
	shbatch_match_source_tables(&find->input, &find->call.tables, find->call.snapshot,
								shbatch_get_distance(fcinfo, 2, &find->call.tables));
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
	shbatch_begin_tables(&find->call, command_of(find), &index, 1, false);
	shbatch_match_source_array(&find->input, PG_GETARG_ANY_ARRAY_P(0), &find->call.tables,
							   find->call.snapshot,
							   shbatch_get_distance(fcinfo, 2, &find->call.tables));
	begin_search(find, true);
	return find;
}

/*
 * simhash_find_matches(a regclass, b regclass, distance int) -> every row of
 * index a with every row of index b, among those that the snapshot sees, whose
 * fingerprints differ in at most distance bits or, if that is null, the
 * smaller distance of the two indexes.
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
 * null, the distance of the index.
 */
Datum
simhash_find_matches_in(PG_FUNCTION_ARGS)
{
	static const ShBatchProducer producer = {begin_find_matches_in, next_match, end_find_matches};

	return shbatch_return(fcinfo, &producer);
}
