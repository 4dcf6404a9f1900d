/*-------------------------------------------------------------------------
 *
 * word_plan.c
 *	  Which words of fingerprints are searched, and within which radii.
 *
 * The distance is allotted to the words as to the parts of a look-up (section 1 of
 * src/README.md), but by a sample of pairs: a word that is nearly the same in all
 * fingerprints finds nothing but candidates.  So one unit after the other goes to the
 * word where it costs least.  If nothing is gained, all pairs are compared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "bits/hamming_ball.h"
#include "pairs/word_plan.h"

/*
 * Costs, in units of a comparison by the kernels of 64 bits: sorting a key by a
 * word, checking a candidate, whose values are anywhere in memory, and comparing
 * two values, with an addend for each word.
 */
#define COST_OF_SORTING		200
#define COST_OF_CANDIDATE	400
#define COST_OF_VALUES		30
#define COST_OF_WORD		3

/*
 * Another process helps with a word if what is left costs more than this many times
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

	/* of the pairs of the sample, how many differ in so many bits of a word */
	int			(*counts)[SHBITS_WIDTH + 1];

	/* costs of a word of 64 bits by radius, or -1 */
	double		even[SHBITS_WIDTH + 1];
} Estimates;

/* the number of bits of a word */
static int
word_bits(int width, int word)
{
	return Min(width - word * SHBITS_WIDTH, SHBITS_WIDTH);
}

/*
 * Sample some pairs, and count for each word in how many bits they differ.
 */
static void
take_sample(const ShPairsSets *sets, Estimates *estimates)
{
	const ShPairsBucket *a = sets->a;
	const ShPairsBucket *b = sets->b;
	pg_prng_state state;

	estimates->nsample = Min(Max((a->nkeys + b->nkeys) / KEYS_PER_SAMPLE, MIN_SAMPLE), MAX_SAMPLE);
	estimates->counts = palloc0(sets->nwords * sizeof(*estimates->counts));
	/* the same sample in each run */
	pg_prng_seed(&state, 0);
	for (int k = 0; k < estimates->nsample; k++)
	{
		size_t		i = pg_prng_uint64_range(&state, 0, a->nkeys - 1);
		size_t		j = pg_prng_uint64_range(&state, 0, b->nkeys - 1);
		const uint64 *x;
		const uint64 *y;

		if (a == b && i == j)
			j = (j + 1) % b->nkeys;
		x = shpairs_value(a, i);
		y = shpairs_value(b, j);
		for (int word = 0; word < sets->nwords; word++)
			estimates->counts[word][pg_popcount64(x[word] ^ y[word])]++;
	}
}

/*
 * The fraction of the pairs that differ in at most radius bits of a word: that of the
 * sample, but no less than of random bits.
 */
static double
fraction_within(const ShPairsSets *sets, const Estimates *estimates, int word, int radius)
{
	int			nbits = word_bits(sets->width, word);
	double		count = 0;

	if (radius >= nbits)
		return 1;
	for (int r = 0; r <= radius; r++)
		count += estimates->counts[word][r];
	return Max(count / estimates->nsample, shbits_ball_share(nbits, radius));
}

/*
 * The cost of searching a word within a radius, or 0 if that is -1.
 */
static double
word_cost(const ShPairsSets *sets, Estimates *estimates, int word, int radius)
{
	int			nbits = word_bits(sets->width, word);
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
	return cost + (double) (sets->a->nkeys + sets->b->nkeys) * COST_OF_SORTING +
		fraction_within(sets, estimates, word, radius) * estimates->comparisons *
		COST_OF_CANDIDATE;
}

/*
 * Allot the distance to the words, one unit at a time where it costs least.
 * Returns the cost, which is INFINITY if it exceeds most.
 */
static double
allot(const ShPairsSets *sets, Estimates *estimates, double most, int *radii)
{
	double		costs[SHPAIRS_MAX_WORDS] = {0};
	double		next[SHPAIRS_MAX_WORDS];
	double		sum = 0;

	for (int word = 0; word < sets->nwords; word++)
	{
		radii[word] = -1;
		next[word] = word_cost(sets, estimates, word, 0);
	}
	for (int given = 0; given <= sets->distance; given++)
	{
		int			least = 0;

		CHECK_FOR_INTERRUPTS();
		for (int word = 1; word < sets->nwords; word++)
		{
			if (next[word] - costs[word] < next[least] - costs[least])
				least = word;
		}
		sum += next[least] - costs[least];
		if (sum >= most)
			return INFINITY;
		radii[least]++;
		costs[least] = next[least];
		next[least] = word_cost(sets, estimates, least, radii[least] + 1);
	}
	return sum;
}

/*
 * Choose the words to search.
 */
void
shpairs_plan_words(ShPairsWordPlan *plan, const ShPairsSets *sets)
{
	int			radii[SHPAIRS_MAX_WORDS];
	Estimates	estimates;
	double		cost;

	plan->nwords = 0;
	plan->cost = plan->cost_of_helping = 0;
	estimates.keys = (ShPairsKeySets)
	{
		.na = sets->a->nkeys,.nb = sets->b->nkeys,.among = sets->a == sets->b
	};
	estimates.comparisons = shpairs_comparisons(&estimates.keys);

	/*
	 * at distance 0 different keys are no pairs, and equal ones of one word
	 * are soon found
	 */
	if (estimates.comparisons <= COMPARE_MAX ||
		(sets->distance == 0 && (estimates.keys.among || sets->nwords == 1)))
		return;
	if (sets->nwords == 1)
	{
		plan->nwords = 1;
		plan->words[0] = 0;
		plan->radii[0] = sets->distance;
		plan->cost = shpairs_even_cost(&estimates.keys, SHBITS_WIDTH, sets->distance);
		plan->cost_of_helping = WORTH_SORTING * SHPAIRS_COST_OF_KEY *
			(double) shpairs_count_keys(sets);
		return;
	}
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
		for (int word = 0; word < sets->nwords; word++)
		{
			if (radii[word] < 0)
				continue;
			plan->words[plan->nwords] = word;
			plan->radii[plan->nwords++] = radii[word];
		}
	}
	/* or a single word, which need not be sorted by others */
	for (int word = 0; word < sets->nwords; word++)
	{
		cost = word_cost(sets, &estimates, word, Min(sets->distance, SHBITS_WIDTH));
		if (cost < plan->cost)
		{
			plan->cost = cost;
			plan->nwords = 1;
			plan->words[0] = word;
			plan->radii[0] = sets->distance;
		}
	}
	if (plan->nwords > 0)
		plan->cost_of_helping = WORTH_SORTING * (COST_OF_SORTING + SHPAIRS_COST_OF_KEY) *
			(double) shpairs_count_keys(sets);
	pfree(estimates.counts);
}
