/*-------------------------------------------------------------------------
 *
 * numbers.h
 *	  The random numbers of a feature, from which sketches are made.
 *
 * All of them follow from the hash of the feature.  What they are for is said
 * in sketch.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_NUMBERS_H
#define SIMHASH_TEXT_NUMBERS_H

#include "postgres.h"

#define SHTEXT_BINS		64

/*
 * The first number that the generator SplitMix64 gives when its seed is x.
 * Different seeds give different numbers, which look random even if the seeds
 * are 1, 2, 3.
 */
static inline uint64
shtext_mix(uint64 x)
{
	x += UINT64CONST(0x9E3779B97F4A7C15);
	x = (x ^ x >> 30) * UINT64CONST(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64CONST(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/*
 * Where a feature falls, and the other bits of its number.
 */
static inline int
shtext_bin(uint64 number)
{
	return number % SHTEXT_BINS;
}

static inline uint64
shtext_value(uint64 number)
{
	return number / SHTEXT_BINS;
}

/*
 * When a feature comes to a bin on its way through all of them: start + bin *
 * step modulo 2^16, an even number.  Its first six bits are different for all
 * bins, since the first six of the step are an odd number and the rest 0.
 */
static inline uint16
shtext_start(uint64 number)
{
	return number >> 16 & 0xFFFE;
}

static inline uint16
shtext_step(uint64 number)
{
	return (number >> 32 & 0xF800) | 0x0400;
}

/*
 * What it would bring to each bin, as 64 bits.
 */
static inline uint64
shtext_coins(uint64 number)
{
	return shtext_mix(number);
}

#endif							/* SIMHASH_TEXT_NUMBERS_H */
