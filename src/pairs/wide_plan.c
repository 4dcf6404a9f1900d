/*-------------------------------------------------------------------------
 *
 * wide_plan.c
 *	  Which parts of wide fingerprints are searched, and within which radii.
 *
 * Each part gets an integer c >= 0, such that their sum exceeds the distance by
 * one.  Two fingerprints within the distance then differ in at most c - 1 bits of
 * some part.
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

#include "bits/hamming_ball.h"
#include "pairs/wide_plan.h"

/*
 * Costs, in units of a comparison by the kernels of 64 bits: sorting a key by a
 * part, checking a candidate, whose values are anywhere in memory, and comparing
 * two values, with an addend for each word.
 */
#define COST_OF_SORTING		200
#define COST_OF_CANDIDATE	400
#define COST_OF_VALUES		30
#define COST_OF_WORD		3

/*
 * Another process helps with a part if what is left costs more than this many times
 * what it takes to sort and divide the keys.
 */
#define WORTH_SORTING		2

/* up to this many pairs are compared without a plan */
#define COMPARE_MAX			0x10000

/* a sample has one pair for this many keys, within limits */
#define KEYS_PER_SAMPLE		16
#define MIN_SAMPLE			256
#define MAX_SAMPLE			16384

/* what is known for planning */
typedef struct Estimates
{
	ShPairsKeySets keys;		/* how many keys there are */
	double		comparisons;
	int			nsample;

	/* of the pairs of the sample, how many differ in so many bits of a part */
	int			(*counts)[SHBITS_WIDTH + 1];

	/* costs of a part of 64 bits by radius, or -1 */
	double		even[SHBITS_WIDTH + 1];
} Estimates;

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
take_sample(const ShPairsWideSets *sets, Estimates *estimates)
{
	const ShPairsWideSet *a = &sets->a;
	const ShPairsWideSet *b = &sets->b;
	pg_prng_state state;

	estimates->nsample = Min(Max((a->count + b->count) / KEYS_PER_SAMPLE, MIN_SAMPLE), MAX_SAMPLE);
	estimates->counts = palloc0(sets->nwords * sizeof(*estimates->counts));
	/* the same sample in each run */
	pg_prng_seed(&state, 0);
	for (int k = 0; k < estimates->nsample; k++)
	{
		size_t		i = pg_prng_uint64_range(&state, 0, a->count - 1);
		size_t		j = pg_prng_uint64_range(&state, 0, b->count - 1);
		const uint64 *x;
		const uint64 *y;

		if (sets->among && i == j)
			j = (j + 1) % b->count;
		x = shpairs_wide_value(a, a->start + i);
		y = shpairs_wide_value(b, b->start + j);
		for (int part = 0; part < sets->nwords; part++)
			estimates->counts[part][pg_popcount64(x[part] ^ y[part])]++;
	}
}

/*
 * The share of the pairs that differ in at most radius bits of a part: that of the
 * sample, but no less than of random bits.
 */
static double
share_within(const ShPairsWideSets *sets, const Estimates *estimates, int part, int radius)
{
	int			nbits = part_bits(sets->width, part);
	double		count = 0;

	if (radius >= nbits)
		return 1;
	for (int r = 0; r <= radius; r++)
		count += estimates->counts[part][r];
	return Max(count / estimates->nsample, shbits_ball_share(nbits, radius));
}

/*
 * The cost of searching a part within a radius, or 0 if that is -1.
 */
static double
part_cost(const ShPairsWideSets *sets, Estimates *estimates, int part, int radius)
{
	int			nbits = part_bits(sets->width, part);
	double		cost;

	if (radius < 0)
		return 0;
	if (radius >= nbits)
		return INFINITY;
	if (nbits < SHBITS_WIDTH)
		cost = shpairs_even_cost(&estimates->keys, nbits, radius);
	else
	{
		if (estimates->even[radius] < 0)
			estimates->even[radius] = shpairs_even_cost(&estimates->keys, nbits, radius);
		cost = estimates->even[radius];
	}
	return cost + (double) (sets->a.count + sets->b.count) * COST_OF_SORTING +
		share_within(sets, estimates, part, radius) * estimates->comparisons *
		COST_OF_CANDIDATE;
}

/*
 * Allot the distance to the parts, one unit at a time where it costs least.
 * Returns the cost, which is INFINITY if it exceeds most.
 */
static double
allot(const ShPairsWideSets *sets, Estimates *estimates, double most, int *radii)
{
	double		costs[SHBITS_MAX_PARTS] = {0};
	double		next[SHBITS_MAX_PARTS];
	double		sum = 0;

	for (int part = 0; part < sets->nwords; part++)
	{
		radii[part] = -1;
		next[part] = part_cost(sets, estimates, part, 0);
	}
	for (int given = 0; given <= sets->distance; given++)
	{
		int			least = 0;

		CHECK_FOR_INTERRUPTS();
		for (int part = 1; part < sets->nwords; part++)
		{
			if (next[part] - costs[part] < next[least] - costs[least])
				least = part;
		}
		sum += next[least] - costs[least];
		if (sum >= most)
			return INFINITY;
		radii[least]++;
		costs[least] = next[least];
		next[least] = part_cost(sets, estimates, least, radii[least] + 1);
	}
	return sum;
}

/*
 * Choose the parts to search.
 */
void
shpairs_wide_plan(ShPairsWidePlan *plan, const ShPairsWideSets *sets)
{
	int			radii[SHBITS_MAX_PARTS];
	Estimates	estimates;
	double		cost;

	plan->nparts = 0;
	plan->cost = plan->cost_of_sharing = 0;
	estimates.keys = (ShPairsKeySets)
	{
		.na = sets->a.count,.nb = sets->b.count,.among = sets->among
	};
	estimates.comparisons = shpairs_comparisons(&estimates.keys);
	/* different keys are no pairs at distance 0 */
	if (estimates.comparisons <= COMPARE_MAX || (sets->among && sets->distance == 0))
		return;
	plan->cost = estimates.comparisons * (COST_OF_VALUES + sets->nwords * COST_OF_WORD);
	if (sets->distance >= sets->width)
		return;
	for (int radius = 0; radius <= SHBITS_WIDTH; radius++)
		estimates.even[radius] = -1;
	take_sample(sets, &estimates);

	cost = allot(sets, &estimates, plan->cost, radii);
	if (cost < plan->cost)
	{
		plan->cost = cost;
		for (int part = 0; part < sets->nwords; part++)
		{
			if (radii[part] < 0)
				continue;
			plan->parts[plan->nparts] = part;
			plan->radii[plan->nparts++] = radii[part];
		}
	}
	/* or a single part, which need not be sorted by others */
	for (int part = 0; part < sets->nwords; part++)
	{
		cost = part_cost(sets, &estimates, part, Min(sets->distance, SHBITS_WIDTH));
		if (cost < plan->cost)
		{
			plan->cost = cost;
			plan->nparts = 1;
			plan->parts[0] = part;
			plan->radii[0] = sets->distance;
		}
	}
	if (plan->nparts > 0)
		plan->cost_of_sharing = WORTH_SORTING * (COST_OF_SORTING + SHPAIRS_COST_OF_KEY) *
			(double) shpairs_wide_count_keys(sets);
	pfree(estimates.counts);
}
