/*-------------------------------------------------------------------------
 *
 * filter_kernels_x86.c
 *	  Kernels of shbits_filter and similar functions for x86-64.
 *
 * Matches are rare, so the loops ask only whether a group of keys has a match
 * at all: the least distance of the group is compared with the radius once.
 * Only if there is one, a second loop over the group finds the positions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "bits/distance.h"

#ifdef SHBITS_X86_KERNELS

#include <immintrin.h>

#define SHBITS_TARGET(isa) __attribute__((target(isa)))

#define SCALAR(name)	name ## _popcnt
#define SCALAR_TARGET	SHBITS_TARGET("popcnt")
#define SCALAR_COUNT(x) ((int) _mm_popcnt_u64(x))
#include "bits/scalar_kernels.h"

const ShBitsKernels shbits_kernels_popcnt = {
	"popcnt", stored_popcnt, product_popcnt, pairs_popcnt, bytes_popcnt
};

/*
 * Distances of four keys from the query, one in each 64-bit lane.  The bits of
 * each half byte are looked up in a table, and the bytes of a lane summed.
 */
SHBITS_TARGET("avx2")
static inline __m256i
distances_avx2(__m256i keys, __m256i query)
{
	const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3,
										   1, 2, 2, 3, 2, 3, 3, 4,
										   0, 1, 1, 2, 1, 2, 2, 3,
										   1, 2, 2, 3, 2, 3, 3, 4);
	const __m256i low = _mm256_set1_epi8(0x0f);
	__m256i		x;
	__m256i		sum;

	x = _mm256_xor_si256(keys, query);
	sum = _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
						  _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi64(x, 4), low)));
	return _mm256_sad_epu8(sum, _mm256_setzero_si256());
}

/* the positions of the bits that are set, counted from i on */
static inline int
add_hits(uint32 hits, int i, uint16 *found, int nfound)
{
	for (; hits != 0; hits &= hits - 1)
		found[nfound++] = i + __builtin_ctz(hits);
	return nfound;
}

/*
 * The positions, from i on, of those of 16 distances that are below the limit.
 * Mostly there is none, which one comparison tells: there is no 64-bit minimum,
 * but the upper halves are zero.
 */
SHBITS_TARGET("avx2,popcnt")
static inline int
add_found_avx2(__m256i d0, __m256i d1, __m256i d2, __m256i d3, __m256i limit,
			   int i, uint16 *found, int nfound)
{
	__m256i		least = _mm256_min_epu32(_mm256_min_epu32(d0, d1), _mm256_min_epu32(d2, d3));
	uint32		hits;

	least = _mm256_cmpgt_epi64(limit, least);
	if (likely(_mm256_testz_si256(least, least)))
		return nfound;
	hits = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d0)));
	hits |= _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d1))) << 4;
	hits |= _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d2))) << 8;
	hits |= _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d3))) << 12;
	return add_hits(hits, i, found, nfound);
}

/*
 * Four stored keys, one in each lane: narrow ones two in each half, moved apart
 * by the order, which reads 16 bytes from the third key on.
 */
SHBITS_TARGET("avx2")
static pg_attribute_always_inline __m256i
load_avx2(const char *keys, int width, __m256i order)
{
	__m128i		low;
	__m128i		high;

	if (width == sizeof(uint64))
		return _mm256_loadu_si256((const __m256i *) keys);
	low = _mm_loadu_si128((const __m128i *) keys);
	high = _mm_loadu_si128((const __m128i *) (keys + 2 * width));
	return _mm256_shuffle_epi8(_mm256_set_m128i(high, low), order);
}

/* inline, so that nothing is moved where the width is a constant of 8 */
SHBITS_TARGET("avx2,popcnt")
static pg_attribute_always_inline int
filter_avx2(const char *keys, int width, int nkeys, uint64 query, int radius, uint16 *found)
{
	const __m256i vquery = _mm256_set1_epi64x(query & shbits_bytes_mask(width));
	const __m256i limit = _mm256_set1_epi64x((int64) radius + 1);
	char		order_bytes[32];
	__m256i		order;
	int			nfound = 0;
	int			i;

	/* a byte of order with the high bit set gives zero */
	for (int j = 0; j < lengthof(order_bytes); j++)
		order_bytes[j] = j % 8 < width ? j / 8 % 2 * width + j % 8 : -1;
	order = _mm256_loadu_si256((const __m256i *) order_bytes);

	for (i = 0; i + 16 <= nkeys; i += 16)
	{
		const char *start = keys + i * width;

		nfound = add_found_avx2(distances_avx2(load_avx2(start, width, order), vquery),
								distances_avx2(load_avx2(start + 4 * width, width, order), vquery),
								distances_avx2(load_avx2(start + 8 * width, width, order), vquery),
								distances_avx2(load_avx2(start + 12 * width, width, order), vquery),
								limit, i, found, nfound);
	}
	return stored_from_popcnt(keys, width, i, nkeys, query, radius, found, nfound);
}

SHBITS_TARGET("avx2,popcnt")
static int
stored_avx2(const char *keys, int width, int nkeys, uint64 query, int radius, uint16 *found)
{
	if (width == sizeof(uint64))
		return filter_avx2(keys, sizeof(uint64), nkeys, query, radius, found);
	return filter_avx2(keys, width, nkeys, query, radius, found);
}

SHBITS_TARGET("avx2,popcnt")
static uint64
product_avx2(const uint64 *a, int na, const uint64 *b, int nb, int radius, uint64 *others)
{
	uint16		places[SHBITS_MAX_TILE];
	uint64		found = 0;

	for (int i = 0; i < na; i++)
	{
		int			nfound = filter_avx2((const char *) b, sizeof(uint64), nb, a[i], radius, places);

		if (nfound == 0)
			continue;
		found |= UINT64CONST(1) << i;
		others[i] = 0;
		for (int k = 0; k < nfound; k++)
			others[i] |= UINT64CONST(1) << places[k];
	}
	return found;
}

/*
 * For few keys nothing is faster than comparing them one by one, and the table
 * pays for itself only in a row of registers.
 */
const ShBitsKernels shbits_kernels_avx2 = {
	"avx2", stored_avx2, product_avx2, pairs_popcnt, bytes_popcnt
};

/* Distances of eight keys from the query. */
SHBITS_TARGET("avx512f,avx512vpopcntdq")
static inline __m512i
distances_avx512(__m512i keys, __m512i query)
{
	return _mm512_popcnt_epi64(_mm512_xor_si512(keys, query));
}

/*
 * A bit for each of 32 distances that is within the limit.  Mostly there is
 * none, which one comparison tells: the upper halves are zero, and the 32-bit
 * minimum is one instruction, the 64-bit one two on many CPUs.
 */
SHBITS_TARGET("avx512f,avx512vpopcntdq")
static pg_attribute_always_inline uint32
within_avx512(__m512i d0, __m512i d1, __m512i d2, __m512i d3, __m512i limit)
{
	__m512i		least = _mm512_min_epu32(_mm512_min_epu32(d0, d1),
										 _mm512_min_epu32(d2, d3));

	if (likely(_mm512_cmple_epu64_mask(least, limit) == 0))
		return 0;
	return (uint32) _mm512_cmple_epu64_mask(d0, limit) |
		(uint32) _mm512_cmple_epu64_mask(d1, limit) << 8 |
		(uint32) _mm512_cmple_epu64_mask(d2, limit) << 16 |
		(uint32) _mm512_cmple_epu64_mask(d3, limit) << 24;
}

/* the lanes that are filled by the keys from start on */
static inline __mmask8
valid_lanes(int start, int nkeys)
{
	return nkeys - start >= 8 ? 0xff : (1 << (nkeys - start)) - 1;
}

/* byte b of lane l is byte l * width + b of what has been loaded */
SHBITS_TARGET("avx512f,avx512bw")
static pg_attribute_always_inline __m512i
spreading_order(int width)
{
	const __m512i lanes = _mm512_set_epi64(UINT64CONST(0x0707070707070707), UINT64CONST(0x0606060606060606),
										   UINT64CONST(0x0505050505050505), UINT64CONST(0x0404040404040404),
										   UINT64CONST(0x0303030303030303), UINT64CONST(0x0202020202020202),
										   UINT64CONST(0x0101010101010101), 0);
	const __m512i bytes = _mm512_set1_epi64(UINT64CONST(0x0706050403020100));

	/* the product of two such numbers fits into a byte */
	return _mm512_add_epi8(bytes, _mm512_mullo_epi16(lanes, _mm512_set1_epi16(width)));
}

/*
 * Distances of eight stored keys, in the first bytes of the register, from the
 * query.
 */
SHBITS_TARGET("avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")
static pg_attribute_always_inline __m512i
stored_distances_avx512(__m512i keys, int width, __m512i order, __mmask64 kept, __m512i query)
{
	if (width < sizeof(uint64))
		keys = _mm512_maskz_permutexvar_epi8(kept, order, keys);
	return distances_avx512(keys, query);
}

/*
 * Loads without a mask wherever 64 bytes can be read, which takes a tenth less
 * than with one (November 2026).
 */
SHBITS_TARGET("avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")
static pg_attribute_always_inline int
filter_avx512(const char *keys, int width, int nkeys, uint64 query, int radius, uint16 *found)
{
	const __m512i vquery = _mm512_set1_epi64(query & shbits_bytes_mask(width));
	const __m512i limit = _mm512_set1_epi64(Min(radius, 64));
	const __mmask64 kept = UINT64CONST(0x0101010101010101) * ((1 << width) - 1);
	const __m512i order = spreading_order(width);
	const int	readable = nkeys * width + (width < sizeof(uint64) ? SHBITS_READ_BEHIND : 0);
	const int	last = readable - (int) sizeof(__m512i);
	int			nfound = 0;
	int			i;

	if (radius < 0)
		return 0;
	for (i = 0; i + 32 <= nkeys && (i + 24) * width <= last; i += 32)
	{
		const char *start = keys + i * width;
		__m512i		k0 = _mm512_loadu_si512(start);
		__m512i		k1 = _mm512_loadu_si512(start + 8 * width);
		__m512i		k2 = _mm512_loadu_si512(start + 16 * width);
		__m512i		k3 = _mm512_loadu_si512(start + 24 * width);

		nfound = add_hits(within_avx512(stored_distances_avx512(k0, width, order, kept, vquery),
										stored_distances_avx512(k1, width, order, kept, vquery),
										stored_distances_avx512(k2, width, order, kept, vquery),
										stored_distances_avx512(k3, width, order, kept, vquery),
										limit),
						  i, found, nfound);
	}
	for (; i < nkeys; i += 8)
	{
		const char *start = keys + i * width;
		__mmask8	valid = valid_lanes(i, nkeys);
		__m512i		some;
		uint32		hits;

		if (i * width <= last)
			some = _mm512_loadu_si512(start);
		else
			some = _mm512_maskz_loadu_epi8(PG_UINT64_MAX >> (64 - Min(8, nkeys - i) * width), start);
		hits = _mm512_mask_cmple_epu64_mask(valid, stored_distances_avx512(some, width, order, kept, vquery), limit);
		nfound = add_hits(hits, i, found, nfound);
	}
	return nfound;
}

SHBITS_TARGET("avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")
static int
stored_avx512(const char *keys, int width, int nkeys, uint64 query, int radius, uint16 *found)
{
	if (width == sizeof(uint64))
		return filter_avx512(keys, sizeof(uint64), nkeys, query, radius, found);
	return filter_avx512(keys, width, nkeys, query, radius, found);
}

/*
 * Distances of the keys in eight lanes from those in eight others.  A lane that
 * is not in valid gets the largest number.
 */
SHBITS_TARGET("avx512f,avx512vpopcntdq")
static inline __m512i
lane_distances_avx512(__m512i a, __m512i b, __mmask8 valid)
{
	return _mm512_mask_popcnt_epi64(_mm512_set1_epi64(-1), valid, _mm512_xor_si512(a, b));
}

/* keys i and j are a pair */
static inline void
add_pair(uint64 *others, uint64 *found, int i, int j)
{
	others[i] = ((*found >> i) & 1 ? others[i] : 0) | UINT64CONST(1) << j;
	*found |= UINT64CONST(1) << i;
}

/*
 * Compare a[0 .. na - 1] with the keys in the valid lanes of x, which are the
 * others from start on.
 *
 * Inline for another reason than the call: a function that calls one that takes
 * vectors may return without clearing the upper halves of the registers (GCC 12),
 * and then what the caller does with floating-point numbers takes 100 ns.
 */
SHBITS_TARGET("avx512f,avx512vpopcntdq")
static pg_attribute_always_inline void
compare_lanes_avx512(const uint64 *a, int na, __m512i x, __mmask8 valid, int start,
					 __m512i limit, uint64 *others, uint64 *found)
{
	int			i;

	for (i = 0; i + 4 <= na; i += 4)
	{
		uint32		hits;

		hits = within_avx512(lane_distances_avx512(x, _mm512_set1_epi64(a[i]), valid),
							 lane_distances_avx512(x, _mm512_set1_epi64(a[i + 1]), valid),
							 lane_distances_avx512(x, _mm512_set1_epi64(a[i + 2]), valid),
							 lane_distances_avx512(x, _mm512_set1_epi64(a[i + 3]), valid),
							 limit);
		for (; hits != 0; hits &= hits - 1)
		{
			int			place = __builtin_ctz(hits);

			add_pair(others, found, i + place / 8, start + place % 8);
		}
	}
	for (; i < na; i++)
	{
		__m512i		d = lane_distances_avx512(x, _mm512_set1_epi64(a[i]), valid);
		uint32		hits = _mm512_cmple_epu64_mask(d, limit);

		for (; hits != 0; hits &= hits - 1)
			add_pair(others, found, i, start + __builtin_ctz(hits));
	}
}

SHBITS_TARGET("avx512f,avx512vpopcntdq")
static uint64
product_avx512(const uint64 *a, int na, const uint64 *b, int nb, int radius, uint64 *others)
{
	const __m512i limit = _mm512_set1_epi64(Min(radius, 64));
	uint64		found = 0;

	if (radius < 0)
		return 0;
	for (int start = 0; start < nb; start += 8)
	{
		__mmask8	valid = valid_lanes(start, nb);

		compare_lanes_avx512(a, na, _mm512_maskz_loadu_epi64(valid, b + start), valid, start,
							 limit, others, &found);
	}
	return found;
}

/*
 * Eight keys at a time are compared with all keys before them, and with each
 * other: rotated by one to four lanes they meet all the others, and those that
 * are rotated by four meet twice.
 */
SHBITS_TARGET("avx512f,avx512vpopcntdq")
static uint64
pairs_avx512(const uint64 *keys, int nkeys, int radius, uint64 *others)
{
	const __m512i limit = _mm512_set1_epi64(Min(radius, 64));
	uint64		found = 0;

	if (radius < 0)
		return 0;
	for (int start = 0; start < nkeys; start += 8)
	{
		__mmask8	valid = valid_lanes(start, nkeys);
		__m512i		x = _mm512_maskz_loadu_epi64(valid, keys + start);
		uint32		hits;

		compare_lanes_avx512(keys, start, x, valid, start, limit, others, &found);

		hits = within_avx512(lane_distances_avx512(x, _mm512_alignr_epi64(x, x, 1),
												   valid & (valid >> 1 | valid << 7)),
							 lane_distances_avx512(x, _mm512_alignr_epi64(x, x, 2),
												   valid & (valid >> 2 | valid << 6)),
							 lane_distances_avx512(x, _mm512_alignr_epi64(x, x, 3),
												   valid & (valid >> 3 | valid << 5)),
							 lane_distances_avx512(x, _mm512_alignr_epi64(x, x, 4),
												   valid & valid >> 4),
							 limit);
		for (; hits != 0; hits &= hits - 1)
		{
			int			place = __builtin_ctz(hits);
			int			i = place % 8;
			int			j = (i + place / 8 + 1) % 8;

			add_pair(others, &found, start + Min(i, j), start + Max(i, j));
		}
	}
	return found;
}

SHBITS_TARGET("avx512f,avx512bw,avx512vpopcntdq")
static int
bytes_avx512(const uint8 *a, const uint8 *b, int nbytes)
{
	__m512i		sums = _mm512_setzero_si512();

	for (int i = 0; i < nbytes; i += sizeof(__m512i))
	{
		__mmask64	some = nbytes - i < sizeof(__m512i) ? (UINT64CONST(1) << (nbytes - i)) - 1 : PG_UINT64_MAX;
		__m512i		x = _mm512_maskz_loadu_epi8(some, a + i);
		__m512i		y = _mm512_maskz_loadu_epi8(some, b + i);

		sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_xor_si512(x, y)));
	}
	return _mm512_reduce_add_epi64(sums);
}

const ShBitsKernels shbits_kernels_avx512 = {
	"avx512", stored_avx512, product_avx512, pairs_avx512, bytes_avx512
};

#endif							/* SHBITS_X86_KERNELS */
