/*-------------------------------------------------------------------------
 *
 * pieces.h
 *	  Reading the features of a text in pieces, as document.c does, for tests without a
 *	  document or the encoding of a database.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_UNIT_PIECES_H
#define SIMHASH_UNIT_PIECES_H

#include "text/normalize.h"
#include "text/windows.h"
#include "type/hash.h"

/*
 * Pass the features of a text to a consumer: windows of so many units.
 */
static void
read_pieces(const char *bytes, Size length, int encoding, ShTextUnit unit, int shingle,
			ShTextConsumer consumer, void *state)
{
	ShTextNormalizer normalizer;
	ShTextWindows windows;
	ShTextBatch batch;
	ShTextBuffer buffer = {0};
	ShTextSpan	span;

	shtext_normalizer_init(&normalizer, bytes, length, encoding, unit);
	/* a character of an unknown encoding is a byte */
	shtext_windows_init(&windows,
						encoding == PG_SQL_ASCII && unit == SHTEXT_CHAR ? SHTEXT_BYTE : unit,
						shingle);
	shtext_batch_init(&batch, consumer, state);
	for (;;)
	{
		shtext_windows_discard(&windows, &buffer);
		if (!shtext_normalize(&normalizer, &buffer))
			break;
		shtext_batch_windows(&batch, &windows, &buffer);
	}
	if (shtext_windows_rest(&windows, &buffer, &span))
		shtext_batch_add(&batch, shtype_hash(span.bytes, span.length));
	shtext_batch_finish(&batch);
	shtext_normalizer_finish(&normalizer);
	shtext_free_array(buffer.bytes);
}

#endif							/* SIMHASH_UNIT_PIECES_H */
