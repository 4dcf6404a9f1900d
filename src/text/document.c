/*-------------------------------------------------------------------------
 *
 * document.c
 *	  Reading the arguments of SQL functions: documents, and their features.
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
#include "type/hash.h"

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
	memset(&reader->buffer, 0, sizeof(reader->buffer));
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
	shtext_free_array(reader->buffer.bytes);
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
 * Pass the hashes of the windows of a text to a consumer, in order, and of a text
 * with fewer units than a window its own.
 */
static void
read_text(const ShTextFeatures *features, ShTextConsumer consumer, void *state)
{
	ShTextReader reader;
	ShTextWindows windows;
	ShTextBatch batch;
	ShTextSpan	span;

	shtext_reader_begin(&reader, features->document, features->unit);
	shtext_windows_init(&windows, reader.unit, features->shingle);
	shtext_batch_init(&batch, consumer, state);
	while (!(features->enough && *features->enough) && shtext_reader_next(&reader, &windows))
	{
		shtext_batch_windows(&batch, &windows, &reader.buffer);
		if (features->enough)
			shtext_batch_finish(&batch);
	}
	if (!features->only_whole && shtext_windows_rest(&windows, &reader.buffer, &span))
		shtext_batch_add(&batch, shtype_hash(span.bytes, span.length));
	shtext_batch_finish(&batch);
	shtext_reader_end(&reader);
}

static void
read_bytes(const ShTextFeatures *features, ShTextConsumer consumer, void *state)
{
	ShTextBuffer buffer;
	ShTextWindows windows;
	ShTextBatch batch;
	ShTextSpan	span;

	/* the buffer is only read */
	buffer.bytes = VARDATA_ANY(features->document);
	buffer.length = buffer.size = VARSIZE_ANY_EXHDR(features->document);
	shtext_windows_init(&windows, SHTEXT_BYTE, features->shingle);
	shtext_batch_init(&batch, consumer, state);
	shtext_batch_windows(&batch, &windows, &buffer);
	if (shtext_windows_rest(&windows, &buffer, &span))
		shtext_batch_add(&batch, shtype_hash(span.bytes, span.length));
	shtext_batch_finish(&batch);
}

static void
read_lexemes(const ShTextFeatures *features, ShTextConsumer consumer, void *state)
{
	TSVector	document = (TSVector) features->document;
	const WordEntry *entries = ARRPTR(document);
	ShTextBatch batch;

	shtext_batch_init(&batch, consumer, state);
	for (int i = 0; i < document->size; i++)
	{
		int			times = features->once ? 1 : Max(POSDATALEN(document, &entries[i]), 1);
		uint64		hash = shtext_hash_converted(STRPTR(document) + entries[i].pos,
												 entries[i].len);

		CHECK_FOR_INTERRUPTS();
		while (times-- > 0)
			shtext_batch_add(&batch, hash);
	}
	shtext_batch_finish(&batch);
}

static void
read_elements(const ShTextFeatures *features, ShTextConsumer consumer, void *state)
{
	ShTextBatch batch;

	shtext_batch_init(&batch, consumer, state);
	for (int i = 0; i < features->nelements; i++)
	{
		CHECK_FOR_INTERRUPTS();
		shtext_batch_add(&batch, features->hash(features->elements[i]));
	}
	shtext_batch_finish(&batch);
}

ShTextFeatures
shtext_features_of_text(const text *document, int shingle, ShTextUnit unit)
{
	return (ShTextFeatures)
	{
		.read = read_text,.document = document,.shingle = shingle,.unit = unit
	};
}

ShTextFeatures
shtext_features_of_runs(const text *document, int words)
{
	ShTextFeatures features = shtext_features_of_text(document, words, SHTEXT_WORD);

	features.only_whole = true;
	return features;
}

ShTextFeatures
shtext_features_of_bytes(const bytea *document, int shingle)
{
	return (ShTextFeatures)
	{
		.read = read_bytes,.document = document,.shingle = shingle,.unit = SHTEXT_BYTE
	};
}

ShTextFeatures
shtext_features_of_tsvector(TSVector document, bool once)
{
	return (ShTextFeatures)
	{
		.read = read_lexemes,.document = (struct varlena *) document,.once = once
	};
}

static uint64
hash_of_text(Datum element)
{
	text	   *feature = DatumGetTextPP(element);

	return shtext_hash_converted(VARDATA_ANY(feature), VARSIZE_ANY_EXHDR(feature));
}

static uint64
hash_itself(Datum element)
{
	return (uint64) DatumGetInt64(element);
}

ShTextFeatures
shtext_features_of_array(ArrayType *array)
{
	ShTextFeatures features = {.read = read_elements};

	features.nelements = shtext_elements(array, SHTEXT_NULL_FEATURE, &features.elements);
	features.hash = ARR_ELEMTYPE(array) == TEXTOID ? hash_of_text : hash_itself;
	return features;
}

void
shtext_keep_hashes(void *hashes, const uint64 *more, int nmore)
{
	ShTextHashes *kept = hashes;

	shtext_hashes_reserve(kept, nmore);
	memcpy(kept->hashes + kept->length, more, nmore * sizeof(uint64));
	kept->length += nmore;
}
