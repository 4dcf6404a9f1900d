/*-------------------------------------------------------------------------
 *
 * encoding.h
 *	  Converting text between the encoding of the database and UTF-8.
 *
 * A character without an equivalent in Unicode, or that the server cannot
 * convert, becomes a sequence of six bytes, which UTF-8 once had for numbers
 * of 31 bits: 2^30 + (n - 1) * 2^28 + the low seven bits of its n bytes, the
 * first ones highest.  No other character has these bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_ENCODING_H
#define SIMHASH_TEXT_ENCODING_H

#include "mb/pg_wchar.h"

#include "text/buffer.h"

extern void shtext_to_utf8(const char *bytes, Size length, int encoding,
						   ShTextBuffer *converted);
extern void shtext_from_utf8(const char *bytes, Size length, int encoding,
							 ShTextBuffer *converted);
extern uint64 shtext_hash_converted(const char *bytes, Size length);

/*
 * Are the bytes of an encoding taken as they are?  For SQL_ASCII, there is no
 * known encoding from which to convert.
 */
static inline bool
shtext_needs_no_conversion(int encoding)
{
	return encoding == PG_UTF8 || encoding == PG_SQL_ASCII;
}

#endif							/* SIMHASH_TEXT_ENCODING_H */
