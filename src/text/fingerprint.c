/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  The fingerprint of a sequence of normalised characters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/fingerprint.h"

/* the functions of the header alone, so that no library is needed at run time */
#define XXH_INLINE_ALL
#include <xxhash.h>

/*
 * Hash of a feature: XXH3 of 64 bits, without a seed, over its UTF-8.  It is
 * the same number on machines of either byte order.
 */
static inline uint64
hash_feature(const char *bytes, size_t length)
{
	/* the usual length in Latin script; the compiler then drops all others */
	if (length == 4)
		return XXH3_64bits(bytes, 4);
	return XXH3_64bits(bytes, length);
}

/*
 * Start a fingerprint.  shingle, the number of characters of a window, is
 * 1..SHTEXT_CHUNK_CHARS - 1.
 */
void
shtext_fingerprint_init(ShTextFingerprint *fingerprint, int shingle)
{
	Assert(shingle > 0 && shingle < SHTEXT_CHUNK_CHARS);
	fingerprint->shingle = shingle;
	shtext_majority_init(&fingerprint->majority);
}

/*
 * Add all windows of a chunk.  Leaves in it what the windows that reach into
 * the next chunk begin with, so the text has to be read on into the same chunk.
 */
void
shtext_fingerprint_add(ShTextFingerprint *fingerprint, ShTextChunk *chunk)
{
	int			shingle = fingerprint->shingle;
	int			nwindows = chunk->nchars - shingle + 1;
	uint64		hashes[SHTEXT_CHUNK_CHARS];

	if (nwindows <= 0)
		return;
	for (int i = 0; i < nwindows; i++)
		hashes[i] = hash_feature(&chunk->bytes[chunk->start[i]],
								 chunk->start[i + shingle] - chunk->start[i]);
	shtext_majority_add(&fingerprint->majority, hashes, nwindows);
	shtext_chunk_keep_last(chunk, shingle - 1);
}

/*
 * Finish a fingerprint; chunk is as the last call of shtext_fingerprint_add
 * left it.  Returns false if there is no feature, and so no fingerprint.
 */
bool
shtext_fingerprint_result(ShTextFingerprint *fingerprint,
						  const ShTextChunk *chunk, uint64 *result)
{
	/* a text shorter than a window is one feature */
	if (fingerprint->majority.count == 0 && chunk->nchars > 0)
	{
		uint64		hash = hash_feature(chunk->bytes,
										chunk->start[chunk->nchars]);

		shtext_majority_add(&fingerprint->majority, &hash, 1);
	}

	*result = shtext_majority_result(&fingerprint->majority);
	return fingerprint->majority.count > 0;
}
