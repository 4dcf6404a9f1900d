/*-------------------------------------------------------------------------
 *
 * document.h
 *	  Reading the arguments of SQL functions: documents, and their features.
 *
 * What this declares is defined in digits.c and document.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_DOCUMENT_H
#define SIMHASH_TEXT_DOCUMENT_H

#include "tsearch/ts_type.h"
#include "utils/array.h"

#include "text/normalize.h"

/* messages of shtext_elements */
#define SHTEXT_NULL_FEATURE	gettext_noop("array of features must not contain nulls")
#define SHTEXT_NULL_WEIGHT	gettext_noop("array of weights must not contain nulls")

/* A text whose features are extracted. */
typedef struct ShTextReader
{
	ShTextUnit	unit;			/* of the windows */
	ShTextNormalizer normalizer;
	ShTextBuffer buffer;		/* read, and not discarded yet */
} ShTextReader;

extern int	shtext_checked_shingle(int32 shingle);
extern ShTextUnit shtext_unit_named(const text *name);

extern void shtext_reader_begin(ShTextReader *reader, const text *document, ShTextUnit unit);
extern bool shtext_reader_next(ShTextReader *reader, ShTextWindows *windows);
extern void shtext_reader_end(ShTextReader *reader);

extern int	shtext_elements(ArrayType *array, const char *message, Datum **elements);

/* Features, whose hashes can be passed to a consumer any number of times. */
typedef struct ShTextFeatures
{
	void		(*read) (const struct ShTextFeatures *features,
						 ShTextConsumer consumer, void *state);
	const struct varlena *document; /* NULL if it is an array */
	int			shingle;
	ShTextUnit	unit;
	bool		only_whole;		/* a document of fewer units has no feature */
	const bool *enough;			/* unless NULL: a text is read no further once
								 * this is set */
	bool		once;			/* a lexeme counts once, not for each position */
	int			nelements;
	Datum	   *elements;
	uint64		(*hash) (Datum element);
} ShTextFeatures;

/*
 * The features of a document, which must be detoasted and live as long as they do.
 * The other arguments have been checked.  Runs are words of a text, of which one
 * with fewer words has none; an array has elements of type text, or hashes.
 *
 * The last one raises ERRCODE_NULL_VALUE_NOT_ALLOWED for a null element.
 */
extern ShTextFeatures shtext_features_of_text(const text *document, int shingle,
											  ShTextUnit unit);
extern ShTextFeatures shtext_features_of_runs(const text *document, int words);
extern ShTextFeatures shtext_features_of_bytes(const bytea *document, int shingle);
extern ShTextFeatures shtext_features_of_tsvector(TSVector document, bool once);
extern ShTextFeatures shtext_features_of_array(ArrayType *array);

extern ShTextBuffer shtext_numbers(const text *document);

/* A consumer of hashes, which appends them to a ShTextHashes. */
extern void shtext_keep_hashes(void *hashes, const uint64 *more, int nmore);

#endif							/* SIMHASH_TEXT_DOCUMENT_H */
