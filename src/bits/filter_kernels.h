/*-------------------------------------------------------------------------
 *
 * filter_kernels.h
 *	  The loops over many keys, for each kind of CPU.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_FILTER_KERNELS_H
#define SIMHASH_BITS_FILTER_KERNELS_H

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

#endif							/* SIMHASH_BITS_FILTER_KERNELS_H */
