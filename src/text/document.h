/*-------------------------------------------------------------------------
 *
 * document.h
 *	  Reading the arguments of SQL functions: documents, and features.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_DOCUMENT_H
#define SIMHASH_TEXT_DOCUMENT_H

#include "tsearch/ts_type.h"
#include "utils/array.h"

#include "text/hash_stream.h"
#include "text/normalize.h"
#include "text/windows.h"

/* messages of shtext_elements */
#define SHTEXT_NULL_FEATURE	gettext_noop("array of features must not contain nulls")
#define SHTEXT_NULL_WEIGHT	gettext_noop("array of weights must not contain nulls")

/* the hash of a feature that is passed as an element of an array */
typedef uint64 (*ShTextElementHash) (Datum element);

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
extern void shtext_hash_runs(const text *document, int words,
							 ShTextConsumer consumer, void *state);
extern void shtext_hash_bytes(const bytea *document, int shingle,
							  ShTextConsumer consumer, void *state);

extern int	shtext_elements(ArrayType *array, const char *message,
							Datum **elements);
extern uint64 shtext_element_hash_text(Datum element);
extern uint64 shtext_element_hash_bigint(Datum element);

extern void shtext_hash_tsvector(TSVector document, bool once, ShTextConsumer consumer,
								 void *state);
extern void shtext_hash_elements(const Datum *elements, int nelements, ShTextElementHash hash,
								 ShTextConsumer consumer, void *state);

#endif							/* SIMHASH_TEXT_DOCUMENT_H */
