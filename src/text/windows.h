/*-------------------------------------------------------------------------
 *
 * windows.h
 *	  The features of a document, all windows of some consecutive units, and their
 *	  hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_WINDOWS_H
#define SIMHASH_TEXT_WINDOWS_H

#include "text/buffer.h"

#define SHTEXT_MAX_SHINGLE	64

/* the most hashes of a batch: 8 kB, to stay in cache */
#define SHTEXT_BATCH		1024

/* what a feature is a window of */
typedef enum ShTextUnit
{
	SHTEXT_CHAR,				/* characters of UTF-8, one after the other */
	SHTEXT_WORD,				/* words, a space after each */
	SHTEXT_BYTE					/* bytes */
} ShTextUnit;

/*
 * The position of the next window in a buffer.  The buffer has only whole
 * units, except that the last word may be incomplete, in which case no space
 * follows it.
 */
typedef struct ShTextWindows
{
	ShTextUnit	unit;
	int			shingle;		/* units of a window */
	bool		any;			/* has there been a window? */
	int			nunits;			/* 0..shingle - 1 of the window are found: */
	Size		start;			/* they begin here, */
	Size		end;			/* end here (behind the space of a word), */
	/* of words only: */
	Size		searched;		/* there is no space in end..searched - 1 */
	int			first;			/* index of the first one of the window */
	Size		ends[SHTEXT_MAX_SHINGLE];	/* where they end, a ring */
} ShTextWindows;

/* A feature */
typedef struct ShTextSpan
{
	const char *bytes;
	Size		length;
} ShTextSpan;

/*
 * Called with the hashes of features, each as often as it occurs, in batches.
 */
typedef void (*ShTextConsumer) (void *state, const uint64 *hashes, int nhashes);

/* Hashes that are collected for a consumer. */
typedef struct ShTextBatch
{
	ShTextConsumer consumer;
	void	   *state;			/* of the consumer */
	int			nhashes;
	uint64		hashes[SHTEXT_BATCH];
} ShTextBatch;

extern void shtext_windows_init(ShTextWindows *windows, ShTextUnit unit, int shingle);
extern bool shtext_windows_next(ShTextWindows *windows, const ShTextBuffer *buffer,
								ShTextSpan *span);
extern bool shtext_windows_rest(ShTextWindows *windows, const ShTextBuffer *buffer,
								ShTextSpan *span);
extern void shtext_windows_discard(ShTextWindows *windows, ShTextBuffer *buffer);

extern void shtext_batch_init(ShTextBatch *batch, ShTextConsumer consumer, void *state);
extern void shtext_batch_add(ShTextBatch *batch, uint64 hash);
extern void shtext_batch_windows(ShTextBatch *batch, ShTextWindows *windows,
								 const ShTextBuffer *buffer);
extern void shtext_batch_finish(ShTextBatch *batch);

#endif							/* SIMHASH_TEXT_WINDOWS_H */
