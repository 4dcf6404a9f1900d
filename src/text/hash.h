/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  The hash of a feature.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_HASH_H
#define SIMHASH_TEXT_HASH_H

/*
 * The header comes from the system, as packagers prefer.  The results of XXH3
 * are final since 0.8.0; older versions give other hashes for some lengths.
 */
#if defined(__has_include)
#if !__has_include(<xxhash.h>)
#error "xxhash.h is missing: install libxxhash-dev or xxhash-devel, 0.8.0 or later"
#endif
#endif

/* inline everything, so that no library is needed at run time */
#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "xxhash.h is too old: fingerprints need the XXH3 of 0.8.0 or later"
#endif

/*
 * The 64-bit variant of XXH3, without a seed.  It is the same on machines of
 * either byte order.
 */
static inline uint64
shtext_hash(const char *bytes, size_t length)
{
	return XXH3_64bits(bytes, length);
}

#endif							/* SIMHASH_TEXT_HASH_H */
