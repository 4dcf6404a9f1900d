/*-------------------------------------------------------------------------
 *
 * document.c
 *	  Reading the arguments of SQL functions: documents, and features.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "compat.h"
#include "text/document.h"
#include "text/encoding.h"

/*
 * Check the argument "shingle", the number of units of a window.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if it is out of range.
 */
int
shtext_checked_shingle(int32 shingle)
{
	if (shingle < 1 || shingle > SHTEXT_MAX_SHINGLE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingle %d is out of range", shingle),
				 errdetail("The size of a shingle must be between 1 and %d units.", SHTEXT_MAX_SHINGLE)));
	return shingle;
}

/*
 * The unit with the given name, SHTEXT_CHAR or SHTEXT_WORD.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if there is none.
 */
ShTextUnit
shtext_unit_named(const text *name)
{
	const char *bytes = VARDATA_ANY(name);
	Size		length = VARSIZE_ANY_EXHDR(name);

	if (length == 4 && memcmp(bytes, "char", 4) == 0)
		return SHTEXT_CHAR;
	if (length == 4 && memcmp(bytes, "word", 4) == 0)
		return SHTEXT_WORD;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized unit \"%s\"", text_to_cstring(name)),
			 errhint("Valid units are \"char\" and \"word\".")));
	return SHTEXT_CHAR;			/* keep compiler quiet */
}

/*
 * The unit of the windows.  With the encoding SQL_ASCII, a character is a
 * byte.
 */
static ShTextUnit
unit_of_bytes(ShTextUnit unit)
{
	if (unit == SHTEXT_CHAR && GetDatabaseEncoding() == PG_SQL_ASCII)
		return SHTEXT_BYTE;
	return unit;
}

/*
 * Start to read a text, which must be detoasted and must not be moved.  unit
 * is SHTEXT_CHAR or SHTEXT_WORD.
 */
void
shtext_reader_begin(ShTextReader *reader, const text *document,
					ShTextUnit unit)
{
	reader->unit = unit_of_bytes(unit);
	shtext_normalizer_init(&reader->normalizer, VARDATA_ANY(document),
						   VARSIZE_ANY_EXHDR(document),
						   GetDatabaseEncoding(), unit);
	shtext_buffer_init(&reader->buffer);
}

/*
 * Read the next piece, after which the caller takes its windows.  Returns
 * false after the last.
 */
bool
shtext_reader_next(ShTextReader *reader, ShTextWindows *windows)
{
	/* of earlier pieces, keep only the beginning of later windows */
	shtext_windows_discard(windows, &reader->buffer);
	return shtext_normalize(&reader->normalizer, &reader->buffer);
}

/*
 * Free the memory of the reader.
 */
void
shtext_reader_end(ShTextReader *reader)
{
	shtext_normalizer_finish(&reader->normalizer);
	shtext_buffer_free(&reader->buffer);
}

/*
 * Pass the hashes of the windows of a text to a consumer, in order, and of a text
 * with fewer units than a window its own, if wanted.
 */
static void
hash_text(const text *document, int shingle, ShTextUnit unit, bool short_too,
		  ShTextConsumer consumer, void *state)
{
	ShTextReader reader;
	ShTextStream stream;

	shtext_reader_begin(&reader, document, unit);
	shtext_stream_init(&stream, reader.unit, shingle, consumer, state);
	while (shtext_reader_next(&reader, &stream.windows))
		shtext_stream_add(&stream, &reader.buffer);
	shtext_stream_finish(&stream, short_too ? &reader.buffer : NULL);
	shtext_reader_end(&reader);
}

/*
 * Pass the hashes of the features of a text to a consumer.  The arguments are
 * those of shtext_reader_begin, and have been checked.
 */
void
shtext_hash_text(const text *document, int shingle, ShTextUnit unit,
				 ShTextConsumer consumer, void *state)
{
	hash_text(document, shingle, unit, true, consumer, state);
}

/*
 * The same for its runs of some words, of which a shorter text has none.
 */
void
shtext_hash_runs(const text *document, int words, ShTextConsumer consumer,
				 void *state)
{
	hash_text(document, words, SHTEXT_WORD, false, consumer, state);
}

/*
 * The same for a byte string.
 */
void
shtext_hash_bytes(const bytea *document, int shingle, ShTextConsumer consumer,
				  void *state)
{
	ShTextBuffer buffer;
	ShTextStream stream;

	/* the buffer is only read */
	buffer.bytes = VARDATA_ANY(document);
	buffer.length = buffer.size = VARSIZE_ANY_EXHDR(document);
	shtext_stream_init(&stream, SHTEXT_BYTE, shingle, consumer, state);
	shtext_stream_add(&stream, &buffer);
	shtext_stream_finish(&stream, &buffer);
}

/*
 * The elements of an array of any number of dimensions, whose type is text or
 * one of 8 bytes; returns how many.
 *
 * Raises ERRCODE_NULL_VALUE_NOT_ALLOWED, with a message that has not been
 * translated yet, if one of them is null.
 */
int
shtext_elements(ArrayType *array, const char *message, Datum **elements)
{
	bool		by_value = ARR_ELEMTYPE(array) != TEXTOID;
	int			nelements;

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg_internal("%s", _(message))));
	deconstruct_array(array, ARR_ELEMTYPE(array),
					  by_value ? 8 : -1, by_value,
					  by_value ? TYPALIGN_DOUBLE : TYPALIGN_INT,
					  elements, NULL, &nelements);
	return nelements;
}

/*
 * The hash of a feature that is a text.
 */
uint64
shtext_element_hash_text(Datum element)
{
	text	   *feature = DatumGetTextPP(element);

	return shtext_hash_converted(VARDATA_ANY(feature),
								 VARSIZE_ANY_EXHDR(feature));
}

/*
 * The hash of a feature that is passed as a hash.
 */
uint64
shtext_element_hash_bigint(Datum element)
{
	return (uint64) DatumGetInt64(element);
}

/* hashes that are collected for a consumer */
typedef struct Collected
{
	ShTextConsumer consumer;
	void	   *state;			/* of the consumer */
	int			count;
	uint64		hashes[SHTEXT_BATCH];
} Collected;

static void
pass_collected(Collected *collected)
{
	if (collected->count > 0)
		collected->consumer(collected->state, collected->hashes, collected->count);
	collected->count = 0;
}

static void
collect_hash(Collected *collected, uint64 hash)
{
	collected->hashes[collected->count++] = hash;
	if (collected->count == SHTEXT_BATCH)
		pass_collected(collected);
}

/*
 * Pass the hashes of lexemes to a consumer, each as often as it has positions,
 * or once if it has none or if that is enough.
 */
void
shtext_hash_tsvector(TSVector document, bool once, ShTextConsumer consumer, void *state)
{
	const WordEntry *entries = ARRPTR(document);
	Collected	collected;

	collected.consumer = consumer;
	collected.state = state;
	collected.count = 0;
	for (int i = 0; i < document->size; i++)
	{
		int			times = once ? 1 : Max(POSDATALEN(document, &entries[i]), 1);
		uint64		hash = shtext_hash_converted(STRPTR(document) + entries[i].pos,
												 entries[i].len);

		CHECK_FOR_INTERRUPTS();
		while (times-- > 0)
			collect_hash(&collected, hash);
	}
	pass_collected(&collected);
}

/*
 * The same for the elements of an array.
 */
void
shtext_hash_elements(const Datum *elements, int nelements, ShTextElementHash hash,
					 ShTextConsumer consumer, void *state)
{
	Collected	collected;

	collected.consumer = consumer;
	collected.state = state;
	collected.count = 0;
	for (int i = 0; i < nelements; i++)
	{
		CHECK_FOR_INTERRUPTS();
		collect_hash(&collected, hash(elements[i]));
	}
	pass_collected(&collected);
}
