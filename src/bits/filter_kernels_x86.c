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

#include "bits/filter_kernels.h"

#ifdef SHBITS_X86_KERNELS

#include <immintrin.h>

#define SHBITS_TARGET(isa) __attribute__((target(isa)))

SHBITS_TARGET("popcnt")
int
shbits_filter_popcnt(const uint64 *keys, int nkeys, uint64 query,
					 int radius, uint16 *found)
{
	int			nfound = 0;

	/* one at a time: a branch never taken is cheaper than a minimum */
	for (int i = 0; i < nkeys; i++)
	{
		if (unlikely((int) _mm_popcnt_u64(keys[i] ^ query) <= radius))
			found[nfound++] = i;
	}
	return nfound;
}

/*
 * Distances of four keys from the query, one in each 64-bit lane.  The bits of
 * each half byte are looked up in a table, and the bytes of a lane summed.
 */
SHBITS_TARGET("avx2")
static inline __m256i
distances_avx2(const uint64 *keys, __m256i query)
{
	const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3,
										   1, 2, 2, 3, 2, 3, 3, 4,
										   0, 1, 1, 2, 1, 2, 2, 3,
										   1, 2, 2, 3, 2, 3, 3, 4);
	const __m256i low = _mm256_set1_epi8(0x0f);
	__m256i		x;
	__m256i		sum;

	x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *) keys), query);
	sum = _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
						  _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi64(x, 4), low)));
	return _mm256_sad_epu8(sum, _mm256_setzero_si256());
}

SHBITS_TARGET("avx2,popcnt")
int
shbits_filter_avx2(const uint64 *keys, int nkeys, uint64 query,
				   int radius, uint16 *found)
{
	const __m256i vquery = _mm256_set1_epi64x(query);
	const __m256i limit = _mm256_set1_epi64x((int64) radius + 1);
	int			nfound = 0;
	int			i;

	for (i = 0; i + 16 <= nkeys; i += 16)
	{
		__m256i		d0 = distances_avx2(keys + i, vquery);
		__m256i		d1 = distances_avx2(keys + i + 4, vquery);
		__m256i		d2 = distances_avx2(keys + i + 8, vquery);
		__m256i		d3 = distances_avx2(keys + i + 12, vquery);
		__m256i		least;

		/* there is no 64-bit minimum, but the upper halves are zero */
		least = _mm256_min_epu32(_mm256_min_epu32(d0, d1),
								 _mm256_min_epu32(d2, d3));
		least = _mm256_cmpgt_epi64(limit, least);
		if (unlikely(!_mm256_testz_si256(least, least)))
		{
			uint32		hits;

			hits = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d0)));
			hits |= _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d1))) << 4;
			hits |= _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d2))) << 8;
			hits |= _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, d3))) << 12;
			for (; hits != 0; hits &= hits - 1)
				found[nfound++] = i + __builtin_ctz(hits);
		}
	}

	for (; i < nkeys; i++)
	{
		if (unlikely((int) _mm_popcnt_u64(keys[i] ^ query) <= radius))
			found[nfound++] = i;
	}
	return nfound;
}

/* Distances of eight keys from the query. */
SHBITS_TARGET("avx512f,avx512vpopcntdq")
static inline __m512i
distances_avx512(const uint64 *keys, __m512i query)
{
	return _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(keys), query));
}

SHBITS_TARGET("avx512f,avx512vpopcntdq")
int
shbits_filter_avx512(const uint64 *keys, int nkeys, uint64 query,
					 int radius, uint16 *found)
{
	const __m512i vquery = _mm512_set1_epi64(query);
	const __m512i limit = _mm512_set1_epi64(radius);
	int			nfound = 0;
	int			i;

	for (i = 0; i + 32 <= nkeys; i += 32)
	{
		__m512i		d0 = distances_avx512(keys + i, vquery);
		__m512i		d1 = distances_avx512(keys + i + 8, vquery);
		__m512i		d2 = distances_avx512(keys + i + 16, vquery);
		__m512i		d3 = distances_avx512(keys + i + 24, vquery);
		__m512i		least;

		/*
		 * The upper halves are zero; the 32-bit minimum is one instruction,
		 * the 64-bit one is two on many CPUs.
		 */
		least = _mm512_min_epu32(_mm512_min_epu32(d0, d1),
								 _mm512_min_epu32(d2, d3));
		if (unlikely(_mm512_cmple_epi64_mask(least, limit) != 0))
		{
			uint32		hits;

			hits = (uint32) _mm512_cmple_epi64_mask(d0, limit);
			hits |= (uint32) _mm512_cmple_epi64_mask(d1, limit) << 8;
			hits |= (uint32) _mm512_cmple_epi64_mask(d2, limit) << 16;
			hits |= (uint32) _mm512_cmple_epi64_mask(d3, limit) << 24;
			for (; hits != 0; hits &= hits - 1)
				found[nfound++] = i + __builtin_ctz(hits);
		}
	}

	/* at most 31 left; lanes beyond the end are neither read nor compared */
	for (; i < nkeys; i += 8)
	{
		__mmask8	valid = nkeys - i >= 8 ? 0xff : (1 << (nkeys - i)) - 1;
		__m512i		x = _mm512_maskz_loadu_epi64(valid, keys + i);
		uint32		hits;

		x = _mm512_popcnt_epi64(_mm512_xor_si512(x, vquery));
		hits = _mm512_mask_cmple_epi64_mask(valid, x, limit);
		for (; hits != 0; hits &= hits - 1)
			found[nfound++] = i + __builtin_ctz(hits);
	}
	return nfound;
}

/* a bit for each of keys[from .. nkeys - 1] that is within radius bits of key */
SHBITS_TARGET("popcnt")
static inline uint64
near_popcnt(uint64 key, const uint64 *keys, int from, int nkeys, int radius)
{
	uint64		found = 0;

	for (int i = from; i < nkeys; i++)
	{
		if (unlikely((int) _mm_popcnt_u64(key ^ keys[i]) <= radius))
			found |= UINT64CONST(1) << i;
	}
	return found;
}

SHBITS_TARGET("popcnt")
uint64
shbits_product_popcnt(const uint64 *a, int na, const uint64 *b, int nb,
					  int radius, uint64 *others)
{
	uint64		found = 0;

	for (int i = 0; i < na; i++)
	{
		others[i] = near_popcnt(a[i], b, 0, nb, radius);
		found |= (uint64) (others[i] != 0) << i;
	}
	return found;
}

SHBITS_TARGET("avx2,popcnt")
uint64
shbits_product_avx2(const uint64 *a, int na, const uint64 *b, int nb,
					int radius, uint64 *others)
{
	uint16		places[64];
	uint64		found = 0;

	for (int i = 0; i < na; i++)
	{
		int			nfound = shbits_filter_avx2(b, nb, a[i], radius, places);

		if (nfound == 0)
			continue;
		found |= UINT64CONST(1) << i;
		others[i] = 0;
		for (int k = 0; k < nfound; k++)
			others[i] |= UINT64CONST(1) << places[k];
	}
	return found;
}

/* for few keys, nothing is faster than comparing them one by one */
SHBITS_TARGET("popcnt")
uint64
shbits_pairs_popcnt(const uint64 *keys, int nkeys, int radius, uint64 *others)
{
	uint64		found = 0;

	for (int i = 0; i < nkeys; i++)
	{
		others[i] = near_popcnt(keys[i], keys, i + 1, nkeys, radius);
		found |= (uint64) (others[i] != 0) << i;
	}
	return found;
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

/*
 * A bit for each of 32 distances that is within the limit; rarely is there
 * any.
 */
SHBITS_TARGET("avx512f,avx512vpopcntdq")
static inline uint32
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

/* the lanes that are filled by the keys from start on */
static inline __mmask8
valid_lanes(int start, int nkeys)
{
	return nkeys - start >= 8 ? 0xff : (1 << (nkeys - start)) - 1;
}

SHBITS_TARGET("avx512f,avx512vpopcntdq")
uint64
shbits_product_avx512(const uint64 *a, int na, const uint64 *b, int nb,
					  int radius, uint64 *others)
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
uint64
shbits_pairs_avx512(const uint64 *keys, int nkeys, int radius, uint64 *others)
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

#endif							/* SHBITS_X86_KERNELS */
