/*-------------------------------------------------------------------------
 *
 * kept_rows.c
 *	  The rows that are kept, and the keeper of another row among them, if the
 *	  condition "same" decides.
 *
 * The candidates for the keeper of a row are the kept rows of its own element
 * and of the elements near it.  They are checked from the nearest to the
 * farthest, and those at one distance in the order in which they were kept, up
 * to the first that is the same.  So a row that has a keeper is seldom checked
 * against more than one, and no pair of rows is checked twice.
 *
 * If rows of one fingerprint are not the same, several of them are kept.  So
 * the memory for kept rows may exceed that for the elements, and has a limit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/members.h"
#include "index/sort.h"

/* in place of the number of a kept row: there is none */
#define NO_ROW			PG_UINT32_MAX

#define FIRST_CAPACITY	1024

/* bytes for a kept row: its number, a link, and its place as a candidate */
#define BYTES_PER_ROW	(sizeof(KeptRow) + sizeof(uint64))

/* a candidate: its distance, and its number among the kept rows */
#define CANDIDATE(distance, number)		((uint64) (distance) << 32 | (number))
#define CANDIDATE_DISTANCE(candidate)	((int) ((candidate) >> 32))
#define CANDIDATE_NUMBER(candidate)		((uint32) (candidate))

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

struct ShDupKeptRows
{
	const ShDupUnionFind *elements;
	ShDupNeighbors *neighbors;
	ShDupRowCheck *check;
	KeptList   *lists;			/* of elements */

	uint32		count;
	uint32		capacity;
	KeptRow    *rows;

	/* candidates for the keeper of one row */
	size_t		ncandidates;
	size_t		max_candidates;
	uint64	   *candidates;
};

/*
 * Begin without kept rows.  Memory is allocated in the current context.
 */
ShDupKeptRows *
shdup_kept_begin(const ShDupUnionFind *elements, ShDupNeighbors *neighbors,
				 ShDupRowCheck *check)
{
	ShDupKeptRows *kept = palloc0(sizeof(ShDupKeptRows));

	kept->elements = elements;
	kept->neighbors = neighbors;
	kept->check = check;
	kept->lists = MemoryContextAllocHuge(CurrentMemoryContext,
										 Max(elements->count, 1) * sizeof(KeptList));
	for (uint32 i = 0; i < elements->count; i++)
	{
		shcompat_check_at(i);
		kept->lists[i].first = NO_ROW;
	}
	kept->capacity = FIRST_CAPACITY;
	kept->rows = palloc(FIRST_CAPACITY * sizeof(KeptRow));
	kept->max_candidates = FIRST_CAPACITY;
	kept->candidates = palloc(FIRST_CAPACITY * sizeof(uint64));
	return kept;
}

/*
 * Make room for one more row.
 */
static void
enlarge_kept(ShDupKeptRows *kept)
{
	double		bytes = kept->capacity * 2.0 * BYTES_PER_ROW;

	if (bytes > maintenance_work_mem * 1024.0 || kept->capacity > PG_UINT32_MAX / 2)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("more than %u rows that are near others and kept do not fit into maintenance_work_mem",
						kept->count),
				 errhint("Increase maintenance_work_mem, which is now %d kB, or choose a smaller distance.",
						 maintenance_work_mem)));
	kept->capacity *= 2;
	kept->rows = repalloc_huge(kept->rows, kept->capacity * sizeof(KeptRow));
}

/*
 * Keep a row of an element.
 */
void
shdup_kept_add(ShDupKeptRows *kept, uint32 element, ShPairsRow row)
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
add_candidate(ShDupKeptRows *kept, int distance, uint32 number)
{
	if (kept->ncandidates == kept->max_candidates)
	{
		kept->max_candidates *= 2;
		kept->candidates = repalloc_huge(kept->candidates,
										 kept->max_candidates * sizeof(uint64));
	}
	kept->candidates[kept->ncandidates++] = CANDIDATE(distance, number);
}

/* add the kept rows of an element */
static void
add_candidates(ShDupKeptRows *kept, int distance, uint32 element)
{
	for (uint32 number = kept->lists[element].first; number != NO_ROW;
		 number = kept->rows[number].next)
	{
		shcompat_check_at(kept->ncandidates);
		add_candidate(kept, distance, number);
	}
}

/*
 * Collect the kept rows of the neighbors of an element, the nearest first.
 */
static void
collect_candidates(ShDupKeptRows *kept, uint32 element)
{
	const uint32 *neighbors;
	size_t		count = shdup_neighbors_of(kept->neighbors, element, &neighbors);

	kept->ncandidates = 0;
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		if (kept->lists[neighbors[i]].first != NO_ROW)
			add_candidates(kept, shdup_element_distance(kept->elements, neighbors[i], element),
						   neighbors[i]);
	}
	shidx_sort_numbers(kept->candidates, kept->ncandidates);
}

/*
 * Find the keeper of a row of an element: the nearest row that is kept and the
 * same, and the first kept of several.  Returns false if there is none.
 */
bool
shdup_kept_find(ShDupKeptRows *kept, uint32 element, ShPairsRow row, ShPairsRow * keeper,
				int *distance)
{
	for (uint32 number = kept->lists[element].first; number != NO_ROW;
		 number = kept->rows[number].next)
	{
		*keeper = kept->rows[number].row;
		*distance = 0;
		if (shdup_check_rows(kept->check, row, *keeper))
			return true;
	}
	collect_candidates(kept, element);
	for (size_t i = 0; i < kept->ncandidates; i++)
	{
		*keeper = kept->rows[CANDIDATE_NUMBER(kept->candidates[i])].row;
		*distance = CANDIDATE_DISTANCE(kept->candidates[i]);
		if (shdup_check_rows(kept->check, row, *keeper))
			return true;
	}
	return false;
}
