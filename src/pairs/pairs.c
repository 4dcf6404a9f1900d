/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  Finding all pairs within a distance among some keys, or between two sets
 *	  of keys.
 *
 * A few keys are compared pair by pair.  Many keys are searched by parts
 * (parts.c): they are divided by their value of a part, and each cell is
 * compared with the cells whose values are within the radius.  Two cells
 * that are large are searched in the same way again, by the bits in which
 * their keys still vary.
 *
 * A pair belongs to the first part whose radius it is within.  The earlier
 * parts are remembered, so that no later one finds the pair again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pairs/pairs.h"

/* up to this many comparisons are made without planning parts */
#define COMPARE_MAX		0x100000

/* comparisons between reports of progress */
#define REPORT_INTERVAL	0x1000000

/* how many keys of other cells are compared with a cell at a time */
#define NEIGHBORS_MAX	1024

/* how many of them are copied at once, possibly beyond the last */
#define COPIED_TOGETHER	8

/* some of the keys that are subdivided */
typedef struct Range
{
	size_t		start;
	size_t		count;
} Range;

/*
 * ShPairsKeys divided by a part: those with value v are from starts[v] to
 * starts[v + 1], relative to the start of the range.
 */
typedef struct Cells
{
	Range		range;
	size_t		nvalues;
	uint32	   *starts;
} Cells;

/*
 * ShPairsKeys of several cells that are compared with another cell together.
 * Comparing small cells of varying sizes separately takes several times as
 * long.
 */
typedef struct Neighbors
{
	size_t		count;
	ShPermuted	keys[NEIGHBORS_MAX + COPIED_TOGETHER];
	uint32		moved[NEIGHBORS_MAX + COPIED_TOGETHER];
} Neighbors;

/* the cells of a part, and the progress of their comparison */
typedef struct PartSearch
{
	const ShPairsPart *part;
	bool		among;
	Cells		a;
	Cells		b;				/* the same as a, if among */
	ShPairsBall ball;
	int			depth;
	ShPairsStretch stretch;
	double		comparisons;	/* needed in total */
	double		done;
	double		reported;		/* done at the last report */
	Neighbors	neighbors;		/* of the current cell of a */
} PartSearch;

static void search(ShPairs *pairs, Range a, Range b, bool among, int depth, ShPairsStretch stretch);

/*
 * Prepare to search.  Pairs that differ in at most distance bits, 0..64, are
 * passed to found, with arg.  report is called with the progress of a long
 * search.  Memory that is kept between searches is allocated in the current
 * context.
 */
void
shpairs_init(ShPairs *pairs, int distance, ShPairsFoundFunction found,
			 ShPairsReportFunction report, void *arg)
{
	pairs->distance = distance;
	pairs->found = found;
	pairs->report = report;
	pairs->arg = arg;
	pairs->context = CurrentMemoryContext;
	pairs->nmasks = 0;
	pairs->nparts = 0;
	pairs->compared = 0;
	pairs->capacity = 0;
	pairs->sliced = NULL;
	pairs->keys = NULL;
	pairs->positions = NULL;
	pairs->scratch_keys = NULL;
	pairs->scratch_positions = NULL;
}

static inline ShPairsKeys
keys_of_part(const ShPairs *pairs, Range range)
{
	ShPairsKeys keys;

	keys.keys = pairs->keys + range.start;
	keys.positions = pairs->positions + range.start;
	keys.moved = NULL;
	keys.count = range.count;
	keys.first = 0;
	keys.second = range.start >= pairs->first_set;
	return keys;
}

static inline void
compare_all_keys(ShPairs *pairs, Range a, Range b, bool among, ShPairsStretch stretch)
{
	ShPairsKeys keys_a = keys_of_part(pairs, a);
	ShPairsKeys keys_b = keys_of_part(pairs, b);

	if (among)
		shpairs_compare_among(pairs, &keys_a, stretch);
	else
		shpairs_compare_product(pairs, &keys_a, &keys_b, stretch);
}

/*
 * Divide the keys of a range by a part.
 */
static void
divide_keys(ShPairs *pairs, Cells *cells, Range range, const ShPairsPart *part)
{
	ShPermuted *keys = pairs->keys + range.start;
	uint32	   *positions = pairs->positions + range.start;
	size_t		nvalues = (size_t) 1 << part->nbits;
	uint32	   *starts = palloc0((nvalues + 2) * sizeof(uint32));

	shpairs_prepare_values(&pairs->bits, part->mask);

	/* count the size of each cell, two elements further on */
	for (size_t i = 0; i < range.count; i++)
	{
		if (i % COMPARE_MAX == 0)
			CHECK_FOR_INTERRUPTS();
		starts[shpairs_value_of_part(&pairs->bits, keys[i]) + 2]++;
	}
	/* turn it into the cell's start, one element further on */
	for (size_t value = 2; value <= nvalues; value++)
		starts[value] += starts[value - 1];
	/* which then becomes its end */
	for (size_t i = 0; i < range.count; i++)
	{
		size_t		place = starts[shpairs_value_of_part(&pairs->bits, keys[i]) + 1]++;

		if (i % COMPARE_MAX == 0)
			CHECK_FOR_INTERRUPTS();
		pairs->scratch_keys[place] = keys[i];
		pairs->scratch_positions[place] = positions[i];
	}
	memcpy(keys, pairs->scratch_keys, range.count * sizeof(ShPermuted));
	memcpy(positions, pairs->scratch_positions, range.count * sizeof(uint32));

	cells->range = range;
	cells->nvalues = nvalues;
	cells->starts = starts;
}

static inline Range
cell(const Cells *cells, size_t value)
{
	Range		range;

	range.start = cells->range.start + cells->starts[value];
	range.count = cells->starts[value + 1] - cells->starts[value];
	return range;
}

/*
 * Compare a cell of a with the collected neighbors.
 */
static void
compare_neighbors(ShPairs *pairs, PartSearch *ps, Range a)
{
	ShPairsKeys keys_a = keys_of_part(pairs, a);
	ShPairsKeys keys_b;
	double		done = ps->done / ps->comparisons;

	keys_b.keys = ps->neighbors.keys;
	keys_b.positions = pairs->positions;
	keys_b.moved = ps->neighbors.moved;
	keys_b.first = 0;
	keys_b.count = ps->neighbors.count;
	keys_b.second = !keys_a.second;
	/* progress is reported when the whole cell has been compared */
	shpairs_compare_product(pairs, &keys_a, &keys_b, shpairs_stretch_of(ps->stretch, done, done));
	ps->neighbors.count = 0;
}

/*
 * Collect the keys of a cell of b, to be compared with a cell of a.
 */
static inline void
add_neighbors(ShPairs *pairs, PartSearch *ps, Range a, Range b)
{
	Neighbors  *neighbors = &ps->neighbors;

	while (b.count > 0)
	{
		size_t		count = Min(b.count, NEIGHBORS_MAX - neighbors->count);
		uint32		moved = (uint32) (b.start - neighbors->count);

		for (size_t i = 0; i < count; i += COPIED_TOGETHER)
		{
			memcpy(neighbors->keys + neighbors->count + i, pairs->keys + b.start + i,
				   COPIED_TOGETHER * sizeof(ShPermuted));
			for (int k = 0; k < COPIED_TOGETHER; k++)
				neighbors->moved[neighbors->count + i + k] = moved;
		}
		neighbors->count += count;
		if (neighbors->count == NEIGHBORS_MAX)
			compare_neighbors(pairs, ps, a);
		b.start += count;
		b.count -= count;
	}
}

static void
report_compared(ShPairs *pairs, PartSearch *ps, double comparisons)
{
	ps->done += comparisons;
	if (ps->done - ps->reported > REPORT_INTERVAL)
	{
		ps->reported = ps->done;
		shpairs_report_done(pairs, ps->stretch, ps->done / ps->comparisons);
	}
}

/*
 * Search two large cells.
 */
static void
search_cells(ShPairs *pairs, PartSearch *ps, Range a, Range b, bool among)
{
	double		comparisons = (double) a.count * b.count / (among ? 2 : 1);

	search(pairs, a, b, among, ps->depth + 1,
		   shpairs_stretch_of(ps->stretch, ps->done / ps->comparisons,
							  (ps->done + comparisons) / ps->comparisons));
	report_compared(pairs, ps, comparisons);
}

/*
 * Compare a cell of a with the cells of b whose values are within the
 * radius, or only count their keys.  Returns the number of these keys, except
 * those of large cells.
 */
static inline size_t
visit_neighbors(ShPairs *pairs, PartSearch *ps, size_t value, Range a,
				size_t first, size_t end, size_t large, bool only_count)
{
	const uint32 *numbers = ps->ball.numbers;
	size_t		sum = 0;

	for (size_t i = first; i < end; i++)
	{
		Range		b = cell(&ps->b, value ^ numbers[i]);

		if (b.count == 0)
			continue;
		if (!only_count && b.count > large)
		{
			search_cells(pairs, ps, a, b, false);
			continue;
		}
		if (!only_count)
			add_neighbors(pairs, ps, a, b);
		sum += b.count;
	}
	return sum;
}

/*
 * Compare all cells of a, of some values, with those whose values are within
 * the radius, or only count the comparisons.
 */
static inline double
visit_some_cells(ShPairs *pairs, PartSearch *ps, size_t first, size_t end, bool only_count)
{
	const ShPairsBall *ball = &ps->ball;
	double		sum = 0;

	for (size_t value = first; value < end; value++)
	{
		Range		a = cell(&ps->a, value);
		size_t		large;
		size_t		count = 0;
		double		comparisons = 0;

		if (a.count == 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		large = COMPARE_MAX / a.count;
		if (ps->among)
		{
			/* visit each two cells once, from the one with the lower value */
			for (int bit = 0; bit < ps->part->nbits; bit++)
			{
				if (((value >> bit) & 1) == 0)
					count += visit_neighbors(pairs, ps, value, a, ball->by_top[bit],
											 ball->by_top[bit + 1], large, only_count);
			}
			if (only_count || a.count <= 2 * large)
				comparisons = (double) a.count * a.count / 2;
		}
		else
			count = visit_neighbors(pairs, ps, value, a, 0, ball->count, large, only_count);
		comparisons += (double) a.count * count;
		sum += comparisons;
		if (only_count)
			continue;

		if (ps->neighbors.count > 0)
			compare_neighbors(pairs, ps, a);
		pairs->compared += comparisons;
		report_compared(pairs, ps, comparisons);
		if (ps->among && a.count <= 2 * large)
			compare_all_keys(pairs, a, a, true, shpairs_whole);
		else if (ps->among)
			search_cells(pairs, ps, a, a, true);
	}
	return sum;
}

static double
visit_cells(ShPairs *pairs, PartSearch *ps, bool only_count)
{
	return visit_some_cells(pairs, ps, 0, ps->a.nvalues, only_count);
}

/*
 * Divide keys by a part, and prepare to search the cells.  The comparisons that
 * this will need have not been counted.
 */
static void
begin_part(ShPairs *pairs, PartSearch *ps, const ShPairsPart *part,
		   Range a, Range b, bool among, int depth)
{
	ps->depth = depth;
	ps->part = part;
	ps->among = among;
	divide_keys(pairs, &ps->a, a, part);
	if (among)
		ps->b = ps->a;
	else
		divide_keys(pairs, &ps->b, b, part);
	shpairs_make_ball(&ps->ball, part->nbits, part->radius);
	ps->done = ps->reported = 0;
	ps->neighbors.count = 0;
}

static void
end_part(PartSearch *ps)
{
	pfree(ps->ball.numbers);
	pfree(ps->a.starts);
	if (!ps->among)
		pfree(ps->b.starts);
}

/*
 * Add the bits that are 0, and those that are 1, in any key.
 */
static void
collect_bits(const ShPermuted *keys, size_t count, uint64 *zeros, uint64 *ones)
{
	for (size_t start = 0, end; start < count; start = end)
	{
		CHECK_FOR_INTERRUPTS();
		end = Min(start + COMPARE_MAX, count);
		for (size_t i = start; i < end; i++)
		{
			*ones |= keys[i];
			*zeros |= ~keys[i];
		}
	}
}

/*
 * The bits in which keys of a and b can differ, and the number of other bits
 * in which they all differ.
 */
static uint64
varying_bits(const ShPairsKeySets *sets, int *ndiffering)
{
	uint64		zeros_a = 0;
	uint64		ones_a = 0;
	uint64		zeros_b = 0;
	uint64		ones_b = 0;
	uint64		differing;

	collect_bits(sets->a, sets->na, &zeros_a, &ones_a);
	collect_bits(sets->b, sets->nb, &zeros_b, &ones_b);
	differing = (ones_a & ~zeros_a & zeros_b & ~ones_b) |
		(zeros_a & ~ones_a & ones_b & ~zeros_b);
	*ndiffering = pg_popcount64(differing);
	return (ones_a | ones_b) & (zeros_a | zeros_b) & ~differing;
}

/*
 * Find the pairs among keys, or between those of a and b.  The keys are
 * reordered.
 *
 * Whatever the keys are, at most twice as many comparisons are made as for
 * comparing all pairs.  Before a part is searched, its comparisons are
 * counted.  If there are too many, the pairs that no part has found so far are
 * found by comparing all pairs.
 */
static void
search(ShPairs *pairs, Range a, Range b, bool among, int depth, ShPairsStretch stretch)
{
	ShPairsKeySets sets = {pairs->keys + a.start, a.count, pairs->keys + b.start, b.count, among};
	double		all = shpairs_comparisons(&sets);
	double		compared = pairs->compared;
	int			nparts = pairs->nparts;
	int			ndiffering;
	uint64		varying;
	ShPairsParts *plan;
	PartSearch *ps;
	bool		each;			/* compare all pairs */
	double		spent = 0;

	/* loop over the cells of the smaller set */
	if (a.count > b.count)
	{
		search(pairs, b, a, among, depth, stretch);
		return;
	}

	CHECK_FOR_INTERRUPTS();
	varying = varying_bits(&sets, &ndiffering);
	if (ndiffering > pairs->distance)
		return;
	plan = palloc(sizeof(ShPairsParts));
	plan->nparts = 0;
	plan->cost = all;
	if (all > COMPARE_MAX && depth < SHPAIRS_MAX_DEPTH)
		shpairs_plan_parts(plan, &sets, varying, pairs->distance - ndiffering);
	each = plan->nparts == 0;

	ps = palloc(sizeof(PartSearch));
	for (int i = 0; !each && i < plan->nparts; i++)
	{
		const ShPairsPart *part = &plan->parts[i];
		double		end = spent + part->cost;

		begin_part(pairs, ps, part, a, b, among, depth);
		ps->comparisons = visit_cells(pairs, ps, true);
		each = pairs->compared - compared + ps->comparisons > all;
		if (!each)
		{
			ps->stretch = shpairs_stretch_of(stretch, spent / plan->cost, end / plan->cost);
			visit_cells(pairs, ps, false);
			spent = end;
			pairs->parts[pairs->nparts++] = *part;
		}
		end_part(ps);
	}
	if (each)
	{
		compare_all_keys(pairs, a, b, among, shpairs_stretch_of(stretch, spent / plan->cost, 1));
		pairs->compared += all;
	}
	pairs->nparts = nparts;
	pfree(ps);
	pfree(plan);
}

/* replace an array by a larger one, discarding its contents */
static void *
replace_array(ShPairs *pairs, void *old, size_t count, Size size)
{
	if (old != NULL)
		pfree(old);
	return MemoryContextAllocHuge(pairs->context, count * size);
}

/*
 * Make room for the given number of keys that are subdivided.
 */
static void
enlarge(ShPairs *pairs, size_t count)
{
	Assert(count <= PG_UINT32_MAX);
	if (count <= pairs->capacity)
		return;
	pairs->keys = replace_array(pairs, pairs->keys, count + COPIED_TOGETHER, sizeof(ShPermuted));
	pairs->positions = replace_array(pairs, pairs->positions, count, sizeof(uint32));
	pairs->scratch_keys = replace_array(pairs, pairs->scratch_keys, count, sizeof(ShPermuted));
	pairs->scratch_positions = replace_array(pairs, pairs->scratch_positions, count, sizeof(uint32));
	pairs->capacity = count;
}

/* Copy keys to the range of subdivided keys that begins at start. */
static Range
add_keys(ShPairs *pairs, size_t start, const ShPermuted *keys, size_t count)
{
	Range		range = {start, count};

	for (size_t i = 0; i < count; i++)
	{
		if (i % COMPARE_MAX == 0)
			CHECK_FOR_INTERRUPTS();
		pairs->keys[start + i] = keys[i];
		pairs->positions[start + i] = i;
	}
	return range;
}

/*
 * Find the pairs of keys, which must all be different, that differ in at most
 * the distance and agree in none of the masks.  Each is found once.  The order
 * of the pairs, and of the two keys of a pair, is undefined.
 */
void
shpairs_find_pairs(ShPairs *pairs, const ShPermuted *keys, size_t count)
{
	ShPairsKeys all = {keys, NULL, NULL, count, false, 0};

	if (pairs->distance == 0)
		return;
	if ((double) count * count / 2 <= COMPARE_MAX)
		shpairs_compare_among(pairs, &all, shpairs_whole);
	else
	{
		Range		range;

		enlarge(pairs, count);
		pairs->first_set = count;
		range = add_keys(pairs, 0, keys, count);
		search(pairs, range, range, true, 0, shpairs_whole);
	}
}

/*
 * Find the keys that are in both of two sets.
 */
static void
find_equal(ShPairs *pairs, const ShPairsKeys *a, const ShPairsKeys *b)
{
	size_t		j = 0;

	for (size_t i = 0; i < a->count; i++)
	{
		if (i % COMPARE_MAX == 0)
			CHECK_FOR_INTERRUPTS();
		while (j < b->count && b->keys[j] < a->keys[i])
			j++;
		if (j < b->count && b->keys[j] == a->keys[i])
			shpairs_found(pairs, a, b, i, j);
	}
}

/*
 * Find the pairs of a key of a and one of b that differ in at most the distance
 * and agree in none of the masks.  The keys of each set must ascend; one that is
 * in both is a pair with itself.  Each is found once, the key of a first, in no
 * particular order.
 */
void
shpairs_find_matches(ShPairs *pairs, const ShPermuted *a, size_t na,
					 const ShPermuted *b, size_t nb)
{
	ShPairsKeys keys_a = {a, NULL, NULL, na, false, 0};
	ShPairsKeys keys_b = {b, NULL, NULL, nb, true, 0};

	if (pairs->distance == 0)
		find_equal(pairs, &keys_a, &keys_b);
	else if ((double) na * nb <= COMPARE_MAX || Min(na, nb) <= SHPAIRS_FEW_KEYS)
		shpairs_compare_product(pairs, &keys_a, &keys_b, shpairs_whole);
	else
	{
		Range		range_a;
		Range		range_b;

		enlarge(pairs, na + nb);
		pairs->first_set = na;
		range_a = add_keys(pairs, 0, a, na);
		range_b = add_keys(pairs, na, b, nb);
		search(pairs, range_a, range_b, false, 0, shpairs_whole);
	}
}

/*
 * The keys of a search in slices, and the part by which they are divided.
 */
typedef struct ShPairsSliced
{
	ShPairsKeys a;				/* as they were given */
	ShPairsKeys b;				/* the same as a, if among */
	bool		among;
	Range		range_a;
	Range		range_b;
	int			part;			/* -1: none yet */
	PartSearch	ps;
} Sliced;

/*
 * Begin to search the same keys by several processes, in slices.  Each of them
 * must call this, and then shpairs_search_slice.
 *
 * Without b, pairs among a are wanted.  The keys must ascend, and stay until
 * the end.  A process may have keys that others do not have, but pairs of such
 * a key may be missed or found several times.
 */
void
shpairs_begin_slices(ShPairs *pairs, const ShPermuted *a, size_t na,
					 const ShPermuted *b, size_t nb)
{
	Sliced	   *sliced = palloc(sizeof(Sliced));

	sliced->among = b == NULL;
	sliced->a = (ShPairsKeys)
	{
		a, NULL, NULL, na, false, 0
	};
	sliced->b = sliced->among ? sliced->a : (ShPairsKeys)
	{
		b, NULL, NULL, nb, true, 0
	};
	enlarge(pairs, na + (sliced->among ? 0 : nb));
	pairs->first_set = na;
	sliced->range_a = sliced->range_b = add_keys(pairs, 0, a, na);
	if (!sliced->among)
		sliced->range_b = add_keys(pairs, na, b, nb);
	sliced->part = -1;
	pairs->sliced = sliced;
}

static void
end_sliced_part(Sliced *sliced)
{
	if (sliced->part >= 0)
		end_part(&sliced->ps);
	sliced->part = -1;
}

void
shpairs_end_slices(ShPairs *pairs)
{
	end_sliced_part(pairs->sliced);
	pfree(pairs->sliced);
	pairs->sliced = NULL;
	pairs->nparts = 0;
}

/*
 * Plan the slices, before any is searched.  Returns whether it is worth while to
 * have some searched by another process.
 */
bool
shpairs_plan_slices(ShPairs *pairs, ShPairsSlices *slices)
{
	const Sliced *sliced = pairs->sliced;
	ShPairsKeySets sets = {sliced->a.keys, sliced->a.count, sliced->b.keys, sliced->b.count, sliced->among};
	ShPairsParts *plan = &slices->plan;
	int			ndiffering;
	uint64		varying = varying_bits(&sets, &ndiffering);

	plan->nparts = slices->nparts = 0;
	if (pairs->distance == 0 || ndiffering > pairs->distance)
		return false;
	plan->cost = shpairs_comparisons(&sets);
	if (varying != 0)
		shpairs_plan_parts(plan, &sets, varying, pairs->distance - ndiffering);
	slices->cost_of_dividing = SHPAIRS_COST_OF_KEY *
		(double) (sets.among ? sets.na : sets.na + sets.nb);
	slices->cost_of_slice[0] = plan->cost / SHPAIRS_SLICES;
	for (int i = 0; i < plan->nparts; i++)
		slices->cost_of_slice[i] = (plan->parts[i].cost - slices->cost_of_dividing) /
			SHPAIRS_SLICES;
	for (int i = 1; i < SHPAIRS_SLICES; i++)
		slices->bounds[i] = sliced->a.keys[sliced->a.count * i / SHPAIRS_SLICES];
	/* without parts, the slices are those of the comparison of all pairs */
	slices->nparts = Max(plan->nparts, 1);
	return plan->cost > SHPAIRS_WORTH_READING * slices->cost_of_dividing;
}

/*
 * Divide the keys by a part, unless they are.
 */
static void
divide_for_slices(ShPairs *pairs, const ShPairsSlices *slices, int part)
{
	Sliced	   *sliced = pairs->sliced;

	if (sliced->part == part)
		return;
	end_sliced_part(sliced);
	begin_part(pairs, &sliced->ps, &slices->plan.parts[part], sliced->range_a,
			   sliced->range_b, sliced->among, 0);
	sliced->part = part;
	/* whoever hands out the slices knows how much is done */
	sliced->ps.comparisons = INFINITY;
	sliced->ps.stretch = shpairs_whole;
}

/* the index of the first key that is not below a key */
static size_t
first_from(const ShPairsKeys *keys, ShPermuted key)
{
	size_t		low = 0;
	size_t		high = keys->count;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (keys->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* some of the keys that were given */
static ShPairsKeys
keys_between(const ShPairsKeys *keys, size_t start, size_t end)
{
	ShPairsKeys result = *keys;

	result.keys += start;
	result.count = end - start;
	result.first = keys->first + start;
	return result;
}

/*
 * Compare the keys of a that belong to a slice with all others, or with those
 * after them.
 */
static void
compare_keys_of_slice(ShPairs *pairs, const ShPairsSlices *slices, int slice)
{
	const Sliced *sliced = pairs->sliced;
	const ShPairsKeys *a = &sliced->a;
	size_t		start = slice == 0 ? 0 : first_from(a, slices->bounds[slice]);
	size_t		end = slice + 1 == SHPAIRS_SLICES ? a->count : first_from(a, slices->bounds[slice + 1]);
	ShPairsKeys some = keys_between(a, start, end);

	if (sliced->among)
	{
		ShPairsKeys others = keys_between(a, end, a->count);

		shpairs_compare_among(pairs, &some, shpairs_whole);
		shpairs_compare_product(pairs, &some, &others, shpairs_whole);
	}
	else
		shpairs_compare_product(pairs, &some, &sliced->b, shpairs_whole);
}

/*
 * Find the pairs of one slice of a part.  Each pair of keys that all processes have
 * is found in exactly one slice.  Slices may be searched in any order, but dividing
 * the keys takes long, so those of a part should follow each other.
 *
 * A pair belongs to the first part whose radius it is within, and there to the
 * lower one of its values or, between two sets, to that of a.  Without parts, it
 * belongs to its lower key or to that of a.  So where it belongs does not depend
 * on what other keys there are, but only on what has been planned.
 *
 * Unlike search(), this relies on the estimates of the plan: what its parts really
 * take would be known only when the keys have been divided by all of them.
 */
void
shpairs_search_slice(ShPairs *pairs, const ShPairsSlices *slices, int part, int slice)
{
	Sliced	   *sliced = pairs->sliced;

	CHECK_FOR_INTERRUPTS();
	pairs->nparts = part;
	memcpy(pairs->parts, slices->plan.parts, part * sizeof(ShPairsPart));
	if (slices->plan.nparts == 0)
		compare_keys_of_slice(pairs, slices, slice);
	else
	{
		size_t		nvalues;

		divide_for_slices(pairs, slices, part);
		nvalues = sliced->ps.a.nvalues;
		(void) visit_some_cells(pairs, &sliced->ps, nvalues * slice / SHPAIRS_SLICES,
								nvalues * (slice + 1) / SHPAIRS_SLICES, false);
	}
}
