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

#include "bits/distance.h"

/*
 * As shbits_similar_bands, but raises ERRCODE_INVALID_PARAMETER_VALUE if the similarity is
 * out of range.
 */
extern int	shtext_similar_bands(double similarity, ShBitsDocuments documents, int *radius);

/*
 * The share of the features of either of two documents that both have, as an operator class
 * of the extension counts it.  Returns false if either has none, or if they are titles with
 * different numbers.
 */
extern bool shtext_similarity(const struct varlena *a, const struct varlena *b,
							  ShBitsDocuments documents, double *similarity);

#endif							/* SIMHASH_TEXT_SIMILAR_H */
