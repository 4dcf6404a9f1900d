/*-------------------------------------------------------------------------
 *
 * distance.h
 *	  Hamming distance between 64-bit fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_DISTANCE_H
#define SIMHASH_BITS_DISTANCE_H

#include "postgres.h"

#include "port/pg_bitutils.h"

/* number of bits of a fingerprint, and so the largest distance */
#define SHBITS_WIDTH	64

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
 * A kernel by name, for tests: "portable", "popcnt", "avx2", "avx512".
 * NULL if it is not built in or the CPU cannot run it.
 */
typedef int (*shbits_filter_function) (const uint64 *keys, int nkeys, uint64 query,
									   int radius, uint16 *found);
extern shbits_filter_function shbits_filter_kernel(const char *name);

/*
 * the same for the other two functions, which do not have kernels of all these
 * names
 */
typedef uint64 (*shbits_product_function) (const uint64 *a, int na, const uint64 *b, int nb,
										   int radius, uint64 *others);
extern shbits_product_function shbits_product_kernel(const char *name);
typedef uint64 (*shbits_pairs_function) (const uint64 *keys, int nkeys, int radius,
										 uint64 *others);
extern shbits_pairs_function shbits_pairs_kernel(const char *name);

#endif							/* SIMHASH_BITS_DISTANCE_H */
