/*-------------------------------------------------------------------------
 *
 * canonical.h
 *	  Canonical decomposition, full case folding and canonical composition.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_CANONICAL_H
#define SIMHASH_TEXT_CANONICAL_H

#include "text/buffer.h"

extern void shtext_decompose(ShTextCodes *codes, uint32 code);
extern void shtext_fold_and_compose(ShTextCodes *decomposed,
									ShTextCodes *result);

#endif							/* SIMHASH_TEXT_CANONICAL_H */
