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
 * Bins, values and times are pseudorandom, so the feature that makes the
 * minimum of a bin is effectively a random feature of the set.  Two sets have
 * the same minimum if the random feature of their union is in both of them.
 * The probability of that is their Jaccard coefficient.  If they do not have
 * the same minimum, the last bits of the minima are equal with probability
 * 1/2.
 *
 * The numbers of a feature depend on its hash only.  So the minima of a union
 * are the lesser of those of its parts, and neither order nor repetition
 * matters.
 *
 * If a set has a few hundred features, or more, some fall into each bin.
 * Visits are for smaller sets.  Their bits are as good as those of 64
 * independent permutations, and slightly better: each feature comes early to
 * some bins, so the bins are divided more evenly among the features.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/sketch.h"
#include "text/text_kernels.h"

/*
 * Start with the empty set.
 */
void
shtext_sketch_init(ShTextSketch *sketch)
{
	memset(sketch, 0xFF, sizeof(*sketch));
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

	/* a bin that is empty now has always been empty, and has had all visits */
	if (empty != 0)
	{
		uint64		brought[SHTEXT_VISITORS];

		shtext_kernels->mix_seeds(numbers, nhashes, brought);
		shtext_kernels->visit_bins(sketch->visits, empty, numbers, brought,
								   nhashes);
	}
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
 * Get the fingerprint: bit i is the last bit of minimum i.  Returns false if
 * the set is empty.
 */
bool
shtext_sketch_result(const ShTextSketch *sketch, ShFingerprint *result)
{
	*result = shtext_kernels->last_bits(sketch->values, sketch->visits,
										sketch->empty);
	return sketch->empty != PG_UINT64_MAX;
}
