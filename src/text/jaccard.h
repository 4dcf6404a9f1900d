/*-------------------------------------------------------------------------
 *
 * jaccard.h
 *	  The Jaccard coefficient of two documents.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_JACCARD_H
#define SIMHASH_TEXT_JACCARD_H

#include "text/features.h"

extern bool shtext_jaccard(const ShTextFeatures *a, const ShTextFeatures *b,
						   double *result);

#endif							/* SIMHASH_TEXT_JACCARD_H */
