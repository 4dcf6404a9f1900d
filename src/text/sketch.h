/*-------------------------------------------------------------------------
 *
 * sketch.h
 *	  As many minima over a set of features as a fingerprint has bits, and a bit
 *	  of each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_SKETCH_H
#define SIMHASH_TEXT_SKETCH_H

#include "bits/scheme.h"
#include "text/text_kernels.h"

/* of 64 bits of the fingerprint */
typedef struct ShTextSketchPart
{
	uint64		empty;			/* bins into which no feature has fallen */
	uint32		values[SHTEXT_BINS];	/* the least that has, of the others */
	uint16		visits[SHTEXT_BINS];	/* the first, of the empty ones */
} ShTextSketchPart;

/* It stays where it is. */
typedef struct ShTextSketch
{
	int			width;			/* bits of the fingerprint */
	int			nparts;
	ShTextSketchPart *parts;	/* palloc'd, or the only one: */
	ShTextSketchPart only;
} ShTextSketch;

/* Start with the empty set, for fingerprints of width bits. */
extern void shtext_sketch_init(ShTextSketch *sketch, int width);
extern void shtext_sketch_free(ShTextSketch *sketch);

/* A consumer of hashes: adds features to a sketch; some may be there already. */
extern void shtext_sketch_add(void *sketch, const uint64 *hashes, int nhashes);

/* Add at most SHTEXT_VISITORS features, with these numbers, to a part. */
extern void shtext_sketch_add_to_part(ShTextSketchPart *part, const uint64 *numbers, int n);

/* Add the set of another sketch for fingerprints of the same width. */
extern void shtext_sketch_merge(ShTextSketch *sketch, const ShTextSketch *other);

/*
 * Get the fingerprint, in parts of 64 bits, of the last of which it may have the first
 * bits only.  Bit i of a part is the last bit of minimum i.  Returns false if the set is
 * empty.
 */
extern bool shtext_sketch_result(const ShTextSketch *sketch, ShFingerprint *parts);

#endif							/* SIMHASH_TEXT_SKETCH_H */
