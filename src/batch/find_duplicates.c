/*-------------------------------------------------------------------------
 *
 * find_duplicates.c
 *	  SQL function that returns the rows to remove, so that one row of each
 *	  group of near-duplicates is kept.
 *
 * Rows are considered in an order.  A row is kept if no row kept before it is
 * within the distance.  Otherwise it is a duplicate, and its keeper is the
 * nearest of the kept rows, the first of several at equal distances.  So no
 * two rows that are kept are near each other, and each duplicate is near its
 * keeper: there are no chains, as in clusters.
 *
 * Rows of one fingerprint (and one kind, see values.c) have the same
 * neighbors.  If the first of them is kept, it is the keeper of the others.  If
 * it is not, none of them is kept, since the row that it is near to remains
 * kept.  So an element has the keeper that its next row would have, if any.
 * When a row is kept, it becomes the keeper of its own element, and of
 * neighboring elements that had no keeper or one farther away.  Each element
 * does this at most once.  So each pair of fingerprints is visited twice, and
 * each row once, no matter how many are equal.
 *
 * The pairs are written to a temporary file while they are found.  Then they
 * are turned into lists of neighbors, if these fit in maintenance_work_mem.
 * Otherwise they are sorted, on disk, into the order in which they are needed,
 * that of the first rows of their elements.  Determining that order takes
 * another pass over the rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "batch/batch_call.h"
#include "batch/keep_list.h"
#include "batch/members.h"
#include "batch/result.h"
#include "batch/row_order.h"
#include "batch/temp_file.h"
#include "bits/distance.h"
#include "compat.h"
#include "sort/entrysort.h"

PG_FUNCTION_INFO_V1(simhash_find_duplicates);

/* state of an element */
typedef struct State
{
	uint64		fp;
	uint64		keeper;			/* number of the nearest kept row, with its
								 * distance in the upper bits; or NO_KEEPER */
} State;

/* greater than any distance */
#define NO_KEEPER		PG_UINT64_MAX
#define DISTANCE_SHIFT	48

#define NO_PLACE		PG_UINT32_MAX

/* how many rows ahead states are prefetched */
#define LOOK_AHEAD		16

typedef struct DuplicateFinder
{
	ShBatchMembers members;
	State	   *states;			/* of elements */
	ShBatchResult result;
	double		nreturned;		/* rows that have been decided */

	/* pairs of elements, in the order in which they were found */
	BufFile    *pairs;
	double		npairs;

	/* neighbors of element i: from starts[i] to the next start */
	uint32	   *starts;
	uint32	   *neighbors;

	/*
	 * or, if memory does not suffice: positions of elements in the order of
	 * their first rows
	 */
	uint32	   *places;
	ShSort	   *sorted_pairs;	/* by position of one element, with the other */
	bool		has_pair;		/* there is a next one: */
	ShSortItem	pair;
} DuplicateFinder;

/* members.join: remember the pair */
static void
add_pair(ShBatchMembers *members, uint32 a, uint32 b)
{
	DuplicateFinder *finder = (DuplicateFinder *) members;
	ShBatchNumberPair pair = {a, b};

	members->elements.elements[a].has_near = true;
	members->elements.elements[b].has_near = true;
	BufFileWrite(finder->pairs, &pair, sizeof(pair));
	finder->npairs++;
}

static bool
next_pair(DuplicateFinder *finder, ShBatchNumberPair *pair)
{
	CHECK_FOR_INTERRUPTS();
	return BufFileRead(finder->pairs, pair, sizeof(*pair)) == sizeof(*pair);
}

/*
 * Initialize the states of the elements.
 */
static void
make_states(DuplicateFinder *finder)
{
	const ShBatchUnionFind *elements = &finder->members.elements;

	finder->states = MemoryContextAllocHuge(CurrentMemoryContext,
											elements->count * sizeof(State));
	for (uint32 i = 0; i < elements->count; i++)
	{
		finder->states[i].fp = elements->elements[i].fp;
		finder->states[i].keeper = NO_KEEPER;
	}
}

/*
 * Add the rows that have a near-duplicate, and sort them.
 */
static void
sort_rows(DuplicateFinder *finder, ShBatchRowOrder *order)
{
	const ShBatchElement *elements = finder->members.elements.elements;
	ShBatchMember member;
	double		count = 0;

	while (shbatch_members_next(&finder->members, &member))
	{
		const ShBatchElement *element = &elements[member.element];

		CHECK_FOR_INTERRUPTS();
		if (element->has_near || element->size > 1)
		{
			shbatch_order_add(order, member.row, (uint32) member.element);
			count++;
		}
	}
	shidx_progress_phase(SHIDX_PHASE_ORDER, count);
	shbatch_order_sort(order);
	shidx_progress_phase(SHIDX_PHASE_RETURN, count);
}

/* do the lists of neighbors fit in memory? */
static bool
neighbors_fit(const DuplicateFinder *finder)
{
	double		items = finder->npairs * 2 + finder->members.elements.count + 1;

	return items * sizeof(uint32) <= maintenance_work_mem * 1024.0 && items < PG_UINT32_MAX;
}

/*
 * Make the lists of neighbors.
 */
static void
make_neighbors(DuplicateFinder *finder)
{
	uint32		count = finder->members.elements.count;
	ShBatchNumberPair pair;
	uint32		start = 0;

	finder->starts = MemoryContextAllocExtended(CurrentMemoryContext,
												(count + (Size) 1) * sizeof(uint32),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	finder->neighbors = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(finder->npairs * 2, 1) * sizeof(uint32));
	shbatch_rewind_file(finder->pairs);
	while (next_pair(finder, &pair))
	{
		finder->starts[pair.a]++;
		finder->starts[pair.b]++;
	}
	/* turn counts into ends; placing the neighbors turns ends into starts */
	for (uint32 i = 0; i <= count; i++)
		start = finder->starts[i] += start;
	shbatch_rewind_file(finder->pairs);
	while (next_pair(finder, &pair))
	{
		finder->neighbors[--finder->starts[pair.a]] = pair.b;
		finder->neighbors[--finder->starts[pair.b]] = pair.a;
	}
}

/* move to the next pair, if there is one */
static void
advance_pair(DuplicateFinder *finder)
{
	CHECK_FOR_INTERRUPTS();
	finder->has_pair = shsort_next(finder->sorted_pairs, &finder->pair);
}

/*
 * Sort the pairs, each from both sides.
 */
static void
sort_pairs(DuplicateFinder *finder)
{
	ShBatchNumberPair pair;

	finder->sorted_pairs = shsort_begin(maintenance_work_mem);
	shbatch_rewind_file(finder->pairs);
	while (next_pair(finder, &pair))
	{
		shsort_add(finder->sorted_pairs, finder->places[pair.a], pair.b);
		shsort_add(finder->sorted_pairs, finder->places[pair.b], pair.a);
	}
	shsort_start_table(finder->sorted_pairs, &shbits_make_scheme(1, 0)->tables[0]);
	advance_pair(finder);
}

/*
 * A row is kept: make it the keeper of a neighboring element, unless that has
 * a keeper that is at least as near.
 */
static inline void
keep_for(State *state, uint64 fp, uint64 row)
{
	uint64		distance = shbits_distance(state->fp, fp);

	if (distance < state->keeper >> DISTANCE_SHIFT)
		state->keeper = distance << DISTANCE_SHIFT | row;
}

/*
 * Keep a row of an element.  No other row of it has been kept.
 */
static void
keep_row(DuplicateFinder *finder, uint32 number, uint64 row)
{
	State	   *states = finder->states;
	uint64		fp = states[number].fp;

	keep_for(&states[number], fp, row);
	if (finder->neighbors != NULL)
	{
		for (uint32 i = finder->starts[number]; i < finder->starts[number + 1]; i++)
			keep_for(&states[finder->neighbors[i]], fp, row);
		return;
	}

	/* pairs of elements without a kept row are not needed */
	while (finder->has_pair && finder->pair.key < finder->places[number])
		advance_pair(finder);
	while (finder->has_pair && finder->pair.key == finder->places[number])
	{
		keep_for(&states[finder->pair.value], fp, row);
		advance_pair(finder);
	}
}

/*
 * Decide on the next row in the order: keep it, or return it.
 */
static void
decide(DuplicateFinder *finder, uint64 row, uint32 number)
{
	const ShBatchTables *tables = finder->members.rows->tables;
	uint64		found = finder->states[number].keeper;
	ItemPointerData duplicate;
	ItemPointerData keeper;
	Datum		values[5];

	CHECK_FOR_INTERRUPTS();
	shidx_progress_entries(++finder->nreturned);
	if (found == NO_KEEPER)
	{
		keep_row(finder, number, row);
		return;
	}
	values[3] = ObjectIdGetDatum(shbatch_name_row(tables, row, &duplicate));
	values[4] = ObjectIdGetDatum(shbatch_name_row(tables, found, &keeper));
	values[0] = PointerGetDatum(&duplicate);
	values[1] = PointerGetDatum(&keeper);
	values[2] = Int32GetDatum((int32) (found >> DISTANCE_SHIFT));
	shbatch_result_add(&finder->result, values);
}

/*
 * Decide on all rows with the neighbors in memory.
 *
 * The elements of successive rows are in no particular order, so their states
 * are prefetched some rows ahead.
 */
static void
decide_in_memory(DuplicateFinder *finder, ShBatchRowOrder *order)
{
	uint64		rows[LOOK_AHEAD];
	uint32		numbers[LOOK_AHEAD];
	int			count;

	make_neighbors(finder);
	do
	{
		for (count = 0; count < LOOK_AHEAD; count++)
		{
			if (!shbatch_order_next(order, &rows[count], &numbers[count]))
				break;
			shcompat_prefetch(&finder->states[numbers[count]]);
			shcompat_prefetch(&finder->starts[numbers[count]]);
		}
		for (int i = 0; i < count; i++)
			decide(finder, rows[i], numbers[i]);
	} while (count == LOOK_AHEAD);
}

/*
 * Decide on all rows with the pairs on disk.
 */
static void
decide_on_disk(DuplicateFinder *finder, ShBatchRowOrder *order)
{
	uint32		count = finder->members.elements.count;
	BufFile    *ordered = shbatch_create_file();
	ShBatchMember member;
	uint32		number;
	uint32		place = 0;

	finder->places = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(uint32));
	for (uint32 i = 0; i < count; i++)
		finder->places[i] = NO_PLACE;
	while (shbatch_order_next(order, &member.row, &number))
	{
		CHECK_FOR_INTERRUPTS();
		if (finder->places[number] == NO_PLACE)
			finder->places[number] = place++;
		member.element = number;
		BufFileWrite(ordered, &member, sizeof(member));
	}

	sort_pairs(finder);
	shbatch_rewind_file(ordered);
	while (BufFileRead(ordered, &member, sizeof(member)) == sizeof(member))
		decide(finder, member.row, (uint32) member.element);
	shsort_end(finder->sorted_pairs);
	BufFileClose(ordered);
}

/*
 * simhash_find_duplicates(index regclass, distance int, keep text) -> each row
 * that the snapshot sees and that is near a kept row, with the nearest of the
 * rows that are kept before it in the order of the list "keep".
 */
Datum
simhash_find_duplicates(PG_FUNCTION_ARGS)
{
	DuplicateFinder finder = {0};
	ShBatchCall call;
	ShBatchKeepList *keep = NULL;
	ShBatchRowOrder *order;

	if (!shbatch_begin_index(fcinfo, SHIDX_FIND_DUPLICATES, &call))
		return (Datum) 0;
	if (!PG_ARGISNULL(2))
		keep = shbatch_parse_keep(call.tables.sides[0].named.heap,
								  text_to_cstring(PG_GETARG_TEXT_PP(2)));
	order = shbatch_order_begin(&call.tables, call.snapshot, keep);

	shbatch_members_begin(&finder.members, &call.rows, call.input.most, add_pair);
	finder.pairs = shbatch_create_file();
	shbatch_source_search(&call.input, &finder.members.sink);
	shbatch_members_finish(&finder.members);

	shbatch_result_begin(&finder.result, call.result);
	make_states(&finder);
	sort_rows(&finder, order);
	if (neighbors_fit(&finder))
		decide_in_memory(&finder, order);
	else
		decide_on_disk(&finder, order);

	shbatch_order_end(order);
	BufFileClose(finder.pairs);
	shbatch_members_end(&finder.members);
	shbatch_end_index(&call);
	return (Datum) 0;
}
