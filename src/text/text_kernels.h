/*-------------------------------------------------------------------------
 *
 * text_kernels.h
 *	  The inner loops of a fingerprint, for what the CPU can do.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_TEXT_KERNELS_H
#define SIMHASH_TEXT_TEXT_KERNELS_H

#include "bits/filter_kernels.h"

/* digits of a counter, in base 2: enough for any number of numbers */
#define SHTEXT_COUNTER_DIGITS	64

/* features that visit bins together, at most */
#define SHTEXT_VISITORS			1024

typedef struct ShTextKernels
{
	const char *name;

	/*
	 * Write the letters and digits of the bytes from next on, folded to lower
	 * case, to *out.  Stops before end, at the latest at the last byte that
	 * is ASCII and followed by ASCII; it may stop up to 64 bytes sooner.
	 * Returns where it stopped, and in *out the end of what is written.  If
	 * there are more than 64 bytes, there must be room for 64 more.
	 */
	const unsigned char *(*fold_ascii) (const unsigned char *next,
										const unsigned char *end, char **out);

	/*
	 * The same for words: anything between two words becomes one space after
	 * the first.  *in_word tells whether the last character written belongs
	 * to a word.
	 */
	const unsigned char *(*fold_words) (const unsigned char *next,
										const unsigned char *end, char **out,
										bool *in_word);

	/*
	 * hashes[i] = shtype_hash(bytes + i, 4) for i in 0..n - 1.  Reads n + 3
	 * bytes.
	 */
	void		(*hash_fours) (const char *bytes, int n, uint64 *hashes);

	/*
	 * Add n numbers to 64 counters, one for each bit.  The counters are
	 * bit-sliced: bit i of digits[d] is the digit of weight 2^d of counter i.
	 */
	void		(*count_bits) (uint64 *digits, const uint64 *numbers, int n);

	/*
	 * numbers[i] = shtext_mix(seeds[i]) for i in 0..n - 1
	 */
	void		(*mix_seeds) (const uint64 *seeds, int n, uint64 *numbers);

	/*
	 * Let n features visit the bins of a set, and perhaps others: visits[b]
	 * becomes the least time of a visit to bin b, with the last bit replaced
	 * by the bit that is brought.
	 */
	void		(*visit_bins) (uint16 *visits, uint64 bins,
							   const uint64 *numbers, const uint64 *brought,
							   int n);

	/*
	 * The last bits of 64 numbers: bit b is from visits[b] for the bins b of
	 * a set, and from values[b] for all others.
	 */
	uint64		(*last_bits) (const uint32 *values, const uint16 *visits,
							  uint64 bins);
} ShTextKernels;

/*
 * The best kernels that this machine can run, chosen when the library is
 * loaded.  Tests may set this to others.
 */
extern const ShTextKernels *shtext_kernels;
extern void shtext_choose_kernels(void);

/*
 * The kernels with a name, "portable", "avx2", "avx512" or "avx512vbmi2"; NULL
 * if this machine cannot run them.
 */
extern const ShTextKernels *shtext_kernels_named(const char *name);

extern const unsigned char *shtext_fold_ascii_portable(const unsigned char *next,
													   const unsigned char *end,
													   char **out);
extern const unsigned char *shtext_fold_words_portable(const unsigned char *next,
													   const unsigned char *end,
													   char **out,
													   bool *in_word);
extern void shtext_hash_fours_portable(const char *bytes, int n, uint64 *hashes);
extern void shtext_count_bits_portable(uint64 *digits, const uint64 *numbers,
									   int n);
extern void shtext_mix_seeds_portable(const uint64 *seeds, int n,
									  uint64 *numbers);
extern void shtext_visit_bins_portable(uint16 *visits, uint64 bins,
									   const uint64 *numbers,
									   const uint64 *brought, int n);
extern uint64 shtext_last_bits_portable(const uint32 *values,
										const uint16 *visits, uint64 bins);

#ifdef SHBITS_X86_KERNELS
extern const ShTextKernels shtext_kernels_avx2;
extern const ShTextKernels shtext_kernels_avx512;
extern const ShTextKernels shtext_kernels_avx512vbmi2;
#endif

/*
 * Are the next nine bytes ASCII?
 */
static pg_attribute_always_inline bool
shtext_nine_are_ascii(const unsigned char *next)
{
	uint64		a;
	uint64		b;

	memcpy(&a, next, sizeof(a));
	memcpy(&b, next + 1, sizeof(b));
	return ((a | b) & UINT64CONST(0x8080808080808080)) == 0;
}

/*
 * Full adder: *digit + a + b, whose low digit goes to *digit; returns the carry.
 */
static inline uint64
shtext_add_digits(uint64 *digit, uint64 a, uint64 b)
{
	uint64		half = *digit ^ a;
	uint64		carry = (*digit & a) | (half & b);

	*digit = half ^ b;
	return carry;
}

/*
 * Add up 2^level numbers, the digits of whose sum are added to digits[0 ..
 * level - 1]; returns the carry, of weight 2^level.
 */
static pg_attribute_always_inline uint64
shtext_add_two(uint64 *digits, const uint64 *numbers)
{
	return shtext_add_digits(&digits[0], numbers[0], numbers[1]);
}

static pg_attribute_always_inline uint64
shtext_add_four(uint64 *digits, const uint64 *numbers)
{
	uint64		a = shtext_add_two(digits, numbers);
	uint64		b = shtext_add_two(digits, numbers + 2);

	return shtext_add_digits(&digits[1], a, b);
}

static pg_attribute_always_inline uint64
shtext_add_eight(uint64 *digits, const uint64 *numbers)
{
	uint64		a = shtext_add_four(digits, numbers);
	uint64		b = shtext_add_four(digits, numbers + 4);

	return shtext_add_digits(&digits[2], a, b);
}

/*
 * Add 2^digit to the counters whose bit is set in carry.
 */
static inline void
shtext_add_carry(uint64 *digits, int digit, uint64 carry)
{
	while (carry != 0)
	{
		uint64		sum = digits[digit];

		digits[digit] = sum ^ carry;
		carry &= sum;
		digit++;
	}
}

#endif							/* SIMHASH_TEXT_TEXT_KERNELS_H */
