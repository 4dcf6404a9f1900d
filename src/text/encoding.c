/*-------------------------------------------------------------------------
 *
 * encoding.c
 *	  Converting text between the encoding of the database and UTF-8.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace_d.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "text/encoding.h"
#include "text/unicode.h"
#include "type/hash.h"

/* bytes that are converted between checks for interrupts */
#define PIECE_BYTES			8192

/* bytes of a character in any server encoding */
#define MAX_CHARACTER		4

/* first of the bytes of a character without equivalent, and how many follow */
#define FOREIGN_LEAD		0xFD
#define FOREIGN_FURTHER		5

/*
 * The server's own conversion between UTF-8 and the encoding of the database, whatever
 * the search path says.  It can be neither dropped nor replaced, so it is looked up once.
 */
static Oid
conversion_between(int from, int to)
{
	static Oid	known[2];		/* from UTF-8, to UTF-8 */
	Oid		   *conversion = &known[to == PG_UTF8];

	if (!OidIsValid(*conversion))
		*conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE, from, to);
	return *conversion;
}

/*
 * Convert up to the first character that cannot be converted.  Returns the
 * number of bytes converted.
 */
static int
convert(const char *bytes, int length, int from, int to,
		ShTextBuffer *converted)
{
	Oid			conversion = conversion_between(from, to);
	int			size = length * MAX_CONVERSION_GROWTH + 1;
	char	   *out;
	int			done = 0;

	shtext_buffer_reserve(converted, size);
	out = converted->bytes + converted->length;
	if (OidIsValid(conversion))
	{
		done = pg_do_encoding_conversion_buf(conversion, from, to,
											 (unsigned char *) bytes, length,
											 (unsigned char *) out, size,
											 true);
		converted->length += strlen(out);
	}
	else
	{
		/* ASCII is the same everywhere */
		while (done < length && !IS_HIGHBIT_SET(bytes[done]))
			done++;
		memcpy(out, bytes, done);
		converted->length += done;
	}
	return done;
}

/*
 * Append a character without equivalent, of 1 to 4 bytes.
 */
static void
append_foreign(const char *bytes, int length, ShTextBuffer *converted)
{
	uint32		code = 0;
	char	   *out;

	for (int i = 0; i < length; i++)
		code = code << 7 | (bytes[i] & 0x7F);
	code |= SHTEXT_FOREIGN | (uint32) (length - 1) << 28;

	shtext_buffer_reserve(converted, 1 + FOREIGN_FURTHER);
	out = converted->bytes + converted->length;
	*out++ = FOREIGN_LEAD;
	for (int i = FOREIGN_FURTHER - 1; i >= 0; i--)
		*out++ = 0x80 | ((code >> (6 * i)) & 0x3F);
	converted->length += 1 + FOREIGN_FURTHER;
}

/*
 * Append text of some encoding to a buffer, in UTF-8.
 */
void
shtext_to_utf8(const char *bytes, Size length, int encoding,
			   ShTextBuffer *converted)
{
	while (length > 0)
	{
		int			piece = Min(length, PIECE_BYTES);
		int			done = 0;

		CHECK_FOR_INTERRUPTS();
		if (piece < length)
			piece = pg_encoding_mbcliplen(encoding, bytes,
										  Min(length, 2 * PIECE_BYTES),
										  PIECE_BYTES);

		/*
		 * the end of the piece is determined only once, not after each
		 * foreign character
		 */
		while (done < piece)
		{
			done += convert(bytes + done, piece - done, encoding, PG_UTF8,
							converted);
			if (done < piece)
			{
				int			character = pg_encoding_mblen(encoding, bytes + done);

				character = Min(Min(character, piece - done), MAX_CHARACTER);
				append_foreign(bytes + done, character, converted);
				done += character;
			}
		}
		bytes += piece;
		length -= piece;
	}
}

/*
 * If the bytes begin with such a character, append its original bytes.
 */
static bool
append_original(const char *bytes, Size length, ShTextBuffer *converted)
{
	uint32		code = 0;
	int			noriginal;

	if (length < 1 + FOREIGN_FURTHER || (unsigned char) *bytes != FOREIGN_LEAD)
		return false;

	for (int i = 1; i <= FOREIGN_FURTHER; i++)
		code = code << 6 | (bytes[i] & 0x3F);
	noriginal = (code >> 28) + 1;

	shtext_buffer_reserve(converted, noriginal);
	for (int i = noriginal - 1; i >= 0; i--)
		converted->bytes[converted->length++] = 0x80 | ((code >> (7 * i)) & 0x7F);
	return true;
}

static void
report_untranslatable(const char *bytes, Size length, int encoding)
{
	const unsigned char *character = (const unsigned char *) bytes;
	int			nbytes = pg_encoding_mblen(PG_UTF8, bytes);
	uint32		code = nbytes <= length ? utf8_to_unicode(character) : *character;

	ereport(ERROR,
			(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
			 errmsg("shingle has a character that does not exist in encoding \"%s\"",
					pg_encoding_to_char(encoding)),
			 errdetail("Case folding and composition turned a character of the text into U+%04X.",
					   code),
			 errhint("simhash_compute works with this text. To see its shingles, use a database of encoding UTF8.")));
}

/*
 * Can UTF-8 be converted in two pieces, of which the second begins here?  Not within a
 * character, and not before a mark, as some encodings have one character for a letter
 * with it.
 */
static bool
can_be_divided(const char *bytes)
{
	const unsigned char *next = (const unsigned char *) bytes;

	return (*next & 0xC0) != 0x80 &&
		(shtext_record(utf8_to_unicode(next))->flags & SHTEXT_START);
}

/*
 * Append UTF-8 text to a buffer, in some encoding.
 *
 * Raises ERRCODE_UNTRANSLATABLE_CHARACTER if there is a character that the
 * encoding does not have.
 */
void
shtext_from_utf8(const char *bytes, Size length, int encoding,
				 ShTextBuffer *converted)
{
	while (length > 0)
	{
		int			piece = Min(length, PIECE_BYTES);
		int			done;

		CHECK_FOR_INTERRUPTS();
		while (piece < length && piece > 0 && !can_be_divided(bytes + piece))
			piece--;
		if (piece == 0)
		{
			/*
			 * nothing but marks: only the first of them can belong to a
			 * letter
			 */
			piece = PIECE_BYTES;
			while ((bytes[piece] & 0xC0) == 0x80)
				piece--;
		}
		done = convert(bytes, piece, PG_UTF8, encoding, converted);
		if (done < piece)
		{
			if (!append_original(bytes + done, piece - done, converted))
				report_untranslatable(bytes + done, piece - done, encoding);
			done += 1 + FOREIGN_FURTHER;
		}
		bytes += done;
		length -= done;
	}
}

/*
 * The hash of a string in the encoding of the database.
 */
uint64
shtext_hash_converted(const char *bytes, Size length)
{
	int			encoding = GetDatabaseEncoding();
	ShTextBuffer converted = {0};
	uint64		result;

	if (shtext_needs_no_conversion(encoding))
		return shtype_hash(bytes, length);

	shtext_to_utf8(bytes, length, encoding, &converted);
	result = shtype_hash(converted.bytes, converted.length);
	shtext_free_array(converted.bytes);
	return result;
}
