/*-------------------------------------------------------------------------
 *
 * find_duplicates.c
 *	  SQL function that returns the rows to remove, so that one row of each
 *	  group of near-duplicates is kept.
 *
 * Rows of one fingerprint and class (row_class.c) have the same neighbors.  If
 * the first of them is kept, it is the keeper of the others.  If it is not, none of
 * them is.  So an element has the keeper that its next row would have, if any.  When
 * a row is kept, it becomes the keeper of its own element, and of neighboring
 * elements that had no keeper or one farther away.
 *
 * If rows are checked (row_check.c), those of one fingerprint may differ in their fate.
 * The candidates for the keeper of a row are then the kept rows of its own element
 * and of the elements near it.  They are checked from the nearest to the
 * farthest, and those at one distance in the order in which they were kept, up
 * to the first that is the same.  So a row that has a keeper is seldom checked
 * against more than one, and no pair of rows is checked twice.  Several rows of one
 * fingerprint may be kept, so the memory for kept rows may exceed that for the elements,
 * and has a limit.  The rows of a component of elements that are near each other are taken
 * together, so that what is remembered of their documents is not forgotten in between.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/call.h"
#include "dedup/members.h"

/* in place of the number of a kept row: there is none */
#define NO_ROW			PG_UINT32_MAX

#define FIRST_CAPACITY	1024

/* bytes for a kept row: its number, a link, and its place as a candidate */
#define BYTES_PER_ROW	(sizeof(KeptRow) + sizeof(Candidate))

/* a kept row that may be the keeper of another */
typedef struct Candidate
{
	double		nearness;
	uint32		number;			/* among the kept rows */
} Candidate;

/* a row that is kept; they are numbered in the order in which they are kept */
typedef struct KeptRow
{
	ShPairsRow	row;
	uint32		next;			/* of the same element, or NO_ROW */
} KeptRow;

/* the kept rows of an element */
typedef struct KeptList
{
	uint32		first;			/* or NO_ROW */
	uint32		last;
} KeptList;

typedef struct KeptRows
{
	const ShDupMembers *members;
	ShDupNeighbors *neighbors;
	ShDupRowCheck *check;
	KeptList   *lists;			/* of elements */

	uint32		count;
	uint32		capacity;
	KeptRow    *rows;

	/* candidates for the keeper of one row */
	size_t		ncandidates;
	size_t		max_candidates;
	Candidate  *candidates;
} KeptRows;

/*
 * Begin without kept rows.  Memory is allocated in the current context.
 */
static KeptRows *
begin_kept(ShDupNearRows *near, ShDupRowCheck *check)
{
	KeptRows   *kept = palloc0(sizeof(KeptRows));
	uint32		nelements = near->members.elements.count;

	kept->members = &near->members;
	kept->neighbors = &near->neighbors;
	kept->check = check;
	kept->lists = MemoryContextAllocHuge(CurrentMemoryContext,
										 Max(nelements, 1) * sizeof(KeptList));
	for (uint32 i = 0; i < nelements; i++)
	{
		shcompat_check_at(i);
		kept->lists[i].first = NO_ROW;
	}
	kept->capacity = FIRST_CAPACITY;
	kept->rows = palloc(FIRST_CAPACITY * sizeof(KeptRow));
	kept->max_candidates = FIRST_CAPACITY;
	kept->candidates = palloc(FIRST_CAPACITY * sizeof(Candidate));
	return kept;
}

/*
 * Make room for one more row.
 */
static void
enlarge_kept(KeptRows *kept)
{
	double		bytes = kept->capacity * 2.0 * BYTES_PER_ROW;

	if (bytes > maintenance_work_mem * 1024.0 || kept->capacity > PG_UINT32_MAX / 2)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("more than %u rows that are near others and kept do not fit into maintenance_work_mem",
						kept->count),
				 errhint("Increase maintenance_work_mem, which is now %d kB.",
						 maintenance_work_mem)));
	kept->capacity *= 2;
	kept->rows = repalloc_huge(kept->rows, kept->capacity * sizeof(KeptRow));
}

/*
 * Keep a row of an element.
 */
static void
add_kept(KeptRows *kept, uint32 element, ShPairsRow row)
{
	KeptList   *list = &kept->lists[element];
	uint32		number = kept->count;

	if (number == kept->capacity)
		enlarge_kept(kept);
	kept->count++;
	kept->rows[number].row = row;
	kept->rows[number].next = NO_ROW;
	if (list->first == NO_ROW)
		list->first = number;
	else
		kept->rows[list->last].next = number;
	list->last = number;
}

static void
add_keeper(KeptRows *kept, double nearness, uint32 number)
{
	if (kept->ncandidates == kept->max_candidates)
	{
		kept->max_candidates *= 2;
		kept->candidates = repalloc_huge(kept->candidates,
										 kept->max_candidates * sizeof(Candidate));
	}
	kept->candidates[kept->ncandidates++] = (Candidate)
	{
		nearness, number
	};
}

/* add the kept rows of an element */
static void
add_keepers(KeptRows *kept, double nearness, uint32 element)
{
	for (uint32 number = kept->lists[element].first; number != NO_ROW;
		 number = kept->rows[number].next)
	{
		shcompat_check_at(kept->ncandidates);
		add_keeper(kept, nearness, number);
	}
}

/* to sort candidates: the nearest first, and the first kept of those */
#define ST_SORT sort_candidates
#define ST_ELEMENT_TYPE Candidate
#define ST_COMPARE(a, b) \
	((a)->nearness != (b)->nearness ? ((a)->nearness > (b)->nearness ? -1 : 1) : \
	 (a)->number < (b)->number ? -1 : (a)->number > (b)->number)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Collect the kept rows of the neighbors of an element, the nearest first.  Other documents
 * can be as near as those of an element of bands are to each other, so these come with them.
 */
static void
collect_candidates(KeptRows *kept, uint32 element)
{
	const uint32 *neighbors;
	size_t		count = shdup_neighbors_of(kept->neighbors, element, &neighbors);

	kept->ncandidates = 0;
	if (kept->members->near != NULL)
		add_keepers(kept, shdup_check_nearest(kept->check), element);
	for (size_t i = 0; i < count; i++)
	{
		double		nearness;

		shcompat_check_at(i);
		if (kept->lists[neighbors[i]].first != NO_ROW &&
			shdup_members_near(kept->members, element, neighbors[i], &nearness))
			add_keepers(kept, nearness, neighbors[i]);
	}
	sort_candidates(kept->candidates, kept->ncandidates);
}

/*
 * Find the keeper of a row of an element: the nearest row that is kept and the
 * same, and the first kept of several.  Returns false if there is none.
 */
static bool
find_keeper(KeptRows *kept, uint32 element, ShPairsRow row, ShPairsRow *keeper,
			double *nearness)
{
	for (uint32 number = kept->lists[element].first; number != NO_ROW && kept->members->near == NULL;
		 number = kept->rows[number].next)
	{
		*keeper = kept->rows[number].row;
		*nearness = 0;
		if (shdup_check_rows(kept->check, row, *keeper))
			return true;
	}
	collect_candidates(kept, element);
	for (size_t i = 0; i < kept->ncandidates; i++)
	{
		*keeper = kept->rows[kept->candidates[i].number].row;
		*nearness = kept->candidates[i].nearness;
		if (shdup_check_rows(kept->check, row, *keeper))
			return true;
	}
	return false;
}

PG_FUNCTION_INFO_V1(simhash_find_duplicates);

/* the nearest kept row of an element, or next to it */
typedef struct State
{
	double		nearness;
	ShPairsRow	keeper;			/* or NO_KEEPER */
} State;

#define NO_KEEPER		0

/* with the place and the start of a list of neighbors */
StaticAssertDecl(sizeof(State) + sizeof(uint32) + sizeof(uint64) <= SHDUP_BYTES_TO_USE,
				 "too much memory for each element");

/* how many rows ahead states are prefetched */
#define LOOK_AHEAD		16

typedef struct DuplicateFinder
{
	ShDupNearRows near;
	ShDupResult result;
	double		nearest;		/* of rows of one element */
	double		ndecided;		/* rows */
} DuplicateFinder;

/* columns of the result that may be null */
#define DISTANCE	2
#define SIMILARITY	5

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
return_duplicate(DuplicateFinder *finder, ShPairsRow row, ShPairsRow keeper, double nearness)
{
	const ShDupHeaps *heaps = finder->near.members.lookup->heaps;
	ItemPointerData tids[2];
	Datum		values[SHDUP_RESULT_COLUMNS];

	values[3] = ObjectIdGetDatum(shdup_name(heaps, row, &tids[0]));
	values[4] = ObjectIdGetDatum(shdup_name(heaps, keeper, &tids[1]));
	values[0] = PointerGetDatum(&tids[0]);
	values[1] = PointerGetDatum(&tids[1]);
	values[DISTANCE] = Int32GetDatum((int) -nearness);
	values[SIMILARITY] = Float8GetDatum(nearness);
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
		states[i].keeper = NO_KEEPER;
	}
	return states;
}

/*
 * A row is kept: make it the keeper of a neighboring element, unless that has
 * a keeper that is at least as near.
 */
static inline void
keep_for(State *state, double nearness, ShPairsRow row)
{
	if (state->keeper == NO_KEEPER || nearness > state->nearness)
		*state = (State)
	{
		nearness, row
	};
}

/*
 * Keep a row of an element.  No other row of it has been kept.
 */
static void
keep_row(DuplicateFinder *finder, State *states, uint32 element, ShPairsRow row)
{
	const uint32 *neighbors;
	size_t		count = shdup_neighbors_of(&finder->near.neighbors, element, &neighbors);

	keep_for(&states[element], finder->nearest, row);
	for (size_t i = 0; i < count; i++)
	{
		State	   *state = &states[neighbors[i]];
		double		nearness;

		shcompat_check_at(i);
		if ((state->keeper == NO_KEEPER || state->nearness < finder->nearest) &&
			shdup_members_near(&finder->near.members, element, neighbors[i], &nearness))
			keep_for(state, nearness, row);
	}
	shdup_check_release(finder->near.members.near);
}

/*
 * Keep or return a row of an element.
 */
static void
decide(DuplicateFinder *finder, State *states, uint32 element, ShPairsRow row)
{
	const State *state = &states[element];

	count_duplicate(finder);
	if (state->keeper == NO_KEEPER)
		keep_row(finder, states, element, row);
	else
		return_duplicate(finder, row, state->keeper, state->nearness);
}

/*
 * Decide on all rows by their elements.
 *
 * The elements of successive rows are in no particular order, so their states
 * are prefetched some rows ahead.
 */
static void
decide_by_elements(DuplicateFinder *finder)
{
	State	   *states = make_states(&finder->near.members.elements);
	ShPairsRow	rows[LOOK_AHEAD];
	uint32		elements[LOOK_AHEAD];
	int			count;

	shdup_progress_phase(SHDUP_PHASE_RETURN_DUPLICATES, finder->near.count);
	do
	{
		for (count = 0; count < LOOK_AHEAD; count++)
		{
			if (!shdup_order_next(finder->near.order, &rows[count], &elements[count]))
				break;
			shcompat_prefetch(&states[elements[count]]);
			shdup_neighbors_prefetch(&finder->near.neighbors, elements[count]);
		}
		for (int i = 0; i < count; i++)
			decide(finder, states, elements[i], rows[i]);
	} while (count == LOOK_AHEAD);
}

/*
 * Decide on all rows by checks of those that are near.
 */
static void
decide_by_checks(DuplicateFinder *finder, ShDupRowCheck *check)
{
	KeptRows   *kept = begin_kept(&finder->near, check);
	ShPairsRow	row;
	uint32		element;

	shdup_progress_phase(SHDUP_PHASE_CHECK_ROWS, finder->near.count);
	while (shdup_order_next(finder->near.order, &row, &element))
	{
		ShPairsRow	keeper;
		double		nearness;

		count_duplicate(finder);
		if (find_keeper(kept, element, row, &keeper, &nearness))
			return_duplicate(finder, row, keeper, nearness);
		else
			add_kept(kept, element, row);
		shdup_check_release(check);
	}
}

/*
 * simhash_find_duplicates(index regclass, distance int, similarity float8, same text,
 * keep text) -> each row that the snapshot sees and that is near a kept row,
 * and the same, with the nearest of the rows that are kept before it in the order of
 * the list "keep".
 */
Datum
simhash_find_duplicates(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {
		.command = SHDUP_FIND_DUPLICATES,.nindexes = 1,.distance = 2,.similarity = 3,.same = 4,.keep = 5
	};
	DuplicateFinder finder = {0};
	ShDupCall	call;

	if (!shdup_call_begin(&call, fcinfo, &spec))
		return (Datum) 0;
	finder.nearest = shdup_check_nearest(call.check);
	shdup_near_rows_begin(&finder.near, &call.lookup, shdup_most(&call), shdup_nwords(&call),
						  call.check, false, call.keep);
	shdup_call_search(&call, &finder.near.members.sink);
	shdup_members_finish(&finder.near.members);
	shdup_near_rows_sort(&finder.near, call.check != NULL);
	shdup_result_begin(&finder.result, call.result);
	if (call.heaps.banded)
		shdup_result_set_null(&finder.result, DISTANCE);
	if (!call.heaps.banded || !call.nearness.known)
		shdup_result_set_null(&finder.result, SIMILARITY);
	if (!shdup_check_has_pairs(call.check))
		decide_by_elements(&finder);
	else
		decide_by_checks(&finder, call.check);

	shdup_near_rows_end(&finder.near);
	shdup_call_end(&call);
	return (Datum) 0;
}
