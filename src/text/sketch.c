/*-------------------------------------------------------------------------
 *
 * sketch.c
 *	  64 minima over a set of features, and a bit of each.
 *
 * A feature falls into one of 64 bins, with a value.  The least value in a bin
 * is its minimum.  A bin into which no feature falls has another minimum: each
 * feature also visits all bins one after the other, in an order of its own, and
 * the time of the first visit counts.
 *
 * Bins, values and times are random, so the feature whose minimum a bin has is
 * as good as drawn by lot from the set.  Two sets have the same minimum if what
 * is drawn from their union is in both of them, and so with a probability that
 * is their Jaccard coefficient.  Where they have not, the bits of the minima,
 * which are their last ones, are the same with probability 1/2.
 *
 * What a feature does depends on its hash only.  So the minima of a union are
 * the lesser of those of its parts, and neither order nor repetition matters.
 *
 * If a set has a few hundred features, or more, some fall into each bin.  Visits
 * are there for smaller ones.  They make bits as good as those of 64 independent
 * permutations, and a bit better: as each feature comes early to some bins, what
 * is drawn for the bins is spread more evenly over the features.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/sketch.h"
#include "text/text_kernels.h"

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
 * Add features; some may be in the set already.
 */
void
shtext_sketch_add(ShTextSketch *sketch, const uint64 *hashes, int nhashes)
{
	for (int done = 0; done < nhashes; done += SHTEXT_VISITORS)
		add_some(sketch, hashes + done, Min(nhashes - done, SHTEXT_VISITORS));
}

/*
 * Add the set of another sketch.
 */
void
shtext_sketch_merge(ShTextSketch *sketch, const ShTextSketch *other)
{
	sketch->empty &= other->empty;
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
	{
		sketch->values[bin] = Min(sketch->values[bin], other->values[bin]);
		sketch->visits[bin] = Min(sketch->visits[bin], other->visits[bin]);
	}
}

/*
 * The fingerprint: bit i is the last one of minimum i.  Returns false if the
 * set is empty, and so has none.
 */
bool
shtext_sketch_result(const ShTextSketch *sketch, uint64 *result)
{
	*result = shtext_kernels->last_bits(sketch->values, sketch->visits,
										sketch->empty);
	return sketch->empty != PG_UINT64_MAX;
}

/*
 * Add at most SHTEXT_VISITORS features.
 */
static void
add_some(ShTextSketch *sketch, const uint64 *hashes, int nhashes)
{
	uint64		numbers[SHTEXT_VISITORS];
	uint64		empty = sketch->empty;

	shtext_kernels->mix_seeds(hashes, nhashes, numbers);
	for (int i = 0; i < nhashes; i++)
	{
		int			bin = shtext_bin(numbers[i]);
		uint32		value = shtext_value(numbers[i]);

		/* no branch: it would be hard to predict */
		sketch->values[bin] = Min(sketch->values[bin], value);
		empty &= ~(UINT64CONST(1) << bin);
	}
	sketch->empty = empty;

	/* a bin that is empty now was so before, and has all visits until now */
	if (empty != 0)
	{
		uint64		brought[SHTEXT_VISITORS];

		shtext_kernels->mix_seeds(numbers, nhashes, brought);
		shtext_kernels->visit_bins(sketch->visits, empty, numbers, brought,
								   nhashes);
	}
}
