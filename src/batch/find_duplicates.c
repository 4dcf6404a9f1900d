/*-------------------------------------------------------------------------
 *
 * find_duplicates.c
 *	  SQL function that returns the rows to remove so that one of each is kept.
 *
 * Rows are taken in an order.  One is kept if no row that was kept before is within
 * the distance; else it is a duplicate, and its keeper is the nearest of those, the
 * first of several that are equally near.  So no two rows that are kept are near each
 * other, and each duplicate is near its keeper: there are no chains, as in
 * clusters.
 *
 * To rows of one fingerprint (and one kind, see values.c) the same rows are near.  If
 * the first of them is kept, it is the keeper of the others.  If it is not, none of
 * them is, as the row that it is near to stays kept.  So an element has for each row
 * the keeper that it would have now, if any; when a row is kept, it becomes that of its
 * own element and of those near that had a keeper farther away, or none.  Each element
 * does this once at most, so each pair of fingerprints counts twice, and each row once,
 * however many are equal.
 *
 * Only what an element has is in memory.  Rows and pairs are in temporary files,
 * and are sorted, the pairs into the order in which they are needed: that of
 * the first rows of their elements.
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
#include "bits/distance.h"
#include "sort/entrysort.h"

PG_FUNCTION_INFO_V1(simhash_find_duplicates);

/* what an element has */
typedef struct State
{
	uint64		fp;
	uint64		keeper;			/* TID of the nearest row that is kept, or NO_KEEPER */
	uint32		place;			/* among the elements, by their first rows */
	int32		distance;		/* of the keeper */
} State;

#define NO_KEEPER	PG_UINT64_MAX
#define NO_PLACE	PG_UINT32_MAX

typedef struct DuplicateFinder
{
	ShBatchMembers members;

	/* pairs of elements, as they were found; then by the place of the first */
	BufFile    *pairs;
	ShSort	   *sorted_pairs;
	bool		has_pair;		/* the next one: */
	ShSortItem	pair;			/* the place of the one, the number of the other */

	/* rows in order */
	BufFile    *ordered;
	State	   *states;			/* of elements */
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
}

static bool
next_pair(DuplicateFinder *finder, ShBatchNumberPair *pair)
{
	CHECK_FOR_INTERRUPTS();
	return BufFileRead(finder->pairs, pair, sizeof(*pair)) == sizeof(*pair);
}

/*
 * Make the states of the elements.
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
		finder->states[i].place = NO_PLACE;
	}
}

/*
 * Put the rows in order, and give the elements their places.
 */
static void
order_rows(DuplicateFinder *finder, ShBatchRowOrder *order)
{
	const ShBatchElement *elements = finder->members.elements.elements;
	ShBatchMember member;
	uint64		tid;
	uint32		number;
	double		count = 0;
	uint32		place = 0;

	while (shbatch_members_next(&finder->members, &member))
	{
		const ShBatchElement *element = &elements[member.element];

		CHECK_FOR_INTERRUPTS();
		if (element->has_near || element->size > 1)
		{
			shbatch_order_add(order, member.tid, (uint32) member.element);
			count++;
		}
	}
	shbatch_progress_phase(SHBATCH_PHASE_ORDER, count);
	shbatch_order_sort(order);

	finder->ordered = shbatch_create_file();
	while (shbatch_order_next(order, &tid, &number))
	{
		CHECK_FOR_INTERRUPTS();
		if (finder->states[number].place == NO_PLACE)
			finder->states[number].place = place++;
		member.tid = tid;
		member.element = number;
		BufFileWrite(finder->ordered, &member, sizeof(member));
	}
	shbatch_progress_phase(SHBATCH_PHASE_RETURN, count);
}

/* go on to the next pair, if there is one */
static void
advance_pair(DuplicateFinder *finder)
{
	finder->has_pair = shsort_next(finder->sorted_pairs, &finder->pair);
}

/*
 * Sort the pairs: each from both sides.
 */
static void
sort_pairs(DuplicateFinder *finder)
{
	ShBatchNumberPair pair;

	finder->sorted_pairs = shsort_begin(maintenance_work_mem);
	shbatch_rewind_file(finder->pairs);
	while (next_pair(finder, &pair))
	{
		shsort_add(finder->sorted_pairs, finder->states[pair.a].place, pair.b);
		shsort_add(finder->sorted_pairs, finder->states[pair.b].place, pair.a);
	}
	shsort_start_table(finder->sorted_pairs, &shbits_make_scheme(1, 0)->tables[0]);
	advance_pair(finder);
}

/*
 * A row is kept: the keeper of rows of its own element, and of those near.
 */
static void
keep_row(DuplicateFinder *finder, uint32 number, uint64 tid)
{
	State	   *state = &finder->states[number];

	state->keeper = tid;
	state->distance = 0;
	while (finder->has_pair && finder->pair.key < state->place)
		advance_pair(finder);
	while (finder->has_pair && finder->pair.key == state->place)
	{
		State	   *other = &finder->states[finder->pair.value];
		int			distance = shbits_distance(state->fp, other->fp);

		CHECK_FOR_INTERRUPTS();
		if (other->keeper == NO_KEEPER || distance < other->distance)
		{
			other->keeper = tid;
			other->distance = distance;
		}
		advance_pair(finder);
	}
}

/*
 * Take the rows in order, and return the duplicates.
 */
static void
return_duplicates(DuplicateFinder *finder, ReturnSetInfo *info, Oid table)
{
	ShBatchResult result;
	ShBatchMember member;
	double		nread = 0;

	shbatch_result_begin(&result, info);
	shbatch_rewind_file(finder->ordered);
	while (BufFileRead(finder->ordered, &member, sizeof(member)) == sizeof(member))
	{
		const State *state = &finder->states[member.element];
		ItemPointerData duplicate;
		ItemPointerData keeper;
		Datum		values[5];

		CHECK_FOR_INTERRUPTS();
		shbatch_progress_entries(++nread);
		if (state->keeper == NO_KEEPER)
		{
			keep_row(finder, (uint32) member.element, member.tid);
			continue;
		}
		shbt_int_to_tid(member.tid, &duplicate);
		shbt_int_to_tid(state->keeper, &keeper);
		values[0] = PointerGetDatum(&duplicate);
		values[1] = PointerGetDatum(&keeper);
		values[2] = Int32GetDatum(state->distance);
		values[3] = values[4] = ObjectIdGetDatum(table);
		shbatch_result_add(&result, values);
	}
}

/*
 * simhash_find_duplicates(index regclass, distance int, keep text) -> each row
 * that the snapshot sees that is near to a row that is kept, with the nearest of the
 * rows that are kept before it in the order of the list "keep".
 */
Datum
simhash_find_duplicates(PG_FUNCTION_ARGS)
{
	DuplicateFinder finder = {0};
	ShBatchCall call;
	ShBatchKeepList *keep = NULL;
	ShBatchRowOrder *order;

	if (!shbatch_begin_index(fcinfo, SHBATCH_FIND_DUPLICATES, &call))
		return (Datum) 0;
	if (!PG_ARGISNULL(2))
		keep = shbatch_parse_keep(call.target.heap, text_to_cstring(PG_GETARG_TEXT_PP(2)));
	order = shbatch_order_begin(call.target.heap, call.snapshot, keep);

	shbatch_members_begin(&finder.members, &call.rows, call.input.most, add_pair);
	finder.pairs = shbatch_create_file();
	shbatch_source_search(&call.input, &finder.members.sink);
	shbatch_members_finish(&finder.members);

	make_states(&finder);
	order_rows(&finder, order);
	shbatch_order_end(order);
	sort_pairs(&finder);
	return_duplicates(&finder, call.result, RelationGetRelid(call.target.heap));

	shsort_end(finder.sorted_pairs);
	BufFileClose(finder.ordered);
	BufFileClose(finder.pairs);
	shbatch_members_end(&finder.members);
	shbatch_end_index(&call);
	return (Datum) 0;
}
