/*-------------------------------------------------------------------------
 *
 * jaccard.h
 *	  How many of their features two documents share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_JACCARD_H
#define SIMHASH_TEXT_JACCARD_H

#include "text/features.h"

extern bool shtext_jaccard(const ShTextFeatures *a, const ShTextFeatures *b,
						   double *result);
extern bool shtext_meet(const ShTextFeatures *a, const ShTextFeatures *b);

#endif							/* SIMHASH_TEXT_JACCARD_H */
