/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  Hashes of features, and of values: XXH3 in its 64-bit variant.
 *
 * They are the same on machines of either byte order, which those of the server
 * are not, and so must be the bytes that are hashed.  Fingerprints are made of
 * hashes of features, and hash partitions of hashes of values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_HASH_H
#define SIMHASH_TYPE_HASH_H

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

static inline uint64
shtype_hash(const void *bytes, size_t length)
{
	return XXH3_64bits(bytes, length);
}

/*
 * The same with a seed, of which 0 makes no difference.
 */
static inline uint64
shtype_hash_seeded(const void *bytes, size_t length, uint64 seed)
{
	return XXH3_64bits_withSeed(bytes, length, seed);
}

#endif							/* SIMHASH_TYPE_HASH_H */
