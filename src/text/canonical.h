/*-------------------------------------------------------------------------
 *
 * canonical.h
 *	  Canonical decomposition, full case folding and canonical composition.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_CANONICAL_H
#define SIMHASH_TEXT_CANONICAL_H

#include "miscadmin.h"

#include "text/buffer.h"

/*
 * Check for interrupts now and then, at character i of a loop over some that are
 * normalized together: a text may have millions of marks in a row.
 */
static inline void
shtext_check_at(Size i)
{
	if (unlikely(i % 65536 == 65535))
		CHECK_FOR_INTERRUPTS();
}

extern void shtext_decompose(ShTextCodes *codes, uint32 code);
extern void shtext_fold_and_compose(ShTextCodes *decomposed,
									ShTextCodes *result);

#endif							/* SIMHASH_TEXT_CANONICAL_H */
