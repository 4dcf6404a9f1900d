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
extern bool shtext_has_similarity(PGFunction operator, PGFunction fingerprint);

#endif							/* SIMHASH_TEXT_SIMILAR_H */
