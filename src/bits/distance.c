/*-------------------------------------------------------------------------
 *
 * distance.c
 *	  Choosing kernels of shbits_filter and similar functions, and the portable
 *	  ones; and the bands of similar documents.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits/distance.h"

/*
 * Number of bits set, inline.
 *
 * Where the instruction set we compile for has a population count, the
 * compiler's built-in is that; elsewhere it is a call to a library function
 * that works with a table, and adding up the bits in place is faster.
 */
static inline int
popcount_inline(uint64 x)
{
#if defined(__aarch64__) || defined(__POPCNT__)
	return __builtin_popcountll(x);
#else
	x -= (x >> 1) & UINT64CONST(0x5555555555555555);
	x = (x & UINT64CONST(0x3333333333333333)) +
		((x >> 2) & UINT64CONST(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64CONST(0x0f0f0f0f0f0f0f0f);
	return (x * UINT64CONST(0x0101010101010101)) >> 56;
#endif
}

#define SCALAR(name)	name ## _portable
#define SCALAR_TARGET
#define SCALAR_COUNT(x) popcount_inline(x)
#include "bits/scalar_kernels.h"

static const ShBitsKernels kernels_portable = {
	"portable", stored_portable, product_portable, pairs_portable, bytes_portable
};

static const ShBitsKernels *const best_first[] = {
#ifdef SHBITS_X86_KERNELS
	&shbits_kernels_avx512,
	&shbits_kernels_avx2,
	&shbits_kernels_popcnt,
#endif
#ifdef SHBITS_NEON_KERNELS
	&shbits_kernels_neon,
#endif
	&kernels_portable
};

/* until a choice is made */
const ShBitsKernels *shbits_kernels = &kernels_portable;

/*
 * Can the CPU run these?
 */
static bool
can_run(const ShBitsKernels *kernels)
{
#ifdef SHBITS_X86_KERNELS
	/* these also tell whether the operating system saves the registers */
	__builtin_cpu_init();
	if (kernels == &shbits_kernels_avx512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
			__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vpopcntdq");
	if (kernels == &shbits_kernels_avx2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
	if (kernels == &shbits_kernels_popcnt)
		return __builtin_cpu_supports("popcnt");
#endif
	return true;
}

void
shbits_choose_kernels(void)
{
	int			i = 0;

	while (!can_run(best_first[i]))
		i++;
	shbits_kernels = best_first[i];
}

const ShBitsKernels *
shbits_kernels_named(const char *name)
{
	for (int i = 0; i < lengthof(best_first); i++)
	{
		if (strcmp(best_first[i]->name, name) == 0 && can_run(best_first[i]))
			return best_first[i];
	}
	return NULL;
}

/*
 * Documents of a similarity share one of so many first bands within a radius.  The least
 * similarity is .5, and from one line to the next it is .05 more.
 */
typedef struct SimilarBands
{
	int			nbands;
	int			radius;
} SimilarBands;

/* the similarities are these numbers divided by STEPS */
#define STEPS					20
#define LEAST_STEP				10

/*
 * A similarity takes the line of the greatest one that is not above it.  The lines were
 * measured (test/bench/bands): of pairs that share so much, or up to .02 more, 99 % are
 * found in the mean of the kinds of edits and 97.5 % in each kind; below .7, 98.5 and 97 %.
 * Conditions and what is stored by them rest on these numbers.  Neither column falls
 * where the similarity does, so that what is similar at .8 is so at .6.
 *
 * The bands of texts are of runs of two words, of which two texts share more than of the
 * runs of three words that count.  Those of byte strings are of the runs that count.  Titles
 * have other bands, and all of them at each similarity, since an index has the condition of
 * =%= alone.
 */
static const SimilarBands similar_bands[][STEPS - LEAST_STEP + 1] = {
	[SHBITS_TEXTS] = {
		{32, 12}, {24, 11}, {16, 11}, {13, 10}, {11, 9}, {9, 9}, {7, 7}, {5, 6}, {4, 5}, {3, 3}, {1, 0}
	},
	[SHBITS_BYTEA] = {
		{31, 13}, {25, 13}, {18, 12}, {14, 11}, {12, 10}, {9, 9}, {8, 8}, {6, 6}, {4, 5}, {3, 3}, {1, 0}
	},
	[SHBITS_TITLES] = {
		{0}, {0}, {0}, {0}, {16, 9}, {16, 9}, {16, 9}, {16, 9}, {16, 9}, {16, 9}, {16, 9}
	}
};

double
shbits_similar_share(double share)
{
	for (double scale = 10; scale <= 1e4 && share == (float) share; scale *= 10)
	{
		double		decimal = rint(share * scale) / scale;

		if ((float) decimal == (float) share)
			return decimal;
	}
	return share;
}

int
shbits_similar_bands(double similarity, ShBitsDocuments documents, int *radius)
{
	const SimilarBands *bands = similar_bands[documents];
	int			step = STEPS;

	similarity = shbits_similar_share(similarity);
	/* this also rejects NaN */
	if (!(similarity >= (double) LEAST_STEP / STEPS && similarity <= 1))
		return 0;
	/* the quotients are the doubles that the decimals stand for */
	while (similarity < (double) step / STEPS)
		step--;
	*radius = bands[step - LEAST_STEP].radius;
	return bands[step - LEAST_STEP].nbands;
}
