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
#include "pairs/temp_file.h"

/* in the order, added to the number of the element of an odd row */
#define ODD_ELEMENT		((uint32) 1 << 31)

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
 * Sort the rows that have a near-duplicate, or only odd ones.
 */
static void
sort_near_rows(ShDupNearRows *near, bool odd_only)
{
	const ShDupElement *elements = near->members.elements.elements;
	ShDupMember member;

	while (shdup_members_next(&near->members, &member))
	{
		const ShDupElement *element = &elements[member.element];

		CHECK_FOR_INTERRUPTS();
		if (odd_only && (member.row & SHDUP_ODD) == 0)
			continue;
		if (element->has_near || shdup_element_rows(element) > 1)
		{
			shdup_order_add(near->order, member.row & ~SHDUP_ODD, (uint32) member.element |
							((member.row & SHDUP_ODD) != 0 ? ODD_ELEMENT : 0));
			near->count++;
		}
	}
	shdup_progress_phase(SHDUP_PHASE_ORDER, near->count);
	shdup_order_sort(near->order);
}

/*
 * Return the next row, and the number of its element.  Returns false after the
 * last.
 */
bool
shdup_near_rows_next(ShDupNearRows *near, ShPairsRow *row, uint32 *element)
{
	if (!shdup_order_next(near->order, row, element))
		return false;
	if ((*element & ODD_ELEMENT) != 0)
		*row |= SHDUP_ODD;
	*element &= ~ODD_ELEMENT;
	return true;
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
		places[i] = SHDUP_NO_PLACE;
	}
	while (shdup_near_rows_next(near, &row, &element))
	{
		CHECK_FOR_INTERRUPTS();
		if (places[element] == SHDUP_NO_PLACE)
			places[element] = (*nplaces)++;
	}
	shdup_order_again(near->order);
	return places;
}

/*
 * Join the elements of all pairs after the search, for rows that are not odd.
 */
void
shdup_near_rows_join(ShDupNearRows *near)
{
	ShDupUnionFind *elements = &near->members.elements;
	ShDupNumberPair pair;

	shpairs_rewind_file(near->neighbors.pairs);
	while (shdup_neighbors_next_pair(&near->neighbors, &pair))
	{
		if (elements->elements[pair.a].size > 0 && elements->elements[pair.b].size > 0)
			shdup_union_find_join(elements, pair.a, pair.b);
	}
}

/*
 * Sort the rows, or only odd ones, after the members have been finished, and make the
 * lists of neighbors.  Runs the functions of the list.
 */
void
shdup_near_rows_sort(ShDupNearRows *near, bool odd_only)
{
	uint32		nelements = near->members.elements.count;

	shpairs_rewind_file(near->members.file);
	sort_near_rows(near, odd_only);
	if (shdup_neighbors_fit(&near->neighbors, nelements))
		shdup_neighbors_load(&near->neighbors, nelements);
	else
	{
		uint32		nplaces;
		uint32	   *places = find_places(near, &nplaces);

		shdup_neighbors_sort(&near->neighbors, places, nplaces);
	}
}

void
shdup_near_rows_end(ShDupNearRows *near)
{
	shdup_order_end(near->order);
	shdup_neighbors_end(&near->neighbors);
	shdup_members_end(&near->members);
}
