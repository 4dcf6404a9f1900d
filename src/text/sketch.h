/*-------------------------------------------------------------------------
 *
 * sketch.h
 *	  64 minima over a set of features, and a bit of each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_SKETCH_H
#define SIMHASH_TEXT_SKETCH_H

#include "bits/distance.h"
#include "text/numbers.h"

typedef struct ShTextSketch
{
	uint64		empty;			/* bins into which no feature has fallen */
	uint32		values[SHTEXT_BINS];	/* the least that has, of the others */
	uint16		visits[SHTEXT_BINS];	/* the first, of the empty ones */
} ShTextSketch;

extern void shtext_sketch_init(ShTextSketch *sketch);
extern void shtext_sketch_add(ShTextSketch *sketch, const uint64 *hashes,
							  int nhashes);
extern void shtext_sketch_merge(ShTextSketch *sketch,
								const ShTextSketch *other);
extern bool shtext_sketch_result(const ShTextSketch *sketch, ShFingerprint *result);

#endif							/* SIMHASH_TEXT_SKETCH_H */
