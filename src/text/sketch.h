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

#define SHTEXT_BINS		64

/*
 * The sketch of the union of two sets has in each bin the lesser of what
 * theirs have.
 */
typedef struct ShTextSketch
{
	uint64		minima[SHTEXT_BINS];	/* PG_UINT64_MAX if there is no hash */
} ShTextSketch;

extern void shtext_sketch_init(ShTextSketch *sketch);
extern void shtext_sketch_add(ShTextSketch *sketch, const uint64 *hashes,
							  int nhashes);
extern void shtext_sketch_merge(ShTextSketch *sketch,
								const ShTextSketch *other);
extern bool shtext_sketch_is_possible(const ShTextSketch *sketch);
extern bool shtext_sketch_result(const ShTextSketch *sketch, uint64 *result);

#endif							/* SIMHASH_TEXT_SKETCH_H */
