/*-------------------------------------------------------------------------
 *
 * normalise.c
 *	  From a text to the characters that its fingerprint is made of.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "text/normalise.h"
#include "text/unicode_table.h"

/* bytes that are read, and converted, between checks for interrupts */
#define PIECE_BYTES		8192

static size_t piece_length(const ShTextReader *reader);
static void next_piece(ShTextReader *reader);
static int	read_utf8(ShTextReader *reader, char *out);

/*
 * Start to read a text.
 *
 * The text, valid in that encoding, must stay in place until it is read.
 */
void
shtext_reader_init(ShTextReader *reader, const char *text, size_t length,
				   int encoding)
{
	reader->encoding = encoding;
	reader->rest = text;
	reader->rest_length = length;
	reader->converted = NULL;
	reader->next = reader->end = NULL;
}

/*
 * Fill up a chunk with the next characters of the text.
 *
 * The chunk may hold characters already; they stay.  Returns false if the text
 * has come to its end, true if there may be more.
 *
 * Raises ERRCODE_UNTRANSLATABLE_CHARACTER if a character of the text does not
 * exist in UTF-8.  Checks for interrupts.
 */
bool
shtext_read(ShTextReader *reader, ShTextChunk *chunk)
{
	int			nchars = chunk->nchars;
	int			nbytes = chunk->start[nchars];

	while (nchars < SHTEXT_CHUNK_CHARS)
	{
		int			length;		/* of what is written */

		if (reader->next == reader->end)
		{
			next_piece(reader);
			if (reader->next == reader->end)
				break;
		}

		if (*reader->next < 0x80)
		{
			uint8		folded = shtext_ascii_fold[*reader->next++];

			/* written in any case: a branch would be hard to predict */
			chunk->bytes[nbytes] = folded;
			length = (folded != 0);
		}
		else if (reader->encoding == PG_SQL_ASCII)
		{
			/* of unknown meaning, so taken for a letter that has no case */
			chunk->bytes[nbytes] = *reader->next++;
			length = 1;
		}
		else
			length = read_utf8(reader, &chunk->bytes[nbytes]);

		nbytes += length;
		nchars += (length != 0);
		chunk->start[nchars] = nbytes;
	}

	chunk->nchars = nchars;
	return nchars == SHTEXT_CHUNK_CHARS;
}

/*
 * Bytes of the next piece of the text, which must not end inside a character.
 */
static size_t
piece_length(const ShTextReader *reader)
{
	size_t		length = PIECE_BYTES;

	if (reader->rest_length <= PIECE_BYTES)
		return reader->rest_length;
	if (reader->encoding == PG_SQL_ASCII)
		return length;
	if (reader->encoding != PG_UTF8)
		return pg_encoding_mbcliplen(reader->encoding, reader->rest,
									 reader->rest_length, PIECE_BYTES);

	/* no need to walk: a continuation byte can be told from any other */
	while (length > PIECE_BYTES - SHTEXT_MAX_CHAR_BYTES &&
		   (reader->rest[length] & 0xC0) == 0x80)
		length--;
	return length;
}

/*
 * Make the next piece of the text ready, as UTF-8 unless the encoding is
 * SQL_ASCII.  At the end of the text the piece is empty.
 */
static void
next_piece(ShTextReader *reader)
{
	const char *piece = reader->rest;
	size_t		length = piece_length(reader);

	CHECK_FOR_INTERRUPTS();

	if (reader->converted != NULL)
	{
		pfree(reader->converted);
		reader->converted = NULL;
	}
	reader->rest += length;
	reader->rest_length -= length;

	if (length > 0 && reader->encoding != PG_UTF8 &&
		reader->encoding != PG_SQL_ASCII)
	{
		reader->converted = (char *)
			pg_do_encoding_conversion((unsigned char *) piece, length,
									  reader->encoding, PG_UTF8);
		piece = reader->converted;
		length = strlen(piece);
	}
	reader->next = (const unsigned char *) piece;
	reader->end = reader->next + length;
}

/*
 * Read one character of UTF-8 beyond ASCII and write what it is normalised to.
 *
 * out must have room for SHTEXT_MAX_CHAR_BYTES.  Returns the number of bytes
 * written, 0 if the character is dropped.  Text is valid, as a rule; a byte
 * that is not is dropped.
 */
static int
read_utf8(ShTextReader *reader, char *out)
{
	const unsigned char *next = reader->next;
	int			length = pg_utf_mblen(next);
	pg_wchar	code;
	int			record;

	if (length > reader->end - next || !pg_utf8_islegal(next, length))
	{
		reader->next++;
		return 0;
	}
	reader->next += length;

	code = utf8_to_unicode(next);
	record = shtext_stage2[shtext_stage1[code >> SHTEXT_BLOCK_BITS]]
		[code % SHTEXT_BLOCK_SIZE];
	if (record == 0)
		return 0;

	code += shtext_fold_delta[record];
	unicode_to_utf8(code, (unsigned char *) out);
	return pg_utf_mblen((unsigned char *) out);
}

/*
 * Make a chunk empty.
 */
void
shtext_chunk_clear(ShTextChunk *chunk)
{
	chunk->nchars = 0;
	chunk->start[0] = 0;
}

/*
 * Drop all characters of a chunk but the last nchars, or fewer if it does not
 * hold as many.
 */
void
shtext_chunk_keep_last(ShTextChunk *chunk, int nchars)
{
	int			dropped = chunk->nchars - nchars;
	int			offset;

	if (dropped <= 0)
		return;

	offset = chunk->start[dropped];
	memmove(chunk->bytes, chunk->bytes + offset,
			chunk->start[chunk->nchars] - offset);
	for (int i = 0; i <= nchars; i++)
		chunk->start[i] = chunk->start[dropped + i] - offset;
	chunk->nchars = nchars;
}
