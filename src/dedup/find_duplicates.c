/*-------------------------------------------------------------------------
 *
 * find_duplicates.c
 *	  SQL function that returns the rows to remove, so that one row of each
 *	  group of near-duplicates is kept.
 *
 * Rows of one fingerprint that are not odd (row_check.c) have the same neighbors.  If
 * the first of them is kept, it is the keeper of the others.  If it is not, none of
 * them is.  So an element has the keeper that its next row would have, if any.  When
 * a row is kept, it becomes the keeper of its own element, and of neighboring
 * elements that had no keeper or one farther away.  With a condition "same", rows of
 * one fingerprint may differ in their fate (kept_rows.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "compat.h"
#include "dedup/call.h"
#include "dedup/members.h"

PG_FUNCTION_INFO_V1(simhash_find_duplicates);

/* state of an element */
typedef struct State
{
	ShFingerprint fp;
	ShPairsRow	keeper;			/* number of the nearest kept row, with its
								 * distance in the upper bits; or NO_KEEPER */
} State;

/* with the place and the start of a list of neighbors */
StaticAssertDecl(sizeof(State) + sizeof(uint32) + sizeof(uint64) <= SHDUP_BYTES_TO_USE,
				 "too much memory for each element");

/* greater than any distance */
#define NO_KEEPER		PG_UINT64_MAX
#define DISTANCE_SHIFT	48

/* how many rows ahead states are prefetched */
#define LOOK_AHEAD		16

typedef struct DuplicateFinder
{
	ShDupNearRows near;
	ShDupResult result;
	double		ndecided;		/* rows */
} DuplicateFinder;

/*
 * A row has been decided on.
 */
static inline void
count_duplicate(DuplicateFinder *finder)
{
	CHECK_FOR_INTERRUPTS();
	shdup_progress_entries(++finder->ndecided);
}

/*
 * Return a duplicate, with its keeper.
 */
static void
return_duplicate(DuplicateFinder *finder, ShPairsRow row, ShPairsRow keeper, int distance)
{
	const ShDupHeaps *heaps = finder->near.members.rows->heaps;
	ItemPointerData tids[2];
	Datum		values[5];

	values[3] = ObjectIdGetDatum(shdup_name(heaps, row, &tids[0]));
	values[4] = ObjectIdGetDatum(shdup_name(heaps, keeper, &tids[1]));
	values[0] = PointerGetDatum(&tids[0]);
	values[1] = PointerGetDatum(&tids[1]);
	values[2] = Int32GetDatum(distance);
	shdup_result_add(&finder->result, values);
}

static State *
make_states(const ShDupUnionFind *elements)
{
	State	   *states = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(elements->count, 1) * sizeof(State));

	for (uint32 i = 0; i < elements->count; i++)
	{
		shcompat_check_at(i);
		states[i].fp = elements->elements[i].fp;
		states[i].keeper = NO_KEEPER;
	}
	return states;
}

/*
 * A row is kept: make it the keeper of a neighboring element, unless that has
 * a keeper that is at least as near.
 */
static inline void
keep_for(State *state, uint64 distance, ShPairsRow row)
{
	if (distance < state->keeper >> DISTANCE_SHIFT)
		state->keeper = distance << DISTANCE_SHIFT | row;
}

/*
 * Keep a row of an element.  No other row of it has been kept.
 */
static void
keep_row(DuplicateFinder *finder, State *states, uint32 element, ShPairsRow row)
{
	const ShDupUnionFind *elements = &finder->near.members.elements;
	ShFingerprint fp = states[element].fp;
	const uint32 *neighbors;
	size_t		count = shdup_neighbors_of(&finder->near.neighbors, element, &neighbors);

	keep_for(&states[element], 0, row);
	for (size_t i = 0; i < count; i++)
	{
		State	   *state = &states[neighbors[i]];

		keep_for(state, elements->nwords == 0 ? shbits_distance(state->fp, fp) :
				 shdup_element_distance(elements, neighbors[i], element), row);
	}
}

/*
 * Keep or return a row of an element.
 */
static void
decide(DuplicateFinder *finder, State *states, uint32 element, ShPairsRow row)
{
	ShPairsRow	keeper = states[element].keeper;

	count_duplicate(finder);
	if (keeper == NO_KEEPER)
		keep_row(finder, states, element, row);
	else
		return_duplicate(finder, row, keeper, (int) (keeper >> DISTANCE_SHIFT));
}

/*
 * Decide on all rows by their fingerprints.
 *
 * The elements of successive rows are in no particular order, so their states
 * are prefetched some rows ahead.
 */
static void
decide_by_fingerprints(DuplicateFinder *finder)
{
	State	   *states = make_states(&finder->near.members.elements);
	ShPairsRow	rows[LOOK_AHEAD];
	uint32		elements[LOOK_AHEAD];
	int			count;

	shdup_progress_phase(SHDUP_PHASE_RETURN, finder->near.count);
	do
	{
		for (count = 0; count < LOOK_AHEAD; count++)
		{
			if (!shdup_near_rows_next(&finder->near, &rows[count], &elements[count]))
				break;
			shcompat_prefetch(&states[elements[count]]);
			shdup_neighbors_prefetch(&finder->near.neighbors, elements[count]);
		}
		for (int i = 0; i < count; i++)
			decide(finder, states, elements[i], rows[i]);
	} while (count == LOOK_AHEAD);
}

/*
 * Decide on all rows by the condition "same", as far as they are near.
 */
static void
decide_by_condition(DuplicateFinder *finder, ShDupRowCheck *check)
{
	ShDupKeptRows *kept = shdup_kept_begin(&finder->near.members.elements,
										   &finder->near.neighbors, check);
	ShPairsRow	row;
	uint32		element;

	shdup_progress_phase(SHDUP_PHASE_CHECK_ROWS, finder->near.count);
	while (shdup_near_rows_next(&finder->near, &row, &element))
	{
		ShPairsRow	keeper;
		int			distance;

		count_duplicate(finder);
		if (shdup_kept_find(kept, element, row, &keeper, &distance))
			return_duplicate(finder, row, keeper, distance);
		else
			shdup_kept_add(kept, element, row);
		shdup_check_release(check);
	}
}

/*
 * simhash_find_duplicates(index regclass, distance int, keep text, same text,
 * similarity float8) -> each row that the snapshot sees and that is near a kept row,
 * and the same, with the nearest of the rows that are kept before it in the order of
 * the list "keep".
 */
Datum
simhash_find_duplicates(PG_FUNCTION_ARGS)
{
	DuplicateFinder finder = {0};
	ShDupCall	call;
	ShDupRowCheck *check;

	if (!shdup_begin_index(fcinfo, SHDUP_FIND_DUPLICATES, 4, &call))
		return (Datum) 0;
	shdup_near_rows_begin(&finder.near, &call.rows, shdup_most(&call), shdup_nwords(&call),
						  shdup_get_text(fcinfo, 2));
	check = shdup_begin_checks(&call, shdup_get_text(fcinfo, 3));
	shdup_search(&call, &finder.near.members.sink);
	shdup_members_finish(&finder.near.members);
	shdup_check_forget(check);
	shdup_near_rows_sort(&finder.near, false);
	shdup_result_begin(&finder.result, call.result);
	if (shdup_check_is_needless(check))
		decide_by_fingerprints(&finder);
	else
		decide_by_condition(&finder, check);

	shdup_check_end(check);
	shdup_near_rows_end(&finder.near);
	shdup_end_heaps(&call);
	return (Datum) 0;
}
