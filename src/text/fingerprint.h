/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *	  The fingerprint of a document.
 *
 * Its features are windows of some consecutive units, each as often as it
 * occurs.  Each is hashed; a bit of the fingerprint is set if it is set in
 * more than half of the hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_FINGERPRINT_H
#define SIMHASH_TEXT_FINGERPRINT_H

#include "postgres.h"

#include "text/majority.h"
#include "text/windows.h"

/* hashes that are collected before they are counted: 8 kB, to stay in cache */
#define SHTEXT_BATCH		1024

typedef struct ShTextFingerprint
{
	ShTextWindows windows;
	ShTextMajority majority;	/* of the hashes that were counted */
	int			nhashes;
	uint64		hashes[SHTEXT_BATCH];	/* to be counted */
} ShTextFingerprint;

extern void shtext_fingerprint_init(ShTextFingerprint *fingerprint,
									ShTextUnit unit, int shingle);
extern void shtext_fingerprint_add(ShTextFingerprint *fingerprint,
								   const ShTextBuffer *buffer);
extern bool shtext_fingerprint_result(ShTextFingerprint *fingerprint,
									  const ShTextBuffer *buffer,
									  uint64 *result);

#endif							/* SIMHASH_TEXT_FINGERPRINT_H */
