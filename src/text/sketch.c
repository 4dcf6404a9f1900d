/*-------------------------------------------------------------------------
 *
 * sketch.c
 *	  64 minima over a set of hashes, and a bit of each.
 *
 * A feature falls into one of 64 bins, with a value.  The least value in a bin
 * is its minimum.  A bin into which none falls gets its minimum in another way:
 * each feature also goes through all bins, in an order and from a time of its
 * own, and the time when the first one comes to the bin is the minimum.
 *
 * Bins, values and times are random, so the feature whose minimum a bin has is
 * as good as drawn by lot, each with the same chance.  Two sets have the same
 * minimum if what is drawn from their union is in both of them: with a
 * probability that is their Jaccard coefficient.  If not, their bits, which are
 * the last ones of the minima, are equal with probability 1/2.
 *
 * That the minima are over the set, and each feature contributes the same
 * whatever others there are, is why neither order nor repetition matters, and
 * why the minima of a union are those of its parts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/sketch.h"
#include "text/text_kernels.h"

/* hashes that are added together */
#define HASHES_AT_ONCE		1024

static void add_some(ShTextSketch *sketch, const uint64 *hashes, int nhashes);

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
		add_some(sketch, hashes + done, Min(nhashes - done, HASHES_AT_ONCE));
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
 * Could these be the minima of a set that is not empty?
 */
bool
shtext_sketch_is_possible(const ShTextSketch *sketch)
{
	bool		any = false;

	for (int bin = 0; bin < SHTEXT_BINS; bin++)
	{
		if (sketch->minima[bin] < SHTEXT_VISITS)
			any = true;
		else if (sketch->minima[bin] - SHTEXT_VISITS > PG_UINT16_MAX)
			return false;
	}
	return any;
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
add_some(ShTextSketch *sketch, const uint64 *hashes, int nhashes)
{
	uint64	   *minima = sketch->minima;
	uint64		numbers[HASHES_AT_ONCE];
	uint64		empty = 0;		/* bins into which nothing has fallen */

	for (int i = 0; i < nhashes; i++)
	{
		uint64	   *minimum;
		uint64		value;

		numbers[i] = shtext_mix(hashes[i]);
		minimum = &minima[shtext_bin(numbers[i])];
		value = shtext_value(numbers[i]);

		/* no branch: it would be hard to predict */
		*minimum = Min(*minimum, value);
	}

	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		empty |= (uint64) (minima[bin] >= SHTEXT_VISITS) << bin;
	if (empty != 0)
	{
		uint16		first[SHTEXT_BINS];

		shtext_kernels->first_visits(first, empty, numbers, nhashes);
		for (int bin = 0; bin < SHTEXT_BINS; bin++)
			minima[bin] = Min(minima[bin], SHTEXT_VISITS + first[bin]);
	}
}
