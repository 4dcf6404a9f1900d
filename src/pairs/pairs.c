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

/* how many keys of other cells are compared with a cell at a time */
#define NEIGHBORS_MAX	1024

/*
 * Another process should help with a part if what is left costs more than this many times
 * what dividing the keys costs: to copy and plan them takes about as long as that.
 */
#define WORTH_DIVIDING	2

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

/* the cells of a part */
typedef struct PartSearch
{
	const ShPairsPart *part;
	bool		among;
	Cells		a;
	Cells		b;				/* the same as a, if among */
	ShPairsBall ball;
	int			depth;
	Neighbors	neighbors;		/* of the current cell of a */
} PartSearch;

static void search(ShPairs *pairs, Range a, Range b, bool among, int depth);

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
	pairs->compared = pairs->reported = 0;
	pairs->capacity = 0;
	pairs->shared = NULL;
	pairs->keys = NULL;
	pairs->positions = NULL;
	pairs->scratch_keys = NULL;
	pairs->scratch_positions = NULL;
}

/*
 * Begin a stretch of the search that needs so many comparisons, given its end as fractions
 * of 1.
 */
static void
begin_stretch(ShPairs *pairs, double start, double end, double comparisons)
{
	pairs->stretch_start = start;
	pairs->stretch_size = end - start;
	pairs->needed = comparisons;
	pairs->done = 0;
}

static inline ShPairsKeys
keys_of_part(const ShPairs *pairs, Range range)
{
	ShPairsKeys keys;

	keys.keys = pairs->keys + range.start;
	keys.positions = pairs->positions + range.start;
	keys.moved = NULL;
	keys.count = range.count;
	keys.second = range.start >= pairs->first_set;
	return keys;
}

static inline void
compare_all_keys(ShPairs *pairs, Range a, Range b, bool among)
{
	ShPairsKeys keys_a = keys_of_part(pairs, a);
	ShPairsKeys keys_b = keys_of_part(pairs, b);

	if (among)
		shpairs_compare_among(pairs, &keys_a);
	else
		shpairs_compare_product(pairs, &keys_a, &keys_b);
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

	keys_b.keys = ps->neighbors.keys;
	keys_b.positions = pairs->positions;
	keys_b.moved = ps->neighbors.moved;
	keys_b.count = ps->neighbors.count;
	keys_b.second = !keys_a.second;
	shpairs_compare_product(pairs, &keys_a, &keys_b);
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

/*
 * Search two large cells.
 */
static void
search_cells(ShPairs *pairs, PartSearch *ps, Range a, Range b, bool among)
{
	double		done = pairs->done + (double) a.count * b.count / (among ? 2 : 1);

	search(pairs, a, b, among, ps->depth + 1);
	/* however few comparisons it took */
	pairs->done = Max(pairs->done, done);
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
			sum += (double) a.count * a.count / 2;
		}
		else
			count = visit_neighbors(pairs, ps, value, a, 0, ball->count, large, only_count);
		sum += (double) a.count * count;
		if (only_count)
			continue;

		if (ps->neighbors.count > 0)
			compare_neighbors(pairs, ps, a);
		if (ps->among && a.count <= 2 * large)
			compare_all_keys(pairs, a, a, true);
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
 * Compare the keys of a that belong to a slice with all of b, or with each other and those
 * after them.
 */
static void
compare_slice(ShPairs *pairs, Range a, Range b, bool among, uint32 slice)
{
	size_t		start = a.count * slice / SHPAIRS_SLICES;
	size_t		end = a.count * (slice + 1) / SHPAIRS_SLICES;
	Range		some = {a.start + start, end - start};
	Range		after = {a.start + end, a.count - end};

	if (among)
		compare_all_keys(pairs, some, some, true);
	compare_all_keys(pairs, some, among ? after : b, false);
}

/*
 * Take the first slice of a part that no process has begun, or, to help others, the next
 * slice of any if dividing the keys is worth while.  Returns SHPAIRS_SLICES if not.
 */
static uint32
take_slice(ShPairs *pairs, int number, double cost, double cost_of_dividing, bool help)
{
	pg_atomic_uint32 *next = &pairs->shared->next_slice[number];
	uint32		none = 0;		/* or those that others have taken */

	if (pg_atomic_compare_exchange_u32(next, &none, 1))
		return 0;
	if (!help || none >= SHPAIRS_SLICES ||
		(cost - cost_of_dividing) * (SHPAIRS_SLICES - none) / SHPAIRS_SLICES <
		WORTH_DIVIDING * cost_of_dividing)
		return SHPAIRS_SLICES;
	return pg_atomic_fetch_add_u32(next, 1);
}

/*
 * Search slices of a part, or of the comparison of all pairs, from one on that this process
 * has taken, until all have been taken.
 */
static void
search_slices(ShPairs *pairs, PartSearch *ps, const ShPairsParts *plan, int number, uint32 slice,
			  Range a, Range b, bool among)
{
	pairs->nparts = number;
	memcpy(pairs->parts, plan->parts, number * sizeof(ShPairsPart));
	if (plan->nparts > 0)
		begin_part(pairs, ps, &plan->parts[number], a, b, among, 0);
	for (; slice < SHPAIRS_SLICES;
		 slice = pg_atomic_fetch_add_u32(&pairs->shared->next_slice[number], 1))
	{
		if (plan->nparts > 0)
			(void) visit_some_cells(pairs, ps, ps->a.nvalues * slice / SHPAIRS_SLICES,
									ps->a.nvalues * (slice + 1) / SHPAIRS_SLICES, false);
		else
			compare_slice(pairs, a, b, among, slice);
		pairs->report(pairs->arg, 0);
	}
	if (plan->nparts > 0)
		end_part(ps);
}

/*
 * Take part in a search that several processes share.  All have the same keys in the same
 * order, and so the same plan.  Each begins with a part that nobody else has, so that the
 * keys are divided by each part only once as long as there are such parts, and then helps
 * others.  Who has begun a part stays with it until all its slices have been taken, so none
 * is forgotten.
 *
 * A pair belongs to the first part whose radius it is within, and there to the lower one
 * of its values or, between two sets, to that of a.  So each is found in one slice.
 *
 * Unlike search(), this relies on the estimates of the plan: what its parts really
 * take would be known only when the keys have been divided by all of them.
 */
static void
search_with_others(ShPairs *pairs, PartSearch *ps, const ShPairsParts *plan, Range a, Range b,
				   bool among)
{
	uint32		nparts = Max(plan->nparts, 1);
	uint32		known = 0;
	double		cost_of_dividing = plan->nparts == 0 ? 0 :
		SHPAIRS_COST_OF_KEY * (double) (a.count + (among ? 0 : b.count));

	if (!pg_atomic_compare_exchange_u32(&pairs->shared->nparts, &known, nparts) && known != nparts)
		elog(ERROR, "processes have planned %u and %u parts", known, nparts);
	for (int help = 0; help <= 1; help++)
	{
		for (uint32 i = 0; i < nparts; i++)
		{
			double		cost = plan->nparts == 0 ? plan->cost : plan->parts[i].cost;
			uint32		slice = take_slice(pairs, i, cost, cost_of_dividing, help);

			if (slice < SHPAIRS_SLICES)
				search_slices(pairs, ps, plan, i, slice, a, b, among);
		}
	}
	pairs->nparts = 0;
}

/*
 * Search by the parts of a plan.
 *
 * Whatever the keys are, at most twice as many comparisons are made as for
 * comparing all pairs.  Before a part is searched, its comparisons are
 * counted.  If there are too many, the pairs that no part has found so far are
 * found by comparing all pairs.
 */
static void
search_by_parts(ShPairs *pairs, PartSearch *ps, const ShPairsParts *plan, Range a, Range b,
				bool among, int depth)
{
	double		all = (double) a.count * b.count / (among ? 2 : 1);
	double		compared = pairs->compared;
	int			nparts = pairs->nparts;
	bool		each = plan->nparts == 0;	/* compare all pairs */
	double		spent = 0;

	for (int i = 0; !each && i < plan->nparts; i++)
	{
		const ShPairsPart *part = &plan->parts[i];
		double		end = spent + part->cost;
		double		comparisons;

		begin_part(pairs, ps, part, a, b, among, depth);
		comparisons = visit_cells(pairs, ps, true);
		each = pairs->compared - compared + comparisons > all;
		if (!each)
		{
			if (depth == 0)
				begin_stretch(pairs, spent / plan->cost, end / plan->cost, comparisons);
			visit_cells(pairs, ps, false);
			spent = end;
			pairs->parts[pairs->nparts++] = *part;
		}
		end_part(ps);
	}
	if (each)
	{
		if (depth == 0)
			begin_stretch(pairs, spent / plan->cost, 1, all);
		compare_all_keys(pairs, a, b, among);
	}
	pairs->nparts = nparts;
}

/*
 * Take all slices of a search that is not divided, as of a single part.  Returns false if
 * another process has taken them.  All processes see the same keys, so none divides them.
 */
static bool
take_whole(ShPairs *pairs)
{
	uint32		none = 0;

	if (pairs->shared == NULL)
		return true;
	(void) pg_atomic_compare_exchange_u32(&pairs->shared->nparts, &none, 1);
	return pg_atomic_fetch_add_u32(&pairs->shared->next_slice[0], SHPAIRS_SLICES) == 0;
}

/*
 * Find the pairs among keys, or between those of a and b.  The keys are
 * reordered.
 */
static void
search(ShPairs *pairs, Range a, Range b, bool among, int depth)
{
	ShPairsKeySets sets = {pairs->keys + a.start, a.count, pairs->keys + b.start, b.count, among};
	int			ndiffering;
	uint64		varying;
	ShPairsParts *plan;
	PartSearch *ps;

	/* loop over the cells of the smaller set */
	if (a.count > b.count)
	{
		search(pairs, b, a, among, depth);
		return;
	}

	CHECK_FOR_INTERRUPTS();
	varying = varying_bits(&sets, &ndiffering);
	if (ndiffering > pairs->distance)
	{
		if (depth == 0)
			(void) take_whole(pairs);
		return;
	}
	plan = palloc(sizeof(ShPairsParts));
	plan->nparts = 0;
	plan->cost = shpairs_comparisons(&sets);
	if (plan->cost > COMPARE_MAX && depth < SHPAIRS_MAX_DEPTH)
		shpairs_plan_parts(plan, &sets, varying, pairs->distance - ndiffering);
	ps = palloc(sizeof(PartSearch));
	if (depth == 0 && pairs->shared != NULL)
		search_with_others(pairs, ps, plan, a, b, among);
	else
		search_by_parts(pairs, ps, plan, a, b, among, depth);
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
		for (; j < b->count && b->keys[j] < a->keys[i]; j++)
		{
			if (j % COMPARE_MAX == 0)
				CHECK_FOR_INTERRUPTS();
		}
		if (j < b->count && b->keys[j] == a->keys[i])
			shpairs_found(pairs, a, b, i, j);
	}
}

/*
 * Compare a few keys, or find equal ones.
 */
static void
find_directly(ShPairs *pairs, const ShPairsKeys *a, const ShPairsKeys *b, bool among)
{
	if (among)
		shpairs_compare_among(pairs, a);
	else if (pairs->distance == 0)
		find_equal(pairs, a, b);
	else
		shpairs_compare_product(pairs, a, b);
}

/*
 * Find the pairs of a key of a and one of b that differ in at most the distance and agree
 * in none of the masks or, if b is the same as a, the pairs among its keys.  The keys of
 * each set must ascend, and all be different; one that is in both is a pair with itself.
 * Each pair is found once, the key of a first unless they are the same, in no particular
 * order.
 */
void
shpairs_find_pairs(ShPairs *pairs, const ShPermuted *a, size_t na, const ShPermuted *b, size_t nb)
{
	bool		among = a == b;
	ShPairsKeys keys_a = {a, NULL, NULL, na, false};
	ShPairsKeys keys_b = {b, NULL, NULL, nb, true};
	double		comparisons = (double) na * nb / (among ? 2 : 1);

	if (among && pairs->distance == 0)
	{
		(void) take_whole(pairs);
		return;
	}
	begin_stretch(pairs, 0, 1, comparisons);
	if (pairs->distance == 0 || comparisons <= COMPARE_MAX ||
		(!among && Min(na, nb) <= SHPAIRS_FEW_KEYS))
	{
		if (take_whole(pairs))
			find_directly(pairs, &keys_a, &keys_b, among);
	}
	else
	{
		Range		range_a;
		Range		range_b;

		enlarge(pairs, among ? na : na + nb);
		pairs->first_set = na;
		range_a = range_b = add_keys(pairs, 0, a, na);
		if (!among)
			range_b = add_keys(pairs, na, b, nb);
		search(pairs, range_a, range_b, among, 0);
	}
}
