/*-------------------------------------------------------------------------
 *
 * numbers.h
 *	  The pseudorandom numbers of a feature, from which sketches are made.
 *
 * All of them follow from its hash.  sketch.c says what they are for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_NUMBERS_H
#define SIMHASH_TEXT_NUMBERS_H

#define SHTEXT_BINS			64

/* the first bits of a time are a position, and those of a step an odd number */
#define SHTEXT_POSITION_BITS	6
#define SHTEXT_POSITION_SHIFT	(16 - SHTEXT_POSITION_BITS)

/*
 * The first number that the generator SplitMix64 gives for a seed.  Different
 * seeds have different numbers, which look random even if the seeds are 1, 2
 * and 3.
 */
static inline uint64
shtext_mix(uint64 seed)
{
	uint64		x = seed + UINT64CONST(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64CONST(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64CONST(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/*
 * The number of a feature, from which all of the following are derived.
 */
static inline uint64
shtext_number(uint64 hash)
{
	return shtext_mix(hash);
}

/*
 * The bin into which it falls, and its value there.
 */
static inline int
shtext_bin(uint64 number)
{
	return number % SHTEXT_BINS;
}

static inline uint32
shtext_value(uint64 number)
{
	return number >> 32;
}

/*
 * It visits bin b at the time (start + b * step) mod 2^16, which is even.  As
 * the step begins with an odd number of six bits, and has only 0 after it, the
 * first six bits of the times are different for all bins; the rest is the same.
 */
static inline uint16
shtext_start(uint64 number)
{
	return number >> 16 & 0xFFFE;
}

static inline uint16
shtext_step(uint64 number)
{
	return (number << 5 & 0xF800) | 1 << SHTEXT_POSITION_SHIFT;
}

/*
 * A fingerprint of more than 64 bits has several sketches, which must not
 * depend on each other.  In sketch p > 0, a feature has this hash in place of
 * its own.
 */
static inline uint64
shtext_hash_in_part(uint64 number, int p)
{
	return number ^ shtext_mix(p);
}

#endif							/* SIMHASH_TEXT_NUMBERS_H */
