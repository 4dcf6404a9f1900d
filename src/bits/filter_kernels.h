/*-------------------------------------------------------------------------
 *
 * filter_kernels.h
 *	  The kernels behind shbits_filter and similar functions.
 *
 * Each does what the function in distance.h does, but the CPU must have the
 * instructions it is named after.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_FILTER_KERNELS_H
#define SIMHASH_BITS_FILTER_KERNELS_H

/* function attributes and CPU detection as GCC and Clang have them */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SHBITS_X86_KERNELS
#endif

#ifdef SHBITS_X86_KERNELS
extern int	shbits_filter_popcnt(const uint64 *keys, int nkeys, uint64 query,
								 int radius, uint16 *found);
extern int	shbits_filter_avx2(const uint64 *keys, int nkeys, uint64 query,
							   int radius, uint16 *found);
extern int	shbits_filter_avx512(const uint64 *keys, int nkeys, uint64 query,
								 int radius, uint16 *found);
extern int	shbits_stored_popcnt(const char *keys, int width, int nkeys, uint64 query,
								 int radius, uint16 *found);
extern int	shbits_stored_avx2(const char *keys, int width, int nkeys, uint64 query,
							   int radius, uint16 *found);
extern int	shbits_stored_avx512(const char *keys, int width, int nkeys, uint64 query,
								 int radius, uint16 *found);
extern uint64 shbits_product_popcnt(const uint64 *a, int na, const uint64 *b, int nb,
									int radius, uint64 *others);
extern uint64 shbits_product_avx2(const uint64 *a, int na, const uint64 *b, int nb,
								  int radius, uint64 *others);
extern uint64 shbits_product_avx512(const uint64 *a, int na, const uint64 *b, int nb,
									int radius, uint64 *others);
extern uint64 shbits_pairs_popcnt(const uint64 *keys, int nkeys, int radius, uint64 *others);
extern uint64 shbits_pairs_avx512(const uint64 *keys, int nkeys, int radius, uint64 *others);
extern int	shbits_bytes_popcnt(const uint8 *a, const uint8 *b, int nbytes);
extern int	shbits_bytes_avx2(const uint8 *a, const uint8 *b, int nbytes);
extern int	shbits_bytes_avx512(const uint8 *a, const uint8 *b, int nbytes);
#endif

/* Fewer than 8 bytes, the others being 0; nothing else is read. */
static inline uint64
shbits_load_some(const uint8 *from, int nbytes)
{
	uint64		value = 0;

	memcpy(&value, from, nbytes);
	return value;
}

#endif							/* SIMHASH_BITS_FILTER_KERNELS_H */
