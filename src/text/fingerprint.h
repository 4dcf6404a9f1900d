/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *	  The fingerprint of a sequence of normalised characters.
 *
 * Its features are the windows of some consecutive characters, each as often
 * as it occurs.  Each is hashed; a bit of the fingerprint is set if it is set
 * in more than half of the hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_FINGERPRINT_H
#define SIMHASH_TEXT_FINGERPRINT_H

#include "postgres.h"

#include "text/majority.h"
#include "text/normalise.h"

typedef struct ShTextFingerprint
{
	int			shingle;		/* characters of a window */
	ShTextMajority majority;	/* of the hashes of the features so far */
} ShTextFingerprint;

extern void shtext_fingerprint_init(ShTextFingerprint *fingerprint,
									int shingle);
extern void shtext_fingerprint_add(ShTextFingerprint *fingerprint,
								   ShTextChunk *chunk);
extern bool shtext_fingerprint_result(ShTextFingerprint *fingerprint,
									  const ShTextChunk *chunk,
									  uint64 *result);

#endif							/* SIMHASH_TEXT_FINGERPRINT_H */
