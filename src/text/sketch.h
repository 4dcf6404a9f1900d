/*-------------------------------------------------------------------------
 *
 * sketch.h
 *	  Minima over a set of features, from which fingerprints and bands are made.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_SKETCH_H
#define SIMHASH_TEXT_SKETCH_H

#include "bits/scheme.h"
#include "text/text_kernels.h"

/* the most minima of a band, and the most bands */
#define SHTEXT_MAX_MINIMA	8
#define SHTEXT_MAX_BANDS	64

/* 64 minima */
typedef struct ShTextSketchPart
{
	uint64		empty;			/* bins into which no feature has fallen */
	uint32		values[SHTEXT_BINS];	/* the least that has, of the others */
	uint16		visits[SHTEXT_BINS];	/* the first, of the empty ones */
} ShTextSketchPart;

/* It stays where it is. */
typedef struct ShTextSketch
{
	int			width;			/* bits of the result */
	int			minima;			/* of a band, each of which has 64 bits; 0 if
								 * the result is a fingerprint */
	int			nparts;
	ShTextSketchPart *parts;	/* palloc'd, or the only one: */
	ShTextSketchPart only;
} ShTextSketch;

/*
 * The number of parts for a result of so many bits, which is a fingerprint if minima is 0,
 * and otherwise a word for each band of so many minima.
 */
extern int	shtext_sketch_nparts(int width, int minima);

/*
 * Raise ERRCODE_INVALID_PARAMETER_VALUE unless there can be so many minima in a band, and
 * so many bands.
 */
extern void shtext_check_bands(int32 minima, int32 bands);

/* Start with the empty set.  The arguments are those of shtext_sketch_nparts. */
extern void shtext_sketch_init(ShTextSketch *sketch, int width, int minima);
extern void shtext_sketch_free(ShTextSketch *sketch);

/* A consumer of hashes: adds features to a sketch; some may be there already. */
extern void shtext_sketch_add(void *sketch, const uint64 *hashes, int nhashes);

/* Add at most SHTEXT_VISITORS features, with these numbers, to a part. */
extern void shtext_sketch_add_to_part(ShTextSketchPart *part, const uint64 *numbers, int n);

/* Add the set of another sketch, of the same width and minima. */
extern void shtext_sketch_merge(ShTextSketch *sketch, const ShTextSketch *other);

/*
 * Get the fingerprint, in words of 64 bits, of the last of which it may have the first
 * bits only; or the words of the bands.  Bit i of a fingerprint's word is the last bit of
 * minimum i of the part.  Returns false if the set is empty.
 */
extern bool shtext_sketch_result(const ShTextSketch *sketch, uint64 *words);

#endif							/* SIMHASH_TEXT_SKETCH_H */
