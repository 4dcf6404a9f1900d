/*-------------------------------------------------------------------------
 *
 * hash_stream.h
 *	  From the pieces of a document to the hashes of its features.
 *
 * The features are windows of some consecutive units, each as often as it
 * occurs.  Their hashes go to a consumer, which makes of them what it wants,
 * in batches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_HASH_STREAM_H
#define SIMHASH_TEXT_HASH_STREAM_H

#include "postgres.h"

#include "text/windows.h"

/* hashes of a batch at most: 8 kB, to stay in cache */
#define SHTEXT_BATCH		1024

/*
 * Takes a batch.
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
