/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Fuzzing of src/text: normalization, and windows of characters and words, read in
 *	  pieces, against the whole text and a plain loop, with each of the kernels.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"
#include "../unit/pieces.h"

#include "text/majority.h"
#include "text/normalize.h"
#include "text/sketch.h"
#include "type/hash.h"

/* those without a conversion in the stand-in have foreign characters */
static const int encodings[] = {PG_UTF8, PG_UTF8, PG_UTF8, PG_SQL_ASCII, PG_LATIN1, PG_EUC_JP, PG_EUC_TW, PG_MULE_INTERNAL};

static int	encoding;
static ShTextUnit unit;
static int	shingle;
static text *document;

typedef struct Result
{
	ShTextBuffer normalized;
	ShTextMajority majority;
	ShTextSketch sketch;
	ShFingerprint parts[1];
} Result;

static void
add(void *result, const uint64 *hashes, int nhashes)
{
	shtext_majority_add(&((Result *) result)->majority, hashes, nhashes);
	shtext_sketch_add(&((Result *) result)->sketch, hashes, nhashes);
}

/* the whole text at once */
static ShTextBuffer
normalize(void)
{
	ShTextNormalizer normalizer;
	ShTextBuffer buffer = {0};

	shtext_normalizer_init(&normalizer, VARDATA(document), VARSIZE_ANY_EXHDR(document), encoding, unit);
	while (shtext_normalize(&normalizer, &buffer))
		;
	shtext_normalizer_finish(&normalizer);
	return buffer;
}

/* in pieces, as the extension does */
static Result
read_document(void)
{
	Result		result = {.normalized = normalize()};

	shtext_sketch_init(&result.sketch, 64, 0);
	read_pieces(VARDATA(document), VARSIZE_ANY_EXHDR(document), encoding, unit, shingle, add, &result);
	shtext_sketch_result(&result.sketch, result.parts);
	return result;
}

/* behind the unit of normalized text that begins here: a word with its space */
static Size
unit_end(const ShTextBuffer *buffer, Size start)
{
	const char *bytes = buffer->bytes;

	start++;
	while (start < buffer->length &&
		   (unit == SHTEXT_WORD ? bytes[start - 1] != ' ' :
			encoding != PG_SQL_ASCII && (bytes[start] & 0xC0) == 0x80))
		start++;
	return start;
}

/* The same by a loop that is as plain as can be */
static void
compare_with_plain_loop(const Result *result)
{
	const ShTextBuffer *buffer = &result->normalized;
	Size	   *starts = palloc((buffer->length + 1) * sizeof(Size));
	int			space = unit == SHTEXT_WORD ? 1 : 0;
	uint64		counts[64] = {0};
	uint64		nwindows = 0;
	uint64		expected = 0;
	int			nunits = 0;

	for (Size at = 0; at < buffer->length; at = unit_end(buffer, at))
		starts[nunits++] = at;
	starts[nunits] = buffer->length;
	for (int i = 0; i + Min(shingle, nunits) <= nunits && i < Max(nunits, 1) && nunits > 0; i++)
	{
		Size		end = starts[i + Min(shingle, nunits)] - space;
		uint64		hash = shtype_hash(buffer->bytes + starts[i], end - starts[i]);

		for (int b = 0; b < 64; b++)
			counts[b] += hash >> b & 1;
		nwindows++;
	}
	for (int b = 0; b < 64; b++)
		expected |= (uint64) (2 * counts[b] > nwindows) << b;
	require(result->majority.count == nwindows && shtext_majority_result(&result->majority) == expected);

	/*
	 * Words have one space each, and places in the text.  A Hangul vowel behind another
	 * script's letter is a word of its own, but has the place of both.
	 */
	if (unit == SHTEXT_WORD)
	{
		ShTextPlaces words = shtext_word_places(VARDATA(document), VARSIZE_ANY_EXHDR(document), encoding);

		require(words.length == nunits);
		for (int i = 0; i < nunits; i++)
		{
			require(starts[i + 1] - starts[i] >= 2 && buffer->bytes[starts[i]] != ' ');
			require(words.places[i].start < words.places[i].end &&
					words.places[i].end <= VARSIZE_ANY_EXHDR(document) &&
					(i == 0 || words.places[i - 1].end <= words.places[i].end));
		}
	}
}

static void
fuzz_one(void)
{
	static const char *const names[] = {"avx2", "avx512", "avx512vbmi2"};
	Result		expected;

	encoding = encodings[take_byte() % lengthof(encodings)];
	unit = take_byte() % 2 ? SHTEXT_WORD : SHTEXT_CHAR;
	shingle = 1 + take_byte() % SHTEXT_MAX_SHINGLE;
	document = (text *) take_text(encoding, false);

	shtext_kernels = shtext_kernels_named("portable");
	expected = read_document();
	compare_with_plain_loop(&expected);
	if (encoding == PG_UTF8 && expected.normalized.length > 0)
		require(pg_encoding_verifymbstr(PG_UTF8, expected.normalized.bytes, expected.normalized.length) ==
				expected.normalized.length);
	for (int i = 0; i < lengthof(names); i++)
	{
		Result		result;

		shtext_kernels = shtext_kernels_named(names[i]);
		if (shtext_kernels == NULL)
			continue;
		result = read_document();
		require(result.normalized.length == expected.normalized.length &&
				(result.normalized.length == 0 ||
				 memcmp(result.normalized.bytes, expected.normalized.bytes, result.normalized.length) == 0));
		require(memcmp(&result.majority, &expected.majority, sizeof(ShTextMajority)) == 0 &&
				memcmp(result.parts, expected.parts, sizeof(result.parts)) == 0);
	}
}
