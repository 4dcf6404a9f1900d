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
 * Find the keys[0 .. nkeys - 1] within radius bits of query.
 *
 * Writes their positions, ascending, to found[], which must have room for
 * nkeys, and returns how many there are.  nkeys is at most 65536; keys need no
 * more than the alignment of a uint64.  A negative radius finds nothing; one
 * of 64 or more finds all.
 *
 * The first call chooses the fastest kernel that the CPU can run.
 */
extern int	(*shbits_filter) (const uint64 *keys, int nkeys, uint64 query,
							  int radius, uint16 *found);

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

/* how many bytes behind the last stored key may be read */
#define SHBITS_READ_BEHIND		8

/*
 * shbits_filter for keys that are stored in 5 to 8 bytes, one after the other.
 * Compares these bytes only, so the radius is what the others leave of it.
 */
extern int	(*shbits_filter_stored) (const char *keys, int width, int nkeys, uint64 query,
									 int radius, uint16 *found);

/* most keys that the following compare with each other */
#define SHBITS_MAX_TILE	64

/*
 * Find the pairs of a[0 .. na - 1] with b[0 .. nb - 1] that are within radius
 * bits of each other, na and nb being at most SHBITS_MAX_TILE.
 *
 * Returns a bit for each i such that a[i] is in any pair; for these, bit j of
 * others[i] stands for the pair with b[j].  others[] must have room for na;
 * its elements for other keys are undefined.
 */
extern uint64 (*shbits_filter_product) (const uint64 *a, int na, const uint64 *b, int nb,
										int radius, uint64 *others);

/*
 * The same among keys[0 .. nkeys - 1]: bit j of others[i], for i < j, stands
 * for the pair of keys i and j.
 */
extern uint64 (*shbits_filter_pairs) (const uint64 *keys, int nkeys, int radius,
									  uint64 *others);

/*
 * Number of bits in which the bytes of a and b differ.
 *
 * They need no alignment.  Nothing is read but nbytes of each.
 */
extern int	(*shbits_distance_bytes) (const uint8 *a, const uint8 *b, int nbytes);

/*
 * A kernel by name, for tests: "portable", "popcnt", "avx2", "avx512".
 * NULL if it is not built in or the CPU cannot run it.
 */
typedef int (*shbits_filter_function) (const uint64 *keys, int nkeys, uint64 query,
									   int radius, uint16 *found);
extern shbits_filter_function shbits_filter_kernel(const char *name);

/*
 * the same for the other functions, which do not all have kernels of all these
 * names
 */
typedef int (*shbits_stored_function) (const char *keys, int width, int nkeys, uint64 query,
									   int radius, uint16 *found);
extern shbits_stored_function shbits_stored_kernel(const char *name);
typedef uint64 (*shbits_product_function) (const uint64 *a, int na, const uint64 *b, int nb,
										   int radius, uint64 *others);
extern shbits_product_function shbits_product_kernel(const char *name);
typedef uint64 (*shbits_pairs_function) (const uint64 *keys, int nkeys, int radius,
										 uint64 *others);
extern shbits_pairs_function shbits_pairs_kernel(const char *name);
typedef int (*shbits_bytes_function) (const uint8 *a, const uint8 *b, int nbytes);
extern shbits_bytes_function shbits_bytes_kernel(const char *name);

#endif							/* SIMHASH_BITS_DISTANCE_H */
