/*-------------------------------------------------------------------------
 *
 * buffer.h
 *	  Growing arrays of bytes, of code points and of hashes.
 *
 * All zeros are an empty one.  They grow by doubling, in the memory context where
 * they were made, and can exceed 1 GB.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_BUFFER_H
#define SIMHASH_TEXT_BUFFER_H

#include "utils/memutils.h"

typedef struct ShTextBuffer
{
	char	   *bytes;
	Size		length;			/* elements used, */
	Size		size;			/* and allocated */
} ShTextBuffer;

typedef struct ShTextCodes
{
	uint32	   *codes;
	Size		length;
	Size		size;
} ShTextCodes;

typedef struct ShTextHashes
{
	uint64	   *hashes;
	Size		length;
	Size		size;
} ShTextHashes;

/*
 * The array, with room for more elements of some bytes; NULL is an empty one.
 *
 * Raises ERRCODE_PROGRAM_LIMIT_EXCEEDED if they cannot be allocated.
 */
static inline void *
shtext_with_room(void *array, Size length, Size *size, Size more, Size element)
{
	if (*size - length >= more)
		return array;
	if (more > MaxAllocHugeSize / element / 2 - length)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document is too long")));
	*size = Max(length + more, *size * 2);
	return array == NULL ? MemoryContextAllocHuge(CurrentMemoryContext, *size * element) :
		repalloc_huge(array, *size * element);
}

static inline void
shtext_buffer_reserve(ShTextBuffer *buffer, Size more)
{
	buffer->bytes = shtext_with_room(buffer->bytes, buffer->length, &buffer->size, more, 1);
}

static inline void
shtext_codes_reserve(ShTextCodes *codes, Size more)
{
	codes->codes = shtext_with_room(codes->codes, codes->length, &codes->size, more,
									sizeof(uint32));
}

static inline void
shtext_hashes_reserve(ShTextHashes *hashes, Size more)
{
	hashes->hashes = shtext_with_room(hashes->hashes, hashes->length, &hashes->size, more,
									  sizeof(uint64));
}

/*
 * Free such an array.
 */
static inline void
shtext_free_array(void *array)
{
	if (array != NULL)
		pfree(array);
}

#endif							/* SIMHASH_TEXT_BUFFER_H */
