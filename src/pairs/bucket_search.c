/*-------------------------------------------------------------------------
 *
 * bucket_search.c
 *	  Finding all pairs within a distance in a bucket, or between two buckets.
 *
 * Fingerprints of one word are searched at once (pairs.c).  Of wider ones, some words
 * are searched in this way, each within a radius, and what is found is
 * compared as a whole.  A pair belongs to the first word whose radius it is within.
 *
 * The distance is allotted to the words as to the parts of a lookup (section 1 of
 * src/README.md), but by a sample of pairs: a word that is nearly the same in all
 * fingerprints finds nothing but candidates.  So one unit after the other goes to the
 * word where it costs least.  If nothing is gained, all pairs are compared.
 *
 * If several processes share a search, each sorts the keys of a word for itself, begins
 * with words that nobody else has begun, and then helps others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "bits/probe.h"
#include "compat.h"
#include "index/sort.h"
#include "pairs/bucket_search.h"

/*
 * Costs, in units of a comparison by the kernels of 64 bits: sorting a key by a
 * word, checking a candidate, whose values are anywhere in memory, and comparing
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

/* what is known for planning */
typedef struct Estimates
{
	ShPairsKeySets keys;		/* how many keys there are */
	double		comparisons;
	int			nsample;

	/* of the pairs of the sample, how many differ in so many bits of a word */
	int			(*counts)[SHBITS_WIDTH + 1];

	/* costs of a word by radius, or -1 */
	double		even[SHBITS_WIDTH + 1];
} Estimates;

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
	int			nbits = shbits_part_bits(sets->width, word);
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
	int			nbits = shbits_part_bits(sets->width, word);

	if (radius < 0)
		return 0;
	if (radius >= nbits)
		return INFINITY;
	/* a word may be longer than another by one bit, which makes little difference */
	if (estimates->even[radius] < 0)
		estimates->even[radius] = shpairs_even_cost(&estimates->keys, nbits, radius);
	return estimates->even[radius] + (double) (sets->a->nkeys + sets->b->nkeys) * COST_OF_SORTING +
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
 * Choose which of several words are searched.  Of a single one only the cost is estimated.
 */
void
shpairs_plan_words(ShPairsWordPlan *plan, const ShPairsSets *sets)
{
	int			radii[SHPAIRS_MAX_WORDS];
	Estimates	estimates;
	double		cost;

	plan->nwords = 0;
	plan->cost = 0;
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
		plan->cost = shpairs_even_cost(&estimates.keys, sets->width, sets->distance);
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
	pfree(estimates.counts);
}

/* candidates until what has been found is passed on */
#define CANDIDATES_AT_ONCE		4096

/*
 * Another candidate is compared.
 */
static inline void
count_candidate(ShPairsSearch *search)
{
	if (unlikely(++search->checked >= CANDIDATES_AT_ONCE))
	{
		search->checked = 0;
		shpairs_pass_hits(&search->hits);
	}
}

/*
 * Compare each key of a with all of b, or with those after it.
 */
static void
compare_all(ShPairsSearch *search)
{
	const ShPairsSets *sets = &search->sets;
	size_t		count = sets->a->nkeys;
	pg_atomic_uint32 own;
	size_t		start;
	size_t		end;

	pg_atomic_init_u32(&own, 0);
	search->pairs.deal = search->deals;
	while (shpairs_take_slice(search->deals != NULL ? &search->deals->next_keys : &own,
							  count, &start, &end))
	{
		for (size_t i = start; i < end; i++)
		{
			const uint64 *value = shpairs_value(sets->a, i);

			for (size_t j = sets->a == sets->b ? i + 1 : 0; j < sets->b->nkeys; j++)
			{
				count_candidate(search);
				if (shpairs_distance(value, shpairs_value(sets->b, j), sets->nwords) <=
					sets->distance)
					shpairs_add_hit(&search->hits, i, j);
			}
		}
		shpairs_add_done(&search->pairs, (double) (end - start) / count);
	}
}

/*
 * Sort the keys of a bucket by a word, and list its different values.
 */
static void
sort_by_word(ShPairsSearch *search, ShPairsSorted *sorted, const ShPairsBucket *bucket, int word)
{
	size_t		count = bucket->nkeys;
	ShIdxSortItem *scratch = MemoryContextAllocHuge(search->context, count * sizeof(ShIdxSortItem));

	sorted->bucket = bucket;
	sorted->items = MemoryContextAllocHuge(search->context, count * sizeof(ShIdxSortItem));
	sorted->values = MemoryContextAllocHuge(search->context, count * sizeof(ShPermuted));
	sorted->starts = MemoryContextAllocHuge(search->context, count * sizeof(uint32));
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		scratch[i] = shidx_sort_item(shpairs_value(bucket, i)[word], i);
	}
	shidx_sort_radix(scratch, sorted->items, count);
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
	const uint64 *x = shpairs_value(search->sets.a, i);
	const uint64 *y = shpairs_value(search->sets.b, j);

	count_candidate(search);
	if (shpairs_distance(x, y, search->sets.nwords) > search->sets.distance)
		return;
	for (int k = 0; k < search->word; k++)
	{
		if (pg_popcount64(x[plan->words[k]] ^ y[plan->words[k]]) <= plan->radii[k])
			return;
	}
	shpairs_add_hit(&search->hits, i, j);
}

/*
 * Some values of the current word are within its radius of each other: check the keys that
 * have them, which may be many more; of a value and itself, those that have it.
 */
static void
check_values(void *arg, const ShPairsHit *hits, size_t count)
{
	ShPairsSearch *search = arg;

	for (size_t k = 0; k < count; k++)
	{
		const ShIdxSortItem *a_start;
		const ShIdxSortItem *b_start;
		const ShIdxSortItem *a_end = keys_with(&search->sorted[0], hits[k].i, &a_start);
		const ShIdxSortItem *b_end = keys_with(search->sorted_b, hits[k].j, &b_start);

		for (const ShIdxSortItem *a = a_start; a < a_end; a++)
		{
			for (const ShIdxSortItem *b = a_start == b_start ? a + 1 : b_start; b < b_end; b++)
				check_candidate(search, a->value, b->value);
		}
	}
	shpairs_pass_hits(&search->hits);
}

/*
 * Find the values of the current word that several keys have.
 */
static void
find_repeated(ShPairsSearch *search)
{
	const ShPairsSorted *sorted = &search->sorted[0];
	ShPairsDeal *deal = search->pairs.deal;
	pg_atomic_uint32 own;
	size_t		start;
	size_t		end;

	pg_atomic_init_u32(&own, 0);
	while (shpairs_take_slice(deal != NULL ? &deal->next_keys : &own, sorted->count, &start, &end))
	{
		for (size_t i = start; i < end; i++)
		{
			const ShIdxSortItem *first;

			shcompat_check_at(i);
			if (keys_with(sorted, i, &first) - first > 1)
				shpairs_add_hit(&search->value_hits, i, i);
		}
	}
}

/*
 * Search one of several words, as one of several processes if the search is shared.
 */
static void
search_word(ShPairsSearch *search, int number)
{
	const ShPairsSets *sets = &search->sets;
	int			word = search->plan.words[number];
	ShPairs    *pairs = &search->pairs;
	ShPairsSorted *a = &search->sorted[0];
	ShPairsSorted *b = sets->a == sets->b ? a : &search->sorted[1];
	double		done = pairs->done;

	search->word = number;
	search->sorted_b = b;
	shpairs_init(pairs, search->plan.radii[number], &search->value_hits, search->context);
	pairs->deal = search->deals != NULL ? &search->deals[number] : NULL;
	pairs->done = done;
	pairs->share = 1.0 / search->plan.nwords;
	sort_by_word(search, a, sets->a, word);
	if (a != b)
		sort_by_word(search, b, sets->b, word);
	else
		find_repeated(search);
	shpairs_find_pairs(pairs, a->values, a->count, b->values, b->count);
	shpairs_pass_hits(&search->value_hits);
	MemoryContextReset(search->context);
}

/*
 * Should this process search a word of the plan?  If it shares the search, it begins with
 * words that no other has begun, and then helps others.
 */
static bool
wants_word(const ShPairsSearch *search, int number, bool help)
{
	ShPairsDeal *deal;

	if (search->deals == NULL)
		return !help;
	deal = &search->deals[number];
	return help ? pg_atomic_unlocked_test_flag(&deal->word_done) :
		pg_atomic_test_set_flag(&deal->word_begun);
}

/*
 * Prepare to search fingerprints of so many bits.  Pairs that differ in at most
 * distance bits are passed on.  Allocates in the current memory context.
 */
void
shpairs_search_init(ShPairsSearch *search, int width, int distance, ShPairsHitsFunction pass,
					void *arg)
{
	bool		wide = shbits_nparts(width) > 1;

	memset(search, 0, sizeof(ShPairsSearch));
	search->sets.width = width;
	search->sets.nwords = shbits_nparts(width);
	search->sets.distance = distance;
	search->hits.pass = pass;
	search->hits.arg = arg;
	search->value_hits.pass = check_values;
	search->value_hits.arg = search;
	search->context = wide ? AllocSetContextCreate(CurrentMemoryContext, "simhash search",
												   ALLOCSET_DEFAULT_SIZES) : CurrentMemoryContext;
	shpairs_init(&search->pairs, distance, &search->hits, search->context);
}

/*
 * Find the pairs of the sets or, if the search is shared, those that no other process
 * finds.  Each is found once, in no particular order.  With several words, the search must
 * have been planned.
 */
void
shpairs_search_planned(ShPairsSearch *search)
{
	const ShPairsBucket *a = search->sets.a;
	const ShPairsBucket *b = search->sets.b;

	search->pairs.done = 0;
	/* different keys are no pairs */
	if (a == b && (search->sets.distance == 0 || a->nkeys < 2))
		return;
	if (search->sets.nwords == 1)
	{
		search->pairs.deal = search->deals;
		shpairs_find_pairs(&search->pairs, a->values, a->nkeys, b->values, b->nkeys);
	}
	else if (search->plan.nwords == 0)
		compare_all(search);
	for (int help = 0; help <= 1; help++)
	{
		for (int number = 0; number < search->plan.nwords; number++)
		{
			if (!wants_word(search, number, help))
				continue;
			search_word(search, number);
			if (search->deals != NULL)
				(void) pg_atomic_test_set_flag(&search->deals[number].word_done);
		}
	}
	if (search->hits.count > 0)
		shpairs_pass_hits(&search->hits);
}
