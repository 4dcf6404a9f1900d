/*-------------------------------------------------------------------------
 *
 * near_rows.c
 *	  The rows that have a near-duplicate, in an order, and the neighbors of
 *	  their fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/members.h"
#include "dedup/progress.h"

#define NO_PLACE		PG_UINT32_MAX

/* members.join: remember the pair */
static void
add_near_pair(ShDupMembers *members, uint32 a, uint32 b)
{
	ShDupNearRows *near = (ShDupNearRows *) members;

	members->elements.elements[a].has_near = true;
	members->elements.elements[b].has_near = true;
	shdup_neighbors_add(&near->neighbors, a, b);
}

/*
 * Begin to collect what a search passes to near->members.sink.  The rows will
 * be in the order of the list "keep", or of their numbers if it is NULL.  The
 * largest possible number of fingerprints is used for the error message if
 * memory does not suffice.  Fingerprints of several words have nwords of them, others 0.
 *
 * Reports errors in the list as shdup_order_begin does.
 */
void
shdup_near_rows_begin(ShDupNearRows *near, ShDup *rows, double most, int nwords,
					  const char *keep)
{
	near->order = shdup_order_begin(rows->heaps, rows->snapshot, keep);
	near->count = 0;
	shdup_members_begin(&near->members, rows, most, nwords, add_near_pair);
	shdup_neighbors_begin(&near->neighbors);
}

/*
 * Sort the rows that have a near-duplicate.
 */
static void
sort_near_rows(ShDupNearRows *near)
{
	const ShDupElement *elements = near->members.elements.elements;
	ShDupMember member;

	while (shdup_members_next(&near->members, &member))
	{
		const ShDupElement *element = &elements[member.element];

		CHECK_FOR_INTERRUPTS();
		if (element->has_near || element->size > 1)
		{
			shdup_order_add(near->order, member.row, (uint32) member.element);
			near->count++;
		}
	}
	shdup_progress_phase(SHDUP_PHASE_ORDER, near->count);
	shdup_order_sort(near->order);
}

/*
 * Read the rows in order, to number the elements by their first rows.  Returns the number
 * of each element.
 */
static uint32 *
find_places(ShDupNearRows *near, uint32 *nplaces)
{
	uint32		nelements = near->members.elements.count;
	uint32	   *places = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(nelements, 1) * sizeof(uint32));
	ShPairsRow	row;
	uint32		element;

	*nplaces = 0;
	for (uint32 i = 0; i < nelements; i++)
	{
		shcompat_check_at(i);
		places[i] = NO_PLACE;
	}
	while (shdup_order_next(near->order, &row, &element))
	{
		CHECK_FOR_INTERRUPTS();
		if (places[element] == NO_PLACE)
			places[element] = (*nplaces)++;
	}
	shdup_order_again(near->order);
	return places;
}

/*
 * Sort the rows after the search, and make the lists of neighbors.  Runs the
 * functions of the list.
 */
void
shdup_near_rows_sort(ShDupNearRows *near)
{
	uint32		nelements;

	shdup_members_finish(&near->members);
	nelements = near->members.elements.count;
	sort_near_rows(near);
	if (shdup_neighbors_fit(&near->neighbors, nelements))
		shdup_neighbors_load(&near->neighbors, nelements);
	else
	{
		uint32		nplaces;
		uint32	   *places = find_places(near, &nplaces);

		shdup_neighbors_sort(&near->neighbors, places, nplaces);
	}
}

/*
 * Return the next row, and the number of its element.  Returns false after the
 * last.
 */
bool
shdup_near_rows_next(ShDupNearRows *near, ShPairsRow *row, uint32 *element)
{
	return shdup_order_next(near->order, row, element);
}

void
shdup_near_rows_end(ShDupNearRows *near)
{
	shdup_order_end(near->order);
	shdup_neighbors_end(&near->neighbors);
	shdup_members_end(&near->members);
}
