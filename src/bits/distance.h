/*-------------------------------------------------------------------------
 *
 * distance.h
 *	  Hamming distance between fingerprints, and the loops over many keys, for each
 *	  kind of CPU.
 *
 * The kernels are defined in distance.c, filter_kernels_x86.c and filter_kernels_neon.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_DISTANCE_H
#define SIMHASH_BITS_DISTANCE_H

#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

/* function attributes and CPU detection as GCC and Clang have them */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SHBITS_X86_KERNELS
#endif

/* every CPU of 64-bit ARM has NEON */
#if defined(__aarch64__) && !defined(WORDS_BIGENDIAN)
#define SHBITS_NEON_KERNELS
#endif

/* how many bytes behind the last stored key may be read */
#define SHBITS_READ_BEHIND		8

/* most keys that product and pairs compare with each other */
#define SHBITS_MAX_TILE	64

/* What every kind of CPU has, in the way that is fastest there. */
typedef struct ShBitsKernels
{
	const char *name;

	/*
	 * Find the keys[0 .. nkeys - 1] within radius bits of query, of keys that
	 * are stored in width bytes, 5 to 8, one after the other.  Compares these
	 * bytes only, so the radius is what the others leave of it.  May read
	 * SHBITS_READ_BEHIND bytes behind keys of fewer than 8 bytes.
	 *
	 * Writes their positions, ascending, to found[], which must have room for
	 * nkeys, and returns how many there are.  nkeys is at most 65536; keys
	 * need no alignment.  A negative radius finds nothing; one of 64 or more
	 * finds all.
	 */
	int			(*stored) (const char *keys, int width, int nkeys, uint64 query,
						   int radius, uint16 *found);

	/*
	 * Find the pairs of a[0 .. na - 1] with b[0 .. nb - 1] that are within
	 * radius bits of each other, na and nb being at most SHBITS_MAX_TILE.
	 *
	 * Returns a bit for each i such that a[i] is in any pair; for these, bit
	 * j of others[i] stands for the pair with b[j].  others[] must have room
	 * for na; its elements for other keys are undefined.
	 */
	uint64		(*product) (const uint64 *a, int na, const uint64 *b, int nb,
							int radius, uint64 *others);

	/*
	 * The same among keys[0 .. nkeys - 1]: bit j of others[i], for i < j,
	 * stands for the pair of keys i and j.
	 */
	uint64		(*pairs) (const uint64 *keys, int nkeys, int radius, uint64 *others);

	/*
	 * Number of bits in which the bytes of a and b differ.  They need no
	 * alignment.  Nothing is read but nbytes of each.
	 */
	int			(*bytes) (const uint8 *a, const uint8 *b, int nbytes);
} ShBitsKernels;

#ifdef SHBITS_X86_KERNELS
extern const ShBitsKernels shbits_kernels_popcnt;
extern const ShBitsKernels shbits_kernels_avx2;
extern const ShBitsKernels shbits_kernels_avx512;
#endif
#ifdef SHBITS_NEON_KERNELS
extern const ShBitsKernels shbits_kernels_neon;
#endif

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
 * The same of one of so many words.
 */
static inline bool
shbits_share_band(const uint64 *a, const uint64 *b, int nbands, int radius)
{
	for (int i = 0; i < nbands; i++)
	{
		if (shbits_same_band(a[i], b[i], radius))
			return true;
	}
	return false;
}

/* the similarity of =~=, and where nothing says another one; and that of =%= */
#define SHBITS_SIMILAR_SHARE	0.8
#define SHBITS_TITLES_SHARE		0.7

/* what is compared by bands */
typedef enum ShBitsDocuments
{
	SHBITS_TEXTS,
	SHBITS_BYTEA,
	SHBITS_TITLES
} ShBitsDocuments;

/*
 * The share that is meant.  One that came from a real is the decimal that was written, of
 * at most four digits: 0.8::real is .8, and not .800000012, which a share of .8 would miss.
 * With more digits, it could be that of a quotient that is exact as a real.
 */
extern double shbits_similar_share(double share);

/*
 * Documents that share so much of their features share one of their first bands within a
 * radius, with a probability of some .99.  Returns how many bands these are, or 0 if the
 * similarity is below .5, or .7 of titles, or above 1.  Neither they nor the radius fall as
 * the similarity falls.
 */
extern int	shbits_similar_bands(double similarity, ShBitsDocuments documents, int *radius);

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
