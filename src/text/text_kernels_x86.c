/*-------------------------------------------------------------------------
 *
 * text_kernels_x86.c
 *	  Kernels for x86-64 with AVX2 or AVX-512.
 *
 * XXH3 of four bytes, the little-endian number w, is
 *
 *	x = (w << 32 | w) ^ SECRET
 *	x = (x ^ rotl(x, 49) ^ rotl(x, 24)) * PRIME
 *	x = (x ^ ((x >> 35) + 4)) * PRIME
 *	x ^ (x >> 28)
 *
 * so several can be computed side by side.
 *
 * To count bits, full adders add up 16 vectors of numbers, as the portable
 * kernel does with 16 numbers.  Each lane of the vectors has its own counters,
 * of a few digits, which are added up at the end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/numbers.h"
#include "text/text_kernels.h"

#ifdef SHBITS_X86_KERNELS

#include <immintrin.h>

#define SHTEXT_TARGET(isa) __attribute__((target(isa)))

/* bytes 8..15 of the default secret of XXH3, exclusive or bytes 16..23 */
#define SECRET	UINT64CONST(0xc73ab174c5ecd5a2)
#define PRIME	UINT64CONST(0x9fb21c651e98df25)

/* numbers in a vector group, and the digits its lanes count to */
#define LANES			8
#define GROUP_SIZE		(16 * LANES)
#define LANE_DIGITS		8

/* groups after which the counters of a lane could overflow */
#define MAX_GROUPS		15

/*
 * Add counters of LANE_DIGITS digits, as many as there are lanes.
 */
static inline void
add_lanes(uint64 *digits, uint64 lanes[LANE_DIGITS][LANES])
{
	for (int d = 0; d < LANE_DIGITS; d++)
		shtext_add_carry(digits, d + 3, shtext_add_eight(&digits[d], lanes[d]));
}

/*
 * Four numbers times PRIME, low halves of the products.
 */
SHTEXT_TARGET("avx2")
static inline __m256i
times_prime_avx2(__m256i x)
{
	const __m256i low = _mm256_set1_epi64x(PRIME & PG_UINT32_MAX);
	const __m256i high = _mm256_set1_epi64x(PRIME >> 32);
	__m256i		cross;

	cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
							 _mm256_mul_epu32(x, high));
	return _mm256_add_epi64(_mm256_mul_epu32(x, low),
							_mm256_slli_epi64(cross, 32));
}

SHTEXT_TARGET("avx2")
static inline __m256i
hash_fours_avx2(__m256i x)
{
	__m256i		a;
	__m256i		b;

	x = _mm256_xor_si256(x, _mm256_set1_epi64x(SECRET));
	a = _mm256_or_si256(_mm256_slli_epi64(x, 49), _mm256_srli_epi64(x, 15));
	b = _mm256_or_si256(_mm256_slli_epi64(x, 24), _mm256_srli_epi64(x, 40));
	x = times_prime_avx2(_mm256_xor_si256(x, _mm256_xor_si256(a, b)));
	a = _mm256_add_epi64(_mm256_srli_epi64(x, 35), _mm256_set1_epi64x(4));
	x = times_prime_avx2(_mm256_xor_si256(x, a));
	return _mm256_xor_si256(x, _mm256_srli_epi64(x, 28));
}

SHTEXT_TARGET("avx2")
static void
hash_many_fours_avx2(const char *bytes, int n, uint64 *hashes)
{
	/* numbers 0..3, each twice; 4..7 are four bytes further on */
	const __m256i pattern = _mm256_setr_epi8(0, 1, 2, 3, 0, 1, 2, 3,
											 1, 2, 3, 4, 1, 2, 3, 4,
											 2, 3, 4, 5, 2, 3, 4, 5,
											 3, 4, 5, 6, 3, 4, 5, 6);
	const __m256i further = _mm256_add_epi8(pattern, _mm256_set1_epi8(4));
	int			i = 0;

	/* 16 bytes are read for 8 numbers */
	for (; i + 13 <= n; i += 8)
	{
		__m256i		x;

		x = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (bytes + i)));
		_mm256_storeu_si256((__m256i *) &hashes[i],
							hash_fours_avx2(_mm256_shuffle_epi8(x, pattern)));
		_mm256_storeu_si256((__m256i *) &hashes[i + 4],
							hash_fours_avx2(_mm256_shuffle_epi8(x, further)));
	}
	shtext_hash_fours_portable(bytes + i, n - i, hashes + i);
}

/* full adder: *sum + a + b; returns the carry */
SHTEXT_TARGET("avx2")
static inline __m256i
add_avx2(__m256i *sum, __m256i a, __m256i b)
{
	__m256i		half = _mm256_xor_si256(*sum, a);
	__m256i		carry = _mm256_or_si256(_mm256_and_si256(*sum, a),
										_mm256_and_si256(half, b));

	*sum = _mm256_xor_si256(half, b);
	return carry;
}

/* like shtext_add_eight, for numbers that are LANES apart */
SHTEXT_TARGET("avx2")
static inline __m256i
add_eight_avx2(__m256i *digits, const uint64 *numbers)
{
	__m256i		pair[4];
	__m256i		a;
	__m256i		b;

	for (int i = 0; i < 4; i++)
		pair[i] = add_avx2(&digits[0],
						   _mm256_loadu_si256((const __m256i *) &numbers[2 * i * LANES]),
						   _mm256_loadu_si256((const __m256i *) &numbers[(2 * i + 1) * LANES]));
	a = add_avx2(&digits[1], pair[0], pair[1]);
	b = add_avx2(&digits[1], pair[2], pair[3]);
	return add_avx2(&digits[2], a, b);
}

SHTEXT_TARGET("avx2")
static void
count_bits_avx2(uint64 *digits, const uint64 *numbers, int n)
{
	while (n >= GROUP_SIZE)
	{
		int			ngroups = Min(n / GROUP_SIZE, MAX_GROUPS);
		uint64		lanes[LANE_DIGITS][LANES];

		for (int half = 0; half < LANES; half += 4)
		{
			__m256i		sum[LANE_DIGITS];

			for (int d = 0; d < LANE_DIGITS; d++)
				sum[d] = _mm256_setzero_si256();
			for (int g = 0; g < ngroups; g++)
			{
				const uint64 *group = &numbers[g * GROUP_SIZE + half];
				__m256i		a = add_eight_avx2(sum, group);
				__m256i		b = add_eight_avx2(sum, group + 8 * LANES);
				__m256i		carry = add_avx2(&sum[3], a, b);

				for (int d = 4; d < LANE_DIGITS; d++)
				{
					__m256i		next = _mm256_and_si256(sum[d], carry);

					sum[d] = _mm256_xor_si256(sum[d], carry);
					carry = next;
				}
			}
			for (int d = 0; d < LANE_DIGITS; d++)
				_mm256_storeu_si256((__m256i *) &lanes[d][half], sum[d]);
		}
		add_lanes(digits, lanes);
		numbers += ngroups * GROUP_SIZE;
		n -= ngroups * GROUP_SIZE;
	}
	shtext_count_bits_portable(digits, numbers, n);
}

/*
 * All bins in lanes, visitor by visitor.
 */
SHTEXT_TARGET("avx2")
static void
visit_bins_avx2(uint16 *visits, uint64 bins, const uint64 *numbers,
				const uint64 *brought, int n)
{
	const __m256i bin = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7,
										  8, 9, 10, 11, 12, 13, 14, 15);
	const __m256i half = _mm256_set1_epi16((int16) 0x8000);
	const __m256i bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512,
										   1024, 2048, 4096, 8192, 16384,
										   (int16) 0x8000);
	__m256i		least[4];

	for (int v = 0; v < 4; v++)
		least[v] = _mm256_loadu_si256((__m256i *) &visits[16 * v]);
	for (int i = 0; i < n; i++)
	{
		__m256i		all = _mm256_set1_epi64x(brought[i]);
		__m256i		start = _mm256_set1_epi16(shtext_start(numbers[i]));
		__m256i		step = _mm256_set1_epi16(shtext_step(numbers[i]));
		__m256i		times[4];

		/* 32 bins further, it is half of all times later or earlier */
		times[0] = _mm256_add_epi16(start, _mm256_mullo_epi16(bin, step));
		times[1] = _mm256_add_epi16(times[0], _mm256_slli_epi16(step, 4));
		times[2] = _mm256_xor_si256(times[0], half);
		times[3] = _mm256_xor_si256(times[1], half);
		for (int v = 0; v < 4; v++)
		{
			__m256i		set;

			/*
			 * the 16 bits of these bins, in each lane; one of them, as 0 or
			 * -1
			 */
			set = _mm256_shuffle_epi8(all, _mm256_set1_epi16((2 * v + 1) << 8 | 2 * v));
			set = _mm256_cmpeq_epi16(_mm256_and_si256(set, bits), bits);
			least[v] = _mm256_min_epu16(least[v],
										_mm256_sub_epi16(times[v], set));
		}
	}
	for (int v = 0; v < 4; v++)
		_mm256_storeu_si256((__m256i *) &visits[16 * v], least[v]);
}

SHTEXT_TARGET("avx2")
static uint64
last_bits_avx2(const uint32 *values, const uint16 *visits, uint64 bins)
{
	uint64		of_values = 0;
	uint64		of_visits = 0;

	/* to the sign, of which there is a mask */
	for (int i = 0; i < SHTEXT_BINS; i += 8)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) &values[i]);

		x = _mm256_slli_epi32(x, 31);
		of_values |= (uint64) _mm256_movemask_ps(_mm256_castsi256_ps(x)) << i;
	}
	for (int i = 0; i < SHTEXT_BINS; i += 32)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) &visits[i]);
		__m256i		y = _mm256_loadu_si256((const __m256i *) &visits[i + 16]);

		/* this packs the lower halves of both, then the upper ones */
		x = _mm256_packs_epi16(_mm256_slli_epi16(x, 15), _mm256_slli_epi16(y, 15));
		x = _mm256_permute4x64_epi64(x, _MM_SHUFFLE(3, 1, 2, 0));
		of_visits |= (uint64) (uint32) _mm256_movemask_epi8(x) << i;
	}
	return (of_values & ~bins) | (of_visits & bins);
}

const ShTextKernels shtext_kernels_avx2 = {
	.name = "avx2",
	.fold_ascii = shtext_fold_ascii_portable,
	.fold_words = shtext_fold_words_portable,
	.hash_fours = hash_many_fours_avx2,
	.count_bits = count_bits_avx2,
	.mix_seeds = shtext_mix_seeds_portable,
	.visit_bins = visit_bins_avx2,
	.last_bits = last_bits_avx2
};

SHTEXT_TARGET("avx512f,avx512bw,avx512dq")
static void
hash_many_fours_avx512(const char *bytes, int n, uint64 *hashes)
{
	const __m512i pattern = _mm512_set_epi64(UINT64CONST(0x0a0908070a090807),
											 UINT64CONST(0x0908070609080706),
											 UINT64CONST(0x0807060508070605),
											 UINT64CONST(0x0706050407060504),
											 UINT64CONST(0x0605040306050403),
											 UINT64CONST(0x0504030205040302),
											 UINT64CONST(0x0403020104030201),
											 UINT64CONST(0x0302010003020100));
	const __m512i secret = _mm512_set1_epi64(SECRET);
	const __m512i prime = _mm512_set1_epi64(PRIME);
	const __m512i four = _mm512_set1_epi64(4);
	int			i = 0;

	/* 16 bytes are read for 8 numbers */
	for (; i + 13 <= n; i += 8)
	{
		__m512i		x;

		x = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) (bytes + i)));
		x = _mm512_xor_si512(_mm512_shuffle_epi8(x, pattern), secret);
		/* 0x96: exclusive or of three */
		x = _mm512_ternarylogic_epi64(x, _mm512_rol_epi64(x, 49),
									  _mm512_rol_epi64(x, 24), 0x96);
		x = _mm512_mullo_epi64(x, prime);
		x = _mm512_xor_si512(x, _mm512_add_epi64(_mm512_srli_epi64(x, 35), four));
		x = _mm512_mullo_epi64(x, prime);
		x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 28));
		_mm512_storeu_si512(&hashes[i], x);
	}
	shtext_hash_fours_portable(bytes + i, n - i, hashes + i);
}

/* full adder: *sum + a + b; returns the carry */
SHTEXT_TARGET("avx512f")
static inline __m512i
add_avx512(__m512i *sum, __m512i a, __m512i b)
{
	__m512i		carry = _mm512_ternarylogic_epi64(*sum, a, b, 0xe8);	/* majority */

	*sum = _mm512_ternarylogic_epi64(*sum, a, b, 0x96); /* exclusive or */
	return carry;
}

/* like shtext_add_eight, for numbers that are LANES apart */
SHTEXT_TARGET("avx512f")
static inline __m512i
add_eight_avx512(__m512i *digits, const uint64 *numbers)
{
	__m512i		pair[4];
	__m512i		a;
	__m512i		b;

	for (int i = 0; i < 4; i++)
		pair[i] = add_avx512(&digits[0],
							 _mm512_loadu_si512(&numbers[2 * i * LANES]),
							 _mm512_loadu_si512(&numbers[(2 * i + 1) * LANES]));
	a = add_avx512(&digits[1], pair[0], pair[1]);
	b = add_avx512(&digits[1], pair[2], pair[3]);
	return add_avx512(&digits[2], a, b);
}

SHTEXT_TARGET("avx512f")
static void
count_bits_avx512(uint64 *digits, const uint64 *numbers, int n)
{
	while (n >= GROUP_SIZE)
	{
		int			ngroups = Min(n / GROUP_SIZE, MAX_GROUPS);
		uint64		lanes[LANE_DIGITS][LANES];
		__m512i		sum[LANE_DIGITS];

		for (int d = 0; d < LANE_DIGITS; d++)
			sum[d] = _mm512_setzero_si512();
		for (int g = 0; g < ngroups; g++)
		{
			const uint64 *group = &numbers[g * GROUP_SIZE];
			__m512i		a = add_eight_avx512(sum, group);
			__m512i		b = add_eight_avx512(sum, group + 8 * LANES);
			__m512i		carry = add_avx512(&sum[3], a, b);

			for (int d = 4; d < LANE_DIGITS; d++)
			{
				__m512i		next = _mm512_and_si512(sum[d], carry);

				sum[d] = _mm512_xor_si512(sum[d], carry);
				carry = next;
			}
		}
		for (int d = 0; d < LANE_DIGITS; d++)
			_mm512_storeu_si512(lanes[d], sum[d]);
		add_lanes(digits, lanes);
		numbers += ngroups * GROUP_SIZE;
		n -= ngroups * GROUP_SIZE;
	}
	shtext_count_bits_portable(digits, numbers, n);
}

SHTEXT_TARGET("avx512f,avx512dq")
static void
mix_seeds_avx512(const uint64 *seeds, int n, uint64 *numbers)
{
	const __m512i step = _mm512_set1_epi64(UINT64CONST(0x9E3779B97F4A7C15));
	const __m512i first = _mm512_set1_epi64(UINT64CONST(0xBF58476D1CE4E5B9));
	const __m512i second = _mm512_set1_epi64(UINT64CONST(0x94D049BB133111EB));

	for (int i = 0; i < n; i += LANES)
	{
		__mmask8	some = n - i < LANES ? (1 << (n - i)) - 1 : -1;
		__m512i		x = _mm512_maskz_loadu_epi64(some, &seeds[i]);

		x = _mm512_add_epi64(x, step);
		x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 30)), first);
		x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 27)), second);
		x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
		_mm512_mask_storeu_epi64(&numbers[i], some, x);
	}
}

/*
 * All bins in lanes, visitor by visitor.
 */
SHTEXT_TARGET("avx512f,avx512bw")
static void
visit_bins_avx512(uint16 *visits, uint64 bins, const uint64 *numbers,
				  const uint64 *brought, int n)
{
	const __m512i bin = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24,
										 23, 22, 21, 20, 19, 18, 17, 16,
										 15, 14, 13, 12, 11, 10, 9, 8,
										 7, 6, 5, 4, 3, 2, 1, 0);
	const __m512i half = _mm512_set1_epi16((int16) 0x8000);
	const __m512i one = _mm512_set1_epi16(1);
	__m512i		low = _mm512_loadu_si512(&visits[0]);
	__m512i		high = _mm512_loadu_si512(&visits[32]);

	for (int i = 0; i < n; i++)
	{
		__m512i		start = _mm512_set1_epi16(shtext_start(numbers[i]));
		__m512i		step = _mm512_set1_epi16(shtext_step(numbers[i]));
		__m512i		times = _mm512_add_epi16(start, _mm512_mullo_epi16(bin, step));

		low = _mm512_min_epu16(low, _mm512_mask_add_epi16(times, brought[i],
														  times, one));
		/* 32 bins further, it is half of all times later or earlier */
		times = _mm512_xor_si512(times, half);
		high = _mm512_min_epu16(high, _mm512_mask_add_epi16(times, brought[i] >> 32,
															times, one));
	}
	_mm512_storeu_si512(&visits[0], low);
	_mm512_storeu_si512(&visits[32], high);
}

SHTEXT_TARGET("avx512f,avx512bw")
static uint64
last_bits_avx512(const uint32 *values, const uint16 *visits, uint64 bins)
{
	uint64		of_values = 0;
	uint64		of_visits = 0;

	for (int i = 0; i < SHTEXT_BINS; i += 16)
		of_values |= (uint64) _mm512_test_epi32_mask(_mm512_loadu_si512(&values[i]),
													 _mm512_set1_epi32(1)) << i;
	for (int i = 0; i < SHTEXT_BINS; i += 32)
		of_visits |= (uint64) _mm512_test_epi16_mask(_mm512_loadu_si512(&visits[i]),
													 _mm512_set1_epi16(1)) << i;
	return (of_values & ~bins) | (of_visits & bins);
}

const ShTextKernels shtext_kernels_avx512 = {
	.name = "avx512",
	.fold_ascii = shtext_fold_ascii_portable,
	.fold_words = shtext_fold_words_portable,
	.hash_fours = hash_many_fours_avx512,
	.count_bits = count_bits_avx512,
	.mix_seeds = mix_seeds_avx512,
	.visit_bins = visit_bins_avx512,
	.last_bits = last_bits_avx512
};

/*
 * Which of 64 bytes of ASCII are letters and digits?  *x is folded.
 */
SHTEXT_TARGET("avx512f,avx512bw")
static inline uint64
fold_avx512(__m512i *x)
{
	__m512i		folded;
	uint64		kept;

	/* both letters and digits have this bit when they are folded */
	folded = _mm512_or_si512(*x, _mm512_set1_epi8(0x20));
	kept = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(folded, _mm512_set1_epi8('a')),
								  _mm512_set1_epi8(26));
	kept |= _mm512_cmplt_epu8_mask(_mm512_sub_epi8(*x, _mm512_set1_epi8('0')),
								   _mm512_set1_epi8(10));
	*x = folded;
	return kept;
}

/*
 * How many of the 64 bytes of x, which lie at next, are ASCII and followed by
 * ASCII, up to the first that is not.
 */
SHTEXT_TARGET("avx512f,avx512bw")
static inline int
ascii_length_avx512(__m512i x, const unsigned char *next)
{
	uint64		other = _mm512_movepi8_mask(x);

	if (likely(other == 0 && next[64] < 0x80))
		return 64;
	return Max((other != 0 ? __builtin_ctzll(other) : 64) - 1, 0);
}

SHTEXT_TARGET("avx512f,avx512bw,avx512vbmi2,popcnt")
static const unsigned char *
fold_ascii_avx512vbmi2(const unsigned char *next, const unsigned char *end,
					   char **out)
{
	char	   *to = *out;
	int			length = 64;

	while (end - next > 64 && length == 64)
	{
		__m512i		x = _mm512_loadu_si512(next);
		uint64		kept;

		length = ascii_length_avx512(x, next);
		kept = fold_avx512(&x);
		if (unlikely(length < 64))
			kept &= (UINT64CONST(1) << length) - 1;
		_mm512_storeu_si512(to, _mm512_maskz_compress_epi8(kept, x));
		to += __builtin_popcountll(kept);
		next += length;
	}
	*out = to;
	return next;
}

SHTEXT_TARGET("avx512f,avx512bw,avx512vbmi2,popcnt")
static const unsigned char *
fold_words_avx512vbmi2(const unsigned char *next, const unsigned char *end,
					   char **out, bool *in_word)
{
	char	   *to = *out;
	int			length = 64;

	while (end - next > 64 && length == 64)
	{
		__m512i		x = _mm512_loadu_si512(next);
		uint64		kept;
		uint64		written;

		length = ascii_length_avx512(x, next);
		if (length == 0)
			break;
		kept = fold_avx512(&x);

		/* and what comes right behind a word, as a space */
		written = kept | kept << 1 | *in_word;
		if (unlikely(length < 64))
			written &= (UINT64CONST(1) << length) - 1;
		x = _mm512_mask_blend_epi8(kept, _mm512_set1_epi8(' '), x);
		_mm512_storeu_si512(to, _mm512_maskz_compress_epi8(written, x));
		to += __builtin_popcountll(written);
		*in_word = kept >> (length - 1) & 1;
		next += length;
	}
	*out = to;
	return next;
}

const ShTextKernels shtext_kernels_avx512vbmi2 = {
	.name = "avx512vbmi2",
	.fold_ascii = fold_ascii_avx512vbmi2,
	.fold_words = fold_words_avx512vbmi2,
	.hash_fours = hash_many_fours_avx512,
	.count_bits = count_bits_avx512,
	.mix_seeds = mix_seeds_avx512,
	.visit_bins = visit_bins_avx512,
	.last_bits = last_bits_avx512
};

#endif							/* SHBITS_X86_KERNELS */
