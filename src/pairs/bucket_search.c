/*-------------------------------------------------------------------------
 *
 * bucket_search.c
 *	  Finding all pairs within a distance in a bucket, or between two buckets.
 *
 * Fingerprints of one word are searched at once (pairs.c).  Of wider ones, some words
 * are searched in this way, each within a radius (word_plan.c), and what is found is
 * compared as a whole.  A pair belongs to the first word whose radius it is within.
 *
 * Several processes divide the search of a task into slices.  A task is a word or, if
 * there is only one, a part of it; each process sorts or divides the keys for itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "compat.h"
#include "index/sort.h"
#include "pairs/bucket_search.h"

/* candidates between checks for interrupts */
#define CHECK_INTERVAL		4096

/* into how many slices the comparison of all pairs is divided, */
#define ALL_SLICES			256

/* and that of the keys that have the same value of a word */
#define EQUAL_SLICES		64

/*
 * Prepare to search fingerprints of so many bits.  Pairs that differ in at most
 * distance bits are passed to found, with arg, and report is called with the
 * progress of a long search.  Allocates in the current memory context.
 */
void
shpairs_search_init(ShPairsSearch *search, int width, int distance,
					ShPairsFoundFunction found, ShPairsReportFunction report, void *arg)
{
	memset(search, 0, offsetof(ShPairsSearch, pairs));
	search->sets.width = width;
	search->sets.nwords = shbits_nparts(width);
	search->sets.distance = distance;
	search->found = found;
	search->report = report;
	search->arg = arg;
	search->context = CurrentMemoryContext;
	if (search->sets.nwords == 1)
		shpairs_init(&search->pairs, distance, found, report, arg);
	else
		search->context = AllocSetContextCreate(CurrentMemoryContext, "simhash search",
												ALLOCSET_DEFAULT_SIZES);
}

/* called for each CHECK_INTERVAL candidates, or so */
static void
check_interval(ShPairsSearch *search)
{
	CHECK_FOR_INTERRUPTS();
	if (search->poll != NULL)
		search->poll(search->poll_arg);
}

/* the first of count things that belongs to a slice */
static inline size_t
slice_start(size_t count, int slice, int nslices)
{
	return count * slice / nslices;
}

/*
 * Compare some keys of a, from first to end, with all of b, or with those after them.
 */
static void
compare_some(ShPairsSearch *search, size_t first, size_t end)
{
	const ShPairsSets *sets = &search->sets;
	size_t		compared = 0;

	for (size_t i = first; i < end; i++)
	{
		const uint64 *value = shpairs_stored(sets->a, i);

		for (size_t j = sets->a == sets->b ? i + 1 : 0; j < sets->b->nkeys; j++)
		{
			if (unlikely(++compared % CHECK_INTERVAL == 0))
				check_interval(search);
			if (shpairs_distance(value, shpairs_stored(sets->b, j), sets->nwords) <=
				sets->distance)
				search->found(search->arg, i, j);
		}
	}
}

static void
compare_slice(ShPairsSearch *search, int slice)
{
	size_t		count = search->sets.a->nkeys;

	compare_some(search, slice_start(count, slice, ALL_SLICES),
				 slice_start(count, slice + 1, ALL_SLICES));
}

static void
compare_all(ShPairsSearch *search)
{
	/* most groups are small, and there may be many */
	if (search->sets.b->nkeys <= CHECK_INTERVAL)
	{
		compare_some(search, 0, search->sets.a->nkeys);
		return;
	}
	for (int slice = 0; slice < ALL_SLICES; slice++)
	{
		compare_slice(search, slice);
		search->report(search->arg, (slice + 1.0) / ALL_SLICES);
	}
}

static void
allocate_sorted(ShPairsSearch *search, ShPairsSorted *sorted, const ShPairsBucket *bucket)
{
	sorted->bucket = bucket;
	sorted->items = MemoryContextAllocHuge(search->context, bucket->nkeys * sizeof(ShIdxSortItem));
	sorted->scratch = MemoryContextAllocHuge(search->context, bucket->nkeys * sizeof(ShIdxSortItem));
	sorted->values = MemoryContextAllocHuge(search->context, bucket->nkeys * sizeof(ShPermuted));
	sorted->starts = MemoryContextAllocHuge(search->context, bucket->nkeys * sizeof(uint32));
}

/*
 * Sort keys by a word, and list its different values.
 */
static void
sort_by_word(ShPairsSearch *search, ShPairsSorted *sorted, int word)
{
	size_t		count = sorted->bucket->nkeys;

	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		sorted->scratch[i] = shidx_sort_item(shpairs_stored(sorted->bucket, i)[word], i);
	}
	shidx_sort_radix(sorted->scratch, sorted->items, count);
	sorted->count = 0;
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		if (sorted->count > 0 && sorted->values[sorted->count - 1] == sorted->items[i].key)
			continue;
		sorted->values[sorted->count] = sorted->items[i].key;
		sorted->starts[sorted->count++] = i;
	}
}

/* the keys that have value i of the current word: from *start to the result */
static inline const ShIdxSortItem *
keys_with(const ShPairsSorted *sorted, size_t i, const ShIdxSortItem **start)
{
	*start = sorted->items + sorted->starts[i];
	return sorted->items + (i + 1 < sorted->count ? sorted->starts[i + 1] : sorted->bucket->nkeys);
}

/*
 * Two keys are within the radius of the current word: are they a pair that no
 * earlier word has found?
 */
static inline void
check_candidate(ShPairsSearch *search, size_t i, size_t j)
{
	const ShPairsWordPlan *plan = &search->plan;
	const uint64 *x = shpairs_stored(search->sets.a, i);
	const uint64 *y = shpairs_stored(search->sets.b, j);

	if (++search->checked >= CHECK_INTERVAL)
	{
		search->checked = 0;
		check_interval(search);
	}
	if (shpairs_distance(x, y, search->sets.nwords) > search->sets.distance)
		return;
	for (int k = 0; k < search->task; k++)
	{
		if (pg_popcount64(x[plan->words[k]] ^ y[plan->words[k]]) <= plan->radii[k])
			return;
	}
	search->found(search->arg, i, j);
}

/* values i and j of the current word are within its radius */
static void
check_values(void *arg, size_t i, size_t j)
{
	ShPairsSearch *search = arg;
	const ShIdxSortItem *a_start;
	const ShIdxSortItem *b_start;
	const ShIdxSortItem *a_end = keys_with(&search->sorted[0], i, &a_start);
	const ShIdxSortItem *b_end = keys_with(search->sorted_b, j, &b_start);

	for (const ShIdxSortItem *a = a_start; a < a_end; a++)
	{
		for (const ShIdxSortItem *b = b_start; b < b_end; b++)
			check_candidate(search, a->value, b->value);
	}
}

/*
 * Check the pairs of keys that have the same value of the current word, for some of
 * its values.
 */
static void
check_equal(ShPairsSearch *search, size_t first, size_t end_value)
{
	for (size_t i = first; i < end_value; i++)
	{
		const ShIdxSortItem *start;
		const ShIdxSortItem *end = keys_with(&search->sorted[0], i, &start);

		for (const ShIdxSortItem *a = start; a < end; a++)
		{
			for (const ShIdxSortItem *b = a + 1; b < end; b++)
				check_candidate(search, a->value, b->value);
		}
	}
}

static void
report_word(void *arg, double fraction)
{
	ShPairsSearch *search = arg;

	search->report(search->arg, (search->task + fraction) / search->plan.nwords);
}

/* of a slice: whoever hands out slices knows how much is done */
static void
report_slice(void *arg, double fraction)
{
	check_interval((ShPairsSearch *) arg);
}

/*
 * Sort the keys by a word of the plan, which becomes the current one.
 */
static void
begin_word(ShPairsSearch *search, int number, ShPairsReportFunction report)
{
	const ShPairsSets *sets = &search->sets;
	int			word = search->plan.words[number];
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	search->task = number;
	/* what is called for a pair allocates in the caller's context */
	old = MemoryContextSwitchTo(search->context);
	shpairs_init(&search->pairs, search->plan.radii[number], check_values, report, search);
	MemoryContextSwitchTo(old);
	allocate_sorted(search, &search->sorted[0], sets->a);
	sort_by_word(search, &search->sorted[0], word);
	search->sorted_b = &search->sorted[0];
	if (sets->a == sets->b)
		return;
	search->sorted_b = &search->sorted[1];
	allocate_sorted(search, &search->sorted[1], sets->b);
	sort_by_word(search, &search->sorted[1], word);
}

/*
 * Search the current word.
 */
static void
search_word(ShPairsSearch *search)
{
	const ShPairsSorted *a = &search->sorted[0];
	const ShPairsSorted *b = search->sorted_b;

	if (a == b)
	{
		check_equal(search, 0, a->count);
		shpairs_find_pairs(&search->pairs, a->values, a->count);
	}
	else
		shpairs_find_matches(&search->pairs, a->values, a->count, b->values, b->count);
}

static void
end_word(ShPairsSearch *search)
{
	MemoryContextReset(search->context);
}

/*
 * Set what is searched: the pairs among bucket a, or of a key of a and one of b.
 */
void
shpairs_search_set(ShPairsSearch *search, const ShPairsBucket *a, const ShPairsBucket *b)
{
	search->sets.a = a;
	search->sets.b = b;
}

/*
 * Find the pairs, in this process.  Each is found once, in no particular order.  With
 * several words, the search must have been planned.
 */
void
shpairs_search_alone(ShPairsSearch *search)
{
	const ShPairsBucket *a = search->sets.a;
	const ShPairsBucket *b = search->sets.b;

	/* different keys are no pairs */
	if (a == b && (search->sets.distance == 0 || a->nkeys < 2))
		return;
	if (search->sets.nwords == 1)
	{
		if (a == b)
			shpairs_find_pairs(&search->pairs, a->values, a->nkeys);
		else
			shpairs_find_matches(&search->pairs, a->values, a->nkeys, b->values, b->nkeys);
		return;
	}
	CHECK_FOR_INTERRUPTS();
	if (search->plan.nwords == 0)
		compare_all(search);
	for (int number = 0; number < search->plan.nwords; number++)
	{
		begin_word(search, number, report_word);
		report_word(search, 0);
		search_word(search);
		end_word(search);
	}
}

/* of a slice of the only word */
static void
pass_pair(void *arg, size_t i, size_t j)
{
	ShPairsSearch *search = arg;

	search->found(search->arg, i, j);
}

static void
begin_cells(ShPairsSearch *search, const uint64 *a, size_t na, const uint64 *b, size_t nb)
{
	shpairs_begin_slices(&search->pairs, a, na, search->sets.a == search->sets.b ? NULL : b, nb);
}

/*
 * Prepare to search in slices, of which other processes search others.  With one word,
 * slices has the plan, or is made here unless planned.  Returns the number of tasks, 0
 * if there is nothing to find.
 */
int
shpairs_begin_tasks(ShPairsSearch *search, ShPairsSlices *slices, bool planned)
{
	const ShPairsBucket *a = search->sets.a;
	const ShPairsBucket *b = search->sets.b;

	if (search->sets.nwords > 1)
		return Max(search->plan.nwords, 1);
	search->slices = slices;
	search->pairs.found = pass_pair;
	search->pairs.report = report_slice;
	search->pairs.arg = search;
	begin_cells(search, a->values, a->nkeys, b->values, b->nkeys);
	if (!planned)
		(void) shpairs_plan_slices(&search->pairs, slices);
	return slices->nparts;
}

/*
 * Begin a task.  Returns the number of its slices, which is the same in all processes
 * that have the same keys and the same plan.  Each pair is found in one slice of one
 * task.
 */
int
shpairs_begin_task(ShPairsSearch *search, int number)
{
	const ShPairsSorted *a = &search->sorted[0];

	search->task = number;
	if (search->sets.nwords == 1)
		return SHPAIRS_SLICES;
	search->slices = NULL;
	if (search->plan.nwords == 0)
		return ALL_SLICES;
	begin_word(search, number, report_slice);
	if (search->plan.radii[number] == 0)
		return 1;
	search->slices = MemoryContextAlloc(search->context, sizeof(ShPairsSlices));
	begin_cells(search, a->values, a->count, search->sorted_b->values, search->sorted_b->count);
	(void) shpairs_plan_slices(&search->pairs, search->slices);
	if (search->slices->nparts == 0)
	{
		shpairs_end_slices(&search->pairs);
		search->slices = NULL;
		return 1;
	}
	return (a == search->sorted_b ? EQUAL_SLICES : 0) + search->slices->nparts * SHPAIRS_SLICES;
}

/*
 * Search a slice of the current task, 0..n-1.  Those that follow each other take
 * less time.
 */
void
shpairs_search_task(ShPairsSearch *search, int slice)
{
	const ShPairsSorted *a = &search->sorted[0];

	if (search->sets.nwords == 1)
	{
		shpairs_search_slice(&search->pairs, search->slices, search->task, slice);
		return;
	}
	if (search->plan.nwords == 0)
	{
		compare_slice(search, slice);
		return;
	}
	if (search->slices == NULL)
	{
		search_word(search);
		return;
	}
	if (a == search->sorted_b)
	{
		if (slice < EQUAL_SLICES)
		{
			check_equal(search, slice_start(a->count, slice, EQUAL_SLICES),
						slice_start(a->count, slice + 1, EQUAL_SLICES));
			return;
		}
		slice -= EQUAL_SLICES;
	}
	shpairs_search_slice(&search->pairs, search->slices, slice / SHPAIRS_SLICES,
						 slice % SHPAIRS_SLICES);
}

void
shpairs_end_task(ShPairsSearch *search)
{
	if (search->sets.nwords == 1)
		return;
	if (search->slices != NULL)
		shpairs_end_slices(&search->pairs);
	if (search->plan.nwords > 0)
		end_word(search);
}

void
shpairs_end_tasks(ShPairsSearch *search)
{
	if (search->sets.nwords > 1)
		return;
	shpairs_end_slices(&search->pairs);
	search->pairs.found = search->found;
	search->pairs.report = search->report;
	search->pairs.arg = search->arg;
}
