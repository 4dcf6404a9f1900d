/*-------------------------------------------------------------------------
 *
 * wide_search.c
 *	  Finding all pairs within a distance among wide fingerprints in memory, or
 *	  between two sets of them.
 *
 * Each part gets an integer c >= 0, such that their sum exceeds the distance by
 * one.  Two fingerprints within the distance then differ in at most c - 1 bits of
 * some part.  So each part with c > 0 is searched like fingerprints of 64 bits
 * (pairs.c), and what it finds is compared as a whole.  A pair belongs to the
 * first part whose radius it is within.
 *
 * Which integers are best depends on the fingerprints: a part that is nearly the
 * same in all of them finds nothing but candidates.  So one unit after the other
 * goes to the part where it costs least, by a sample of pairs.  If nothing is
 * gained, all pairs are compared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "bits/hamming_ball.h"
#include "pairs/wide_search.h"
#include "pairs/wide_input.h"

/*
 * Costs, in units of a comparison by the kernels of 64 bits: sorting a key by a
 * part, checking a candidate, whose values are anywhere in memory, and comparing
 * two values, with an addend for each word.
 */
#define COST_OF_SORTING		200
#define COST_OF_CANDIDATE	400
#define COST_OF_VALUES		30
#define COST_OF_WORD		3

/* up to this many pairs are compared without a plan */
#define COMPARE_MAX			0x10000

/* a sample has one pair for this many keys, within limits */
#define KEYS_PER_SAMPLE		16
#define MIN_SAMPLE			256
#define MAX_SAMPLE			16384

/* candidates between checks for interrupts */
#define CHECK_INTERVAL		4096

/* what is known for planning */
typedef struct Estimates
{
	ShPairsKeySets sets;		/* how many keys there are */
	double		comparisons;
	int			nsample;

	/* of the pairs of the sample, how many differ in so many bits of a part */
	int			(*counts)[SHBITS_WIDTH + 1];

	/* costs of a part of 64 bits by radius, or -1 */
	double		even[SHBITS_WIDTH + 1];
} Estimates;

/*
 * Prepare to search fingerprints of so many bits.  Pairs that differ in at most
 * distance bits are passed to found, with arg, and report is called with the
 * progress of a long search.  Allocates in the current memory context.
 */
void
shpairs_wide_search_init(ShPairsWideSearch *search, int width, int distance,
						 ShPairsFoundFunction found, ShPairsReportFunction report, void *arg)
{
	search->width = width;
	search->nwords = shbits_nparts(width);
	search->distance = distance;
	search->found = found;
	search->report = report;
	search->arg = arg;
	search->checked = 0;
	search->context = AllocSetContextCreate(CurrentMemoryContext, "simhash part",
											ALLOCSET_DEFAULT_SIZES);
}

static inline const uint64 *
value_of(const ShPairsWideSet *set, size_t i)
{
	return shpairs_bucket_value(&set->wide->bucket, i);
}

/* the number of bits of a part */
static int
part_bits(int width, int part)
{
	return Min(width - part * SHBITS_WIDTH, SHBITS_WIDTH);
}

/*
 * Sample some pairs, and count for each part in how many bits they differ.
 */
static void
take_sample(const ShPairsWideSearch *search, Estimates *estimates)
{
	const ShPairsWideSet *a = &search->a;
	const ShPairsWideSet *b = &search->b;
	pg_prng_state state;

	estimates->nsample = Min(Max((a->count + b->count) / KEYS_PER_SAMPLE, MIN_SAMPLE), MAX_SAMPLE);
	estimates->counts = palloc0(search->nwords * sizeof(*estimates->counts));
	/* the same sample in each run */
	pg_prng_seed(&state, 0);
	for (int k = 0; k < estimates->nsample; k++)
	{
		size_t		i = pg_prng_uint64_range(&state, 0, a->count - 1);
		size_t		j = pg_prng_uint64_range(&state, 0, b->count - 1);
		const uint64 *x;
		const uint64 *y;

		if (search->among && i == j)
			j = (j + 1) % b->count;
		x = value_of(a, a->start + i);
		y = value_of(b, b->start + j);
		for (int part = 0; part < search->nwords; part++)
			estimates->counts[part][pg_popcount64(x[part] ^ y[part])]++;
	}
}

/*
 * The share of the pairs that differ in at most radius bits of a part: that of the
 * sample, but no less than of random bits.
 */
static double
share_within(const ShPairsWideSearch *search, const Estimates *estimates, int part, int radius)
{
	int			nbits = part_bits(search->width, part);
	double		count = 0;

	if (radius >= nbits)
		return 1;
	for (int r = 0; r <= radius; r++)
		count += estimates->counts[part][r];
	return Max(count / estimates->nsample, ldexp(shbits_ball_size(nbits, radius), -nbits));
}

/*
 * The cost of searching a part within a radius, or 0 if that is -1.
 */
static double
part_cost(const ShPairsWideSearch *search, Estimates *estimates, int part, int radius)
{
	int			nbits = part_bits(search->width, part);
	double		cost;

	if (radius < 0)
		return 0;
	if (radius >= nbits)
		return INFINITY;
	if (nbits < SHBITS_WIDTH)
		cost = shpairs_even_cost(&estimates->sets, nbits, radius);
	else
	{
		if (estimates->even[radius] < 0)
			estimates->even[radius] = shpairs_even_cost(&estimates->sets, nbits, radius);
		cost = estimates->even[radius];
	}
	return cost + (double) (search->a.count + search->b.count) * COST_OF_SORTING +
		share_within(search, estimates, part, radius) * estimates->comparisons *
		COST_OF_CANDIDATE;
}

/*
 * Allot the distance to the parts, one unit at a time where it costs least.
 * Returns the cost, which is INFINITY if it exceeds most.
 */
static double
allot(const ShPairsWideSearch *search, Estimates *estimates, double most, int *radii)
{
	double		costs[SHBITS_MAX_PARTS] = {0};
	double		next[SHBITS_MAX_PARTS];
	double		sum = 0;

	for (int part = 0; part < search->nwords; part++)
	{
		radii[part] = -1;
		next[part] = part_cost(search, estimates, part, 0);
	}
	for (int given = 0; given <= search->distance; given++)
	{
		int			least = 0;

		CHECK_FOR_INTERRUPTS();
		for (int part = 1; part < search->nwords; part++)
		{
			if (next[part] - costs[part] < next[least] - costs[least])
				least = part;
		}
		sum += next[least] - costs[least];
		if (sum >= most)
			return INFINITY;
		radii[least]++;
		costs[least] = next[least];
		next[least] = part_cost(search, estimates, least, radii[least] + 1);
	}
	return sum;
}

/*
 * Choose the parts to search.
 */
static void
make_plan(ShPairsWideSearch *search)
{
	ShPairsWidePlan *plan = &search->plan;
	int			radii[SHBITS_MAX_PARTS];
	Estimates	estimates;
	double		least;
	double		cost;

	plan->nparts = 0;
	estimates.sets = (ShPairsKeySets)
	{
		.na = search->a.count,.nb = search->b.count,.among = search->among
	};
	estimates.comparisons = shpairs_comparisons(&estimates.sets);
	if (search->distance >= search->width || estimates.comparisons <= COMPARE_MAX)
		return;
	for (int radius = 0; radius <= SHBITS_WIDTH; radius++)
		estimates.even[radius] = -1;
	take_sample(search, &estimates);

	least = estimates.comparisons * (COST_OF_VALUES + search->nwords * COST_OF_WORD);
	cost = allot(search, &estimates, least, radii);
	if (cost < least)
	{
		least = cost;
		for (int part = 0; part < search->nwords; part++)
		{
			if (radii[part] < 0)
				continue;
			plan->parts[plan->nparts] = part;
			plan->radii[plan->nparts++] = radii[part];
		}
	}
	/* or a single part, which need not be sorted by others */
	for (int part = 0; part < search->nwords; part++)
	{
		cost = part_cost(search, &estimates, part, Min(search->distance, SHBITS_WIDTH));
		if (cost < least)
		{
			least = cost;
			plan->nparts = 1;
			plan->parts[0] = part;
			plan->radii[0] = search->distance;
		}
	}
	pfree(estimates.counts);
}

/*
 * Compare all pairs.
 */
static void
compare_all(ShPairsWideSearch *search)
{
	const ShPairsWideSet *a = &search->a;
	const ShPairsWideSet *b = &search->b;
	size_t		compared = 0;

	for (size_t i = 0; i < a->count; i++)
	{
		const uint64 *value = value_of(a, a->start + i);

		for (size_t j = search->among ? i + 1 : 0; j < b->count; j++)
		{
			if (unlikely(++compared % CHECK_INTERVAL == 0))
				CHECK_FOR_INTERRUPTS();
			if (shpairs_wide_distance(value, value_of(b, b->start + j), search->nwords) <=
				search->distance)
				search->found(search->arg, a->start + i, b->start + j);
		}
		if (b->count > CHECK_INTERVAL)
			search->report(search->arg, (double) i / a->count);
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
		wide->items[i] = shsort_item(value_of(set, i)[part], i);
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
	const uint64 *x = value_of(&search->a, i);
	const uint64 *y = value_of(&search->b, j);

	if (++search->checked >= CHECK_INTERVAL)
	{
		search->checked = 0;
		CHECK_FOR_INTERRUPTS();
	}
	if (shpairs_wide_distance(x, y, search->nwords) > search->distance)
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
	const ShSortItem *a_end = keys_of(&search->a, i, &a_start);
	const ShSortItem *b_end = keys_of(&search->b, j, &b_start);

	for (const ShSortItem *a = a_start; a < a_end; a++)
	{
		for (const ShSortItem *b = b_start; b < b_end; b++)
			check_candidate(search, a->value, b->value);
	}
}

/*
 * Check the pairs of keys that have the same value of the current part.
 */
static void
check_equal(ShPairsWideSearch *search, size_t nkeys)
{
	for (size_t i = 0; i < nkeys; i++)
	{
		const ShSortItem *start;
		const ShSortItem *end = keys_of(&search->a, i, &start);

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

/*
 * Search a part of the plan.
 */
static void
search_part(ShPairsWideSearch *search)
{
	MemoryContext old;
	int			part = search->plan.parts[search->part];
	const ShPairsWideSet *a = &search->a;
	const ShPairsWideSet *b = &search->b;
	size_t		na;

	CHECK_FOR_INTERRUPTS();
	report_part(search, 0);
	/* what is called for a pair allocates in the caller's context */
	old = MemoryContextSwitchTo(search->context);
	shpairs_init(&search->pairs, search->plan.radii[search->part], part_found, report_part,
				 search);
	MemoryContextSwitchTo(old);
	na = sort_by_part(a, part);
	if (search->among)
	{
		check_equal(search, na);
		shpairs_find_pairs(&search->pairs, a->wide->part_keys + a->start, na);
	}
	else
	{
		size_t		nb = sort_by_part(b, part);

		shpairs_find_matches(&search->pairs, a->wide->part_keys + a->start, na,
							 b->wide->part_keys + b->start, nb);
	}
	MemoryContextReset(search->context);
}

static void
run(ShPairsWideSearch *search)
{
	CHECK_FOR_INTERRUPTS();
	if (search->a.count == 0 || search->b.count == 0)
		return;
	make_plan(search);
	if (search->plan.nparts == 0)
		compare_all(search);
	for (search->part = 0; search->part < search->plan.nparts; search->part++)
		search_part(search);
}

/*
 * Find the pairs of keys of a set.  Each is found once, in no particular order.
 */
void
shpairs_wide_search_pairs(ShPairsWideSearch *search, ShPairsWideSet set)
{
	search->a = search->b = set;
	search->among = true;
	/* different keys are no pairs */
	if (search->distance > 0)
		run(search);
}

/*
 * Find the pairs of a key of a and one of b, which may be of the same bucket.  Each
 * is found once, in no particular order.
 */
void
shpairs_wide_search_matches(ShPairsWideSearch *search, ShPairsWideSet a, ShPairsWideSet b)
{
	search->a = a;
	search->b = b;
	search->among = false;
	run(search);
}
