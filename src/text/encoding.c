/*-------------------------------------------------------------------------
 *
 * encoding.c
 *	  Features in the encoding of the database, and in UTF-8.
 *
 * Both are the same if the encoding is SQL_ASCII.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "text/encoding.h"
#include "text/hash.h"

/*
 * The hash of a string of the database.
 *
 * Raises ERRCODE_UNTRANSLATABLE_CHARACTER if it does not exist in UTF-8.
 */
uint64
shtext_hash_converted(const char *bytes, Size length)
{
	char	   *converted;
	uint64		result;

	/* the server would insist on valid UTF-8 */
	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		return shtext_hash(bytes, length);

	converted = (char *)
		pg_do_encoding_conversion((unsigned char *) bytes, length,
								  GetDatabaseEncoding(), PG_UTF8);
	if (converted == bytes)
		return shtext_hash(bytes, length);
	result = shtext_hash(converted, strlen(converted));
	pfree(converted);
	return result;
}

/*
 * A string of UTF-8 for the database, and its length.  The result is either the
 * argument itself or newly allocated.
 *
 * Raises ERRCODE_UNTRANSLATABLE_CHARACTER if it does not exist there.
 */
const char *
shtext_from_utf8(const char *bytes, Size length, Size *converted)
{
	const char *result;

	result = (const char *)
		pg_do_encoding_conversion((unsigned char *) bytes, length,
								  PG_UTF8, GetDatabaseEncoding());
	*converted = result == bytes ? length : strlen(result);
	return result;
}
