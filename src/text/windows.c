/*-------------------------------------------------------------------------
 *
 * windows.c
 *	  The features of a document, all windows of some consecutive units, and their
 *	  hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

#include "text/windows.h"
#include "type/hash.h"

/* windows of words that are found, and then hashed, together */
#define WORDS_AT_ONCE		128

/* so long a window of words is hashed between checks for interrupts */
#define LONG_WINDOW			65536

/*
 * The length of a UTF-8 character, given its first byte.  Characters without
 * an equivalent in Unicode have six bytes.
 */
static inline int
char_length(unsigned char lead)
{
	return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 :
		lead < 0xF8 ? 4 : 6;
}

/*
 * The position of the next space, starting at some byte; length if there is
 * none.
 *
 * Words are short, so a call of memchr for each would take longer.
 */
static inline Size
find_space(const char *bytes, Size from, Size length)
{
	uint64		word;

	for (; from + sizeof(word) <= length; from += sizeof(word))
	{
		memcpy(&word, bytes + from, sizeof(word));
#ifdef WORDS_BIGENDIAN
		word = pg_bswap64(word);
#endif
		/* spaces become 0; the lowest bit that is set belongs to the first 0 */
		word ^= UINT64CONST(0x2020202020202020);
		word = (word - UINT64CONST(0x0101010101010101)) & ~word &
			UINT64CONST(0x8080808080808080);
		if (word != 0)
			return from + pg_rightmost_one_pos64(word) / 8;
	}
	while (from < length && bytes[from] != ' ')
		from++;
	return from;
}

/*
 * Start with an empty buffer.  shingle is 1..SHTEXT_MAX_SHINGLE.
 */
void
shtext_windows_init(ShTextWindows *windows, ShTextUnit unit, int shingle)
{
	Assert(shingle > 0 && shingle <= SHTEXT_MAX_SHINGLE);
	windows->unit = unit;
	windows->shingle = shingle;
	windows->any = false;
	windows->nunits = 0;
	windows->start = windows->end = windows->searched = 0;
	windows->first = 0;
}

/*
 * Find one more unit of the window, if units are not words.
 */
static inline bool
find_unit(ShTextWindows *windows, const ShTextBuffer *buffer)
{
	if (windows->end == buffer->length)
		return false;
	windows->end += windows->unit == SHTEXT_CHAR ?
		char_length(buffer->bytes[windows->end]) : 1;
	windows->nunits++;
	return true;
}

/*
 * Find all units of the window but the last one.
 */
static bool
find_units(ShTextWindows *windows, const ShTextBuffer *buffer)
{
	while (windows->nunits < windows->shingle - 1)
	{
		if (!find_unit(windows, buffer))
			return false;
	}
	return true;
}

/*
 * The number of ASCII bytes before the first other byte.
 */
static Size
ascii_length(const char *bytes, Size length)
{
	Size		result = 0;
	uint64		word;

	for (; result + sizeof(word) <= length; result += sizeof(word))
	{
		memcpy(&word, bytes + result, sizeof(word));
		if (word & UINT64CONST(0x8080808080808080))
			break;
	}
	while (result < length && !IS_HIGHBIT_SET(bytes[result]))
		result++;
	return result;
}

/*
 * Find a run of up to max consecutive windows of single-byte units, starting
 * at *bytes and one byte apart.  Returns their number, which may be 0 even if
 * shtext_windows_next would find one.
 */
static int
find_run(ShTextWindows *windows, const ShTextBuffer *buffer, int max, const char **bytes)
{
	const char *start = buffer->bytes + windows->start;
	Size		length;

	if (!find_units(windows, buffer))
		return 0;

	/* if units are characters, are those already found single bytes? */
	if (windows->end - windows->start != windows->nunits)
		return 0;

	length = Min(buffer->length - windows->end, (Size) max);
	if (windows->unit == SHTEXT_CHAR)
		length = ascii_length(buffer->bytes + windows->end, length);
	windows->start += length;
	windows->end += length;
	windows->any |= (length > 0);
	*bytes = start;
	return length;
}

/*
 * Find up to max windows of words, the same as shtext_windows_next returns one by
 * one.  Returns their number.
 */
static int
find_words(ShTextWindows *windows, const ShTextBuffer *buffer, int max, ShTextSpan *spans)
{
	const char *bytes = buffer->bytes;
	Size		length = buffer->length;
	Size		start = windows->start;
	Size		end = windows->end;
	Size		from = Max(windows->searched, end);
	int			first = windows->first;
	int			nunits = windows->nunits;
	int			nspans = 0;

	while (nspans < max)
	{
		from = find_space(bytes, from, length);
		if (from == length)
			break;
		end = ++from;
		windows->ends[(first + nunits++) % SHTEXT_MAX_SHINGLE] = end;
		if (nunits < windows->shingle)
			continue;

		/* without the last space */
		spans[nspans].bytes = bytes + start;
		spans[nspans++].length = end - 1 - start;
		start = windows->ends[first];
		first = (first + 1) % SHTEXT_MAX_SHINGLE;
		nunits--;
	}

	windows->any |= (nspans > 0);
	windows->start = start;
	windows->end = end;
	windows->searched = from;
	windows->first = first;
	windows->nunits = nunits;
	return nspans;
}

/*
 * Return the next window.  Returns false if the buffer ends before it does.
 */
bool
shtext_windows_next(ShTextWindows *windows, const ShTextBuffer *buffer,
					ShTextSpan *span)
{
	const char *start = buffer->bytes + windows->start;

	if (windows->unit == SHTEXT_WORD)
		return find_words(windows, buffer, 1, span) > 0;
	if (!find_units(windows, buffer) || !find_unit(windows, buffer))
		return false;

	span->bytes = start;
	span->length = buffer->bytes + windows->end - start;
	windows->any = true;
	windows->nunits--;
	windows->start += windows->unit == SHTEXT_CHAR ? char_length(*start) : 1;
	return true;
}

/*
 * At the end of the document, return the feature of a document with fewer
 * units than a window.  Returns false if there is none, because there were
 * windows or there are no units.
 */
bool
shtext_windows_rest(ShTextWindows *windows, const ShTextBuffer *buffer,
					ShTextSpan *span)
{
	Assert(windows->any || windows->end == buffer->length);
	if (windows->any || windows->nunits == 0)
		return false;
	span->bytes = buffer->bytes;
	span->length = buffer->length - (windows->unit == SHTEXT_WORD);
	return true;
}

/*
 * Remove the part of the buffer that no window needs any more.
 *
 * This is done only if it is at least half of the buffer, so that long words
 * are not moved repeatedly.
 */
void
shtext_windows_discard(ShTextWindows *windows, ShTextBuffer *buffer)
{
	Size		start = windows->start;

	if (start == 0 || start < buffer->length - start)
		return;
	buffer->length -= start;
	memmove(buffer->bytes, buffer->bytes + start, buffer->length);
	windows->start = 0;
	windows->end -= start;
	windows->searched = windows->searched > start ? windows->searched - start : 0;
	if (windows->unit == SHTEXT_WORD)
	{
		for (int i = 0; i < windows->nunits; i++)
			windows->ends[(windows->first + i) % SHTEXT_MAX_SHINGLE] -= start;
	}
}

void
shtext_batch_init(ShTextBatch *batch, ShTextConsumer consumer, void *state)
{
	batch->consumer = consumer;
	batch->state = state;
	batch->nhashes = 0;
}

/*
 * Pass the batch, if it is not empty, to the consumer.
 */
void
shtext_batch_finish(ShTextBatch *batch)
{
	if (batch->nhashes > 0)
		batch->consumer(batch->state, batch->hashes, batch->nhashes);
	batch->nhashes = 0;
}

/*
 * The same if it is full.  Checks for interrupts.
 */
static inline void
make_room_for_word(ShTextBatch *batch)
{
	if (batch->nhashes < SHTEXT_BATCH)
		return;
	CHECK_FOR_INTERRUPTS();
	shtext_batch_finish(batch);
}

void
shtext_batch_add(ShTextBatch *batch, uint64 hash)
{
	make_room_for_word(batch);
	batch->hashes[batch->nhashes++] = hash;
}

/*
 * Hash n windows, each of shingle bytes and one byte after the one before.
 */
static void
hash_run(const char *bytes, int n, int shingle, uint64 *hashes)
{
	/* with a constant length the compiler specializes the hash */
	switch (shingle)
	{
		case 4:
			for (int i = 0; i < n; i++)
				hashes[i] = shtype_hash(bytes + i, 4);
			break;
		case 8:
			for (int i = 0; i < n; i++)
				hashes[i] = shtype_hash(bytes + i, 8);
			break;
		default:
			for (int i = 0; i < n; i++)
				hashes[i] = shtype_hash(bytes + i, shingle);
			break;
	}
}

static inline int
hash_words(ShTextWindows *windows, const ShTextBuffer *buffer, int max, uint64 *hashes)
{
	ShTextSpan	spans[WORDS_AT_ONCE];
	int			n = find_words(windows, buffer, Min(max, WORDS_AT_ONCE), spans);

	for (int i = 0; i < n; i++)
	{
		if (spans[i].length >= LONG_WINDOW)
			CHECK_FOR_INTERRUPTS();
		hashes[i] = shtype_hash(spans[i].bytes, spans[i].length);
	}
	return n;
}

static inline int
hash_units(ShTextWindows *windows, const ShTextBuffer *buffer, int max, uint64 *hashes)
{
	const char *bytes;
	ShTextSpan	span;
	int			n = find_run(windows, buffer, max, &bytes);

	if (n > 0)
		hash_run(bytes, n, windows->shingle, hashes);
	else if (shtext_windows_next(windows, buffer, &span))
		hashes[n++] = shtype_hash(span.bytes, span.length);
	return n;
}

/*
 * Add the hashes of all windows of a buffer that were not yet returned.
 */
void
shtext_batch_windows(ShTextBatch *batch, ShTextWindows *windows, const ShTextBuffer *buffer)
{
	int			n;

	do
	{
		uint64	   *hashes;
		int			room;

		make_room_for_word(batch);
		hashes = batch->hashes + batch->nhashes;
		room = SHTEXT_BATCH - batch->nhashes;
		n = windows->unit == SHTEXT_WORD ? hash_words(windows, buffer, room, hashes) :
			hash_units(windows, buffer, room, hashes);
		batch->nhashes += n;
	} while (n > 0);
}
