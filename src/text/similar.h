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

#endif							/* SIMHASH_TEXT_SIMILAR_H */
