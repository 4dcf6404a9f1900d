/*-------------------------------------------------------------------------
 *
 * document.h
 *	  Reading documents that are passed to SQL functions, and their features.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_DOCUMENT_H
#define SIMHASH_TEXT_DOCUMENT_H

#include "postgres.h"

#include "text/hash_stream.h"
#include "text/normalize.h"
#include "text/windows.h"

/* A text whose features are extracted. */
typedef struct ShTextReader
{
	ShTextUnit	unit;			/* of the windows */
	ShTextNormalizer normalizer;
	ShTextBuffer buffer;		/* read, and not discarded yet */
} ShTextReader;

extern int	shtext_checked_shingle(int32 shingle);
extern ShTextUnit shtext_unit_named(const text *name);

extern void shtext_reader_begin(ShTextReader *reader, const text *document,
								ShTextUnit unit);
extern bool shtext_reader_next(ShTextReader *reader, ShTextWindows *windows);
extern void shtext_reader_end(ShTextReader *reader);

extern void shtext_hash_text(const text *document, int shingle,
							 ShTextUnit unit, ShTextConsumer consumer,
							 void *state);
extern void shtext_hash_bytes(const bytea *document, int shingle,
							  ShTextConsumer consumer, void *state);

#endif							/* SIMHASH_TEXT_DOCUMENT_H */
