/*-------------------------------------------------------------------------
 *
 * compute.c
 *	  SQL functions that take the features from a document.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "compat.h"
#include "text/encoding.h"
#include "text/fingerprint.h"
#include "text/hash.h"
#include "text/normalize.h"
#include "text/windows.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_compute_text);
PG_FUNCTION_INFO_V1(simhash_compute_bytea);
PG_FUNCTION_INFO_V1(simhash_shingles);
PG_FUNCTION_INFO_V1(simhash_hash_text);

/*
 * The document, shingle and unit that are the arguments of a function, while
 * the features are taken from the document.
 */
typedef struct TextReader
{
	text	   *document;
	int			shingle;
	ShTextUnit	unit;			/* of the windows */
	ShTextNormalizer normalizer;
	ShTextBuffer buffer;		/* what has been read, and not discarded */
} TextReader;

static void begin_text(TextReader *reader, FunctionCallInfo fcinfo);
static bool read_text(TextReader *reader, ShTextWindows *windows);
static void end_text(TextReader *reader, FunctionCallInfo fcinfo);
static int	get_shingle(int32 shingle);
static ShTextUnit get_unit(const text *unit);
static ShTextUnit unit_of_bytes(ShTextUnit unit);
static void append_feature(StringInfo elements, int *nelements,
						   const ShTextSpan *span);

/*
 * simhash_compute(document text, shingle int, unit text) -> simhash
 *
 * Null if the text has no letter, mark or number.
 */
Datum
simhash_compute_text(PG_FUNCTION_ARGS)
{
	TextReader	reader;
	ShTextFingerprint fingerprint;
	uint64		result;
	bool		found;

	begin_text(&reader, fcinfo);
	shtext_fingerprint_init(&fingerprint, reader.unit, reader.shingle);
	while (read_text(&reader, &fingerprint.windows))
		shtext_fingerprint_add(&fingerprint, &reader.buffer);
	found = shtext_fingerprint_result(&fingerprint, &reader.buffer, &result);
	end_text(&reader, fcinfo);

	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

/*
 * simhash_compute(document bytea, shingle int) -> simhash
 *
 * Null if there is no byte.
 */
Datum
simhash_compute_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *document = PG_GETARG_BYTEA_PP(0);
	int			shingle = get_shingle(PG_GETARG_INT32(1));
	ShTextBuffer buffer;
	ShTextFingerprint fingerprint;
	uint64		result;
	bool		found;

	/* it is only read */
	buffer.bytes = VARDATA_ANY(document);
	buffer.length = buffer.size = VARSIZE_ANY_EXHDR(document);
	shtext_fingerprint_init(&fingerprint, SHTEXT_BYTE, shingle);
	shtext_fingerprint_add(&fingerprint, &buffer);
	found = shtext_fingerprint_result(&fingerprint, &buffer, &result);

	PG_FREE_IF_COPY(document, 0);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

/*
 * simhash_shingles(document text, shingle int, unit text) -> text[]
 *
 * The features in order, each as often as it occurs; null if there is none.
 */
Datum
simhash_shingles(PG_FUNCTION_ARGS)
{
	TextReader	reader;
	ShTextWindows windows;
	ShTextSpan	span;
	StringInfoData elements;
	int			nelements = 0;
	ArrayType  *array;

	begin_text(&reader, fcinfo);

	/* the array is written in place, its header at the end */
	initStringInfo(&elements);
	enlargeStringInfo(&elements, ARR_OVERHEAD_NONULLS(1));
	memset(elements.data, 0, ARR_OVERHEAD_NONULLS(1));
	elements.len = ARR_OVERHEAD_NONULLS(1);

	shtext_windows_init(&windows, reader.unit, reader.shingle);
	while (read_text(&reader, &windows))
	{
		while (shtext_windows_next(&windows, &reader.buffer, &span))
			append_feature(&elements, &nelements, &span);
	}
	if (shtext_windows_rest(&windows, &reader.buffer, &span))
		append_feature(&elements, &nelements, &span);
	end_text(&reader, fcinfo);

	if (nelements == 0)
		PG_RETURN_NULL();

	array = (ArrayType *) elements.data;
	SET_VARSIZE(array, elements.len);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = TEXTOID;
	ARR_DIMS(array)[0] = nelements;
	ARR_LBOUND(array)[0] = 1;
	PG_RETURN_ARRAYTYPE_P(array);
}

/*
 * simhash_hash(text) -> bigint
 */
Datum
simhash_hash_text(PG_FUNCTION_ARGS)
{
	text	   *feature = PG_GETARG_TEXT_PP(0);
	uint64		result = shtext_hash_converted(VARDATA_ANY(feature),
											   VARSIZE_ANY_EXHDR(feature));

	PG_FREE_IF_COPY(feature, 0);
	PG_RETURN_INT64((int64) result);
}

/*
 * Start to read the text that is the first argument.  Checks the others.
 */
static void
begin_text(TextReader *reader, FunctionCallInfo fcinfo)
{
	ShTextUnit	unit;

	reader->document = PG_GETARG_TEXT_PP(0);
	reader->shingle = get_shingle(PG_GETARG_INT32(1));
	unit = get_unit(PG_GETARG_TEXT_PP(2));
	reader->unit = unit_of_bytes(unit);
	shtext_normalizer_init(&reader->normalizer, VARDATA_ANY(reader->document),
						   VARSIZE_ANY_EXHDR(reader->document),
						   GetDatabaseEncoding(), unit);
	shtext_buffer_init(&reader->buffer);
}

/*
 * Read the next piece, of which the windows are then to be taken.  Returns
 * false after the last.
 */
static bool
read_text(TextReader *reader, ShTextWindows *windows)
{
	/* of the pieces before, only what windows to come begin with */
	shtext_windows_discard(windows, &reader->buffer);
	return shtext_normalize(&reader->normalizer, &reader->buffer);
}

static void
end_text(TextReader *reader, FunctionCallInfo fcinfo)
{
	shtext_normalizer_finish(&reader->normalizer);
	shtext_buffer_free(&reader->buffer);
	PG_FREE_IF_COPY(reader->document, 0);
}

/*
 * Check the number of units of a window.
 */
static int
get_shingle(int32 shingle)
{
	if (shingle < 1 || shingle > SHTEXT_MAX_SHINGLE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingle %d is out of range", shingle),
				 errdetail("A shingle has 1 to %d units.", SHTEXT_MAX_SHINGLE)));
	return shingle;
}

/*
 * The unit of that name.
 */
static ShTextUnit
get_unit(const text *unit)
{
	const char *name = VARDATA_ANY(unit);
	Size		length = VARSIZE_ANY_EXHDR(unit);

	if (length == 4 && memcmp(name, "char", 4) == 0)
		return SHTEXT_CHAR;
	if (length == 4 && memcmp(name, "word", 4) == 0)
		return SHTEXT_WORD;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown unit \"%s\"", text_to_cstring(unit)),
			 errhint("Units are \"char\" and \"word\".")));
	return SHTEXT_CHAR;			/* keep compiler quiet */
}

/*
 * The unit of the windows: if the encoding is SQL_ASCII, a character is a byte.
 */
static ShTextUnit
unit_of_bytes(ShTextUnit unit)
{
	if (unit == SHTEXT_CHAR && GetDatabaseEncoding() == PG_SQL_ASCII)
		return SHTEXT_BYTE;
	return unit;
}

/*
 * Append a feature to the elements of an array of text.
 *
 * Raises ERRCODE_PROGRAM_LIMIT_EXCEEDED if they become too many, and
 * ERRCODE_UNTRANSLATABLE_CHARACTER if it does not exist in the encoding of the
 * database.
 */
static void
append_feature(StringInfo elements, int *nelements, const ShTextSpan *span)
{
	int			encoding = GetDatabaseEncoding();
	ShTextBuffer converted;
	const char *bytes = span->bytes;
	Size		length = span->length;
	Size		size;

	shtext_buffer_init(&converted);
	if (!shtext_needs_no_conversion(encoding))
	{
		shtext_from_utf8(bytes, length, encoding, &converted);
		bytes = converted.bytes;
		length = converted.length;
	}

	if (length > MaxAllocSize - VARHDRSZ || *nelements >= MaxArraySize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("features do not fit into an array")));

	size = INTALIGN(VARHDRSZ + length);
	enlargeStringInfo(elements, size);
	memset(elements->data + elements->len + size - sizeof(int32), 0,
		   sizeof(int32));		/* the padding */
	SET_VARSIZE(elements->data + elements->len, VARHDRSZ + length);
	memcpy(elements->data + elements->len + VARHDRSZ, bytes, length);
	elements->len += size;
	(*nelements)++;
	shtext_buffer_free(&converted);
}
