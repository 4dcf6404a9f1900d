/*-------------------------------------------------------------------------
 *
 * distance.c
 *	  Choosing kernels of shbits_filter and similar functions, and the portable
 *	  ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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
