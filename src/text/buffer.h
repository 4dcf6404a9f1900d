/*-------------------------------------------------------------------------
 *
 * buffer.h
 *	  Growing arrays of bytes and of code points.
 *
 * They grow by doubling, in the memory context where they were made, and can
 * exceed 1 GB.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_BUFFER_H
#define SIMHASH_TEXT_BUFFER_H

#include "utils/memutils.h"

typedef struct ShTextBuffer
{
	char	   *bytes;
	Size		length;			/* bytes used, */
	Size		size;			/* and allocated */
} ShTextBuffer;

typedef struct ShTextCodes
{
	uint32	   *codes;
	Size		length;			/* elements used, */
	Size		size;			/* and allocated */
} ShTextCodes;

/*
 * The size to allocate so that there is room for more elements of some size.
 *
 * Raises ERRCODE_PROGRAM_LIMIT_EXCEEDED if that is more than can be.
 */
static inline Size
shtext_larger_size(Size size, Size length, Size more, Size element)
{
	if (more > MaxAllocHugeSize / element / 2 - length)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document is too long")));
	return Max(length + more, size * 2);
}

static inline void
shtext_buffer_init(ShTextBuffer *buffer)
{
	buffer->bytes = NULL;
	buffer->length = buffer->size = 0;
}

/*
 * Make room for more bytes.
 */
static inline void
shtext_buffer_reserve(ShTextBuffer *buffer, Size more)
{
	if (buffer->size - buffer->length >= more)
		return;
	buffer->size = shtext_larger_size(buffer->size, buffer->length, more, 1);
	if (buffer->bytes == NULL)
		buffer->bytes = MemoryContextAllocHuge(CurrentMemoryContext,
											   buffer->size);
	else
		buffer->bytes = repalloc_huge(buffer->bytes, buffer->size);
}

static inline void
shtext_buffer_free(ShTextBuffer *buffer)
{
	if (buffer->bytes != NULL)
		pfree(buffer->bytes);
	shtext_buffer_init(buffer);
}

static inline void
shtext_codes_init(ShTextCodes *codes)
{
	codes->codes = NULL;
	codes->length = codes->size = 0;
}

static inline void
shtext_codes_reserve(ShTextCodes *codes, Size more)
{
	if (codes->size - codes->length >= more)
		return;
	codes->size = shtext_larger_size(codes->size, codes->length, more,
									 sizeof(uint32));
	if (codes->codes == NULL)
		codes->codes = MemoryContextAllocHuge(CurrentMemoryContext,
											  codes->size * sizeof(uint32));
	else
		codes->codes = repalloc_huge(codes->codes,
									 codes->size * sizeof(uint32));
}

static inline void
shtext_codes_free(ShTextCodes *codes)
{
	if (codes->codes != NULL)
		pfree(codes->codes);
	shtext_codes_init(codes);
}

#endif							/* SIMHASH_TEXT_BUFFER_H */
