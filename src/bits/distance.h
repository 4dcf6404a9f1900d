/*-------------------------------------------------------------------------
 *
 * distance.h
 *	  Hamming distance between fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_DISTANCE_H
#define SIMHASH_BITS_DISTANCE_H

#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

#include "bits/filter_kernels.h"

/* number of bits of a fingerprint, and so the largest distance */
#define SHBITS_WIDTH	64

/* a fingerprint, as the user sees it */
typedef uint64 ShFingerprint;

/*
 * A fingerprint whose bits are in the order of some table (scheme.h).  What
 * compares either, since the order of the bits does not matter, takes a uint64;
 * so are masks, hashes and differences.
 */
typedef uint64 ShPermuted;

/* The first nbits of a fingerprint, 0..64. */
static inline uint64
shbits_prefix_mask(int nbits)
{
	return nbits == 0 ? 0 : PG_UINT64_MAX << (SHBITS_WIDTH - nbits);
}

/*
 * Number of bits in which a and b differ, 0..64.
 *
 * pg_popcount64 is the server's own run-time choice.  For more than a few
 * keys use shbits_filter, which need not make a call for each.
 */
static inline int
shbits_distance(uint64 a, uint64 b)
{
	return pg_popcount64(a ^ b);
}

/*
 * A band of a document, a few of the minima of text/sketch.h, is a word that is sorted by
 * a hash of these minima, its prefix.  The word begins with bits that are 0, and ends
 * with bits of other minima.
 */
#define SHBITS_BAND_PREFIX_BITS	24
#define SHBITS_BAND_OTHER_BITS	32
#define SHBITS_BAND_BITS		(SHBITS_BAND_PREFIX_BITS + SHBITS_BAND_OTHER_BITS)

/*
 * Are the prefixes of two words equal, while at most radius other bits differ?
 */
static inline bool
shbits_same_band(uint64 a, uint64 b, int radius)
{
	return (a ^ b) >> SHBITS_BAND_OTHER_BITS == 0 && shbits_distance(a, b) <= radius;
}

/*
 * Integers can be stored in fewer than 8 bytes, the least significant one
 * first: of keys the leading bytes can be left out where they are the same in
 * all of them.
 */

/* the bytes that are stored */
static inline uint64
shbits_bytes_mask(int width)
{
	return PG_UINT64_MAX >> (SHBITS_WIDTH - width * BITS_PER_BYTE);
}

/*
 * What is stored in width bytes.  Reads 8 bytes, whatever the width.
 */
static inline uint64
shbits_load_bytes(const char *from, int width)
{
	uint64		value;

	memcpy(&value, from, sizeof(value));
#ifdef WORDS_BIGENDIAN
	value = pg_bswap64(value);
#endif
	return value & shbits_bytes_mask(width);
}

/* Store the low bytes of an integer. */
static inline void
shbits_store_bytes(char *to, uint64 value, int width)
{
#ifdef WORDS_BIGENDIAN
	value = pg_bswap64(value);
#endif
	memcpy(to, &value, width);
}

/*
 * The best kernels that this machine can run, chosen when the library is
 * loaded.  Tests may set this to others.
 */
extern const ShBitsKernels *shbits_kernels;
extern void shbits_choose_kernels(void);

/*
 * The kernels with a name, "portable", "neon", "popcnt", "avx2" or "avx512";
 * NULL if this machine cannot run them.
 */
extern const ShBitsKernels *shbits_kernels_named(const char *name);

/*
 * The same as the function stored, for whole keys.
 */
static inline int
shbits_filter(const uint64 *keys, int nkeys, uint64 query, int radius, uint16 *found)
{
#ifdef WORDS_BIGENDIAN
	/* in which order their bytes are compared makes no difference */
	query = pg_bswap64(query);
#endif
	return shbits_kernels->stored((const char *) keys, sizeof(uint64), nkeys, query, radius, found);
}

#endif							/* SIMHASH_BITS_DISTANCE_H */
