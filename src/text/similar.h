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

/*
 * As shbits_similar_bands, but raises ERRCODE_INVALID_PARAMETER_VALUE if the similarity is
 * out of range.
 */
extern int	shtext_similar_bands(double similarity, bool of_bytea, int *radius);

/*
 * The share of the features of either of two documents that both have, as an operator class
 * of the extension counts it.  Returns false if either has none.
 */
extern bool shtext_similarity(const struct varlena *a, const struct varlena *b, bool of_bytea,
							  double *similarity);

#endif							/* SIMHASH_TEXT_SIMILAR_H */
