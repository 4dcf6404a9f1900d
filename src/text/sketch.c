/*-------------------------------------------------------------------------
 *
 * sketch.c
 *	  Minima over a set of features, from which fingerprints and bands are made.
 *
 * A fingerprint has the last bit of each of as many minima.
 *
 * Of each 64 minima: a feature falls into one of 64 bins, with a value.  The least
 * value in a bin is its minimum.  A bin into which no feature falls has another
 * minimum: each feature also visits all bins one after the other, in an order of
 * its own, and the time of the first visit counts.
 *
 * Two sets have the same minimum if the random feature of their union that makes it
 * is in both, which has the probability of their Jaccard coefficient J; otherwise the
 * last bits of the minima are equal by chance.  So the mean distance is 32 (1 - J).
 *
 * One permutation hashing obtains the minima of a large set with one random number
 * for each feature, but leaves bins of a small set empty.  Known remedies copy from
 * other bins, or hash all features repeatedly until no bin is empty (fast similarity
 * sketching).  Visits fill each bin by itself, without rounds and without conditions
 * on other bins:
 *
 * - Bin b of a set is the minimum, over its features, of a number that depends on the
 *	 feature and b: (0, value) if the feature falls into b, otherwise (1, time and
 *	 bit).  The minima of a union are therefore the minima of those of its subsets.
 *	 Visits are skipped when all bins have a feature: no bin ever becomes empty again,
 *	 and a bin that is empty in the end has had all visits.
 *
 * - Which feature of the union has the minimum depends on numbers that are identically
 *	 distributed for all features.  The exception is different features with equal
 *	 times, of some n / 2^16 for n features, where bins are empty.
 *
 * - A time begins with six bits that are a permutation of the bins.  Each feature is
 *	 thus early in some bins and late in others, and the bins are divided more evenly
 *	 than at random.  For similar sets of up to 100 features, the variance of the
 *	 distance is 0.78 to 0.9 of that of independent bits, as with fast similarity
 *	 sketching; test/unit/sketch.c prints it.  The remaining bits of a time decide
 *	 between features that come at the same position.
 *
 * - The bit must reveal nothing about the time, and vice versa.  It is therefore taken
 *	 from a second number and is the last bit of the minimum, where it decides only
 *	 between equal times.  The fingerprint of a single feature is its second number,
 *	 except for one bit.
 *
 * A fingerprint of more bits has a part of the sketch for each 64.  In the other parts,
 * features have hashes that are made from their number and that of the part, so that
 * the parts do not depend on each other.  More bins in one part would be less work for
 * a large text, but its first 64 bits would not be those of simhash_minhash, and more
 * of its bins would be empty.
 *
 * A band is a few minima as a whole: all m of them are equal with the probability J^m.
 * Minimum i of a document is that of bin i mod 64 in part i div 64, and band t has the
 * minima mt to mt + m - 1.  Its word has 8 bits that are 0; the first 24 bits of the hash
 * (type/hash.h) of these minima, of which each has 4 bytes, the least significant one
 * first; and the last bits of the 32 minima that follow, the first of them in the least
 * significant bit.  So a word does not depend on the number of bands, and its prefix says
 * nothing about its other bits, of which (1 - J) / 2 differ, whether the prefixes are
 * equal or not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/sketch.h"
#include "type/hash.h"

/* of a minimum in the hash of a band, whether it is a value or a visit */
#define MINIMUM_BYTES		4

int
shtext_sketch_nparts(int width, int minima)
{
	return shbits_nparts(minima == 0 ? width :
						 width / SHBITS_WIDTH * minima + SHBITS_BAND_OTHER_BITS);
}

void
shtext_check_bands(int32 minima, int32 bands)
{
	if (minima < 1 || minima > SHTEXT_MAX_MINIMA)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of minima %d is out of range", minima),
				 errdetail("A band has 1 to %d minima.", SHTEXT_MAX_MINIMA)));
	if (bands < 1 || bands > SHTEXT_MAX_BANDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of bands %d is out of range", bands),
				 errdetail("The number of bands must be between 1 and %d.", SHTEXT_MAX_BANDS)));
}

void
shtext_sketch_init(ShTextSketch *sketch, int width, int minima)
{
	sketch->width = width;
	sketch->minima = minima;
	sketch->nparts = shtext_sketch_nparts(width, minima);
	sketch->parts = sketch->nparts == 1 ? &sketch->only :
		palloc(sketch->nparts * sizeof(ShTextSketchPart));
	memset(sketch->parts, 0xFF, sketch->nparts * sizeof(ShTextSketchPart));
}

void
shtext_sketch_free(ShTextSketch *sketch)
{
	if (sketch->parts != &sketch->only)
		pfree(sketch->parts);
}

void
shtext_sketch_add_to_part(ShTextSketchPart *part, const uint64 *numbers, int n)
{
	uint64		empty = part->empty;

	for (int i = 0; i < n; i++)
	{
		int			bin = shtext_bin(numbers[i]);
		uint32		value = shtext_value(numbers[i]);

		/* no branch: it would be hard to predict */
		part->values[bin] = Min(part->values[bin], value);
		empty &= ~(UINT64CONST(1) << bin);
	}
	part->empty = empty;

	/* a bin that is empty now has always been empty, and has had all visits */
	if (empty != 0)
	{
		uint64		brought[SHTEXT_VISITORS];

		shtext_kernels->mix_seeds(numbers, n, brought);
		shtext_kernels->visit_bins(part->visits, empty, numbers, brought, n);
	}
}

void
shtext_sketch_add(void *sketch, const uint64 *hashes, int nhashes)
{
	ShTextSketch *to = sketch;
	uint64		numbers[SHTEXT_VISITORS];
	uint64		others[SHTEXT_VISITORS];

	for (int done = 0; done < nhashes; done += SHTEXT_VISITORS)
	{
		int			n = Min(nhashes - done, SHTEXT_VISITORS);

		shtext_kernels->mix_seeds(hashes + done, n, numbers);
		shtext_sketch_add_to_part(&to->parts[0], numbers, n);
		for (int p = 1; p < to->nparts; p++)
		{
			for (int i = 0; i < n; i++)
				others[i] = shtext_hash_in_part(numbers[i], p);
			shtext_kernels->mix_seeds(others, n, others);
			shtext_sketch_add_to_part(&to->parts[p], others, n);
		}
	}
}

void
shtext_sketch_merge(ShTextSketch *sketch, const ShTextSketch *other)
{
	for (int p = 0; p < sketch->nparts; p++)
	{
		ShTextSketchPart *part = &sketch->parts[p];
		const ShTextSketchPart *more = &other->parts[p];

		part->empty &= more->empty;
		for (int bin = 0; bin < SHTEXT_BINS; bin++)
		{
			part->values[bin] = Min(part->values[bin], more->values[bin]);
			part->visits[bin] = Min(part->visits[bin], more->visits[bin]);
		}
	}
}

/* not inlined, or the compiler warns of lengths that there are not */
static pg_noinline uint64
hash_minima(const char *bytes, int minima)
{
	return shtype_hash(bytes, minima * MINIMUM_BYTES);
}

/*
 * The word of a band.  bits are the last bits of the minima of all parts, and another
 * word, on which nothing depends.
 */
static uint64
word_of_band(const ShTextSketch *sketch, const uint64 *bits, int band)
{
	int			next = band * sketch->minima;	/* minimum */
	char		bytes[SHTEXT_MAX_MINIMA * MINIMUM_BYTES];
	uint64		hash;
	uint128		others;

	for (int i = 0; i < sketch->minima; i++, next++)
	{
		const ShTextSketchPart *part = &sketch->parts[next / SHTEXT_BINS];
		int			bin = next % SHTEXT_BINS;

		shbits_store_bytes(bytes + i * MINIMUM_BYTES, part->empty >> bin & 1 ?
						   part->visits[bin] : part->values[bin], MINIMUM_BYTES);
	}
	hash = hash_minima(bytes, sketch->minima);
	others = (uint128) bits[next / SHTEXT_BINS + 1] << SHTEXT_BINS | bits[next / SHTEXT_BINS];
	return hash >> (SHBITS_WIDTH - SHBITS_BAND_PREFIX_BITS) << SHBITS_BAND_OTHER_BITS |
		(uint32) (others >> next % SHTEXT_BINS);
}

bool
shtext_sketch_result(const ShTextSketch *sketch, uint64 *words)
{
	uint64		bits[SHBITS_MAX_PARTS + 1];
	int			nwords = shbits_nparts(sketch->width);

	for (int p = 0; p < sketch->nparts; p++)
		bits[p] = shtext_kernels->last_bits(sketch->parts[p].values, sketch->parts[p].visits,
											sketch->parts[p].empty);
	bits[sketch->nparts] = 0;
	for (int i = 0; i < nwords; i++)
		words[i] = sketch->minima > 0 ? word_of_band(sketch, bits, i) : bits[i];
	return sketch->parts[0].empty != PG_UINT64_MAX;
}
