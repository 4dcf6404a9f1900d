/*-------------------------------------------------------------------------
 *
 * similar.h
 *	  Similar documents.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_SIMILAR_H
#define SIMHASH_TEXT_SIMILAR_H

#include "fmgr.h"

extern int	shtext_similar_radius(double similarity);

/*
 * Documents, texts or byte strings, that share so much of their features share one of
 * their first bands within a radius, with a probability of some .99.  Returns how many
 * bands these are, of simhash_bands_text or simhash_bands_bytea.  Neither they nor the
 * radius fall as the similarity falls.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if the similarity is below .5 or above 1.
 */
extern int	shtext_similar_bands(double similarity, bool of_bytea, int *radius);

#endif							/* SIMHASH_TEXT_SIMILAR_H */
