/*-------------------------------------------------------------------------
 *
 * hash_stream.c
 *	  Hashing the features of a document, piece by piece.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "type/hash.h"
#include "text/hash_stream.h"
#include "text/text_kernels.h"

/* windows of words that are found, and then hashed, together */
#define WORDS_AT_ONCE		128

/*
 * Start with an empty buffer.  shingle is 1..SHTEXT_MAX_SHINGLE.
 */
void
shtext_stream_init(ShTextStream *stream, ShTextUnit unit, int shingle,
				   ShTextConsumer consumer, void *state)
{
	shtext_windows_init(&stream->windows, unit, shingle);
	stream->consumer = consumer;
	stream->state = state;
	stream->nhashes = 0;
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
			shtext_kernels->hash_fours(bytes, n, hashes);
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

/*
 * Pass the batch, if it is not empty, to the consumer.
 */
static void
hand_over(ShTextStream *stream)
{
	if (stream->nhashes > 0)
		stream->consumer(stream->state, stream->hashes, stream->nhashes);
	stream->nhashes = 0;
}

/*
 * Hash all windows of a buffer that were not yet hashed.  Checks for
 * interrupts.
 */
void
shtext_stream_add(ShTextStream *stream, const ShTextBuffer *buffer)
{
	ShTextWindows *windows = &stream->windows;
	const char *bytes;
	ShTextSpan	span;

	for (;;)
	{
		int			n;

		if (stream->nhashes == SHTEXT_BATCH)
		{
			CHECK_FOR_INTERRUPTS();
			hand_over(stream);
		}

		if (windows->unit == SHTEXT_WORD)
		{
			ShTextSpan	spans[WORDS_AT_ONCE];

			n = shtext_windows_words(windows, buffer,
									 Min(SHTEXT_BATCH - stream->nhashes, WORDS_AT_ONCE),
									 spans);
			if (n == 0)
				break;
			for (int i = 0; i < n; i++)
				stream->hashes[stream->nhashes++] =
					shtype_hash(spans[i].bytes, spans[i].length);
			continue;
		}

		n = shtext_windows_run(windows, buffer,
							   SHTEXT_BATCH - stream->nhashes, &bytes);
		if (n > 0)
		{
			hash_run(bytes, n, windows->shingle,
					 &stream->hashes[stream->nhashes]);
			stream->nhashes += n;
			continue;
		}
		if (!shtext_windows_next(windows, buffer, &span))
			break;
		stream->hashes[stream->nhashes++] =
			shtype_hash(span.bytes, span.length);
	}
}

/*
 * Pass the rest to the consumer after all pieces have been added.  Without a
 * buffer, a document with fewer units than a window has no feature.
 */
void
shtext_stream_finish(ShTextStream *stream, const ShTextBuffer *buffer)
{
	ShTextSpan	span;

	/* if there is one, it is the only feature */
	if (buffer != NULL && shtext_windows_rest(&stream->windows, buffer, &span))
		stream->hashes[stream->nhashes++] =
			shtype_hash(span.bytes, span.length);
	hand_over(stream);
}
