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

static int	filter_choose(const uint64 *keys, int nkeys, uint64 query,
						  int radius, uint16 *found);
static int	stored_choose(const char *keys, int width, int nkeys, uint64 query,
						  int radius, uint16 *found);
static uint64 product_choose(const uint64 *a, int na, const uint64 *b, int nb,
							 int radius, uint64 *others);
static uint64 pairs_choose(const uint64 *keys, int nkeys, int radius, uint64 *others);
static int	bytes_choose(const uint8 *a, const uint8 *b, int nbytes);

int			(*shbits_filter) (const uint64 *keys, int nkeys, uint64 query,
							  int radius, uint16 *found) = filter_choose;
int			(*shbits_filter_stored) (const char *keys, int width, int nkeys, uint64 query,
									 int radius, uint16 *found) = stored_choose;
uint64		(*shbits_filter_product) (const uint64 *a, int na, const uint64 *b, int nb,
									  int radius, uint64 *others) = product_choose;
uint64		(*shbits_filter_pairs) (const uint64 *keys, int nkeys, int radius,
									uint64 *others) = pairs_choose;
int			(*shbits_distance_bytes) (const uint8 *a, const uint8 *b, int nbytes) = bytes_choose;

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

static int
stored_portable(const char *keys, int width, int nkeys, uint64 query,
				int radius, uint16 *found)
{
	int			nfound = 0;

	query &= shbits_bytes_mask(width);
	for (int i = 0; i < nkeys; i++, keys += width)
	{
		if (unlikely(popcount_inline(shbits_load_bytes(keys, width) ^ query) <= radius))
			found[nfound++] = i;
	}
	return nfound;
}

/* a bit for each of keys[from .. nkeys - 1] that is within radius bits of key */
static inline uint64
near_portable(uint64 key, const uint64 *keys, int from, int nkeys, int radius)
{
	uint64		found = 0;

	for (int i = from; i < nkeys; i++)
	{
		if (unlikely(popcount_inline(key ^ keys[i]) <= radius))
			found |= UINT64CONST(1) << i;
	}
	return found;
}

static uint64
product_portable(const uint64 *a, int na, const uint64 *b, int nb,
				 int radius, uint64 *others)
{
	uint64		found = 0;

	for (int i = 0; i < na; i++)
	{
		others[i] = near_portable(a[i], b, 0, nb, radius);
		found |= (uint64) (others[i] != 0) << i;
	}
	return found;
}

static uint64
pairs_portable(const uint64 *keys, int nkeys, int radius, uint64 *others)
{
	uint64		found = 0;

	for (int i = 0; i < nkeys; i++)
	{
		others[i] = near_portable(keys[i], keys, i + 1, nkeys, radius);
		found |= (uint64) (others[i] != 0) << i;
	}
	return found;
}

static int
bytes_portable(const uint8 *a, const uint8 *b, int nbytes)
{
	int			result = 0;

	for (; nbytes >= sizeof(uint64); nbytes -= sizeof(uint64))
	{
		uint64		x;
		uint64		y;

		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
		result += popcount_inline(x ^ y);
		a += sizeof(x);
		b += sizeof(y);
	}
	if (nbytes > 0)
		result += popcount_inline(shbits_load_some(a, nbytes) ^ shbits_load_some(b, nbytes));
	return result;
}

/* the kernels for one kind of CPU; NULL where another is as fast */
typedef struct Kernels
{
	const char *name;
	shbits_filter_function filter;
	shbits_stored_function stored;
	shbits_product_function product;
	shbits_pairs_function pairs;
	shbits_bytes_function bytes;
} Kernels;

static const Kernels best_first[] = {
#ifdef SHBITS_X86_KERNELS
	{"avx512", shbits_filter_avx512, shbits_stored_avx512, shbits_product_avx512,
	shbits_pairs_avx512, shbits_bytes_avx512},
	{"avx2", shbits_filter_avx2, shbits_stored_avx2, shbits_product_avx2, NULL,
	shbits_bytes_avx2},
	{"popcnt", shbits_filter_popcnt, shbits_stored_popcnt, shbits_product_popcnt,
	shbits_pairs_popcnt, shbits_bytes_popcnt},
#endif
	{"portable", filter_portable, stored_portable, product_portable, pairs_portable,
	bytes_portable}
};

/*
 * Can the CPU run the kernels of a name?
 */
static bool
can_run(const char *name)
{
#ifdef SHBITS_X86_KERNELS
	/* these also tell whether the operating system saves the registers */
	__builtin_cpu_init();
	if (strcmp(name, "avx512") == 0)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
			__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vpopcntdq");
	if (strcmp(name, "avx2") == 0)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
	if (strcmp(name, "popcnt") == 0)
		return __builtin_cpu_supports("popcnt");
#endif
	return strcmp(name, "portable") == 0;
}

/*
 * The kernels of a name, or NULL if there are none that the CPU can run.
 */
static const Kernels *
find_kernels(const char *name)
{
	for (int i = 0; i < lengthof(best_first); i++)
	{
		if (strcmp(best_first[i].name, name) == 0 && can_run(name))
			return &best_first[i];
	}
	return NULL;
}

shbits_filter_function
shbits_filter_kernel(const char *name)
{
	const Kernels *kernels = find_kernels(name);

	return kernels != NULL ? kernels->filter : NULL;
}

shbits_stored_function
shbits_stored_kernel(const char *name)
{
	const Kernels *kernels = find_kernels(name);

	return kernels != NULL ? kernels->stored : NULL;
}

shbits_product_function
shbits_product_kernel(const char *name)
{
	const Kernels *kernels = find_kernels(name);

	return kernels != NULL ? kernels->product : NULL;
}

shbits_pairs_function
shbits_pairs_kernel(const char *name)
{
	const Kernels *kernels = find_kernels(name);

	return kernels != NULL ? kernels->pairs : NULL;
}

shbits_bytes_function
shbits_bytes_kernel(const char *name)
{
	const Kernels *kernels = find_kernels(name);

	return kernels != NULL ? kernels->bytes : NULL;
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
		kernel = shbits_filter_kernel(best_first[i].name);

	shbits_filter = kernel;
	return kernel(keys, nkeys, query, radius, found);
}

/* the first call of shbits_filter_stored */
static int
stored_choose(const char *keys, int width, int nkeys, uint64 query, int radius, uint16 *found)
{
	shbits_stored_function kernel = NULL;

	for (int i = 0; kernel == NULL && i < lengthof(best_first); i++)
		kernel = shbits_stored_kernel(best_first[i].name);

	shbits_filter_stored = kernel;
	return kernel(keys, width, nkeys, query, radius, found);
}

/* the first call of shbits_filter_product */
static uint64
product_choose(const uint64 *a, int na, const uint64 *b, int nb, int radius, uint64 *others)
{
	shbits_product_function kernel = NULL;

	for (int i = 0; kernel == NULL && i < lengthof(best_first); i++)
		kernel = shbits_product_kernel(best_first[i].name);

	shbits_filter_product = kernel;
	return kernel(a, na, b, nb, radius, others);
}

/* the first call of shbits_filter_pairs */
static uint64
pairs_choose(const uint64 *keys, int nkeys, int radius, uint64 *others)
{
	shbits_pairs_function kernel = NULL;

	for (int i = 0; kernel == NULL && i < lengthof(best_first); i++)
		kernel = shbits_pairs_kernel(best_first[i].name);

	shbits_filter_pairs = kernel;
	return kernel(keys, nkeys, radius, others);
}

/* the first call of shbits_distance_bytes */
static int
bytes_choose(const uint8 *a, const uint8 *b, int nbytes)
{
	shbits_bytes_function kernel = NULL;

	for (int i = 0; kernel == NULL && i < lengthof(best_first); i++)
		kernel = shbits_bytes_kernel(best_first[i].name);

	shbits_distance_bytes = kernel;
	return kernel(a, b, nbytes);
}
