/*-------------------------------------------------------------------------
 *
 * wide_search.c
 *	  Finding all pairs within a distance among wide fingerprints in memory, or
 *	  between two sets of them.
 *
 * Some parts are searched within a radius (wide_plan.c), like fingerprints of 64
 * bits (pairs.c), and what is found there is compared as a whole.  A pair belongs
 * to the first part whose radius it is within.
 *
 * One process searches part after part.  Several processes divide the search of a
 * part into slices, and each of them sorts the keys by the part for itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "pairs/wide_input.h"
#include "pairs/wide_search.h"

/* candidates between checks for interrupts */
#define CHECK_INTERVAL		4096

/* into how many slices the comparison of all pairs is divided, */
#define ALL_SLICES			256

/* and that of the keys that have the same value of a part */
#define EQUAL_SLICES		64

/*
 * Prepare to search fingerprints of so many bits.  Pairs that differ in at most
 * distance bits are passed to found, with arg, and report is called with the
 * progress of a long search.  Allocates in the current memory context.
 */
void
shpairs_wide_search_init(ShPairsWideSearch *search, int width, int distance,
						 ShPairsFoundFunction found, ShPairsReportFunction report, void *arg)
{
	search->sets.width = width;
	search->sets.nwords = shbits_nparts(width);
	search->sets.distance = distance;
	search->found = found;
	search->report = report;
	search->arg = arg;
	search->poll = NULL;
	search->checked = 0;
	search->context = AllocSetContextCreate(CurrentMemoryContext, "simhash part",
											ALLOCSET_DEFAULT_SIZES);
}

/* called for each CHECK_INTERVAL candidates, or so */
static void
check_interval(ShPairsWideSearch *search)
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
compare_some(ShPairsWideSearch *search, size_t first, size_t end)
{
	const ShPairsWideSets *sets = &search->sets;
	const ShPairsWideSet *a = &sets->a;
	const ShPairsWideSet *b = &sets->b;
	size_t		compared = 0;

	for (size_t i = first; i < end; i++)
	{
		const uint64 *value = shpairs_wide_value(a, a->start + i);

		for (size_t j = sets->among ? i + 1 : 0; j < b->count; j++)
		{
			if (unlikely(++compared % CHECK_INTERVAL == 0))
				check_interval(search);
			if (shpairs_wide_distance(value, shpairs_wide_value(b, b->start + j), sets->nwords) <=
				sets->distance)
				search->found(search->arg, a->start + i, b->start + j);
		}
	}
}

static void
compare_slice(ShPairsWideSearch *search, int slice)
{
	size_t		count = search->sets.a.count;

	compare_some(search, slice_start(count, slice, ALL_SLICES),
				 slice_start(count, slice + 1, ALL_SLICES));
}

static void
compare_all(ShPairsWideSearch *search)
{
	/* most groups are small, and there may be many */
	if (search->sets.b.count <= CHECK_INTERVAL)
	{
		compare_some(search, 0, search->sets.a.count);
		return;
	}
	for (int slice = 0; slice < ALL_SLICES; slice++)
	{
		compare_slice(search, slice);
		search->report(search->arg, (slice + 1.0) / ALL_SLICES);
	}
}

/*
 * Sort keys by a part, and list its different values.  Returns their number.
 */
static size_t
sort_by_part(const ShPairsWideSet *set, int part)
{
	ShPairsWideBucket *wide = set->wide;
	ShSortItem *sorted = wide->sorted + set->start;
	ShPermuted *keys = wide->part_keys + set->start;
	uint32	   *starts = wide->part_starts + set->start;
	size_t		nkeys = 0;

	for (size_t i = set->start; i < set->start + set->count; i++)
		wide->items[i] = shsort_item(shpairs_wide_value(set, i)[part], i);
	shsort_radix(wide->items + set->start, sorted, set->count);
	for (size_t i = 0; i < set->count; i++)
	{
		if (nkeys > 0 && keys[nkeys - 1] == sorted[i].key)
			continue;
		keys[nkeys] = sorted[i].key;
		starts[nkeys++] = i;
	}
	return nkeys;
}

/* the keys that have value i of the current part: from *start to the result */
static inline const ShSortItem *
keys_of(const ShPairsWideSet *set, size_t i, const ShSortItem **start)
{
	const ShSortItem *sorted = set->wide->sorted + set->start;
	const ShSortItem *end = sorted + set->count;

	*start = sorted + set->wide->part_starts[set->start + i];
	sorted = *start;
	/* mostly it is the only one */
	do
		sorted++;
	while (sorted < end && sorted->key == (*start)->key);
	return sorted;
}

/*
 * Two keys are within the radius of the current part: are they a pair that no
 * earlier part has found?
 */
static inline void
check_candidate(ShPairsWideSearch *search, size_t i, size_t j)
{
	const ShPairsWidePlan *plan = &search->plan;
	const uint64 *x = shpairs_wide_value(&search->sets.a, i);
	const uint64 *y = shpairs_wide_value(&search->sets.b, j);

	if (++search->checked >= CHECK_INTERVAL)
	{
		search->checked = 0;
		check_interval(search);
	}
	if (shpairs_wide_distance(x, y, search->sets.nwords) > search->sets.distance)
		return;
	for (int k = 0; k < search->part; k++)
	{
		if (pg_popcount64(x[plan->parts[k]] ^ y[plan->parts[k]]) <= plan->radii[k])
			return;
	}
	search->found(search->arg, i, j);
}

/* values i and j of the current part are within its radius */
static void
part_found(void *arg, size_t i, size_t j)
{
	ShPairsWideSearch *search = arg;
	const ShSortItem *a_start;
	const ShSortItem *b_start;
	const ShSortItem *a_end = keys_of(&search->sets.a, i, &a_start);
	const ShSortItem *b_end = keys_of(&search->sets.b, j, &b_start);

	for (const ShSortItem *a = a_start; a < a_end; a++)
	{
		for (const ShSortItem *b = b_start; b < b_end; b++)
			check_candidate(search, a->value, b->value);
	}
}

/*
 * Check the pairs of keys that have the same value of the current part, for some of
 * its values.
 */
static void
check_equal(ShPairsWideSearch *search, size_t first, size_t end_value)
{
	for (size_t i = first; i < end_value; i++)
	{
		const ShSortItem *start;
		const ShSortItem *end = keys_of(&search->sets.a, i, &start);

		for (const ShSortItem *a = start; a < end; a++)
		{
			for (const ShSortItem *b = a + 1; b < end; b++)
				check_candidate(search, a->value, b->value);
		}
	}
}

static void
report_part(void *arg, double done)
{
	ShPairsWideSearch *search = arg;

	search->report(search->arg, (search->part + done) / search->plan.nparts);
}

/* of a slice: whoever hands out slices knows how much is done */
static void
report_slice(void *arg, double done)
{
	check_interval((ShPairsWideSearch *) arg);
}

/* the different values of the current part, ascending */
static inline const ShPermuted *
part_keys(const ShPairsWideSet *set)
{
	return set->wide->part_keys + set->start;
}

/*
 * Sort the keys by a part of the plan, which becomes the current one.
 */
static void
begin_part(ShPairsWideSearch *search, int number, ShPairsReportFunction report)
{
	MemoryContext old;
	int			part = search->plan.parts[number];

	CHECK_FOR_INTERRUPTS();
	search->part = number;
	/* what is called for a pair allocates in the caller's context */
	old = MemoryContextSwitchTo(search->context);
	shpairs_init(&search->pairs, search->plan.radii[number], part_found, report, search);
	MemoryContextSwitchTo(old);
	search->na = search->nb = sort_by_part(&search->sets.a, part);
	if (!search->sets.among)
		search->nb = sort_by_part(&search->sets.b, part);
}

/*
 * Search the current part.
 */
static void
search_whole_part(ShPairsWideSearch *search)
{
	const ShPermuted *a = part_keys(&search->sets.a);

	if (search->sets.among)
	{
		check_equal(search, 0, search->na);
		shpairs_find_pairs(&search->pairs, a, search->na);
	}
	else
		shpairs_find_matches(&search->pairs, a, search->na, part_keys(&search->sets.b), search->nb);
}

static void
end_part(ShPairsWideSearch *search)
{
	MemoryContextReset(search->context);
}

static void
set_sets(ShPairsWideSearch *search, ShPairsWideSet a, ShPairsWideSet b, bool among)
{
	search->sets.a = a;
	search->sets.b = b;
	search->sets.among = among;
}

/*
 * Set what is searched: the pairs among a set, which must differ, or of a key of a
 * and one of b, which may be of the same bucket; and plan the search.
 */
void
shpairs_wide_search_plan(ShPairsWideSearch *search, ShPairsWideSet a, ShPairsWideSet b, bool among)
{
	set_sets(search, a, b, among);
	shpairs_wide_plan(&search->plan, &search->sets);
}

/*
 * The same with a plan that another process has made.
 */
void
shpairs_wide_search_use_plan(ShPairsWideSearch *search, ShPairsWideSet a, ShPairsWideSet b,
							 bool among, const ShPairsWidePlan *plan)
{
	set_sets(search, a, b, among);
	search->plan = *plan;
}

/*
 * Find the pairs, as planned.  Each is found once, in no particular order.
 */
void
shpairs_wide_search_run(ShPairsWideSearch *search)
{
	CHECK_FOR_INTERRUPTS();
	/* different keys are no pairs */
	if (search->sets.among && search->sets.distance == 0)
		return;
	if (search->plan.nparts == 0)
		compare_all(search);
	for (int number = 0; number < search->plan.nparts; number++)
	{
		begin_part(search, number, report_part);
		report_part(search, 0);
		search_whole_part(search);
		end_part(search);
	}
}

/*
 * The number of parts that can be searched in slices: those of the plan or, without
 * any, the comparison of all pairs.
 */
int
shpairs_wide_sliced_parts(const ShPairsWideSearch *search)
{
	return Max(search->plan.nparts, 1);
}

/*
 * Begin to search a part in slices, of which other processes search others.  Returns
 * their number, which is the same in all processes that have the same keys and the
 * same plan.  Each pair is found in one slice of one part.
 */
int
shpairs_wide_begin_slices(ShPairsWideSearch *search, int number)
{
	const ShPairsWideSets *sets = &search->sets;

	search->slices = NULL;
	if (search->plan.nparts == 0)
		return ALL_SLICES;
	begin_part(search, number, report_slice);
	if (search->plan.radii[number] == 0)
		return 1;
	search->slices = MemoryContextAlloc(search->context, sizeof(ShPairsSlices));
	shpairs_begin_slices(&search->pairs, part_keys(&sets->a), search->na,
						 sets->among ? NULL : part_keys(&sets->b), search->nb);
	(void) shpairs_plan_slices(&search->pairs, search->slices);
	if (search->slices->nparts == 0)
	{
		shpairs_end_slices(&search->pairs);
		search->slices = NULL;
		return 1;
	}
	return (sets->among ? EQUAL_SLICES : 0) + search->slices->nparts * SHPAIRS_SLICES;
}

/*
 * Search a slice of the current part, 0..n-1.  Those that follow each other take
 * less time.
 */
void
shpairs_wide_search_slice(ShPairsWideSearch *search, int slice)
{
	if (search->plan.nparts == 0)
	{
		compare_slice(search, slice);
		return;
	}
	if (search->slices == NULL)
	{
		search_whole_part(search);
		return;
	}
	if (search->sets.among)
	{
		if (slice < EQUAL_SLICES)
		{
			check_equal(search, slice_start(search->na, slice, EQUAL_SLICES),
						slice_start(search->na, slice + 1, EQUAL_SLICES));
			return;
		}
		slice -= EQUAL_SLICES;
	}
	shpairs_search_slice(&search->pairs, search->slices, slice / SHPAIRS_SLICES,
						 slice % SHPAIRS_SLICES);
}

void
shpairs_wide_end_slices(ShPairsWideSearch *search)
{
	if (search->slices != NULL)
		shpairs_end_slices(&search->pairs);
	if (search->plan.nparts > 0)
		end_part(search);
}
