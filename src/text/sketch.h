/*-------------------------------------------------------------------------
 *
 * sketch.h
 *	  64 minima over a set of hashes, and a bit of each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_SKETCH_H
#define SIMHASH_TEXT_SKETCH_H

#include "postgres.h"

#include "text/numbers.h"

/*
 * For each bin, the least value that has fallen into it or, if none has,
 * SHTEXT_VISITS and the time when the first feature comes to it.
 */
typedef struct ShTextSketch
{
	uint64		minima[SHTEXT_BINS];	/* PG_UINT64_MAX if the set is empty */
} ShTextSketch;

/* above all values */
#define SHTEXT_VISITS	(UINT64CONST(1) << 58)

extern void shtext_sketch_init(ShTextSketch *sketch);
extern void shtext_sketch_add(ShTextSketch *sketch, const uint64 *hashes,
							  int nhashes);
extern void shtext_sketch_merge(ShTextSketch *sketch,
								const ShTextSketch *other);
extern bool shtext_sketch_is_possible(const ShTextSketch *sketch);
extern bool shtext_sketch_result(const ShTextSketch *sketch, uint64 *result);

#endif							/* SIMHASH_TEXT_SKETCH_H */
