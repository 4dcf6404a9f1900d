/*-------------------------------------------------------------------------
 *
 * text_kernels.c
 *	  Choosing kernels, and the portable ones.
 *
 * The 64 counters lie bit-sliced in 64-bit words, and so one logical operation
 * works on one digit of all of them.  A full adder takes five operations and,
 * with the numbers added up 16 at a time, about one of them is needed for
 * each number.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/hash.h"
#include "text/text_kernels.h"
#include "text/unicode.h"

/* numbers that are added in one go, 2^GROUP_DIGITS */
#define GROUP_SIZE		16
#define GROUP_DIGITS	4

static const ShTextKernels kernels_portable = {
	"portable", shtext_fold_ascii_portable, shtext_hash_fours_portable,
	shtext_count_bits_portable
};

const unsigned char *
shtext_fold_ascii_portable(const unsigned char *next,
						   const unsigned char *end, char **out)
{
	char	   *to = *out;

	while (end - next > 8)
	{
		uint64		a;
		uint64		b;

		memcpy(&a, next, sizeof(a));
		memcpy(&b, next + 1, sizeof(b));
		if ((a | b) & UINT64CONST(0x8080808080808080))
			break;

		for (int i = 0; i < 8; i++)
		{
			uint8		folded = shtext_ascii_fold[next[i]];

			/* written in any case: a branch would be hard to predict */
			*to = folded;
			to += (folded != 0);
		}
		next += 8;
	}
	*out = to;
	return next;
}

void
shtext_hash_fours_portable(const char *bytes, int n, uint64 *hashes)
{
	/* the compiler leaves of the hash what the constant length needs */
	for (int i = 0; i < n; i++)
		hashes[i] = shtext_hash(bytes + i, 4);
}

void
shtext_count_bits_portable(uint64 *digits, const uint64 *numbers, int n)
{
	int			i = 0;

	for (; i + GROUP_SIZE <= n; i += GROUP_SIZE)
	{
		uint64		a = shtext_add_eight(digits, &numbers[i]);
		uint64		b = shtext_add_eight(digits, &numbers[i + 8]);

		shtext_add_carry(digits, GROUP_DIGITS,
						 shtext_add_digits(&digits[3], a, b));
	}
	for (; i < n; i++)
		shtext_add_carry(digits, 0, numbers[i]);
}

const ShTextKernels *
shtext_kernels_named(const char *name)
{
	if (strcmp(name, "portable") == 0)
		return &kernels_portable;

#ifdef SHTEXT_X86_KERNELS
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
 * The first call chooses, best first.
 */
const ShTextKernels *
shtext_kernels(void)
{
	static const char *const names[] = {"avx512vbmi2", "avx512", "avx2", "portable"};
	static const ShTextKernels *chosen = NULL;

	for (int i = 0; chosen == NULL; i++)
		chosen = shtext_kernels_named(names[i]);
	return chosen;
}
