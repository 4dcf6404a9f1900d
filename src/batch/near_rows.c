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

#include "batch/near_rows.h"
#include "compat.h"
#include "rows/progress.h"
#include "pairs/temp_file.h"

#define NO_PLACE		PG_UINT32_MAX

/* members.join: remember the pair */
static void
add_pair(ShBatchMembers *members, uint32 a, uint32 b)
{
	ShBatchNearRows *near = (ShBatchNearRows *) members;

	members->elements.elements[a].has_near = true;
	members->elements.elements[b].has_near = true;
	shbatch_neighbors_add(&near->neighbors, a, b);
}

/*
 * Begin to collect what a search passes to near->members.sink.  The rows will
 * be in the order of the list "keep", or of their numbers if it is NULL.  The
 * largest possible number of fingerprints is used for the error message if
 * memory does not suffice.  Fingerprints of several words have nwords of them, others 0.
 *
 * Reports errors in the list as shrows_order_begin does.
 */
void
shbatch_near_rows_begin(ShBatchNearRows *near, ShRows *rows, double most, int nwords,
						const char *keep)
{
	near->order = shrows_order_begin(rows->heaps, rows->snapshot, keep);
	near->ordered = NULL;
	near->count = 0;
	shbatch_members_begin(&near->members, rows, most, nwords, add_pair);
	shbatch_neighbors_begin(&near->neighbors);
}

/*
 * Sort the rows that have a near-duplicate.
 */
static void
sort_rows(ShBatchNearRows *near)
{
	const ShBatchElement *elements = near->members.elements.elements;
	ShBatchMember member;

	while (shbatch_members_next(&near->members, &member))
	{
		const ShBatchElement *element = &elements[member.element];

		CHECK_FOR_INTERRUPTS();
		if (element->has_near || element->size > 1)
		{
			shrows_order_add(near->order, member.row, (uint32) member.element);
			near->count++;
		}
	}
	shrows_progress_phase(SHROWS_PHASE_ORDER, near->count);
	shrows_order_sort(near->order);
}

/*
 * Read the rows in order, into a file, to number the elements by their first
 * rows.  Returns the number of each element.
 */
static uint32 *
find_places(ShBatchNearRows *near, uint32 *nplaces)
{
	uint32		nelements = near->members.elements.count;
	uint32	   *places = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(nelements, 1) * sizeof(uint32));
	ShBatchMember member;
	uint32		element;

	near->ordered = shpairs_create_file();
	*nplaces = 0;
	for (uint32 i = 0; i < nelements; i++)
	{
		shcompat_check_at(i);
		places[i] = NO_PLACE;
	}
	while (shrows_order_next(near->order, &member.row, &element))
	{
		CHECK_FOR_INTERRUPTS();
		if (places[element] == NO_PLACE)
			places[element] = (*nplaces)++;
		member.element = element;
		BufFileWrite(near->ordered, &member, sizeof(member));
	}
	shpairs_rewind_file(near->ordered);
	return places;
}

/*
 * Sort the rows after the search, and make the lists of neighbors.  Runs the
 * functions of the list.
 */
void
shbatch_near_rows_sort(ShBatchNearRows *near)
{
	uint32		nelements;

	shbatch_members_finish(&near->members);
	nelements = near->members.elements.count;
	sort_rows(near);
	if (shbatch_neighbors_fit(&near->neighbors, nelements))
		shbatch_neighbors_load(&near->neighbors, nelements);
	else
	{
		uint32		nplaces;
		uint32	   *places = find_places(near, &nplaces);

		shbatch_neighbors_sort(&near->neighbors, places, nplaces);
	}
}

/*
 * Return the next row, and the number of its element.  Returns false after the
 * last.
 */
bool
shbatch_near_rows_next(ShBatchNearRows *near, ShPairsRow *row, uint32 *element)
{
	ShBatchMember member;

	if (near->ordered == NULL)
		return shrows_order_next(near->order, row, element);
	if (BufFileRead(near->ordered, &member, sizeof(member)) != sizeof(member))
		return false;
	*row = member.row;
	*element = (uint32) member.element;
	return true;
}

void
shbatch_near_rows_end(ShBatchNearRows *near)
{
	if (near->ordered != NULL)
		BufFileClose(near->ordered);
	shrows_order_end(near->order);
	shbatch_neighbors_end(&near->neighbors);
	shbatch_members_end(&near->members);
}
