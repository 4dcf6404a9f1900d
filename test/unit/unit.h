/*-------------------------------------------------------------------------
 *
 * unit.h
 *	  What the unit tests have in common: results as TAP, random numbers, and
 *	  memory beyond whose end nothing can be read or written.  Each exits with 1 if a
 *	  test failed, else 0.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEST_UNIT_H
#define SIMHASH_TEST_UNIT_H

#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#undef printf
#undef snprintf

static int	ntests = 0;
static int	nfailed = 0;

static void
report(bool passed, const char *subject, const char *what)
{
	/* a crash must not swallow what was reported before */
	setvbuf(stdout, NULL, _IOLBF, 0);

	ntests++;
	if (!passed)
		nfailed++;
	printf("%s %d - %s: %s\n", passed ? "ok" : "not ok", ntests, subject, what);
}

static inline void
skip(const char *subject, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++ntests, subject, why);
}

/* To be returned by main */
static int
finish(void)
{
	printf("1..%d\n", ntests);
	return nfailed > 0 ? 1 : 0;
}

/* splitmix64: each run tests the same values */
static inline uint64
next_random(void)
{
	static uint64 state = 42;
	uint64		x = (state += UINT64CONST(0x9e3779b97f4a7c15));

	x = (x ^ (x >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline int
naive_distance(uint64 a, uint64 b)
{
	int			result = 0;

	for (uint64 x = a ^ b; x != 0; x &= x - 1)
		result++;
	return result;
}

/* x with n different bits inverted, of so many least significant ones */
static inline uint64
flip_low_bits(uint64 x, int n, int bits)
{
	uint64		flips = 0;

	while (naive_distance(flips, 0) < n)
		flips |= UINT64CONST(1) << (next_random() % bits);
	return x ^ flips;
}

/* x with n different bits inverted */
static inline uint64
flip_bits(uint64 x, int n)
{
	return flip_low_bits(x, n, 64);
}

static inline void
bail_out(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

/*
 * Memory that ends where a page without access begins, so it has the alignment
 * of its size only.  The address sanitizer has such memory of its own, which
 * also shows what is read before it.
 */
static inline void *
allocate(size_t size)
{
#ifdef __SANITIZE_ADDRESS__
	void	   *result = malloc(size);

	if (result == NULL)
		bail_out("out of memory");
	return result;
#else
	size_t		page = sysconf(_SC_PAGESIZE);
	size_t		rounded = (size + page - 1) / page * page;
	char	   *start = mmap(NULL, rounded + page, PROT_READ | PROT_WRITE,
							 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED || mprotect(start + rounded, page, PROT_NONE) != 0)
		bail_out("out of memory");
	return start + rounded - size;
#endif
}

static inline void
release(void *memory, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
	free(memory);
#else
	size_t		page = sysconf(_SC_PAGESIZE);
	size_t		rounded = (size + page - 1) / page * page;

	munmap((char *) memory + size - rounded, rounded + page);
#endif
}

#endif							/* SIMHASH_TEST_UNIT_H */
