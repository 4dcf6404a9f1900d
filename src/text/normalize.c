/*-------------------------------------------------------------------------
 *
 * normalize.c
 *	  Extracting the characters, or words, of a text from which its fingerprint
 *	  is made.
 *
 * ASCII goes through a table, eight characters at a time.  Any other character
 * takes one lookup in another table, unless the following characters can
 * change it.  In that case, the characters up to the next one that does not
 * depend on those before it are normalized together by canonical.c.
 *
 * A letter and its marks are one such piece, however many there are: 100 MB of U+0301
 * and U+0323 in turn took 390 MB of memory, and 100 MB of U+0344, which decomposes,
 * 860 MB.  The time is linear, and interrupts are checked for.  Unicode's Stream-Safe
 * Text Format would divide a run behind 30 marks, in the order in which the text has
 * them, so NFC and NFD of a text would have different fingerprints: behind "e" and 40
 * times U+0323, the circumflex stands last in NFD, and is part of the first character
 * in NFC.  Nor would it limit runs of Hangul vowels, which are no marks.
 *
 * Scripts without spaces between words are cut into pieces, which serve as words.  The
 * cuts are defined by content: a letter and the character before it decide.  An edit
 * moves at most the two cuts beside it; pieces of a fixed length would all change
 * behind an inserted letter.  No word begins at a mark, which belongs to the letter
 * before it: with cuts before marks, more unrelated pairs shared a passage, 97 of 780
 * in Thai, 22 in Khmer, and 265 in Burmese.  The scripts are a list, since the classes
 * of line breaking change from one version of Unicode to the next.  Kana are not in it:
 * with cuts in kana, 137 of 780 unrelated Japanese pairs shared a passage, and 67
 * without, while all copies were found either way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "compat.h"
#include "text/encoding.h"
#include "text/normalize.h"
#include "text/text_kernels.h"

/* bytes that are read, and converted, between checks for interrupts */
#define PIECE_BYTES			8192

/*
 * The most bytes written for each byte read: decompositions that are not
 * composed again take three, and a space may follow.
 */
#define MAX_GROWTH			4

/*
 * In scripts without spaces, a word begins at about one letter of so many.  These are
 * the copies that were found, and the unrelated pairs of 3,000 characters that shared
 * a passage (doc/choosing.md):
 *
 *		1	Thai 116 of 116, 710 of 780		Lao 51 of 51, 36 of 36
 *			Khmer 118 of 118, 379 of 780	Burmese 94 of 94, 284 of 780
 *		2	Thai 116 of 116, 136 of 780		Lao 51 of 51, 4 of 36
 *			Khmer 117 of 118, 28 of 780		Burmese 94 of 94, 48 of 780
 *		3	Thai 116 of 116, 47 of 780		Lao 50 of 51, 1 of 36
 *			Khmer 110 of 118, 6 of 780		Burmese 90 of 94, 8 of 780
 *		4	Thai 115 of 116, 32 of 780		Lao 50 of 51, 0 of 36
 *			Khmer 110 of 118, 6 of 780		Burmese 88 of 94, 16 of 780
 *
 * With 3, both are about as in languages with spaces, except for passages in Thai.
 */
#define WORD_CUTS			3

/* characters written for one read, at most */
#define MAX_DECOMPOSITION	4

/* A character that has been decoded */
typedef struct Character
{
	uint32		code;
	int			length;			/* bytes read */
	const ShTextCharRecord *record;
} Character;

static const unsigned char *next_block(ShTextNormalizer *normalizer,
									   const unsigned char **end);
static const unsigned char *next_converted(ShTextNormalizer *normalizer,
										   const unsigned char **end);
static void normalize_chars(ShTextNormalizer *normalizer,
							const unsigned char *next,
							const unsigned char *end, ShTextBuffer *buffer);
static void normalize_words(ShTextNormalizer *normalizer,
							const unsigned char *next,
							const unsigned char *end, ShTextBuffer *buffer);
static char *write_canonical(ShTextNormalizer *normalizer,
							 const unsigned char *next,
							 const unsigned char *end, ShTextBuffer *buffer,
							 char *out);

/*
 * Start to normalize a text, which must stay in place until that is finished.
 */
void
shtext_normalizer_init(ShTextNormalizer *normalizer, const char *text,
					   Size length, int encoding, ShTextUnit unit)
{
	Assert(unit == SHTEXT_CHAR || unit == SHTEXT_WORD);
	memset(normalizer, 0, sizeof(*normalizer));
	normalizer->encoding = encoding;
	normalizer->unit = unit;
	normalizer->rest = text;

	normalizer->rest_length = length;
}

/*
 * Append the next block of the normalized text to buffer.
 *
 * Returns false, without doing anything, at the end of the text.  A block may
 * be empty, and it ends with a whole character, but not necessarily a whole
 * word.
 *
 * Checks for interrupts.
 */
bool
shtext_normalize(ShTextNormalizer *normalizer, ShTextBuffer *buffer)
{
	const unsigned char *next;
	const unsigned char *end;

	CHECK_FOR_INTERRUPTS();

	if (normalizer->at_end)
		return false;

	next = next_block(normalizer, &end);
	if (next == end)
	{
		normalizer->at_end = true;
		if (!normalizer->in_word)
			return false;
		normalizer->in_word = false;
		shtext_buffer_reserve(buffer, 1);
		buffer->bytes[buffer->length++] = ' ';
		return true;
	}

	shtext_buffer_reserve(buffer, (end - next) * MAX_GROWTH);
	if (normalizer->unit == SHTEXT_CHAR)
		normalize_chars(normalizer, next, end, buffer);
	else
		normalize_words(normalizer, next, end, buffer);
	return true;
}

/*
 * Free what the normalizer has allocated.
 */
void
shtext_normalizer_finish(ShTextNormalizer *normalizer)
{
	shtext_free_array(normalizer->converted.bytes);
	shtext_free_array(normalizer->decomposed.codes);
	shtext_free_array(normalizer->composed.codes);
}

/*
 * Decode the character at next, which is before end.
 *
 * The text should be valid; an invalid byte counts as a character that is dropped.
 */
static pg_attribute_always_inline Character
decode(const unsigned char *next, const unsigned char *end)
{
	Character	result;
	int			lead = *next;

#define CONTINUES(i)	((next[i] & 0xC0) == 0x80)
	if (lead < 0x80)
	{
		result.code = lead;
		result.length = 1;
	}
	else if (lead >= 0xE0 && lead < 0xF0 && end - next >= 3 &&
			 CONTINUES(1) && CONTINUES(2))
	{
		result.code = (lead & 0x0F) << 12 | (next[1] & 0x3F) << 6 |
			(next[2] & 0x3F);
		result.length = 3;
	}
	else if (lead >= 0xC0 && lead < 0xE0 && end - next >= 2 && CONTINUES(1))
	{
		result.code = (lead & 0x1F) << 6 | (next[1] & 0x3F);
		result.length = 2;
	}
	else if (lead == 0xFD && end - next >= 6 && CONTINUES(1) &&
			 CONTINUES(2) && CONTINUES(3) && CONTINUES(4) && CONTINUES(5))
	{
		/* without equivalent in Unicode, see encoding.h */
		result.code = SHTEXT_FOREIGN | (next[1] & 0x3F) << 24 |
			(next[2] & 0x3F) << 18 | (next[3] & 0x3F) << 12 |
			(next[4] & 0x3F) << 6 | (next[5] & 0x3F);
		result.length = 6;
	}
	else if (lead >= 0xF0 && end - next >= 4 &&
			 CONTINUES(1) && CONTINUES(2) && CONTINUES(3))
	{
		result.code = (lead & 0x07) << 18 | (next[1] & 0x3F) << 12 |
			(next[2] & 0x3F) << 6 | (next[3] & 0x3F);
		result.length = 4;
	}
	else
	{
		result.code = PG_UINT32_MAX;
		result.length = 1;
	}
#undef CONTINUES
	result.record = shtext_record(result.code);
	return result;
}

/*
 * Can the text be divided before this byte?
 */
static bool
starts(const unsigned char *next, const unsigned char *end)
{
	if (*next < 0x80)
		return true;
	if ((*next & 0xC0) == 0x80)
		return false;
	return (decode(next, end).record->flags & SHTEXT_START) != 0;
}

/*
 * Get the next bytes of the text to normalize: UTF-8, or single bytes if the
 * encoding is SQL_ASCII.  None at the end of the text.
 *
 * The character after them has the flag SHTEXT_START.  So there may be very
 * many, if the text consists of marks only.
 */
static const unsigned char *
next_block(ShTextNormalizer *normalizer, const unsigned char **end)
{
	const unsigned char *block = (const unsigned char *) normalizer->rest;
	const unsigned char *last = block + normalizer->rest_length;
	Size		length = Min(normalizer->rest_length, PIECE_BYTES);

	if (!shtext_needs_no_conversion(normalizer->encoding))
		return next_converted(normalizer, end);

	if (length < normalizer->rest_length &&
		normalizer->encoding == PG_UTF8)
	{
		while (length > 0 && !starts(block + length, last))
			length--;
		if (length == 0)
		{
			length = PIECE_BYTES;
			while (block + length < last && !starts(block + length, last))
				shcompat_check_at(length++);
		}
	}
	normalizer->rest += length;
	normalizer->rest_length -= length;
	*end = block + length;
	return block;
}

/*
 * next_block for text that has to be converted.
 */
static const unsigned char *
next_converted(ShTextNormalizer *normalizer, const unsigned char **end)
{
	ShTextBuffer *converted = &normalizer->converted;
	const unsigned char *block;

	/* move what was left to the front */
	converted->length -= normalizer->converted_used;
	if (converted->length > 0)
		memmove(converted->bytes,
				converted->bytes + normalizer->converted_used,
				converted->length);
	normalizer->converted_used = 0;

	while (normalizer->rest_length > 0)
	{
		Size		known = converted->length;	/* no place to divide before
												 * this */
		int			length = Min(normalizer->rest_length, PIECE_BYTES);

		if (length < normalizer->rest_length)
			length = pg_encoding_mbcliplen(normalizer->encoding,
										   normalizer->rest,
										   Min(normalizer->rest_length,
											   2 * PIECE_BYTES),
										   PIECE_BYTES);
		shtext_to_utf8(normalizer->rest, length, normalizer->encoding,
					   converted);
		normalizer->rest += length;
		normalizer->rest_length -= length;

		if (normalizer->rest_length == 0)
			break;
		block = (const unsigned char *) converted->bytes;
		for (Size i = converted->length - 1; i > 0 && i >= known; i--)
		{
			if (starts(block + i, block + converted->length))
			{
				normalizer->converted_used = i;
				*end = block + i;
				return block;
			}
		}
	}

	block = (const unsigned char *) converted->bytes;
	normalizer->converted_used = converted->length;
	*end = block + converted->length;
	return block;
}

/*
 * Write a character; returns the end of what is written.
 */
static pg_attribute_always_inline char *
write_code(char *out, uint32 code)
{
	if (code < 0x80)
		*out++ = code;
	else if (code < 0x800)
	{
		*out++ = 0xC0 | code >> 6;
		*out++ = 0x80 | (code & 0x3F);
	}
	else if (code < 0x10000)
	{
		*out++ = 0xE0 | code >> 12;
		*out++ = 0x80 | ((code >> 6) & 0x3F);
		*out++ = 0x80 | (code & 0x3F);
	}
	else if (likely(code < SHTEXT_FOREIGN))
	{
		*out++ = 0xF0 | code >> 18;
		*out++ = 0x80 | ((code >> 12) & 0x3F);
		*out++ = 0x80 | ((code >> 6) & 0x3F);
		*out++ = 0x80 | (code & 0x3F);
	}
	else
	{
		*out++ = 0xFC | code >> 30;
		for (int shift = 24; shift >= 0; shift -= 6)
			*out++ = 0x80 | ((code >> shift) & 0x3F);
	}
	return out;
}

/*
 * Does a word begin at a letter of a script without spaces, behind the characters of a
 * word that end at out?  Only the last one of them decides, so that a change of the text
 * changes the words near it and no others.
 */
static bool
is_cut(const char *out, uint32 code)
{
	const unsigned char *end = (const unsigned char *) out;
	const unsigned char *last = end - 1;

	while ((*last & 0xC0) == 0x80)
		last--;
	return shtext_mix((uint64) decode(last, end).code << 32 | code) % WORD_CUTS == 0;
}

/*
 * Write a normalized character with the given flags, or what it means for
 * words.
 */
static pg_attribute_always_inline char *
write_normalized(char *out, uint32 code, int flags, ShTextUnit unit,
				 bool *in_word)
{
	if (!(flags & SHTEXT_KEPT))
	{
		if (unit == SHTEXT_WORD && *in_word && !(flags & SHTEXT_IGNORABLE))
		{
			*out++ = ' ';
			*in_word = false;
		}
		return out;
	}
	if (unit == SHTEXT_WORD)
	{
		if ((flags & (SHTEXT_IDEOGRAPH | SHTEXT_UNSPACED)) && *in_word &&
			((flags & SHTEXT_IDEOGRAPH) || is_cut(out, code)))
			*out++ = ' ';
		out = write_code(out, code);
		*in_word = (flags & SHTEXT_IDEOGRAPH) == 0;
		if (!*in_word)
			*out++ = ' ';
		return out;
	}
	return write_code(out, code);
}

/*
 * The end of the segment that begins at next: the next character with
 * SHTEXT_START.  Sets *plain to whether its characters can be normalized one
 * by one.
 */
static const unsigned char *
segment_end(const unsigned char *next, const unsigned char *end, bool *plain)
{
	int			class = 0;

	*plain = true;
	for (Size i = 0; next < end; i++)
	{
		Character	c = decode(next, end);

		shcompat_check_at(i);
		if (i > 0 && (c.record->flags & SHTEXT_START))
			break;
		if (!(c.record->flags & SHTEXT_PLAIN) ||
			c.record->combining_class < class)
			*plain = false;
		class = c.record->combining_class;
		next += c.length;
	}
	return next;
}

/*
 * Write the normalization of single bytes; returns the end of what is written.
 */
static pg_attribute_always_inline char *
normalize_bytes(const unsigned char *next, const unsigned char *end, char *out,
				ShTextUnit unit, bool *in_word)
{
	for (; next < end; next++)
	{
		if (*next < 0x80)
			out = shtext_write_ascii(out, *next, unit == SHTEXT_WORD, in_word);
		else
		{
			/* of unknown meaning, so treated as a letter without case */
			*out++ = *next;
			*in_word = (unit == SHTEXT_WORD);
		}
	}
	return out;
}

/*
 * Append the normalization of the bytes from next to end.
 *
 * The buffer must have room.  unit must be a constant.
 */
static pg_attribute_always_inline void
normalize_block(ShTextNormalizer *normalizer, const unsigned char *next,
				const unsigned char *end, ShTextBuffer *buffer,
				ShTextUnit unit)
{
	char	   *out = buffer->bytes + buffer->length;
	bool		in_word = normalizer->in_word;

	if (normalizer->encoding == PG_SQL_ASCII)
	{
		out = normalize_bytes(next, end, out, unit, &in_word);
		next = end;
	}

	while (next < end)
	{
		const unsigned char *after;
		const unsigned char *segment;
		Character	c;
		bool		plain;

		/* ASCII that is followed by ASCII depends on nothing else */
		if (end - next > 8 && shtext_nine_are_ascii(next))
			next = (unit == SHTEXT_WORD ? shtext_kernels->fold_words : shtext_kernels->fold_chars)
				(next, end, &out, &in_word);

		/* nor do these */
		if (*next < 0x80)
		{
			after = next + 1;
			if (after == end || starts(after, end))
			{
				out = shtext_write_ascii(out, *next, unit == SHTEXT_WORD, &in_word);
				next = after;
				continue;
			}
		}
		else
		{
			c = decode(next, end);
			after = next + c.length;
			if ((c.record->flags & SHTEXT_START) &&
				(c.record->flags & SHTEXT_PLAIN) &&
				(after == end || starts(after, end) ||
				 SHTEXT_IS_FOREIGN(c.code)))
			{
				out = write_normalized(out, c.code + c.record->delta,
									   c.record->flags, unit, &in_word);
				next = after;
				continue;
			}
		}

		segment = segment_end(next, end, &plain);
		if (!plain)
		{
			normalizer->in_word = in_word;
			out = write_canonical(normalizer, next, segment, buffer, out);
			in_word = normalizer->in_word;
			next = segment;
		}
		for (Size i = 0; next < segment; i++)
		{
			shcompat_check_at(i);
			c = decode(next, end);
			out = write_normalized(out, c.code + c.record->delta,
								   c.record->flags, unit, &in_word);
			next += c.length;
		}
	}

	normalizer->in_word = in_word;
	buffer->length = out - buffer->bytes;
}

static void
normalize_chars(ShTextNormalizer *normalizer, const unsigned char *next,
				const unsigned char *end, ShTextBuffer *buffer)
{
	normalize_block(normalizer, next, end, buffer, SHTEXT_CHAR);
}

static void
normalize_words(ShTextNormalizer *normalizer, const unsigned char *next,
				const unsigned char *end, ShTextBuffer *buffer)
{
	normalize_block(normalizer, next, end, buffer, SHTEXT_WORD);
}

/*
 * Normalize the characters from next to end together.
 *
 * Writes to out, which lies in the buffer and has room; returns the end of
 * what is written.
 */
static char *
write_canonical(ShTextNormalizer *normalizer, const unsigned char *next,
				const unsigned char *end, ShTextBuffer *buffer, char *out)
{
	ShTextCodes *decomposed = &normalizer->decomposed;
	ShTextCodes *composed = &normalizer->composed;

	decomposed->length = 0;
	shtext_codes_reserve(decomposed,
						 Min(end - next, PIECE_BYTES) * MAX_DECOMPOSITION);
	for (Size i = 0; next < end; i++)
	{
		Character	c = decode(next, end);

		shcompat_check_at(i);
		shtext_decompose(decomposed, c.code);
		next += c.length;
	}
	shtext_fold_and_compose(decomposed, composed);

	for (Size i = 0; i < composed->length; i++)
	{
		uint32		code = composed->codes[i];

		shcompat_check_at(i);
		out = write_normalized(out, code, shtext_record(code)->flags,
							   normalizer->unit, &normalizer->in_word);
	}
	Assert(out <= buffer->bytes + buffer->size);
	return out;
}

/*
 * Note the words of which bytes start..end of a text made what is written in the buffer
 * from some byte on.
 */
static void
note_words(ShTextPlaces *found, const ShTextBuffer *buffer, Size written, ShTextPlace bytes)
{
	for (; written < buffer->length; written++)
	{
		shcompat_check_at(written);
		if (buffer->bytes[written] == ' ')
			continue;
		if (written == 0 || buffer->bytes[written - 1] == ' ')
		{
			found->places = shtext_with_room(found->places, found->length, &found->size, 1,
											 sizeof(ShTextPlace));
			found->places[found->length++].start = bytes.start;
		}
		found->places[found->length - 1].end = bytes.end;
	}
}

/*
 * Find where the words of UTF-8, or of SQL_ASCII, stand: normalize what depends on each
 * other, a character and its marks, at a time.
 */
static ShTextPlaces
places_in(const char *text, Size length, int encoding)
{
	const unsigned char *next = (const unsigned char *) text;
	const unsigned char *end = next + length;
	ShTextNormalizer normalizer;
	ShTextBuffer buffer = {0};
	ShTextPlaces found = {0};

	shtext_normalizer_init(&normalizer, text, length, encoding, SHTEXT_WORD);
	for (Size i = 0; next < end; i++)
	{
		ShTextPlace bytes;
		const unsigned char *after = next + 1;
		Size		written;
		bool		plain;

		shcompat_check_at(i);
		if (encoding != PG_SQL_ASCII)
			after = segment_end(next, end, &plain);
		bytes.start = next - (const unsigned char *) text;
		bytes.end = after - (const unsigned char *) text;

		/* of what was written, keep the word that goes on */
		if (!normalizer.in_word)
			buffer.length = 0;
		written = buffer.length;
		shtext_buffer_reserve(&buffer, (after - next) * MAX_GROWTH);
		normalize_words(&normalizer, next, after, &buffer);
		note_words(&found, &buffer, written, bytes);
		next = after;
	}
	shtext_normalizer_finish(&normalizer);
	shtext_free_array(buffer.bytes);
	return found;
}

/*
 * Turn places in the conversion of a text into places in the text.
 */
static void
move_back(ShTextPlaces *places, const char *text, Size length, int encoding)
{
	ShTextBuffer converted = {0};
	Size		nstarts = 0;
	Size		nends = 0;
	Size		next = 0;		/* byte of the conversion */
	int			character;

	for (Size at = 0; at < length; at += character)
	{
		CHECK_FOR_INTERRUPTS();
		character = 1;
		if (!IS_HIGHBIT_SET(text[at]))
			next++;
		else
		{
			character = Min(pg_encoding_mblen(encoding, text +at), length - at);
			converted.length = 0;
			shtext_to_utf8(text +at, character, encoding, &converted);
			next += converted.length;
		}
		while (nstarts < places->length && places->places[nstarts].start < next)
			places->places[nstarts++].start = at;
		while (nends < places->length && places->places[nends].end <= next)
			places->places[nends++].end = at + character;
	}
	shtext_free_array(converted.bytes);
}

/*
 * Find where each word of a text stands.
 */
ShTextPlaces
shtext_word_places(const char *text, Size length, int encoding)
{
	ShTextBuffer converted = {0};
	ShTextPlaces result;

	if (shtext_needs_no_conversion(encoding))
		return places_in(text, length, encoding);
	shtext_to_utf8(text, length, encoding, &converted);
	result = places_in(converted.bytes, converted.length, PG_UTF8);
	shtext_free_array(converted.bytes);
	move_back(&result, text, length, encoding);
	return result;
}
