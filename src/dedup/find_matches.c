/*-------------------------------------------------------------------------
 *
 * find_matches.c
 *	  SQL functions that return the pairs of near-duplicates between two sides.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "dedup/call.h"
#include "dedup/checks.h"
#include "dedup/rows.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_find_matches);
PG_FUNCTION_INFO_V1(simhash_find_matches_in);
PG_FUNCTION_INFO_V1(simhash_find_matches_in_bits);

/* state of a call */
typedef struct FindMatches
{
	ShPairsSink sink;
	ShDupCall	call;
	ShDupRowPairs *pairs;
	ShDupRowCheck *check;		/* by the operator class, or NULL */
	void		(*make_row) (struct FindMatches *find, const ShDupRowPair *pair,
							 Datum *values);
	ShDupResult result;
	ItemPointerData tids[2];	/* of the last returned row */
} FindMatches;

/* the columns of the fingerprints in pairs of rows */
#define A_FP	2
#define B_FP	3

/*
 * Make the result row of a row of side a and a row of side b.
 */
static void
make_row_of_rows(FindMatches *find, const ShDupRowPair *pair, Datum *values)
{
	shdup_pair_values(&find->call.heaps, pair, find->tids, values);
}

/*
 * Make the result row of an element of the array and a row.
 */
static void
make_row_of_value(FindMatches *find, const ShDupRowPair *pair, Datum *values)
{
	values[4] = ObjectIdGetDatum(shdup_name(&find->call.heaps, pair->b_row,
											&find->tids[1]));
	values[0] = SimhashGetDatum(pair->a_fp);
	values[1] = PointerGetDatum(&find->tids[1]);
	values[2] = SimhashGetDatum(pair->b_fp);
	values[3] = Int32GetDatum(pair->distance);
}

/*
 * The same for wide fingerprints.
 */
static void
make_row_of_wide_value(FindMatches *find, const ShDupRowPair *pair, Datum *values)
{
	/* a single word is the fingerprint */
	const uint64 *a = pair->a_value != NULL ? pair->a_value : &pair->a_fp;
	const uint64 *b = pair->b_value != NULL ? pair->b_value : &pair->b_fp;

	make_row_of_value(find, pair, values);
	values[0] = PointerGetDatum(shtype_join_bits(a, find->call.width));
	values[2] = PointerGetDatum(shtype_join_bits(b, find->call.width));
}

static void
take_match_rows(void *arg, const ShDupRowPair *pair)
{
	FindMatches *find = arg;
	Datum		values[SHDUP_RESULT_COLUMNS];

	find->make_row(find, pair, values);
	shdup_result_add(&find->result, values);
	if (find->make_row == make_row_of_wide_value)
	{
		pfree(DatumGetPointer(values[0]));
		pfree(DatumGetPointer(values[2]));
	}
}

static void
add_found_match(ShPairsSink *base, const ShPairsBucket *a, size_t i, const ShPairsBucket *b, size_t j)
{
	FindMatches *find = (FindMatches *) base;

	shdup_row_pairs_add(find->pairs, a, i, b, j);
}

static void
leave_match_buckets(ShPairsSink *base)
{
	FindMatches *find = (FindMatches *) base;

	shdup_row_pairs_leave(find->pairs);
}

/*
 * Both sides are known: search, and end the call.
 */
static void
search_sides(FindMatches *find, bool of_values)
{
	ShDupCall  *call = &find->call;

	shdup_result_begin(&find->result, call->result);
	if (of_values)
		find->make_row = call->width > 0 ? make_row_of_wide_value : make_row_of_value;
	else
	{
		find->make_row = make_row_of_rows;
		/* they cannot hold a wide one */
		if (call->width > 0)
		{
			shdup_result_set_null(&find->result, A_FP);
			shdup_result_set_null(&find->result, B_FP);
		}
	}
	find->pairs = shdup_row_pairs_begin(&call->rows, of_values, find->check, take_match_rows, find);
	find->sink.pair = add_found_match;
	find->sink.leave = leave_match_buckets;
	shdup_search(call, &find->sink);
	shdup_row_pairs_finish(find->pairs);
	shdup_check_end(find->check);
	shdup_end_heaps(call);
}

/*
 * Report an error if the values of an array are of another type than those of the
 * index.
 */
static void
check_type(const FindMatches *find, bool wide)
{
	const ShDupOpened *named = &find->call.heaps.sides[0].named;

	if (wide != (find->call.width > 0))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("an array of type %s cannot be compared with index \"%s\"",
						wide ? "simhash_bits" : "simhash", RelationGetRelationName(named->index)),
				 wide ? errdetail("The fingerprints of the index are of type %s.", "simhash") :
				 errdetail("The fingerprints of the index are of type %s.", "simhash_bits")));
}

/*
 * Report an error if values of an array have another width than an index.
 */
static void
check_array_values(const FindMatches *find)
{
	const ShDupOpened *named = &find->call.heaps.sides[0].named;

	int			width = find->call.query.inputs[0].width;

	if (width != find->call.width)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("fingerprints of %d bits cannot be compared with those of index \"%s\"",
						width, RelationGetRelationName(named->index)),
				 errdetail("Its fingerprints have %d bits.", find->call.width)));
}

/*
 * simhash_find_matches(a regclass, b regclass, distance int, similarity float8) ->
 * every row of index a with every row of index b, among those that the snapshot
 * sees, whose fingerprints differ in at most distance bits or, if that is null, the
 * smaller distance of the two indexes.  If the operator class of the indexes
 * compares the values, they must be as similar, or its operator must hold.
 */
Datum
simhash_find_matches(PG_FUNCTION_ARGS)
{
	FindMatches find = {{0}};
	Oid			indexes[2];

	if (!shdup_begin(fcinfo, 2, &find.call))
		return (Datum) 0;
	indexes[0] = PG_GETARG_OID(0);
	indexes[1] = PG_GETARG_OID(1);
	if (indexes[0] == indexes[1])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("both sides are the same index"),
				 errhint("Use simhash_find_all to find the pairs of one index.")));
	shdup_begin_heaps(&find.call, SHDUP_FIND_MATCHES, indexes, 2, true);
	shdup_begin_query(&find.call, 2, shdup_get_nearness(fcinfo, 2, 3, &find.call));
	for (int side = 0; side < lengthof(indexes); side++)
	{
		ShDupHeaps	heaps = shdup_heaps_of_side(&find.call.heaps, side);

		shdup_use_heaps(&find.call, side, &heaps);
	}
	find.check = shdup_begin_checks(&find.call, NULL);
	find.call.workers = shdup_choose_workers(&find.call.heaps, find.call.query.distance);
	search_sides(&find, false);
	return (Datum) 0;
}

/*
 * simhash_find_matches_in(index regclass, queries simhash[], distance int) ->
 * every different value of the array with every row that the snapshot sees
 * whose fingerprint differs from it in at most distance bits or, if that is
 * null, the distance of the index.  The values of the rows do not matter.
 */
Datum
simhash_find_matches_in(PG_FUNCTION_ARGS)
{
	FindMatches find = {{0}};
	Oid			index;

	if (!shdup_begin(fcinfo, 2, &find.call))
		return (Datum) 0;
	index = PG_GETARG_OID(0);
	shdup_begin_heaps(&find.call, SHDUP_FIND_MATCHES, &index, 1, false);
	check_type(&find, false);
	shdup_begin_query(&find.call, 2, shdup_get_distance(fcinfo, 2, &find.call));
	shpairs_input_array(&find.call.query.inputs[0], PG_GETARG_ANY_ARRAY_P(1));
	shdup_use_heaps(&find.call, 1, &find.call.heaps);
	search_sides(&find, true);
	return (Datum) 0;
}

/*
 * simhash_find_matches_in_bits(index regclass, queries simhash_bits[],
 * distance int) -> the same for wide fingerprints.
 */
Datum
simhash_find_matches_in_bits(PG_FUNCTION_ARGS)
{
	FindMatches find = {{0}};
	ShDupCall  *call = &find.call;
	Oid			index;

	if (!shdup_begin(fcinfo, 2, call))
		return (Datum) 0;
	index = PG_GETARG_OID(0);
	shdup_begin_heaps(call, SHDUP_FIND_MATCHES, &index, 1, false);
	check_type(&find, true);
	shdup_begin_query(call, 2, shdup_get_distance(fcinfo, 2, call));
	shpairs_input_wide_array(&call->query.inputs[0], PG_GETARG_ARRAYTYPE_P(1));
	if (call->query.inputs[0].width == 0)
	{
		shdup_end_heaps(call);
		return (Datum) 0;
	}
	check_array_values(&find);
	shdup_use_heaps(call, 1, &call->heaps);
	search_sides(&find, true);
	return (Datum) 0;
}
