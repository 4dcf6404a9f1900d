/*-------------------------------------------------------------------------
 *
 * windows.h
 *	  The features of a document: all windows of some consecutive units.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_WINDOWS_H
#define SIMHASH_TEXT_WINDOWS_H

#include "text/buffer.h"
#include "text/normalize.h"

#define SHTEXT_MAX_SHINGLE	64

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

extern void shtext_windows_init(ShTextWindows *windows, ShTextUnit unit,
								int shingle);
extern int	shtext_windows_run(ShTextWindows *windows,
							   const ShTextBuffer *buffer, int max,
							   const char **bytes);
extern int	shtext_windows_words(ShTextWindows *windows,
								 const ShTextBuffer *buffer, int max,
								 ShTextSpan *spans);
extern bool shtext_windows_next(ShTextWindows *windows,
								const ShTextBuffer *buffer, ShTextSpan *span);
extern bool shtext_windows_rest(ShTextWindows *windows,
								const ShTextBuffer *buffer, ShTextSpan *span);
extern void shtext_windows_discard(ShTextWindows *windows,
								   ShTextBuffer *buffer);

#endif							/* SIMHASH_TEXT_WINDOWS_H */
