/*-------------------------------------------------------------------------
 *
 * wide_sketch.h
 *	  Any number of minima over a set of features: several sketches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_WIDE_SKETCH_H
#define SIMHASH_TEXT_WIDE_SKETCH_H

#include "text/sketch.h"

typedef struct ShTextWideSketch
{
	int			nparts;
	ShTextSketch parts[FLEXIBLE_ARRAY_MEMBER];	/* 64 bits each */
} ShTextWideSketch;

/* so many sketches have that many bits, or some more */
static inline int
shtext_wide_sketch_parts(int nbytes)
{
	return (nbytes + sizeof(ShFingerprint) - 1) / sizeof(ShFingerprint);
}

/*
 * A sketch of the empty set for a fingerprint of nbytes bytes, palloc'd.
 */
extern ShTextWideSketch *shtext_wide_sketch_make(int nbytes);

/* Add features; some may be in the set already. */
extern void shtext_wide_sketch_add(ShTextWideSketch *sketch, const uint64 *hashes, int nhashes);

/* Add the set of another sketch for fingerprints of the same width. */
extern void shtext_wide_sketch_merge(ShTextWideSketch *sketch, const ShTextWideSketch *other);

/*
 * Get the fingerprint: the parts one after the other, each with its most
 * significant byte first, as far as nbytes reach.  Returns false if the set is
 * empty.
 */
extern bool shtext_wide_sketch_result(const ShTextWideSketch *sketch, uint8 *result, int nbytes);

#endif							/* SIMHASH_TEXT_WIDE_SKETCH_H */
