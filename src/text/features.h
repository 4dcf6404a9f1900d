/*-------------------------------------------------------------------------
 *
 * features.h
 *	  The features of a document, by their hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_FEATURES_H
#define SIMHASH_TEXT_FEATURES_H

#include "text/document.h"

/* Features that can be read any number of times. */
typedef struct ShTextFeatures
{
	void		(*read) (const struct ShTextFeatures *features,
						 ShTextConsumer consumer, void *state);
	const struct varlena *document; /* of a text, or a byte string */
	int			shingle;
	ShTextUnit	unit;
	Datum	   *elements;		/* of an array */
	int			nelements;
} ShTextFeatures;

extern ShTextFeatures shtext_features_of_text(const text *document, int shingle,
											  ShTextUnit unit);
extern ShTextFeatures shtext_features_of_runs(const text *document, int words);
extern ShTextFeatures shtext_features_of_bytes(const bytea *document, int shingle);

#endif							/* SIMHASH_TEXT_FEATURES_H */
