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
 * with a word that nobody else has, and then helps others.  What a word has to be searched
 * for is dealt out in slices, to one process or to several.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "bits/hamming_ball.h"
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
		plan->cost = shpairs_even_cost(&estimates.keys, sets->width, sets->distance);
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

/* candidates between checks for interrupts */
#define CHECK_INTERVAL		4096

/* into how many slices keys that are compared one by one are divided, and their least size */
#define MAX_SLICES			1024
#define MIN_SLICE			64

static void
pass_pair(void *arg, size_t i, size_t j)
{
	ShPairsSearch *search = arg;

	search->found(search->arg, i, j);
}

/* the number of slices of so many things */
static inline uint32
slices_of(size_t count)
{
	return Min(count / MIN_SLICE + 1, MAX_SLICES);
}

/*
 * The fraction of a word that no process has taken.  The keys that have the same value
 * of it are not counted.
 */
static double
fraction_left(const ShPairsSearch *search, int word)
{
	ShPairsShared *shared = &search->shared[word];
	uint32		nparts = pg_atomic_read_u32(&shared->nparts);
	uint32		taken = 0;

	if (nparts == 0)
		return 1;
	for (uint32 i = 0; i < nparts; i++)
		taken += Min(pg_atomic_read_u32(&shared->next_slice[i]), SHPAIRS_SLICES);
	return 1 - (double) taken / (nparts * SHPAIRS_SLICES);
}

/*
 * Report how far the search is.
 */
void
shpairs_search_report(ShPairsSearch *search)
{
	int			nwords = Max(search->plan.nwords, 1);
	double		fraction = search->fraction;

	CHECK_FOR_INTERRUPTS();
	if (search->shared != NULL && search->plan.nwords > 0)
	{
		fraction = nwords;
		for (int word = 0; word < nwords; word++)
			fraction -= fraction_left(search, word);
	}
	search->report(search->report_arg, fraction / nwords);
}

/* so much of the current word is done, by this process alone */
static void
report_word(void *arg, double fraction)
{
	ShPairsSearch *search = arg;

	search->fraction = search->word + fraction;
	shpairs_search_report(search);
}

/*
 * Prepare to search fingerprints of so many bits.  Pairs that differ in at most
 * distance bits are passed to found, with arg, and report is called with the
 * progress of a long search.  Allocates in the current memory context.
 */
void
shpairs_search_init(ShPairsSearch *search, int width, int distance,
					ShPairsFoundFunction found, ShPairsReportFunction report, void *arg)
{
	memset(search, 0, sizeof(ShPairsSearch));
	search->sets.width = width;
	search->sets.nwords = shbits_nparts(width);
	search->sets.distance = distance;
	search->found = found;
	search->report = report;
	search->arg = search->report_arg = arg;
	search->context = CurrentMemoryContext;
	if (search->sets.nwords == 1)
		shpairs_init(&search->pairs, distance, pass_pair, report_word, search);
	else
		search->context = AllocSetContextCreate(CurrentMemoryContext, "simhash search",
												ALLOCSET_DEFAULT_SIZES);
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
		const uint64 *value = shpairs_value(sets->a, i);

		for (size_t j = sets->a == sets->b ? i + 1 : 0; j < sets->b->nkeys; j++)
		{
			if (unlikely(++compared % CHECK_INTERVAL == 0))
				shpairs_search_report(search);
			if (shpairs_distance(value, shpairs_value(sets->b, j), sets->nwords) <=
				sets->distance)
				search->found(search->arg, i, j);
		}
	}
}

/*
 * Take the next of so many things that are dealt out: from *start to *end.  Returns false
 * if there are no more.
 */
static bool
take_some(pg_atomic_uint32 *next, size_t count, size_t *start, size_t *end)
{
	uint32		nslices = slices_of(count);
	uint32		slice = pg_atomic_fetch_add_u32(next, 1);

	*start = count * Min(slice, nslices) / nslices;
	*end = count * Min(slice + 1, nslices) / nslices;
	return slice < nslices;
}

/* the number of the next slice of keys of the current word: a shared one, or *own */
static pg_atomic_uint32 *
next_of_keys(ShPairsSearch *search, pg_atomic_uint32 *own)
{
	pg_atomic_init_u32(own, 0);
	return search->shared != NULL ? &search->shared[search->word].next_keys : own;
}

static void
compare_all(ShPairsSearch *search)
{
	size_t		count = search->sets.a->nkeys;
	pg_atomic_uint32 own;
	pg_atomic_uint32 *next = next_of_keys(search, &own);
	size_t		start;
	size_t		end;

	while (take_some(next, count, &start, &end))
	{
		compare_some(search, start, end);
		report_word(search, (double) end / count);
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
		sorted->scratch[i] = shidx_sort_item(shpairs_value(sorted->bucket, i)[word], i);
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
	const uint64 *x = shpairs_value(search->sets.a, i);
	const uint64 *y = shpairs_value(search->sets.b, j);

	if (++search->checked >= CHECK_INTERVAL)
	{
		search->checked = 0;
		shpairs_search_report(search);
	}
	if (shpairs_distance(x, y, search->sets.nwords) > search->sets.distance)
		return;
	for (int k = 0; k < search->word; k++)
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
 * Check the pairs of keys that have the same value of the current word.
 */
static void
check_equal(ShPairsSearch *search)
{
	const ShPairsSorted *sorted = &search->sorted[0];
	pg_atomic_uint32 own;
	pg_atomic_uint32 *next = next_of_keys(search, &own);
	size_t		start;
	size_t		end;

	while (take_some(next, sorted->count, &start, &end))
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = start; i < end; i++)
		{
			const ShIdxSortItem *first;
			const ShIdxSortItem *last = keys_with(sorted, i, &first);

			for (const ShIdxSortItem *a = first; a < last; a++)
			{
				for (const ShIdxSortItem *b = a + 1; b < last; b++)
					check_candidate(search, a->value, b->value);
			}
		}
	}
}

/*
 * Sort the keys by a word of the plan, which becomes the current one.
 */
static void
begin_word(ShPairsSearch *search, int number)
{
	const ShPairsSets *sets = &search->sets;
	int			word = search->plan.words[number];
	MemoryContext old;

	search->word = number;
	report_word(search, 0);
	/* what is called for a pair allocates in the caller's context */
	old = MemoryContextSwitchTo(search->context);
	shpairs_init(&search->pairs, search->plan.radii[number], check_values, report_word, search);
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
 * Find the pairs of values of one word: those among a, or of a value of a and one of b.
 */
static void
search_values(ShPairsSearch *search, const ShPermuted *a, size_t na, const ShPermuted *b, size_t nb)
{
	search->pairs.shared = search->shared != NULL ? &search->shared[search->word] : NULL;
	shpairs_find_pairs(&search->pairs, a, na, b, nb);
}

static void
search_word(ShPairsSearch *search, int number)
{
	const ShPairsSorted *a = &search->sorted[0];

	begin_word(search, number);
	if (a == search->sorted_b)
		check_equal(search);
	search_values(search, a->values, a->count, search->sorted_b->values, search->sorted_b->count);
	MemoryContextReset(search->context);
}

/*
 * Should this process search a word of the plan?  Yes if it is alone, if no other has
 * begun the word, or, to help others, if sorting the keys is worth while.
 */
static bool
wants_word(const ShPairsSearch *search, int number, bool help)
{
	const ShPairsWordPlan *plan = &search->plan;

	if (search->shared == NULL || pg_atomic_test_set_flag(&search->shared[number].begun))
		return true;
	return help && fraction_left(search, number) * plan->cost / plan->nwords > plan->cost_of_helping;
}

/*
 * Set what is searched: the pairs among bucket a, or of a key of a and one of b.
 */
void
shpairs_search_set(ShPairsSearch *search, const ShPairsBucket *a, const ShPairsBucket *b)
{
	search->sets.a = a;
	search->sets.b = b;
	search->fraction = 0;
}

/*
 * Find the pairs or, if the search is shared, those that no other process finds.  Each is
 * found once, in no particular order.  With several words, the search must have been
 * planned.
 */
void
shpairs_search_planned(ShPairsSearch *search)
{
	const ShPairsBucket *a = search->sets.a;
	const ShPairsBucket *b = search->sets.b;

	/* different keys are no pairs */
	if (a == b && (search->sets.distance == 0 || a->nkeys < 2))
		return;
	search->word = 0;
	if (search->sets.nwords == 1)
	{
		search_values(search, a->values, a->nkeys, b->values, b->nkeys);
		return;
	}
	CHECK_FOR_INTERRUPTS();
	if (search->plan.nwords == 0)
		compare_all(search);
	for (int help = 0; help <= (search->shared != NULL); help++)
	{
		for (int number = 0; number < search->plan.nwords; number++)
		{
			if (wants_word(search, number, help))
				search_word(search, number);
		}
	}
}
