/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  Tests of src/pairs/pairs.c, parts.c and collector.c without a server: what is
 *	  found, among one set of keys and between two, is what comparing each with each
 *	  finds, and takes far fewer comparisons where keys can be told apart; wide
 *	  fingerprints become keys with their rows, and a cancel is obeyed meanwhile.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "common/pg_prng.h"

#include "bits/probe.h"
#include "bits/distance.h"
#include "miscadmin.h"
#include "pairs/collector.h"
#include "pairs/pairs.h"
#include "pairs/parts.h"
#include "server.h"
#include "index/sort.h"

#define MAX_KEYS	1650
#define MAX_MASKS	2
#define MANY_KEYS	1000000
#define LARGE_SET	12000
#define WIDE_ROWS	100000

static uint64 set_a[MAX_KEYS];
static uint64 set_b[MAX_KEYS];
static uint64 many[MANY_KEYS];
static uint64 more[MANY_KEYS];

static ShPairs pairs;
static ShPairsHits hits;

/* what was found, of which a pair is a bit */
static uint8 seen[(size_t) MAX_KEYS * MAX_KEYS];
static size_t nfound;
static bool twice;
static double reported;
static bool decreased;

/* kinds of keys */
typedef enum Shape
{
	SHAPE_RANDOM,
	SHAPE_CLUSTERED,			/* near a few centers */
	SHAPE_SKEWED,				/* half have some bits in common */
	SHAPE_FEW_BITS,				/* of which alone they consist */
	SHAPE_NUMBERS,				/* small ones */
	SHAPES
}			Shape;

static const char *const shape_names[] =
{"random keys", "clustered keys", "skewed keys", "keys of few bits", "small numbers"};

static uint64
make_key(Shape shape)
{
	uint64		random = next_random();

	switch (shape)
	{
		case SHAPE_CLUSTERED:
			return flip_bits((random % 5) * UINT64CONST(0x9e3779b97f4a7c15), next_random() % 24);
		case SHAPE_SKEWED:
			return next_random() % 2 == 0 ? random :
				(random & UINT64CONST(0x00000fff0f00ffff)) | UINT64CONST(0xabc0000000000000);
		case SHAPE_FEW_BITS:
			return random & UINT64CONST(0x8421084210842108);
		case SHAPE_NUMBERS:
			return random % 8192;
		default:
			return random;
	}
}

static int
compare_keys(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/* Sort keys and drop repeats.  Returns how many there are. */
static size_t
make_unique(uint64 *keys, size_t count)
{
	size_t		result = 0;

	qsort(keys, count, sizeof(uint64), compare_keys);
	for (size_t i = 0; i < count; i++)
	{
		if (result == 0 || keys[i] != keys[result - 1])
			keys[result++] = keys[i];
	}
	return result;
}

static size_t
make_keys(Shape shape, uint64 *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		keys[i] = make_key(shape);
	return make_unique(keys, count);
}

static void
see_pair(size_t i, size_t j)
{
	uint8	   *place = &seen[i * MAX_KEYS + j];

	twice |= *place != 0;
	*place = 1;
	nfound++;
}

/* what is passed on is within limits, and so is what has been done */
static void
check_pass(size_t count)
{
	decreased |= count > SHPAIRS_MAX_HITS || pairs.done < reported || pairs.done > 1.000001;
	reported = pairs.done;
}

static void
see_pairs(void *arg, const ShPairsHit *passed, size_t count)
{
	check_pass(count);
	for (size_t k = 0; k < count; k++)
		see_pair(passed[k].i, passed[k].j);
}

/* of many and of more, or of many again; their sum tells which pairs these are */
static uint64 pair_sum;

static uint64
pair_number(uint64 a, uint64 b, bool among)
{
	uint64		x = among ? Min(a, b) : a;
	uint64		y = among ? Max(a, b) : b;

	x = (x ^ (x >> 29)) * UINT64CONST(0xbf58476d1ce4e5b9) + y;
	x = (x ^ (x >> 31)) * UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 30);
}

static void
sum_pairs(void *arg, const ShPairsHit *passed, size_t count)
{
	bool		among = arg == many;

	check_pass(count);
	for (size_t k = 0; k < count; k++)
	{
		uint64		other = among ? many[passed[k].j] : more[passed[k].j];

		pair_sum += pair_number(many[passed[k].i], other, among);
	}
	nfound += count;
}

static void
count_pairs(void *arg, const ShPairsHit *passed, size_t count)
{
	nfound += count;
}

static void
start(ShPairsHitsFunction pass, int distance)
{
	hits.pass = pass;
	shpairs_init(&pairs, distance, &hits, NULL);
	memset(seen, 0, sizeof(seen));
	nfound = 0;
	twice = false;
	reported = 0;
	decreased = false;
}

static void
find_pairs(const uint64 *a, size_t na, const uint64 *b, size_t nb)
{
	shpairs_find_pairs(&pairs, a, na, b, nb);
	shpairs_pass_hits(&hits);
}

static void
finish_search(void)
{
	if (pairs.capacity == 0)
		return;
	pfree(pairs.keys);
	pfree(pairs.positions);
	pfree(pairs.scratch_keys);
	pfree(pairs.scratch_positions);
}

static bool
is_pair(uint64 a, uint64 b)
{
	uint64		difference = a ^ b;

	for (int i = 0; i < pairs.nmasks; i++)
	{
		if ((difference & pairs.masks[i]) == 0)
			return false;
	}
	return shbits_distance(a, b) <= pairs.distance;
}

static void
add_masks(int nmasks)
{
	for (int i = 0; i < nmasks; i++)
		pairs.masks[pairs.nmasks++] = UINT64CONST(0xff) << (next_random() % 56);
}

/* among the keys of a, or between a and b unless that is NULL */
static bool
pairs_are_right(const uint64 *a, size_t na, const uint64 *b, size_t nb, int distance, int nmasks)
{
	size_t		expected = 0;
	bool		right;

	start(see_pairs, distance);
	add_masks(nmasks);
	if (b == NULL)
		find_pairs(a, na, a, na);
	else
		find_pairs(a, na, b, nb);
	right = pairs.nmasks == nmasks;
	for (size_t i = 0; i < na; i++)
	{
		for (size_t j = 0; j < (b == NULL ? i : nb); j++)
		{
			bool		near = is_pair(a[i], b == NULL ? a[j] : b[j]);
			bool		found = seen[i * MAX_KEYS + j];
			bool		reverse = b == NULL && seen[j * MAX_KEYS + i];

			/* in one order only */
			right &= !(found && reverse) && (found || reverse) == near;
			expected += near;
		}
	}
	finish_search();
	return right && !twice && !decreased && nfound == expected;
}

static void
test_shape(Shape shape)
{
	static const int distances[] = {0, 1, 3, 6, 10, 16, 20, 32, 64};
	static const int counts[] = {1, 2, 5, 63, 64, 65, 500, MAX_KEYS};
	bool		right_pairs = true;
	bool		right_matches = true;

	for (int d = 0; d < lengthof(distances); d++)
	{
		for (int n = 0; n < lengthof(counts); n++)
		{
			size_t		na = make_keys(shape, set_a, counts[n]);
			size_t		nb;

			right_pairs &= pairs_are_right(set_a, na, NULL, 0, distances[d], (n + d) % (MAX_MASKS + 1));

			/*
			 * the other set: large, as large, small, or none, some keys in
			 * both
			 */
			nb = counts[lengthof(counts) - 1 - (n * 5 + d) % lengthof(counts)];
			for (size_t j = 0; j < nb; j++)
				set_b[j] = next_random() % 4 == 0 ? set_a[next_random() % na] : make_key(shape);
			nb = make_unique(set_b, nb);
			right_matches &= pairs_are_right(set_a, na, set_b, nb, distances[d],
											 (n + d) % (MAX_MASKS + 1));
			right_matches &= pairs_are_right(set_a, na, set_b, 0, distances[d], 0);
			memcpy(set_b, set_a, na * sizeof(uint64));
			right_matches &= pairs_are_right(set_a, na, set_b, na, distances[d], 0);
		}
	}
	report(right_pairs, shape_names[shape], "pairs");
	report(right_matches, shape_names[shape], "pairs between two sets");
}

/*
 * One key and very many: nothing but a comparison of each.
 */
static void
test_one_and_many(void)
{
	uint64		one;
	size_t		expected = 0;
	bool		right = true;

	for (size_t i = 0; i < MANY_KEYS; i++)
		many[i] = next_random();
	qsort(many, MANY_KEYS, sizeof(uint64), compare_keys);
	one = flip_bits(many[MANY_KEYS / 3], 2);
	for (size_t i = 0; i < MANY_KEYS; i++)
		expected += shbits_distance(one, many[i]) <= 12;

	start(count_pairs, 12);
	find_pairs(&one, 1, many, MANY_KEYS);
	right &= nfound == expected && pairs.capacity == 0;
	start(count_pairs, 12);
	find_pairs(many, MANY_KEYS, &one, 1);
	right &= nfound == expected && pairs.capacity == 0;
	report(right, "one key and a million", "pairs between two sets, without memory");
}

/*
 * Have the pairs of large sets been found that comparing each with each finds?
 */
static bool
large_set_was_found(size_t na, size_t nb, bool among, int distance)
{
	static uint16 places[LARGE_SET];
	const uint64 *others = among ? many : more;
	size_t		expected = 0;
	uint64		expected_sum = 0;

	for (size_t i = 0; i < na; i++)
	{
		size_t		first = among ? i + 1 : 0;
		int			n = shbits_filter(others + first, nb - first, many[i], distance, places);

		expected += n;
		for (int k = 0; k < n; k++)
			expected_sum += pair_number(many[i], others[first + places[k]], among);
	}
	return nfound == expected && pair_sum == expected_sum;
}

/*
 * Are the pairs of large sets found?  Sets the fraction of all comparisons that were made.
 */
static bool
large_set_is_right(size_t na, size_t nb, bool among, int distance, double *fraction)
{
	double		all = (double) na * nb / (among ? 2 : 1);

	pair_sum = 0;
	start(sum_pairs, distance);
	hits.arg = among ? many : NULL;
	if (among)
		find_pairs(many, na, many, na);
	else
		find_pairs(many, na, more, nb);
	finish_search();
	*fraction = pairs.compared / all;
	return large_set_was_found(na, nb, among, distance) && pairs.compared <= 2 * all &&
		!decreased && pairs.nparts == 0;
}

static void
test_large(Shape shape, int distance_counted, double most_fraction)
{
	static const int distances[] = {1, 3, 6, 10};
	bool		right_pairs = true;
	bool		right_matches = true;
	double		fraction = 0;
	size_t		na = make_keys(shape, many, LARGE_SET);
	size_t		nb = make_keys(shape, more, LARGE_SET / 4);

	for (int i = 0; i < lengthof(distances); i++)
	{
		double		compared = 0;

		right_pairs &= large_set_is_right(na, na, true, distances[i], &compared);
		if (distances[i] <= distance_counted)
			fraction = Max(fraction, compared);
		right_matches &= large_set_is_right(na, nb, false, distances[i], &compared);
		right_matches &= large_set_is_right(nb, na, false, distances[i], &compared);
	}
	report(right_pairs, shape_names[shape], "pairs of a large set");
	report(right_matches, shape_names[shape], "pairs between large sets");
	report(fraction > 0 && fraction <= most_fraction, shape_names[shape], "few comparisons");
}

/*
 * Parts must leave no pair out: they are apart from each other, and their radii
 * and one for each add up to more than the distance.
 */
static void
test_plans(void)
{
	bool		right = true;
	int			nplans = 0;

	make_keys(SHAPE_RANDOM, many, LARGE_SET);
	for (int distance = 1; distance <= 64; distance++)
	{
		for (int nbits = 1; nbits <= 64; nbits += 9)
		{
			static ShPairsParts plan;
			ShPairsKeySets sets = {many, LARGE_SET, many, LARGE_SET, true};
			uint64		varying = 0;
			uint64		used = 0;
			int			sum = 0;

			while (pg_popcount64(varying) < nbits)
				varying |= UINT64CONST(1) << (next_random() & 63);
			shpairs_plan_parts(&plan, &sets, varying, distance);
			if (plan.nparts == 0)
				continue;
			for (int i = 0; i < plan.nparts; i++)
			{
				const ShPairsPart *part = &plan.parts[i];

				right &= (part->mask & used) == 0 && (part->mask & ~varying) == 0;
				right &= part->nbits == pg_popcount64(part->mask) && part->radius >= 0;
				right &= part->nbits <= SHPAIRS_MAX_PART_BITS;
				used |= part->mask;
				sum += part->radius + 1;
			}
			right &= sum > distance;
			nplans++;
		}
	}
	report(right && nplans > 50, "plans", "each pair is near in one of the parts");
}

static void
test_balls(void)
{
	bool		right = true;

	for (int nbits = 1; nbits <= 12; nbits++)
	{
		for (int radius = 0; radius <= nbits; radius++)
		{
			ShPairsBall ball;
			size_t		n = 0;

			shpairs_make_ball(&ball, nbits, radius);
			right &= ball.count == shbits_ball_size(nbits, radius);
			for (uint32 number = 0; number < (uint32) 1 << nbits; number++)
			{
				if (pg_popcount32(number) > radius)
					continue;
				right &= n < ball.count && ball.numbers[n] == number;
				n++;
			}
			for (int i = 0; i <= nbits; i++)
			{
				size_t		below = ball.by_top[i];

				right &= below == ball.count || ball.numbers[below] >= (uint32) 1 << i;
				right &= ball.numbers[below - 1] < (uint32) 1 << i;
			}
			pfree(ball.numbers);
		}
	}
	report(right, "balls", "all numbers with few bits, in order");
}

/* two processes that share a search: the second one begins as the first looks for interrupts */
static ShPairsDeal deal;
static ShPairs second;
static ShPairsHits second_hits;
static bool second_began;
static bool begins_last;		/* when only all pairs are left to compare */
static int	checks_until;
static const uint64 *shared_a;
static size_t shared_na;
static size_t shared_nb;
static bool shared_among;

static void
share(ShPairs *process)
{
	process->deal = &deal;
	shpairs_find_pairs(process, shared_a, shared_na, shared_among ? shared_a : set_b,
					   shared_among ? shared_na : shared_nb);
	shpairs_pass_hits(process->hits);
}

static void
begin_second(void)
{
	if (second_began || (begins_last && !deal.exceeded) || checks_until-- > 0)
		return;
	second_began = true;
	share(&second);
}

static void
see_shared(void *arg, const ShPairsHit *passed, size_t count)
{
	for (size_t k = 0; k < count; k++)
	{
		if (shared_among && passed[k].i < passed[k].j)
			see_pair(passed[k].j, passed[k].i);
		else
			see_pair(passed[k].i, passed[k].j);
	}
}

static void
search_by_two(ShPairsHitsFunction pass, int distance, bool last, int most_checks)
{
	start(pass, distance);
	shpairs_init_deal(&deal);
	second_began = false;
	begins_last = last;
	checks_until = next_random() % most_checks;
	second_hits.pass = pass;
	second_hits.arg = hits.arg;
	shpairs_init(&second, distance, &second_hits, NULL);
	server_at_check = begin_second;
	InterruptPending = true;
	share(&pairs);
	InterruptPending = false;
	server_at_check = NULL;
	finish_search();
	if (!second_began)
		share(&second);
	pairs = second;
	finish_search();
}

static bool
shared_is_right(bool among, int distance)
{
	size_t		expected = 0;
	bool		right = true;

	shared_a = set_a;
	shared_among = among;
	search_by_two(see_shared, distance, false, next_random() % 2 == 0 ? 40 : 10000);
	for (size_t i = 0; i < shared_na; i++)
	{
		for (size_t j = 0; j < (among ? i : shared_nb); j++)
		{
			bool		near = is_pair(set_a[i], among ? set_a[j] : set_b[j]);

			right &= near == (seen[i * MAX_KEYS + j] != 0);
			expected += near;
		}
	}
	return right && !twice && nfound == expected;
}

/*
 * Two processes that share a search have each pair once, whenever the second one begins.
 */
static void
test_shared(Shape shape)
{
	static const int distances[] = {0, 1, 3, 6, 10, 20, 64};
	bool		right_pairs = true;
	bool		right_matches = true;

	for (int i = 0; i < 2 * lengthof(distances); i++)
	{
		int			distance = distances[i % lengthof(distances)];

		shared_na = make_keys(shape, set_a, MAX_KEYS);
		shared_nb = make_keys(shape, set_b, i % 2 == 0 ? 300 : 1300);
		right_pairs &= distance == 0 || shared_is_right(true, distance);
		right_matches &= shared_is_right(false, distance);
	}
	report(right_pairs, shape_names[shape], "pairs of two processes");
	report(right_matches, shape_names[shape], "pairs between two sets of two processes");
}

#define DECEIVING_SET		6000
#define DECEIVING_DISTANCE	5

/*
 * Keys of which those that a plan samples are random, and all others differ only in their
 * first bits: by most parts, all pairs of these have to be compared.  So all pairs are, in
 * the end, which may be after some part has been searched, but not the one before it.
 */
static void
test_deceiving(void)
{
	pg_prng_state state;
	bool		right;
	double		fraction;
	int			nexceeded = 0;
	int			nout_of_order = 0;

	memset(many, 0, sizeof(many));
	pg_prng_seed(&state, 0);
	for (int k = 0; k < 2 * (2 * DECEIVING_SET / 16); k++)
		many[pg_prng_uint64_range(&state, 0, DECEIVING_SET - 1)] = next_random() >> 13;
	for (size_t i = 0; i < DECEIVING_SET; i++)
	{
		size_t		j = i ^ (size_t) 3 << (i % 3);

		/* some random ones are pairs that belong to none of the first parts */
		if (many[i] != 0 && j < i && many[j] != 0)
			many[i] = many[j] ^ UINT64CONST(3) << (37 + i % 8);
	}
	for (size_t i = 0; i < DECEIVING_SET; i++)
		many[i] |= (uint64) i << 51;
	right = large_set_is_right(DECEIVING_SET, DECEIVING_SET, true, DECEIVING_DISTANCE, &fraction);
	shared_a = many;
	shared_na = DECEIVING_SET;
	shared_among = true;
	for (int n = 0; n < 20; n++)
	{
		pair_sum = 0;
		search_by_two(sum_pairs, DECEIVING_DISTANCE, n % 4 == 3, n % 4 == 3 ? 40 : 4000);
		right &= large_set_was_found(DECEIVING_SET, DECEIVING_SET, true, DECEIVING_DISTANCE);
		nexceeded += deal.exceeded;
		nout_of_order += deal.exceeded && (deal.searched & (deal.searched + 1)) != 0;
	}
	report(right && fraction > 1, "keys that deceive the plan", "pairs of one process and of two");
	report(nexceeded > 0 && nout_of_order > 0, "keys that deceive the plan", "all pairs are compared");
}

/*
 * Wide fingerprints of which the given number differ, by the last of their words, and
 * nothing else: they become keys in order, each with its rows.  Whoever looks for an
 * interrupt while they are sorted does so again before long.
 */
static void
test_collector(int nvalues, const char *what)
{
	ShPairsCollector collector;
	const ShPairsBucket *bucket = &collector.bucket;
	ShPairsSink sink = {0};
	bool		right = true;

	shpairs_collector_init(&collector, 4, false, &sink, WIDE_ROWS);
	for (uint64 row = 0; row < WIDE_ROWS; row++)
	{
		uint64		value[4] = {7, 7, 7, (row * 7919) % nvalues};

		right &= shpairs_collect(&collector, value, &row, 1) == 1;
	}
	server_checks = 0;
	InterruptPending = true;
	shpairs_collector_finish(&collector);
	InterruptPending = false;
	right &= bucket->nkeys == nvalues && bucket->nrows == WIDE_ROWS;
	for (size_t i = 0; right && i < bucket->nkeys; i++)
	{
		right &= shpairs_value(bucket, i)[0] == 7 && shpairs_value(bucket, i)[3] == i;
		for (size_t row = bucket->starts[i]; row < shpairs_rows_end(bucket, i); row++)
			right &= (bucket->rows[row] * 7919) % nvalues == i;
	}
	report(right, what, "keys and their rows");
	report(server_checks >= WIDE_ROWS, what, "interrupts in the sort");
	pfree(bucket->values);
	pfree(bucket->starts);
	pfree(bucket->rows);
}

/*
 * Few keys and many others: a row of tiles, and what is done with each key before, are
 * left now and then for interrupts.
 */
static void
test_interrupts(void)
{
	const size_t count = 4 * MANY_KEYS;
	ShPermuted *keys = malloc(count * sizeof(ShPermuted));
	ShPermuted	few[64];

	for (size_t i = 0; i < count; i++)
		keys[i] = i;
	for (size_t i = 0; i < lengthof(few); i++)
		few[i] = next_random();
	start(count_pairs, 2);
	InterruptPending = true;
	server_checks = 0;
	/* each with each, without a pair */
	find_pairs(few, make_unique(few, lengthof(few)), keys, count);
	report(server_checks >= 20 && nfound == 0, "few keys and many", "interrupts in a row of tiles");
	server_checks = 0;
	for (size_t i = 0; i < count; i++)
		keys[i] = (uint64) i << 32;
	for (size_t i = 0; i < lengthof(few); i++)
		few[i] = PG_UINT64_MAX - (lengthof(few) - i);
	/* all differ in the lower half, so nothing is left to do */
	find_pairs(keys, count, few, lengthof(few));
	report(server_checks >= 6, "many keys",
		   "interrupts while they are copied and their bits are collected");
	InterruptPending = false;
	finish_search();
	free(keys);
}

/* numbers are sorted, and interrupts are checked for */
static void
test_numbers(void)
{
	bool		right = true;

	for (size_t i = 0; i < MANY_KEYS; i++)
		many[i] = more[i] = next_random() % 1000;
	server_checks = 0;
	InterruptPending = true;
	shidx_sort_numbers(many, MANY_KEYS);
	InterruptPending = false;
	qsort(more, MANY_KEYS, sizeof(uint64), compare_keys);
	right &= memcmp(many, more, sizeof(many)) == 0;
	report(right, "numbers", "sorted");
	report(server_checks >= MANY_KEYS, "numbers", "interrupts in the sort");
}

int
main(void)
{
	test_collector(WIDE_ROWS, "rows that begin with the same word");
	test_collector(3, "few fingerprints");
	test_interrupts();
	test_numbers();
	test_balls();
	test_plans();
	for (int shape = 0; shape < SHAPES; shape++)
	{
		test_shape(shape);
		test_shared(shape);
	}
	test_large(SHAPE_RANDOM, 10, 0.2);
	test_large(SHAPE_CLUSTERED, 3, 0.3);
	test_large(SHAPE_SKEWED, 6, 0.15);
	test_large(SHAPE_FEW_BITS, 1, 0.3);
	test_deceiving();
	test_one_and_many();
	return finish();
}
