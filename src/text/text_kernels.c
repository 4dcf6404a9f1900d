/*-------------------------------------------------------------------------
 *
 * text_kernels.c
 *	  Choosing kernels, and the portable ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/text_kernels.h"

static const ShTextKernels kernels_portable = {
	.name = "portable",
	.fold_chars = shtext_fold_chars_portable,
	.fold_words = shtext_fold_words_portable,
	.mix_seeds = shtext_mix_seeds_portable,
	.visit_bins = shtext_visit_bins_portable,
	.last_bits = shtext_last_bits_portable
};

/* until a choice is made */
const ShTextKernels *shtext_kernels = &kernels_portable;

static pg_attribute_always_inline const unsigned char *
fold_ascii(const unsigned char *next, const unsigned char *end, char **out, bool *in_word, bool words)
{
	char	   *to = *out;
	bool		within = *in_word;

	while (end - next > 8 && shtext_nine_are_ascii(next))
	{
		for (int i = 0; i < 8; i++)
			to = shtext_write_ascii(to, next[i], words, &within);
		next += 8;
	}
	*out = to;
	*in_word = within;
	return next;
}

const unsigned char *
shtext_fold_chars_portable(const unsigned char *next, const unsigned char *end, char **out,
						   bool *in_word)
{
	return fold_ascii(next, end, out, in_word, false);
}

const unsigned char *
shtext_fold_words_portable(const unsigned char *next, const unsigned char *end, char **out,
						   bool *in_word)
{
	return fold_ascii(next, end, out, in_word, true);
}

void
shtext_mix_seeds_portable(const uint64 *seeds, int n, uint64 *numbers)
{
	for (int i = 0; i < n; i++)
		numbers[i] = shtext_mix(seeds[i]);
}

/*
 * Position by position, for as long as there is a bin that no feature has come
 * to.
 */
void
shtext_visit_bins_portable(uint16 *visits, uint64 bins, const uint64 *numbers,
						   const uint64 *brought, int n)
{
	struct
	{
		uint16		bin;		/* next to visit */
		uint16		stride;		/* from there to the one after it */
		uint16		time;
	}			visitors[SHTEXT_VISITORS];

	for (int i = 0; i < n; i++)
	{
		uint16		start = shtext_start(numbers[i]);
		unsigned	step = shtext_step(numbers[i]) >> SHTEXT_POSITION_SHIFT;

		/* the inverse of an odd number, modulo 64 */
		visitors[i].stride = step * (2 - step * step);
		visitors[i].bin = -(start >> SHTEXT_POSITION_SHIFT) * visitors[i].stride;
		visitors[i].time = start & ((1 << SHTEXT_POSITION_SHIFT) - 1);
	}

	for (int position = 0; bins != 0 && position < SHTEXT_BINS; position++)
	{
		for (int i = 0; i < n; i++)
		{
			int			bin = visitors[i].bin % SHTEXT_BINS;
			uint16		visit = visitors[i].time | (brought[i] >> bin & 1);

			visits[bin] = Min(visits[bin], visit);
			bins &= ~(UINT64CONST(1) << bin);
			visitors[i].bin += visitors[i].stride;
			visitors[i].time += 1 << SHTEXT_POSITION_SHIFT;
		}
	}
}

uint64
shtext_last_bits_portable(const uint32 *values, const uint16 *visits,
						  uint64 bins)
{
	uint64		result = 0;

	for (int bin = 0; bin < SHTEXT_BINS; bin++)
	{
		uint32		number = (bins >> bin & 1) ? visits[bin] : values[bin];

		result |= (uint64) (number & 1) << bin;
	}
	return result;
}

const ShTextKernels *
shtext_kernels_named(const char *name)
{
	if (strcmp(name, "portable") == 0)
		return &kernels_portable;

#ifdef SHBITS_X86_KERNELS
	/* these also tell whether the operating system saves the registers */
	__builtin_cpu_init();
	if (strcmp(name, "avx2") == 0 && __builtin_cpu_supports("avx2"))
		return &shtext_kernels_avx2;
	if (strcmp(name, "avx512") == 0 && __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq"))
		return &shtext_kernels_avx512;
	if (strcmp(name, "avx512vbmi2") == 0 &&
		shtext_kernels_named("avx512") != NULL &&
		__builtin_cpu_supports("avx512vbmi2") &&
		__builtin_cpu_supports("popcnt"))
		return &shtext_kernels_avx512vbmi2;
#endif

	return NULL;
}

/*
 * Choose the kernels, best first.
 */
void
shtext_choose_kernels(void)
{
	static const char *const names[] = {"avx512vbmi2", "avx512", "avx2", "portable"};
	const ShTextKernels *kernels = NULL;

	for (int i = 0; kernels == NULL && i < lengthof(names); i++)
		kernels = shtext_kernels_named(names[i]);
	shtext_kernels = kernels;
}
