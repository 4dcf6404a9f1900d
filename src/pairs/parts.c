/*-------------------------------------------------------------------------
 *
 * parts.c
 *	  Choosing parts of keys, such that the keys of a pair nearly agree in one
 *	  of them.
 *
 * Wide parts separate keys well, but have many values around each.  The best
 * number of parts depends on the keys.  Real ones are neither uniformly
 * distributed nor independent in their bits, so it is estimated from a sample
 * of pairs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/probe.h"
#include "pairs/parts.h"

/*
 * Further costs, in units of a comparison by the kernels: checking whether a
 * cell is empty, taking another cell for comparison, and processing a near pair
 * each time it is met.
 */
#define COST_OF_LOOKUP		16
#define COST_OF_CELLS		250
#define COST_OF_PAIR		200

/* the most values around one that are visited */
#define MAX_BALL			32768

/* the average number of keys of a cell, as a power of two */
#define CELL_BITS			3

/* a sample has one pair for this many keys, up to a maximum */
#define KEYS_PER_SAMPLE		16
#define MAX_SAMPLE			65536

/*
 * Prepare to compute the values of a part.
 */
void
shpairs_prepare_values(ShPairsPartBits *bits, uint64 mask)
{
	int			nbits = 0;

	memset(bits, 0, sizeof(ShPairsPartBits));
	for (int i = 0; i < SHBITS_WIDTH; i++)
	{
		if (((mask >> i) & 1) == 0)
			continue;
		for (int byte = 0; byte < 256; byte++)
			bits->of_byte[i / 8][byte] |= (uint32) ((byte >> (i % 8)) & 1) << nbits;
		nbits++;
	}
}

/*
 * Make the list of the numbers of nbits bits that have at most radius bits set,
 * in the current memory context.
 */
void
shpairs_make_ball(ShPairsBall *ball, int nbits, int radius)
{
	Size		size = (Size) shbits_ball_size(nbits, radius) * sizeof(uint32);

	ball->numbers = MemoryContextAllocHuge(CurrentMemoryContext, size);
	ball->numbers[0] = 0;
	ball->count = 1;
	for (int top = 0; top < nbits; top++)
	{
		size_t		count = ball->count;

		ball->by_top[top] = count;
		for (size_t i = 0; i < count && radius > 0; i++)
		{
			if (pg_popcount32(ball->numbers[i]) < radius)
				ball->numbers[ball->count++] = ball->numbers[i] | (uint32) 1 << top;
		}
	}
	ball->by_top[nbits] = ball->count;
}

/*
 * The number of comparisons for comparing all pairs.
 */
double
shpairs_comparisons(const ShPairsKeySets *sets)
{
	return (double) sets->na * sets->nb / (sets->among ? 2 : 1);
}

/*
 * Cut the highest nbits bits off varying.
 */
static uint64
cut_part(uint64 *varying, int nbits)
{
	uint64		part = 0;

	for (int i = 0; i < nbits; i++)
		part |= UINT64CONST(1) << pg_leftmost_one_pos64(*varying & ~part);
	*varying &= ~part;
	return part;
}

/*
 * Cut bits into nparts parts, without radii.
 */
static void
cut_parts(ShPairsParts *plan, int nparts, uint64 varying, int max_part_bits)
{
	int			nbits = Min(pg_popcount64(varying), nparts * max_part_bits);

	plan->nparts = nparts;
	for (int i = 0; i < nparts; i++)
	{
		ShPairsPart *part = &plan->parts[i];

		part->nbits = (i + 1) * nbits / nparts - i * nbits / nparts;
		part->mask = cut_part(&varying, part->nbits);
	}
}

/*
 * The cost of searching by a part, if the comparisons that it leaves are the
 * given fraction of all.
 */
static double
part_cost(const ShPairsKeySets *sets, int nbits, int radius, double fraction)
{
	double		values = ldexp(1, nbits);
	double		ball = shbits_ball_size(nbits, radius);
	double		filled_b = 1 - exp(-(double) sets->nb / values);
	double		lookups;

	if (ball > MAX_BALL)
		return INFINITY;
	lookups = values * (1 - exp(-(double) sets->na / values)) * ball;
	if (sets->among)
		lookups /= 2;
	return (double) (sets->among ? sets->na : sets->na + sets->nb) * SHPAIRS_COST_OF_KEY +
		lookups * (COST_OF_LOOKUP + filled_b * COST_OF_CELLS) +
		shpairs_comparisons(sets) * Max(ball / values, fraction);
}

/*
 * Assign radii to the parts of a plan, one unit at a time where it costs
 * least.  A part without a radius is dropped.  fractions[i][r], if given, is
 * the cost of comparing the pairs that differ in at most r bits of part i, as
 * a fraction of the cost of comparing all.
 */
static void
give_radii(ShPairsParts *plan, const ShPairsKeySets *sets, int distance,
		   double (*fractions)[SHBITS_WIDTH + 1])
{
	double		next[SHBITS_WIDTH];
	int			nparts = plan->nparts;

	for (int i = 0; i < nparts; i++)
	{
		plan->parts[i].radius = -1;
		plan->parts[i].cost = 0;
		next[i] = part_cost(sets, plan->parts[i].nbits, 0, fractions ? fractions[i][0] : 0);
	}
	for (int given = 0; given <= distance; given++)
	{
		int			least = 0;
		ShPairsPart *part;

		for (int i = 1; i < nparts; i++)
		{
			if (next[i] - plan->parts[i].cost < next[least] - plan->parts[least].cost)
				least = i;
		}
		part = &plan->parts[least];
		part->radius++;
		part->cost = next[least];
		next[least] = part->radius >= part->nbits ? INFINITY :
			part_cost(sets, part->nbits, part->radius + 1,
					  fractions ? fractions[least][part->radius + 1] : 0);
	}

	plan->nparts = 0;
	plan->cost = 0;
	for (int i = 0; i < nparts; i++)
	{
		plan->cost += plan->parts[i].cost;
		if (plan->parts[i].radius >= 0)
			plan->parts[plan->nparts++] = plan->parts[i];
	}
}

/*
 * Sample some pairs, and store for each the bits of varying in which its keys
 * differ.  Returns the number of pairs.
 */
static int
make_sample(const ShPairsKeySets *sets, uint64 varying, ShPermuted **sample)
{
	int			count = Min((sets->na + sets->nb) / KEYS_PER_SAMPLE, MAX_SAMPLE);
	pg_prng_state state;

	/* the same sample in each run */
	pg_prng_seed(&state, 0);
	*sample = palloc(Max(count, 1) * sizeof(ShPermuted));
	for (int k = 0; k < count; k++)
	{
		size_t		i = pg_prng_uint64_range(&state, 0, sets->na - 1);
		size_t		j = pg_prng_uint64_range(&state, 0, sets->nb - 1);

		if (sets->among && i == j)
			j = (j + 1) % sets->nb;
		(*sample)[k] = (sets->a[i] ^ sets->b[j]) & varying;
	}
	return count;
}

/*
 * The cost of comparing the pairs of a sample that differ in at most r bits of
 * a mask, as a fraction of the cost of comparing all.
 */
static void
count_fractions(uint64 mask, const ShPermuted *sample, int count, int distance, double *fractions)
{
	double		counts[SHBITS_WIDTH + 1] = {0};
	double		sum = 0;

	for (int k = 0; k < count; k++)
		counts[pg_popcount64(sample[k] & mask)] +=
			pg_popcount64(sample[k]) <= distance ? 1 + COST_OF_PAIR : 1;
	for (int r = 0; r <= SHBITS_WIDTH; r++)
	{
		sum += counts[r];
		fractions[r] = count > 0 ? sum / count : 0;
	}
}

/* the most bits of a part that are worth dividing keys by */
static int
max_part_bits(const ShPairsKeySets *sets)
{
	int			bits = (int) (log2((double) sets->na * sets->nb) / 2) - CELL_BITS;

	return Min(Max(bits, 1), SHPAIRS_MAX_PART_BITS);
}

/*
 * The cost of finding the pairs of so many keys of nbits bits, in comparisons, if
 * they are uniformly distributed.  The keys themselves are not needed.
 */
double
shpairs_even_cost(const ShPairsKeySets *sets, int nbits, int distance)
{
	uint64		varying = nbits < SHBITS_WIDTH ? (UINT64CONST(1) << nbits) - 1 : PG_UINT64_MAX;
	int			max_bits = max_part_bits(sets);
	double		least = shpairs_comparisons(sets);

	for (int nparts = 1; nparts <= Min(nbits, distance + 1); nparts++)
	{
		ShPairsParts parts;

		cut_parts(&parts, nparts, varying, max_bits);
		give_radii(&parts, sets, distance, NULL);
		least = Min(least, parts.cost);
	}
	return least;
}

/*
 * Choose parts of the bits in varying, in which the keys differ.  There must
 * be some.  The plan has no parts if none are known to cost less than
 * comparing all pairs.
 */
void
shpairs_plan_parts(ShPairsParts *plan, const ShPairsKeySets *sets,
				   uint64 varying, int distance)
{
	double		fractions[SHBITS_WIDTH][SHBITS_WIDTH + 1];
	double		even[SHBITS_WIDTH + 1];
	int			nvarying = pg_popcount64(varying);
	int			max_parts = Min(nvarying, distance + 1);
	int			max_bits = max_part_bits(sets);
	ShPermuted *sample = NULL;
	int			nsample = 0;

	plan->nparts = 0;
	plan->cost = shpairs_comparisons(sets);

	/* the cost for uniformly distributed keys is a lower bound */
	for (int nparts = 1; nparts <= max_parts; nparts++)
	{
		ShPairsParts parts;

		cut_parts(&parts, nparts, varying, max_bits);
		give_radii(&parts, sets, distance, NULL);
		even[nparts] = parts.cost;
	}
	for (;;)
	{
		ShPairsParts parts;
		int			least = 1;

		CHECK_FOR_INTERRUPTS();
		for (int nparts = 2; nparts <= max_parts; nparts++)
		{
			if (even[nparts] < even[least])
				least = nparts;
		}
		if (even[least] >= plan->cost)
			break;
		even[least] = INFINITY;

		if (sample == NULL)
		{
			nsample = make_sample(sets, varying, &sample);
			count_fractions(0, sample, nsample, distance, fractions[0]);
			plan->cost *= Max(fractions[0][0], 1);
		}
		cut_parts(&parts, least, varying, max_bits);
		for (int i = 0; i < least; i++)
			count_fractions(parts.parts[i].mask, sample, nsample, distance, fractions[i]);
		give_radii(&parts, sets, distance, fractions);
		if (parts.cost < plan->cost)
			*plan = parts;
	}
	if (sample != NULL)
		pfree(sample);
}
