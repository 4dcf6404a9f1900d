/*-------------------------------------------------------------------------
 *
 * shingles.c
 *	  SQL functions that show the features of a document, and their hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"

#include "compat.h"
#include "text/document.h"
#include "text/encoding.h"

PG_FUNCTION_INFO_V1(simhash_shingles);
PG_FUNCTION_INFO_V1(simhash_hash_text);

static void append_feature(StringInfo elements, int *nelements,
						   const ShTextSpan *span);

/*
 * simhash_shingles(document text, shingle int, unit text) -> text[]
 *
 * The features in order, each as often as it occurs; null if there is none.
 */
Datum
simhash_shingles(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(1));
	ShTextUnit	unit = shtext_unit_named(PG_GETARG_TEXT_PP(2));
	ShTextReader reader;
	ShTextWindows windows;
	ShTextSpan	span;
	StringInfoData elements;
	int			nelements = 0;
	ArrayType  *array;

	/* the array is built in place, its header last */
	initStringInfo(&elements);
	enlargeStringInfo(&elements, ARR_OVERHEAD_NONULLS(1));
	memset(elements.data, 0, ARR_OVERHEAD_NONULLS(1));
	elements.len = ARR_OVERHEAD_NONULLS(1);

	shtext_reader_begin(&reader, document, unit);
	shtext_windows_init(&windows, reader.unit, shingle);
	while (shtext_reader_next(&reader, &windows))
	{
		while (shtext_windows_next(&windows, &reader.buffer, &span))
			append_feature(&elements, &nelements, &span);
	}
	if (shtext_windows_rest(&windows, &reader.buffer, &span))
		append_feature(&elements, &nelements, &span);
	shtext_reader_end(&reader);
	PG_FREE_IF_COPY(document, 0);

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
	ShTextBuffer converted = {0};
	const char *bytes = span->bytes;
	Size		length = span->length;
	Size		size;

	shcompat_check_at(*nelements);
	if (!shtext_needs_no_conversion(encoding))
	{
		shtext_from_utf8(bytes, length, encoding, &converted);
		bytes = converted.bytes;
		length = converted.length;
	}

	size = INTALIGN(VARHDRSZ + length);
	if (size >= MaxAllocSize - elements->len)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("features do not fit into an array")));

	enlargeStringInfo(elements, size);
	memset(elements->data + elements->len + size - sizeof(int32), 0,
		   sizeof(int32));		/* the padding */
	SET_VARSIZE(elements->data + elements->len, VARHDRSZ + length);
	memcpy(elements->data + elements->len + VARHDRSZ, bytes, length);
	elements->len += size;
	(*nelements)++;
	shtext_free_array(converted.bytes);
}
