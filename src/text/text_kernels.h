/*-------------------------------------------------------------------------
 *
 * text_kernels.h
 *	  The pseudorandom numbers of a feature, from which sketches are made, and
 *	  the inner loops of a fingerprint, for what the CPU can do.
 *
 * All numbers follow from the hash of a feature.  sketch.c says what they are
 * for.
 *
 * The kernels are defined in text_kernels.c and text_kernels_x86.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_TEXT_KERNELS_H
#define SIMHASH_TEXT_TEXT_KERNELS_H

#include "bits/distance.h"
#include "text/unicode.h"

#define SHTEXT_BINS			64

/* the first bits of a time are a position, and those of a step an odd number */
#define SHTEXT_POSITION_BITS	6
#define SHTEXT_POSITION_SHIFT	(16 - SHTEXT_POSITION_BITS)

/*
 * The first number that the generator SplitMix64 gives for a seed.  Different
 * seeds have different numbers, which look random even if the seeds are 1, 2
 * and 3.
 */
static inline uint64
shtext_mix(uint64 seed)
{
	uint64		x = seed + UINT64CONST(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64CONST(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64CONST(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/*
 * The number of a feature, from which all of the following are derived.
 */
static inline uint64
shtext_number(uint64 hash)
{
	return shtext_mix(hash);
}

/*
 * The bin into which it falls, and its value there.
 */
static inline int
shtext_bin(uint64 number)
{
	return number % SHTEXT_BINS;
}

static inline uint32
shtext_value(uint64 number)
{
	return number >> 32;
}

/*
 * It visits bin b at the time (start + b * step) mod 2^16, which is even.  As
 * the step begins with an odd number of six bits, and has only 0 after it, the
 * first six bits of the times are different for all bins; the rest is the same.
 */
static inline uint16
shtext_start(uint64 number)
{
	return number >> 16 & 0xFFFE;
}

static inline uint16
shtext_step(uint64 number)
{
	return (number << 5 & 0xF800) | 1 << SHTEXT_POSITION_SHIFT;
}

/*
 * A fingerprint of more than 64 bits has several sketches, which must not
 * depend on each other.  In sketch p > 0, a feature has this hash in place of
 * its own.
 */
static inline uint64
shtext_hash_in_part(uint64 number, int p)
{
	return number ^ shtext_mix(p);
}

/* features that visit bins together, at most */
#define SHTEXT_VISITORS			1024

/*
 * Write the letters and digits of the bytes from next on, folded to lower case, to
 * *out.  Stops before end, at the last byte that is ASCII and followed by ASCII, or
 * up to 8 bytes sooner.  Returns where it stopped, and in *out the end of what is
 * written.  If there are more than 64 bytes, there must be room for 64 more.
 *
 * Of words, anything between two becomes one space after the first.  *in_word
 * tells whether the last character written belongs to a word.
 */
typedef const unsigned char *(*ShTextFold) (const unsigned char *next, const unsigned char *end,
											char **out, bool *in_word);

typedef struct ShTextKernels
{
	const char *name;
	ShTextFold	fold_chars;
	ShTextFold	fold_words;

	/*
	 * numbers[i] = shtext_mix(seeds[i]) for i in 0..n - 1; they may be in the
	 * same place.
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

extern const unsigned char *shtext_fold_chars_portable(const unsigned char *next,
													   const unsigned char *end,
													   char **out, bool *in_word);
extern const unsigned char *shtext_fold_words_portable(const unsigned char *next,
													   const unsigned char *end,
													   char **out, bool *in_word);
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
 * Write the normalization of an ASCII character; returns the end of what is
 * written.
 */
static pg_attribute_always_inline char *
shtext_write_ascii(char *out, unsigned char c, bool words, bool *in_word)
{
	uint8		folded = shtext_ascii_fold[c];

	/* always written: a branch would be hard to predict */
	*out = words && folded == 0 ? ' ' : folded;
	out += (folded != 0) | (words && *in_word);
	*in_word = words && folded != 0;
	return out;
}

#endif							/* SIMHASH_TEXT_TEXT_KERNELS_H */
