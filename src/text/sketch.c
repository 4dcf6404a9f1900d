/*-------------------------------------------------------------------------
 *
 * sketch.c
 *	  64 minima over a set of hashes, and a bit of each.
 *
 * This is fast similarity sketching (Dahlgaard, Knudsen and Thorup, 2017).
 * Each hash is thrown into the 64 bins again and again, each time with another
 * random value, and a bin keeps the least value of the earliest round that
 * came to it.  In the first rounds chance tells the bin; after them, each
 * round is for one bin, so that in the end none is empty.
 *
 * So the minimum of a bin depends on the set only, and which of its elements
 * it comes from is as good as chosen by lot.  Two sets have the same minimum
 * if the one drawn for their union is in both of them: with the probability
 * that is their Jaccard coefficient.
 *
 * Rounds that can change nothing are left out.  Of many hashes, the first
 * round fills all bins, and there is one throw for each of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/sketch.h"

/* rounds in which chance tells the bin; one for each bin follows */
#define SCATTERED_ROUNDS	16

/* a minimum: the round, and the value in the lower 56 bits */
#define VALUE_BITS			56
#define ROUND_START(round)	((uint64) (round) << VALUE_BITS)

/* hashes that go through the rounds together */
#define HASHES_AT_ONCE		256

static void add_few(ShTextSketch *sketch, const uint64 *hashes, int nhashes);

/*
 * A permutation of the 64-bit numbers that makes any of them look random: the
 * finalizer of SplitMix64.
 */
static inline uint64
mix(uint64 x)
{
	x = (x ^ x >> 30) * UINT64CONST(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64CONST(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* what SplitMix64 adds from one number to the next */
#define STEP				UINT64CONST(0x9E3779B97F4A7C15)

/*
 * The random number of a hash in a round, whose random number in round 0 is
 * given.
 */
static inline uint64
number_in_round(uint64 first, int round)
{
	return mix(first + round * STEP);
}

static inline uint64
minimum_of(uint64 number, int round)
{
	return ROUND_START(round) | number >> (64 - VALUE_BITS);
}

/*
 * Returns the bin's bit.
 */
static inline uint64
throw(uint64 *minima, uint64 number, int round)
{
	int			bin = number % SHTEXT_BINS;
	uint64		value = minimum_of(number, round);

	/* no branch: it would be hard to predict */
	minima[bin] = Min(minima[bin], value);
	return UINT64CONST(1) << bin;
}

/*
 * Start with the empty set.
 */
void
shtext_sketch_init(ShTextSketch *sketch)
{
	memset(sketch, 0xFF, sizeof(*sketch));
}

/*
 * Add hashes; some may be in the set already.
 */
void
shtext_sketch_add(ShTextSketch *sketch, const uint64 *hashes, int nhashes)
{
	for (int done = 0; done < nhashes; done += HASHES_AT_ONCE)
		add_few(sketch, hashes + done, Min(nhashes - done, HASHES_AT_ONCE));
}

/*
 * Add the set of another sketch.
 */
void
shtext_sketch_merge(ShTextSketch *sketch, const ShTextSketch *other)
{
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		sketch->minima[bin] = Min(sketch->minima[bin], other->minima[bin]);
}

/*
 * Could these be the minima of a set?  Of one that has an element.
 */
bool
shtext_sketch_is_possible(const ShTextSketch *sketch)
{
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
	{
		int			round = sketch->minima[bin] >> VALUE_BITS;

		if (round >= SCATTERED_ROUNDS && round != SCATTERED_ROUNDS + bin)
			return false;
	}
	return true;
}

/*
 * The fingerprint: bit i is the last one of minimum i.  Returns false if the
 * set is empty, and has none.
 */
bool
shtext_sketch_result(const ShTextSketch *sketch, uint64 *result)
{
	*result = 0;
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		*result |= (sketch->minima[bin] & 1) << bin;
	return sketch->minima[0] != PG_UINT64_MAX;
}

/*
 * Add at most HASHES_AT_ONCE hashes.
 */
static void
add_few(ShTextSketch *sketch, const uint64 *hashes, int nhashes)
{
	uint64	   *minima = sketch->minima;
	uint64		numbers[HASHES_AT_ONCE];
	uint64		open = 0;		/* bins that a later round may change */

	for (int i = 0; i < nhashes; i++)
	{
		numbers[i] = mix(hashes[i] + STEP);
		throw(minima, numbers[i], 0);
	}
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		open |= (uint64) (minima[bin] >= ROUND_START(1)) << bin;

	for (int round = 1; open != 0 && round < SCATTERED_ROUNDS; round++)
	{
		for (int i = 0; i < nhashes; i++)
			open &= ~throw(minima, number_in_round(numbers[i], round), round);
	}
	for (int bin = 0; open >> bin != 0 && bin < SHTEXT_BINS; bin++)
	{
		int			round = SCATTERED_ROUNDS + bin;
		uint64		least = minima[bin];

		if (least < ROUND_START(round))
			continue;
		for (int i = 0; i < nhashes; i++)
		{
			uint64		value = minimum_of(number_in_round(numbers[i], round),
										   round);

			least = Min(least, value);
		}
		minima[bin] = least;
	}
}
