/*-------------------------------------------------------------------------
 *
 * distance.c
 *	  Choosing kernels for shbits_filter and similar functions, and the
 *	  portable ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "bits/distance.h"
#include "bits/filter_kernels.h"

static const char *const best_first[] = {"avx512", "avx2", "popcnt", "portable"};

static int	filter_portable(const uint64 *keys, int nkeys, uint64 query,
							int radius, uint16 *found);
static int	filter_choose(const uint64 *keys, int nkeys, uint64 query,
						  int radius, uint16 *found);
static uint64 product_choose(const uint64 *a, int na, const uint64 *b, int nb,
							 int radius, uint64 *others);
static uint64 pairs_choose(const uint64 *keys, int nkeys, int radius, uint64 *others);

int			(*shbits_filter) (const uint64 *keys, int nkeys, uint64 query,
							  int radius, uint16 *found) = filter_choose;
uint64		(*shbits_filter_product) (const uint64 *a, int na, const uint64 *b, int nb,
									  int radius, uint64 *others) = product_choose;
uint64		(*shbits_filter_pairs) (const uint64 *keys, int nkeys, int radius,
									uint64 *others) = pairs_choose;

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

static int
filter_portable(const uint64 *keys, int nkeys, uint64 query,
				int radius, uint16 *found)
{
	int			nfound = 0;

	for (int i = 0; i < nkeys; i++)
	{
		if (unlikely(popcount_inline(keys[i] ^ query) <= radius))
			found[nfound++] = i;
	}
	return nfound;
}

static uint64
product_portable(const uint64 *a, int na, const uint64 *b, int nb,
				 int radius, uint64 *others)
{
	uint64		found = 0;

	for (int i = 0; i < na; i++)
	{
		others[i] = 0;
		for (int j = 0; j < nb; j++)
		{
			if (unlikely(popcount_inline(a[i] ^ b[j]) <= radius))
				others[i] |= UINT64CONST(1) << j;
		}
		if (others[i] != 0)
			found |= UINT64CONST(1) << i;
	}
	return found;
}

static uint64
pairs_portable(const uint64 *keys, int nkeys, int radius, uint64 *others)
{
	uint64		found = 0;

	for (int i = 0; i < nkeys; i++)
	{
		others[i] = 0;
		for (int j = i + 1; j < nkeys; j++)
		{
			if (unlikely(popcount_inline(keys[i] ^ keys[j]) <= radius))
				others[i] |= UINT64CONST(1) << j;
		}
		if (others[i] != 0)
			found |= UINT64CONST(1) << i;
	}
	return found;
}

shbits_filter_function
shbits_filter_kernel(const char *name)
{
	if (strcmp(name, "portable") == 0)
		return filter_portable;

#ifdef SHBITS_X86_KERNELS
	/* these also tell whether the operating system saves the registers */
	__builtin_cpu_init();
	if (strcmp(name, "popcnt") == 0 &&
		__builtin_cpu_supports("popcnt"))
		return shbits_filter_popcnt;
	if (strcmp(name, "avx2") == 0 &&
		__builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("popcnt"))
		return shbits_filter_avx2;
	if (strcmp(name, "avx512") == 0 &&
		__builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512vpopcntdq"))
		return shbits_filter_avx512;
#endif

	return NULL;
}

/*
 * The first call of shbits_filter: choose a kernel, best first, and let all
 * further calls go there.
 */
static int
filter_choose(const uint64 *keys, int nkeys, uint64 query,
			  int radius, uint16 *found)
{
	shbits_filter_function kernel = NULL;

	for (int i = 0; kernel == NULL && i < lengthof(best_first); i++)
		kernel = shbits_filter_kernel(best_first[i]);

	shbits_filter = kernel;
	return kernel(keys, nkeys, query, radius, found);
}

shbits_product_function
shbits_product_kernel(const char *name)
{
	if (strcmp(name, "portable") == 0)
		return product_portable;

#ifdef SHBITS_X86_KERNELS
	__builtin_cpu_init();
	if (strcmp(name, "avx2") == 0 &&
		__builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("popcnt"))
		return shbits_product_avx2;
	if (strcmp(name, "popcnt") == 0 &&
		__builtin_cpu_supports("popcnt"))
		return shbits_product_popcnt;
	if (strcmp(name, "avx512") == 0 &&
		__builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512vpopcntdq"))
		return shbits_product_avx512;
#endif

	return NULL;
}

/* the first call of shbits_filter_product */
static uint64
product_choose(const uint64 *a, int na, const uint64 *b, int nb, int radius, uint64 *others)
{
	shbits_product_function kernel = NULL;

	for (int i = 0; kernel == NULL && i < lengthof(best_first); i++)
		kernel = shbits_product_kernel(best_first[i]);

	shbits_filter_product = kernel;
	return kernel(a, na, b, nb, radius, others);
}

shbits_pairs_function
shbits_pairs_kernel(const char *name)
{
	if (strcmp(name, "portable") == 0)
		return pairs_portable;

#ifdef SHBITS_X86_KERNELS
	__builtin_cpu_init();
	if (strcmp(name, "popcnt") == 0 &&
		__builtin_cpu_supports("popcnt"))
		return shbits_pairs_popcnt;
	if (strcmp(name, "avx512") == 0 &&
		__builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512vpopcntdq"))
		return shbits_pairs_avx512;
#endif

	return NULL;
}

/* the first call of shbits_filter_pairs */
static uint64
pairs_choose(const uint64 *keys, int nkeys, int radius, uint64 *others)
{
	shbits_pairs_function kernel = NULL;

	for (int i = 0; kernel == NULL && i < lengthof(best_first); i++)
		kernel = shbits_pairs_kernel(best_first[i]);

	shbits_filter_pairs = kernel;
	return kernel(keys, nkeys, radius, others);
}
