/*-------------------------------------------------------------------------
 *
 * hash_stream.h
 *	  Hashing the features of a document, piece by piece.
 *
 * The features are windows of some consecutive units, each as often as it
 * occurs.  Their hashes are passed to a consumer, in batches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_HASH_STREAM_H
#define SIMHASH_TEXT_HASH_STREAM_H

#include "text/windows.h"

/* the most hashes of a batch: 8 kB, to stay in cache */
#define SHTEXT_BATCH		1024

/*
 * Called with each batch.
 */
typedef void (*ShTextConsumer) (void *state, const uint64 *hashes, int nhashes);

typedef struct ShTextStream
{
	ShTextWindows windows;
	ShTextConsumer consumer;
	void	   *state;			/* of the consumer */
	int			nhashes;
	uint64		hashes[SHTEXT_BATCH];	/* the batch that is being filled */
} ShTextStream;

extern void shtext_stream_init(ShTextStream *stream, ShTextUnit unit,
							   int shingle, ShTextConsumer consumer,
							   void *state);
extern void shtext_stream_add(ShTextStream *stream,
							  const ShTextBuffer *buffer);
extern void shtext_stream_finish(ShTextStream *stream,
								 const ShTextBuffer *buffer);

#endif							/* SIMHASH_TEXT_HASH_STREAM_H */
