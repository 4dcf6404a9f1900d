/*-------------------------------------------------------------------------
 *
 * normalize.h
 *	  Extracting the characters, or words, of a text from which its fingerprint
 *	  is made.
 *
 * The text is canonically decomposed, its case is folded, and it is composed
 * again.  Then letters, marks and numbers of every script are kept, except
 * those that show nothing; everything else is dropped.  The result is UTF-8, no
 * matter what the encoding of the database is, and does not depend on the
 * locale.
 *
 * It is produced in blocks, so that a long text needs little memory.
 *
 * What this declares is defined in canonical.c and normalize.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_NORMALIZE_H
#define SIMHASH_TEXT_NORMALIZE_H

#include "text/windows.h"

/* canonical decomposition, full case folding and canonical composition */
extern void shtext_decompose(ShTextCodes *codes, uint32 code);
extern void shtext_fold_and_compose(ShTextCodes *decomposed,
									ShTextCodes *result);

/* A text that is being normalized.  Private to normalize.c. */
typedef struct ShTextNormalizer
{
	int			encoding;		/* of the text */
	ShTextUnit	unit;			/* SHTEXT_CHAR or SHTEXT_WORD */
	bool		in_word;		/* does the last word still need a space? */
	bool		at_end;			/* has all been written? */
	const char *rest;			/* what remains to be read, */
	Size		rest_length;	/* and its bytes */
	ShTextBuffer converted;		/* what was converted to UTF-8 last, */
	Size		converted_used; /* and how much of it has been written */
	ShTextCodes decomposed;		/* for canonical.c */
	ShTextCodes composed;
} ShTextNormalizer;

/*
 * Where a word stands in a text: the bytes of the characters that it was made of, and
 * what is between them.
 */
typedef struct ShTextPlace
{
	Size		start;
	Size		end;
} ShTextPlace;

/* The places of all words of a text, in order. */
typedef struct ShTextPlaces
{
	ShTextPlace *places;
	Size		length;
	Size		size;			/* allocated */
} ShTextPlaces;

extern void shtext_normalizer_init(ShTextNormalizer *normalizer,
								   const char *text, Size length,
								   int encoding, ShTextUnit unit);
extern bool shtext_normalize(ShTextNormalizer *normalizer,
							 ShTextBuffer *buffer);
extern void shtext_normalizer_finish(ShTextNormalizer *normalizer);
extern ShTextPlaces shtext_word_places(const char *text, Size length, int encoding);

#endif							/* SIMHASH_TEXT_NORMALIZE_H */
