/*-------------------------------------------------------------------------
 *
 * text_kernels_x86.c
 *	  Kernels for x86-64 with AVX2 or AVX-512.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/text_kernels.h"

#ifdef SHBITS_X86_KERNELS

#include <immintrin.h>

#define SHTEXT_TARGET(isa) __attribute__((target(isa)))

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
	.fold_chars = shtext_fold_chars_portable,
	.fold_words = shtext_fold_words_portable,
	.mix_seeds = shtext_mix_seeds_portable,
	.visit_bins = visit_bins_avx2,
	.last_bits = last_bits_avx2
};

/* numbers in a vector */
#define LANES			8

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

const ShTextKernels shtext_kernels_avx512 = {
	.name = "avx512",
	.fold_chars = shtext_fold_chars_portable,
	.fold_words = shtext_fold_words_portable,
	.mix_seeds = mix_seeds_avx512,
	.visit_bins = visit_bins_avx512,
	.last_bits = last_bits_avx2
};

/*
 * Which of 64 bytes of ASCII are letters and digits?  *x is folded.
 */
SHTEXT_TARGET("avx512f,avx512bw")
static inline uint64
fold_letters_avx512(__m512i *x)
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
static pg_attribute_always_inline const unsigned char *
fold_avx512vbmi2(const unsigned char *next, const unsigned char *end, char **out,
				 bool *in_word, bool words)
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
		written = kept = fold_letters_avx512(&x);
		if (words)
		{
			/* and what comes right behind a word, as a space */
			written |= kept << 1 | *in_word;
			x = _mm512_mask_blend_epi8(kept, _mm512_set1_epi8(' '), x);
			*in_word = kept >> (length - 1) & 1;
		}
		if (unlikely(length < 64))
			written &= (UINT64CONST(1) << length) - 1;
		_mm512_storeu_si512(to, _mm512_maskz_compress_epi8(written, x));
		to += __builtin_popcountll(written);
		next += length;
	}
	*out = to;
	return next;
}

SHTEXT_TARGET("avx512f,avx512bw,avx512vbmi2,popcnt")
static const unsigned char *
fold_chars_avx512vbmi2(const unsigned char *next, const unsigned char *end, char **out,
					   bool *in_word)
{
	next = fold_avx512vbmi2(next, end, out, in_word, false);
	return shtext_fold_chars_portable(next, end, out, in_word);
}

SHTEXT_TARGET("avx512f,avx512bw,avx512vbmi2,popcnt")
static const unsigned char *
fold_words_avx512vbmi2(const unsigned char *next, const unsigned char *end, char **out,
					   bool *in_word)
{
	next = fold_avx512vbmi2(next, end, out, in_word, true);
	return shtext_fold_words_portable(next, end, out, in_word);
}

const ShTextKernels shtext_kernels_avx512vbmi2 = {
	.name = "avx512vbmi2",
	.fold_chars = fold_chars_avx512vbmi2,
	.fold_words = fold_words_avx512vbmi2,
	.mix_seeds = mix_seeds_avx512,
	.visit_bins = visit_bins_avx512,
	.last_bits = last_bits_avx2
};

#endif							/* SHBITS_X86_KERNELS */
