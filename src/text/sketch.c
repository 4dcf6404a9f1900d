/*-------------------------------------------------------------------------
 *
 * sketch.c
 *	  As many minima over a set of features as a fingerprint has bits, and a bit
 *	  of each.
 *
 * Of each 64 bits: a feature falls into one of 64 bins, with a value.  The least
 * value in a bin is its minimum.  A bin into which no feature falls has another
 * minimum: each feature also visits all bins one after the other, in an order of
 * its own, and the time of the first visit counts.  src/README.md, section 9,
 * says why.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/sketch.h"

void
shtext_sketch_init(ShTextSketch *sketch, int width)
{
	sketch->width = width;
	sketch->nparts = shbits_nparts(width);
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

bool
shtext_sketch_result(const ShTextSketch *sketch, ShFingerprint *parts)
{
	int			rest = sketch->width % SHBITS_WIDTH;

	for (int p = 0; p < sketch->nparts; p++)
		parts[p] = shtext_kernels->last_bits(sketch->parts[p].values, sketch->parts[p].visits,
											 sketch->parts[p].empty);
	if (rest > 0)
		parts[sketch->nparts - 1] >>= SHBITS_WIDTH - rest;
	return sketch->parts[0].empty != PG_UINT64_MAX;
}
