/*-------------------------------------------------------------------------
 *
 * wide_chunks.c
 *	  A group of wide fingerprints, in memory or in a file.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"

#include "pairs/wide_chunks.h"

/*
 * Begin before the first group of an input.
 */
void
shpairs_chunks_begin(ShPairsWideChunks *chunks, ShPairsWideInput *input)
{
	memset(chunks, 0, sizeof(ShPairsWideChunks));
	chunks->input = input;
}

static Size
entry_size(const ShPairsWideChunks *chunks)
{
	return sizeof(ShRowsNumber) + chunks->input->nwords * sizeof(uint64);
}

static void
seek(ShPairsWideChunks *chunks, size_t entry)
{
	if (BufFileSeek(chunks->file, 0, (off_t) (entry * entry_size(chunks)), SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
}

static void
write_entry(ShPairsWideChunks *chunks, ShRowsNumber row, const uint64 *value)
{
	BufFileWrite(chunks->file, &row, sizeof(row));
	BufFileWrite(chunks->file, (void *) value, chunks->input->nwords * sizeof(uint64));
}

/*
 * Read on, up to the end of the group, into the file.
 */
static void
write_rest(ShPairsWideChunks *chunks, uint32 group)
{
	ShPairsWideInput *input = chunks->input;

	while (!input->at_end && input->group == group)
	{
		if (chunks->count % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		write_entry(chunks, input->row, input->value);
		chunks->count++;
		shpairs_wide_advance(input);
	}
}

/*
 * Move the entries that have been read into a file, to be taken in chunks of this
 * size.  Nothing in the bucket has been ordered.
 */
void
shpairs_chunks_write(ShPairsWideChunks *chunks, ShPairsWideBucket *wide, size_t per_chunk)
{
	int			nwords = chunks->input->nwords;

	PrepareTempTablespaces();
	chunks->file = BufFileCreateTemp(false);
	for (size_t i = 0; i < wide->count; i++)
	{
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		write_entry(chunks, wide->added[i], wide->values + i * nwords);
	}
	write_rest(chunks, wide->bucket.group);
	chunks->per_chunk = per_chunk;
	chunks->nchunks = Max((chunks->count + per_chunk - 1) / per_chunk, 1);
	shpairs_wide_bucket_clear(wide, wide->bucket.group);
}

/*
 * Read the group of the next entry, which becomes that of the bucket.  If it does
 * not fit in memory, it is written to a file.
 */
void
shpairs_chunks_read(ShPairsWideChunks *chunks, ShPairsWideBucket *wide, size_t per_chunk)
{
	ShPairsWideInput *input = chunks->input;
	uint32		group = input->group;

	shpairs_chunks_end(chunks);
	chunks->first_number += chunks->count;
	chunks->count = 0;
	chunks->nchunks = 1;
	shpairs_wide_bucket_clear(wide, group);
	while (!input->at_end && input->group == group && !shpairs_wide_bucket_full(wide))
	{
		if (chunks->count % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		shpairs_wide_bucket_add(wide, input->row, input->value);
		chunks->count++;
		shpairs_wide_advance(input);
	}
	if (!input->at_end && input->group == group)
		shpairs_chunks_write(chunks, wide, per_chunk);
}

/*
 * Add a chunk of the file to a bucket.
 */
void
shpairs_chunks_load(ShPairsWideChunks *chunks, int chunk, ShPairsWideBucket *wide)
{
	size_t		start = chunk * chunks->per_chunk;
	size_t		end = Min(start + chunks->per_chunk, chunks->count);
	uint64		value[SHBITS_MAX_PARTS];
	ShRowsNumber row;
	Size		size = chunks->input->nwords * sizeof(uint64);

	seek(chunks, start);
	for (size_t i = start; i < end; i++)
	{
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (BufFileRead(chunks->file, &row, sizeof(row)) != sizeof(row) ||
			BufFileRead(chunks->file, value, size) != size)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from temporary file: %m")));
		shpairs_wide_bucket_add(wide, row, value);
	}
}

/*
 * Close the file, if there is one.
 */
void
shpairs_chunks_end(ShPairsWideChunks *chunks)
{
	if (chunks->file != NULL)
		BufFileClose(chunks->file);
	chunks->file = NULL;
}
