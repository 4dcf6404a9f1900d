/*-------------------------------------------------------------------------
 *
 * normalise.h
 *	  From a text to the characters that its fingerprint is made of.
 *
 * Letters, marks and numbers of every script are kept and their case is folded;
 * everything else is dropped.  What comes out is UTF-8 whatever the encoding
 * of the database, and depends on no locale.
 *
 * It comes in chunks, so that a long text needs little memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_NORMALISE_H
#define SIMHASH_TEXT_NORMALISE_H

#include "postgres.h"

/* characters in a full chunk */
#define SHTEXT_CHUNK_CHARS	1024

/* bytes of the longest character, and so what a chunk must have left for one */
#define SHTEXT_MAX_CHAR_BYTES	4

/*
 * Normalised characters: number i is bytes[start[i]] .. bytes[start[i + 1] - 1].
 */
typedef struct ShTextChunk
{
	int			nchars;			/* 0..SHTEXT_CHUNK_CHARS */
	uint16		start[SHTEXT_CHUNK_CHARS + 1];
	char		bytes[SHTEXT_CHUNK_CHARS * SHTEXT_MAX_CHAR_BYTES];
} ShTextChunk;

/* A text that is being read.  To be seen by normalise.c only. */
typedef struct ShTextReader
{
	int			encoding;		/* of the text */
	const char *rest;			/* what comes after the piece that is read now, */
	size_t		rest_length;	/* and its bytes */
	char	   *converted;		/* that piece, if it had to be converted */
	const unsigned char *next;	/* the rest of that piece, in UTF-8, or
								 * single bytes if encoding is SQL_ASCII */
	const unsigned char *end;
} ShTextReader;

extern void shtext_reader_init(ShTextReader *reader, const char *text,
							   size_t length, int encoding);
extern bool shtext_read(ShTextReader *reader, ShTextChunk *chunk);
extern void shtext_chunk_clear(ShTextChunk *chunk);
extern void shtext_chunk_keep_last(ShTextChunk *chunk, int nchars);

#endif							/* SIMHASH_TEXT_NORMALISE_H */
