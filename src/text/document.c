/*-------------------------------------------------------------------------
 *
 * document.c
 *	  Reading documents that are passed to SQL functions, and their features.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "compat.h"
#include "text/document.h"

static ShTextUnit unit_of_bytes(ShTextUnit unit);

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
 * Pass the hashes of the features of a text to a consumer.  The arguments are
 * those of shtext_reader_begin, and have been checked.
 */
void
shtext_hash_text(const text *document, int shingle, ShTextUnit unit,
				 ShTextConsumer consumer, void *state)
{
	ShTextReader reader;
	ShTextStream stream;

	shtext_reader_begin(&reader, document, unit);
	shtext_stream_init(&stream, reader.unit, shingle, consumer, state);
	while (shtext_reader_next(&reader, &stream.windows))
		shtext_stream_add(&stream, &reader.buffer);
	shtext_stream_finish(&stream, &reader.buffer);
	shtext_reader_end(&reader);
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
