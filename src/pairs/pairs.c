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
 * Several processes can share a search.  All have the same keys in the same order, and so
 * the same plan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "compat.h"
#include "pairs/pairs.h"

/* up to this many comparisons are made without planning parts */
#define COMPARE_MAX		0x100000

/* how many keys of other cells are compared with a cell at a time */
#define NEIGHBORS_MAX	1024

/* how many of them are copied at once, possibly beyond the last */
#define COPIED_TOGETHER	8

/* up to this many keys of one set are compared with the other set one by one */
#define FEW_KEYS		4

/* how many keys such a key is compared with by one call */
#define FILTER_MAX		1024

/* how many keys are compared with as many others by one call */
#define TILE			SHBITS_MAX_TILE

/* comparisons until what has been found is passed on */
#define PASS_INTERVAL	0x1000000

/*
 * Some keys to compare.  The position of key i, as known to callers, is
 * positions[i] or, if the key is a copy, positions[i + moved[i]], modulo 2^32.
 * Without positions[] it is i.
 */
typedef struct Keys
{
	const ShPermuted *keys;
	const uint32 *positions;
	const uint32 *moved;
	size_t		count;
	bool		second;			/* belongs to the second of two sets */
} Keys;

/* some of the keys that are subdivided */
typedef struct Range
{
	size_t		start;
	size_t		count;
} Range;

/*
 * Keys divided by a part: those with value v are from starts[v] to
 * starts[v + 1], relative to the start of the range.
 */
typedef struct Cells
{
	Range		range;
	size_t		nvalues;
	uint32	   *starts;
} Cells;

/*
 * Keys of several cells that are compared with another cell together.
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

void
shpairs_init_deal(ShPairsDeal *deal)
{
	memset(deal, 0, sizeof(ShPairsDeal));
	SpinLockInit(&deal->mutex);
	for (int i = 0; i < lengthof(deal->next_slice); i++)
		pg_atomic_init_u32(&deal->next_slice[i], 0);
	pg_atomic_init_flag(&deal->word_begun);
	pg_atomic_init_flag(&deal->word_done);
	pg_atomic_init_u32(&deal->next_keys, 0);
}

/*
 * Prepare to search.  Pairs that differ in at most distance bits, 0..64, are added to
 * hits.  Memory that is kept between searches is allocated in a context.
 */
void
shpairs_init(ShPairs *pairs, int distance, ShPairsHits *hits, MemoryContext context)
{
	memset(pairs, 0, sizeof(ShPairs));
	pairs->distance = distance;
	pairs->hits = hits;
	pairs->context = context;
	pairs->share = 1;
}

/*
 * Has a pair that differs in these bits been found before?
 */
static inline bool
found_before(const ShPairs *pairs, uint64 difference)
{
	for (int i = 0; i < pairs->nmasks; i++)
	{
		if ((difference & pairs->masks[i]) == 0)
			return true;
	}
	for (int i = 0; i < pairs->nparts; i++)
	{
		if (pg_popcount64(difference & pairs->parts[i].mask) <= pairs->parts[i].radius)
			return !pairs->parts[i].left;
	}
	return false;
}

static inline size_t
position(const Keys *keys, size_t i)
{
	if (keys->moved != NULL)
		i = (uint32) i + keys->moved[i];
	return keys->positions == NULL ? i : keys->positions[i];
}

/* key i of a and key j of b are within the distance */
static inline void
add_found(ShPairs *pairs, const Keys *a, const Keys *b, size_t i, size_t j)
{
	if (found_before(pairs, a->keys[i] ^ b->keys[j]))
		return;
	if (a->second)
		shpairs_add_hit(pairs->hits, position(b, j), position(a, i));
	else
		shpairs_add_hit(pairs->hits, position(a, i), position(b, j));
}

/*
 * Process the pairs of keys of a, from i on, with keys of b, from j on, that a
 * filter has returned.
 */
static inline void
found_in_tile(ShPairs *pairs, const Keys *a, const Keys *b, size_t i, size_t j,
			  uint64 with_others, uint64 *others)
{
	for (; with_others != 0; with_others &= with_others - 1)
	{
		int			row = pg_rightmost_one_pos64(with_others);

		/* processing a pair takes much longer than a comparison */
		CHECK_FOR_INTERRUPTS();
		for (; others[row] != 0; others[row] &= others[row] - 1)
			add_found(pairs, a, b, i + row, j + pg_rightmost_one_pos64(others[row]));
	}
}

/*
 * So many comparisons have been made.
 */
static inline void
count_compared(ShPairs *pairs, double count)
{
	pairs->compared += count;
	if (unlikely(pairs->compared - pairs->compared_before > PASS_INTERVAL))
	{
		pairs->compared_before = pairs->compared;
		shpairs_pass_hits(pairs->hits);
	}
}

/*
 * Compare each of a few keys with all other keys.
 */
static void
compare_few(ShPairs *pairs, const Keys *few, const Keys *others)
{
	uint16		found[FILTER_MAX];

	for (size_t j = 0; j < others->count; j += FILTER_MAX)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < few->count; i++)
		{
			int			nfound = shbits_filter(others->keys + j,
											   Min(FILTER_MAX, others->count - j),
											   few->keys[i], pairs->distance, found);

			for (int k = 0; k < nfound; k++)
				add_found(pairs, few, others, i, j + found[k]);
		}
	}
	count_compared(pairs, (double) few->count * others->count);
}

/*
 * Compare each key of a with each of b or, if they are the same, with those after it.
 */
static void
compare_sets(ShPairs *pairs, const Keys *a, const Keys *b)
{
	bool		among = a == b;
	uint64		others[TILE];
	size_t		ntiles = 0;

	if (!among && a->count <= FEW_KEYS && b->count > TILE)
		compare_few(pairs, a, b);
	else if (!among && b->count <= FEW_KEYS && a->count > TILE)
		compare_few(pairs, b, a);
	else
	{
		for (size_t i = 0; i < a->count; i += TILE)
		{
			int			rows = Min(TILE, a->count - i);
			size_t		first = among ? i : 0;

			for (size_t j = first; j < b->count; j += TILE)
			{
				uint64		found;

				shcompat_check_at(++ntiles);
				found = among && i == j ?
					shbits_kernels->pairs(a->keys + i, rows, pairs->distance, others) :
					shbits_kernels->product(a->keys + i, rows, b->keys + j,
											Min(TILE, b->count - j), pairs->distance, others);
				found_in_tile(pairs, a, b, i, j, found, others);
			}
			count_compared(pairs, (double) rows * (b->count - first));
		}
	}
}

static inline Keys
keys_of_part(const ShPairs *pairs, Range range)
{
	Keys		keys;

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
	Keys		keys_a = keys_of_part(pairs, a);
	Keys		keys_b = keys_of_part(pairs, b);

	compare_sets(pairs, &keys_a, among ? &keys_a : &keys_b);
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
	Keys		keys_a = keys_of_part(pairs, a);
	Keys		keys_b;

	keys_b.keys = ps->neighbors.keys;
	keys_b.positions = pairs->positions;
	keys_b.moved = ps->neighbors.moved;
	keys_b.count = ps->neighbors.count;
	keys_b.second = !keys_a.second;
	compare_sets(pairs, &keys_a, &keys_b);
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
 * Compare a cell of a with the cells of b whose values are within the
 * radius, or only count their keys.  Returns the number of these keys.
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

		sum += b.count;
		if (b.count == 0 || only_count)
			continue;
		if (b.count > large)
			search(pairs, a, b, false, ps->depth + 1);
		else
			add_neighbors(pairs, ps, a, b);
	}
	return sum;
}

/*
 * Compare all cells of a, of some values, with those whose values are within
 * the radius, or only count the comparisons, as if large cells were not subdivided.
 */
static inline double
visit_cells(ShPairs *pairs, PartSearch *ps, size_t first, size_t end, bool only_count)
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
			search(pairs, a, a, true, ps->depth + 1);
	}
	return sum;
}

/*
 * Divide keys by a part, and prepare to search the cells.
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
 * A slice of one of the parts of a plan, or of all pairs, has been searched.  It counts as
 * if there were as many slices of each.
 */
static void
end_slice(ShPairs *pairs, const ShPairsParts *plan, size_t count, int depth)
{
	if (depth > 0)
		return;
	shpairs_add_done(pairs, pairs->share / ((plan->nparts + 1) * shpairs_slices(count)));
	shpairs_pass_hits(pairs->hits);
}

/*
 * The next part to search: the first that no process has begun, so that the keys are
 * divided by each part only once as long as there are such parts, then any that has
 * slices left.  Returns -1 if there is none.
 */
static int
next_part(ShPairsDeal *deal, const ShPairsParts *plan)
{
	int			next = -1;

	SpinLockAcquire(&deal->mutex);
	if (!deal->exceeded && deal->nbegun < plan->nparts)
		next = deal->nbegun++;
	for (int i = 0; i < plan->nparts && next < 0; i++)
	{
		if ((!deal->exceeded || ((deal->searched >> i) & 1) != 0) &&
			pg_atomic_read_u32(&deal->next_slice[i]) <
			shpairs_slices((size_t) 1 << plan->parts[i].nbits))
			next = i;
	}
	SpinLockRelease(&deal->mutex);
	return next;
}

/*
 * The keys have been divided by a part: is it searched?  It is if no more comparisons than
 * for all pairs have been made with it.  From the first that is not, none is that has not
 * been before.
 */
static bool
is_searched(ShPairs *pairs, PartSearch *ps, ShPairsDeal *deal, int number, double all)
{
	uint64		bit = UINT64CONST(1) << number;
	double		comparisons = 0;
	bool		searched;

	/* once it is known, it need not be counted again */
	if ((deal->searched & bit) == 0)
		comparisons = visit_cells(pairs, ps, 0, ps->a.nvalues, true);

	SpinLockAcquire(&deal->mutex);
	if ((deal->searched & bit) == 0)
	{
		deal->exceeded |= deal->compared + comparisons > all;
		if (!deal->exceeded)
			deal->searched |= bit;
	}
	searched = (deal->searched & bit) != 0;
	SpinLockRelease(&deal->mutex);
	return searched;
}

/*
 * Search slices of a part until all have been taken.
 */
static void
search_part(ShPairs *pairs, PartSearch *ps, ShPairsDeal *deal, const ShPairsParts *plan, int number)
{
	size_t		start;
	size_t		end;

	while (shpairs_take_slice(&deal->next_slice[number], ps->a.nvalues, &start, &end))
	{
		double		compared = pairs->compared;

		(void) visit_cells(pairs, ps, start, end, false);
		SpinLockAcquire(&deal->mutex);
		deal->compared += pairs->compared - compared;
		SpinLockRelease(&deal->mutex);
		end_slice(pairs, plan, ps->a.nvalues, ps->depth);
	}
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
 * Put the keys of one of the sets back in their order before they were divided.
 */
static void
restore_order(ShPairs *pairs, Range range)
{
	ShPermuted *keys = pairs->keys + range.start;
	uint32	   *positions = pairs->positions + range.start;

	for (size_t i = 0; i < range.count; i++)
	{
		shcompat_check_at(i);
		pairs->scratch_keys[positions[i]] = keys[i];
	}
	(void) add_keys(pairs, range.start, pairs->scratch_keys, range.count);
}

/*
 * Compare all pairs, slice by slice: keys of a with all of b, or with each other and those
 * after them.
 */
static void
compare_all_pairs(ShPairs *pairs, ShPairsDeal *deal, const ShPairsParts *plan, Range a, Range b,
				  bool among, int depth)
{
	size_t		start;
	size_t		end;

	while (shpairs_take_slice(&deal->next_slice[plan->nparts], a.count, &start, &end))
	{
		Range		some = {a.start + start, end - start};
		Range		after = {a.start + end, a.count - end};

		if (among)
			compare_all_keys(pairs, some, some, true);
		compare_all_keys(pairs, some, among ? after : b, false);
		end_slice(pairs, plan, a.count, depth);
	}
}

/* The first parts of a plan have been searched, or are left, after parts of other plans. */
static void
set_parts_before(ShPairs *pairs, int nothers, const ShPairsParts *plan, int count, uint64 searched)
{
	pairs->nparts = nothers + count;
	memcpy(pairs->parts + nothers, plan->parts, count * sizeof(ShPairsPart));
	for (int i = 0; i < count; i++)
		pairs->parts[nothers + i].left = ((searched >> i) & 1) == 0;
}

/*
 * Search by the parts of a plan, as one of several processes if the search is shared.
 *
 * Who has begun a part stays with it until all its slices have been taken, so none is
 * forgotten.  Within a part, a pair belongs to the lower one of its values or, between two
 * sets, to that of a.  So each is found in one slice.
 *
 * Whatever the keys are, one process makes at most twice as many comparisons as for
 * comparing all pairs.  Before a part is searched, its comparisons are
 * counted.  If there are too many, the pairs that belong to none of the parts that are
 * searched are found by comparing all pairs.
 */
static void
search_by_parts(ShPairs *pairs, PartSearch *ps, const ShPairsParts *plan, Range a, Range b,
				bool among, int depth)
{
	double		all = (double) a.count * b.count / (among ? 2 : 1);
	int			nothers = pairs->nparts;
	int			part;
	bool		exceeded;
	uint64		searched;
	ShPairsDeal own;
	ShPairsDeal *deal = depth == 0 && pairs->deal != NULL ? pairs->deal : &own;

	if (deal == &own)
		shpairs_init_deal(deal);
	while ((part = next_part(deal, plan)) >= 0)
	{
		set_parts_before(pairs, nothers, plan, part, PG_UINT64_MAX);
		begin_part(pairs, ps, &plan->parts[part], a, b, among, depth);
		if (is_searched(pairs, ps, deal, part, all))
			search_part(pairs, ps, deal, plan, part);
		end_part(ps);
	}
	SpinLockAcquire(&deal->mutex);
	exceeded = deal->exceeded;
	searched = deal->searched;
	SpinLockRelease(&deal->mutex);
	if (plan->nparts == 0 || exceeded)
	{
		set_parts_before(pairs, nothers, plan, plan->nparts, searched);
		/* other processes, which take slices as well, have divided them by other parts */
		if (deal != &own)
			restore_order(pairs, a);
		compare_all_pairs(pairs, deal, plan, a, b, among, depth);
	}
	pairs->nparts = nothers;
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
		return;
	plan = palloc(sizeof(ShPairsParts));
	plan->nparts = 0;
	plan->cost = shpairs_comparisons(&sets);
	if (plan->cost > COMPARE_MAX && depth < SHPAIRS_MAX_DEPTH)
		shpairs_plan_parts(plan, &sets, varying, pairs->distance - ndiffering);
	ps = palloc(sizeof(PartSearch));
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

/*
 * Find the keys that are in both of two sets.
 */
static void
find_equal(ShPairs *pairs, const Keys *a, const Keys *b)
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
			add_found(pairs, a, b, i, j);
	}
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
	Keys		keys_a = {a, NULL, NULL, na, false};
	Keys		keys_b = {b, NULL, NULL, nb, true};
	double		comparisons = (double) na * nb / (among ? 2 : 1);

	if (among && pairs->distance == 0)
		return;
	if (pairs->distance == 0 || comparisons <= COMPARE_MAX ||
		(!among && Min(na, nb) <= FEW_KEYS))
	{
		/* as a single slice; all processes see the same keys, so none divides them */
		if (pairs->deal != NULL && pg_atomic_fetch_add_u32(&pairs->deal->next_slice[0], 1) > 0)
			return;
		if (pairs->distance == 0)
			find_equal(pairs, &keys_a, &keys_b);
		else
			compare_sets(pairs, &keys_a, among ? &keys_a : &keys_b);
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
