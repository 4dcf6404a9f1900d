/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  The hash of a feature.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_HASH_H
#define SIMHASH_TEXT_HASH_H

#include "postgres.h"

/* the functions of the header alone, so that no library is needed at run time */
#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * XXH3 of 64 bits, without a seed.  It is the same number on machines of
 * either byte order.
 */
static inline uint64
shtext_hash(const char *bytes, size_t length)
{
	return XXH3_64bits(bytes, length);
}

#endif							/* SIMHASH_TEXT_HASH_H */
