/*-------------------------------------------------------------------------
 *
 * candidates.c
 *	  Matches waiting to be returned by an ordered scan.
 *
 * They are kept and sorted in an array as long as they fit in work_mem.  Beyond that
 * all are sorted by their distances from the centers, on disk.  If there are more
 * centers than anyone should need, they stay in memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "btree/page.h"
#include "search/candidates.h"

#define FIRST_CAPACITY	256

/* on disk they can be sorted by so many distances, of a byte each */
#define MAX_DISTANCES	((int) sizeof(uint32))

/*
 * Prepare to collect candidates, to be sorted by distances from at most
 * max_centers centers.
 *
 * Allocates in the current memory context.
 */
void
shfnd_candidates_begin(ShFndCandidates *candidates, int max_centers)
{
	memset(candidates, 0, sizeof(*candidates));
	candidates->centers = palloc(max_centers * sizeof(ShFingerprint));
	candidates->context = AllocSetContextCreate(CurrentMemoryContext, "simhash candidates",
												ALLOCSET_DEFAULT_SIZES);
	candidates->max = max_centers > MAX_DISTANCES ? PG_INT64_MAX :
		Max(work_mem * INT64CONST(1024) / sizeof(ShFndCandidate), 1024);
}

/*
 * Free all candidates, and the files they may be in.
 */
void
shfnd_forget_candidates(ShFndCandidates *candidates)
{
	if (candidates->sort != NULL)
		shsort_end(candidates->sort);
	MemoryContextReset(candidates->context);
	candidates->sort = NULL;
	candidates->array = NULL;
	candidates->capacity = 0;
	candidates->count = 0;
	candidates->sorted = 0;
	candidates->next = 0;
	memset(candidates->counts, 0, sizeof(candidates->counts));
}

/*
 * Add a candidate to those that are sorted on disk.
 */
static void
add_to_sort(ShFndCandidates *candidates, const ShFndCandidate *candidate)
{
	uint32		distances = candidate->distance;

	for (int i = 1; i < candidates->ncenters; i++)
		distances = distances << BITS_PER_BYTE |
			shbits_distance(candidate->fp, candidates->centers[i]);
	shsort_add_grouped(candidates->sort, distances, candidate->fp,
					   shbt_tid_to_int(&candidate->tid));
}

/*
 * Start to sort the candidates on disk, as memory is full.
 */
static void
start_sort(ShFndCandidates *candidates)
{
	MemoryContext old = MemoryContextSwitchTo(candidates->context);

	/* little memory is enough, and the array takes all there is */
	candidates->sort = shsort_begin_grouped(work_mem / 8, true);
	for (int64 i = 0; i < candidates->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_to_sort(candidates, &candidates->array[i]);
	}
	if (candidates->array != NULL)
		pfree(candidates->array);
	candidates->array = NULL;
	candidates->capacity = 0;
	MemoryContextSwitchTo(old);
}

static void
enlarge(ShFndCandidates *candidates)
{
	int64		capacity = Max(2 * candidates->capacity, FIRST_CAPACITY);

	capacity = Min(capacity, candidates->max);
	if (candidates->array == NULL)
		candidates->array = MemoryContextAllocHuge(candidates->context,
												   capacity * sizeof(ShFndCandidate));
	else
		candidates->array = repalloc_huge(candidates->array,
										  capacity * sizeof(ShFndCandidate));
	candidates->capacity = capacity;
}

/*
 * Add a match and its distance from the first center.
 *
 * While count < max it stays in memory; otherwise all candidates go to disk.
 */
void
shfnd_add_candidate(ShFndCandidates *candidates, ShFingerprint fp, ItemPointerData tid, int distance)
{
	ShFndCandidate candidate = {.fp = fp,.tid = tid,.distance = distance};

	if (candidates->sort == NULL && candidates->count >= candidates->max)
		start_sort(candidates);
	if (candidates->sort != NULL)
		add_to_sort(candidates, &candidate);
	else
	{
		if (candidates->count == candidates->capacity)
			enlarge(candidates);
		candidates->array[candidates->count] = candidate;
	}
	candidates->count++;
	candidates->counts[distance]++;
}

/*
 * Drop the candidates beyond a distance.  All must be in memory.
 */
void
shfnd_drop_beyond(ShFndCandidates *candidates, int distance)
{
	int64		kept = 0;

	Assert(candidates->sort == NULL);
	for (int64 i = 0; i < candidates->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (candidates->array[i].distance <= distance)
			candidates->array[kept++] = candidates->array[i];
	}
	candidates->count = kept;
	for (int d = distance + 1; d <= SHBITS_WIDTH; d++)
		candidates->counts[d] = 0;
}

/*
 * Compare candidates at equal distances from the first center by their
 * distances from the other centers.
 */
static int
compare_further(const ShFndCandidate *a, const ShFndCandidate *b,
				const ShFndCandidates *candidates)
{
	for (int i = 1; i < candidates->ncenters; i++)
	{
		int			x = shbits_distance(a->fp, candidates->centers[i]);
		int			y = shbits_distance(b->fp, candidates->centers[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

#define ST_SORT sort_further
#define ST_ELEMENT_TYPE ShFndCandidate
#define ST_COMPARE(a, b, candidates) compare_further(a, b, candidates)
#define ST_COMPARE_ARG_TYPE const ShFndCandidates
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort the array.  The number of candidates at each distance is known, and
 * hence the range of positions where they belong: each one is swapped into its
 * range.  Candidates beyond the given distance are not compared by the other
 * centers.
 */
static void
sort_array(ShFndCandidates *candidates, int distance)
{
	ShFndCandidate *array = candidates->array;
	int64		next[SHBITS_WIDTH + 1]; /* next position to fill */
	int64		end = 0;

	for (int d = 0; d <= SHBITS_WIDTH; d++)
	{
		next[d] = end;
		end += candidates->counts[d];
	}
	end = 0;
	for (int d = 0; d <= SHBITS_WIDTH; d++)
	{
		int64		start = end;

		end += candidates->counts[d];
		while (next[d] < end)
		{
			ShFndCandidate candidate = array[next[d]];
			int64		place = next[candidate.distance]++;

			CHECK_FOR_INTERRUPTS();
			if (candidate.distance != d)
			{
				array[next[d]] = array[place];
				array[place] = candidate;
			}
		}
		if (candidates->ncenters > 1 && d <= distance && end - start > 1)
			sort_further(array + start, end - start, candidates);
	}
}

/*
 * Remove the candidates that have been returned.
 */
static void
drop_returned(ShFndCandidates *candidates)
{
	if (candidates->next == 0)
		return;
	for (int64 i = 0; i < candidates->next; i++)
	{
		CHECK_FOR_INTERRUPTS();
		candidates->counts[candidates->array[i].distance]--;
	}
	candidates->count -= candidates->next;
	memmove(candidates->array, candidates->array + candidates->next,
			candidates->count * sizeof(ShFndCandidate));
	candidates->sorted = 0;
	candidates->next = 0;
}

/*
 * Sort the candidates up to a distance; shfnd_next_candidate then returns
 * them.  If all are in memory, candidates beyond the distance stay for later,
 * and more may be added.  If not, there must be none beyond it.
 */
void
shfnd_sort_candidates(ShFndCandidates *candidates, int distance)
{
	if (candidates->sort != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(candidates->context);

		shsort_start_table(candidates->sort, &shbits_make_scheme(1, 0)->tables[0]);
		MemoryContextSwitchTo(old);
		return;
	}
	Assert(candidates->next == 0);
	candidates->sorted = 0;
	for (int d = 0; d <= Min(distance, SHBITS_WIDTH); d++)
		candidates->sorted += candidates->counts[d];
	if (candidates->sorted > 0 && candidates->count > 1)
		sort_array(candidates, distance);
}

/*
 * Return the next of the sorted candidates.  Returns false after the last.
 */
bool
shfnd_next_candidate(ShFndCandidates *candidates, ShFingerprint *fp, ItemPointer tid)
{
	if (candidates->sort != NULL)
	{
		ShSortItem	item;

		if (!shsort_next(candidates->sort, &item))
			return false;
		*fp = item.key;
		shbt_int_to_tid(item.value, tid);
		return true;
	}
	if (candidates->next < candidates->sorted)
	{
		const ShFndCandidate *candidate = &candidates->array[candidates->next++];

		*fp = candidate->fp;
		*tid = candidate->tid;
		return true;
	}
	drop_returned(candidates);
	return false;
}
