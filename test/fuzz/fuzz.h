/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  What the fuzzers have in common: each has a function fuzz_one, which takes its
 *	  arguments from the input, and may end with an error that users may see.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEST_FUZZ_H
#define SIMHASH_TEST_FUZZ_H

#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>

#include "mb/pg_wchar.h"

#include "../unit/server.h"

#undef fprintf

static const uint8 *input;
static Size input_left;

static void fuzz_one(void);

/* The next byte; 0 behind the end */
static inline uint8
take_byte(void)
{
	if (input_left == 0)
		return 0;
	input_left--;
	return *input++;
}

/* An integer of some bytes, the first one highest */
static inline uint64
take_integer(int nbytes)
{
	uint64		result = 0;

	while (nbytes-- > 0)
		result = result << 8 | take_byte();
	return result;
}

/* What must be true */
#define require(condition) \
	((condition) ? (void) 0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

/* A text or a byte string, of which no byte behind the end can be read */
static inline struct varlena *
make_varlena(const void *bytes, Size length)
{
	struct varlena *result = palloc(VARHDRSZ + length);

	SET_VARSIZE(result, VARHDRSZ + length);
	if (length > 0)
		memcpy(VARDATA(result), bytes, length);
	return result;
}

/*
 * A text of valid characters of an encoding: the input up to its end, or to the first
 * byte 0xFF if it goes on.  The first byte says how often: if it is above 239, the text is
 * repeated, to be longer than the pieces that texts are read in.
 */
static inline text *
take_text(int encoding, bool goes_on)
{
	int			size = take_byte();
	Size		repeated = Max(size - 239, 0) * 640;
	const uint8 *end = goes_on && input_left > 0 ? memchr(input, 0xFF, input_left) : NULL;
	Size		given = end == NULL ? input_left : end - input;
	char	   *bytes = palloc(Max(given, repeated) + given);
	Size		length = 0;

	for (Size i = 0; i < given;)
	{
		int			valid = input[i] == 0 ? 0 :
			pg_encoding_verifymbchar(encoding, (const char *) input + i, given - i);

		if (valid > 0)
			memcpy(bytes + length, input + i, valid);
		length += Max(valid, 0);
		i += Max(valid, 1);
	}
	for (Size once = length; once > 0 && length < repeated; length += once)
		memcpy(bytes + length, bytes, once);
	input += given;
	input_left -= given;
	if (end != NULL)
		take_byte();
	return make_varlena(bytes, length);
}

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	jmp_buf		caught;

	input = data;
	input_left = size;
	server_tracks = true;
	server_sqlstate = 0;
	server_catch = &caught;
	if (setjmp(caught) == 0)
		fuzz_one();
	else
		/* an error without an SQLSTATE is one of ours */
		require(server_sqlstate != 0 && server_sqlstate != ERRCODE_INTERNAL_ERROR);
	server_reset();
	return 0;
}

#endif							/* SIMHASH_TEST_FUZZ_H */
