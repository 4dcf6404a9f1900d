/*-------------------------------------------------------------------------
 *
 * wide_sketch.c
 *	  Any number of minima over a set of features: several sketches.
 *
 * A sketch with more bins would have more of them empty, and the bits of a
 * larger fingerprint would not begin with those of a smaller one.  Sketches of
 * 64 bins that are independent of each other have neither flaw.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "text/text_kernels.h"
#include "text/wide_sketch.h"

ShTextWideSketch *
shtext_wide_sketch_make(int nbytes)
{
	int			nparts = shtext_wide_sketch_parts(nbytes);
	ShTextWideSketch *sketch = palloc(offsetof(ShTextWideSketch, parts) +
									  nparts * sizeof(ShTextSketch));

	sketch->nparts = nparts;
	for (int p = 0; p < nparts; p++)
		shtext_sketch_init(&sketch->parts[p]);
	return sketch;
}

/*
 * Add at most SHTEXT_VISITORS features.
 */
static void
add_some(ShTextWideSketch *sketch, const uint64 *hashes, int nhashes)
{
	uint64		numbers[SHTEXT_VISITORS];
	uint64		others[SHTEXT_VISITORS];

	shtext_sketch_add(&sketch->parts[0], hashes, nhashes);
	if (sketch->nparts == 1)
		return;

	shtext_kernels->mix_seeds(hashes, nhashes, numbers);
	for (int p = 1; p < sketch->nparts; p++)
	{
		for (int i = 0; i < nhashes; i++)
			others[i] = shtext_hash_in_part(numbers[i], p);
		shtext_sketch_add(&sketch->parts[p], others, nhashes);
	}
}

void
shtext_wide_sketch_add(ShTextWideSketch *sketch, const uint64 *hashes, int nhashes)
{
	for (int done = 0; done < nhashes; done += SHTEXT_VISITORS)
		add_some(sketch, hashes + done, Min(nhashes - done, SHTEXT_VISITORS));
}

void
shtext_wide_sketch_merge(ShTextWideSketch *sketch, const ShTextWideSketch *other)
{
	for (int p = 0; p < sketch->nparts; p++)
		shtext_sketch_merge(&sketch->parts[p], &other->parts[p]);
}

bool
shtext_wide_sketch_result(const ShTextWideSketch *sketch, uint8 *result, int nbytes)
{
	bool		found = false;

	for (int p = 0; p < sketch->nparts; p++)
	{
		int			done = p * sizeof(ShFingerprint);
		ShFingerprint part;

		found = shtext_sketch_result(&sketch->parts[p], &part);
		part = pg_hton64(part);
		memcpy(result + done, &part, Min(nbytes - done, (int) sizeof(part)));
	}
	return found;
}
