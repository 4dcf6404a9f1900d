/*-------------------------------------------------------------------------
 *
 * jaccard.h
 *	  What two documents have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_JACCARD_H
#define SIMHASH_TEXT_JACCARD_H

#include "text/remembered.h"

/* the numbers of different features */
typedef struct ShTextOverlap
{
	uint64		in_a;
	uint64		in_b;
	uint64		in_both;
} ShTextOverlap;

/*
 * Sets the share of the features of either that both have.  Returns false if either has none.
 */
static inline bool
shtext_share(ShTextOverlap overlap, double *share)
{
	if (overlap.in_a == 0 || overlap.in_b == 0)
		return false;
	*share = (double) overlap.in_both / (overlap.in_a + overlap.in_b - overlap.in_both);
	return true;
}

extern ShTextOverlap shtext_overlap(const ShTextFeatures *a, ShTextRemembered *known_a,
									const ShTextFeatures *b, ShTextRemembered *known_b);
extern bool shtext_meet(const ShTextFeatures *a, const ShTextFeatures *b);

#endif							/* SIMHASH_TEXT_JACCARD_H */
