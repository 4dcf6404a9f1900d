/*-------------------------------------------------------------------------
 *
 * wide_chunks.c
 *	  A group of wide fingerprints, in memory or in files.
 *
 * Which file has a value is decided by a hash of it, so that the rows of a value are
 * in one chunk.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "common/hashfn.h"
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
	chunks->nchunks = 1;
}

/*
 * Which chunk has a value: equal ones are in the same.
 */
static int
chunk_of(const ShPairsWideChunks *chunks, const uint64 *value)
{
	return hash_bytes((const unsigned char *) value, chunks->input->nwords * sizeof(uint64)) %
		chunks->nchunks;
}

static void
write_entry(ShPairsWideChunks *chunks, ShRowsNumber row, const uint64 *value)
{
	int			chunk = chunk_of(chunks, value);
	BufFile    *file = chunks->files[chunk];

	BufFileWrite(file, &row, sizeof(row));
	BufFileWrite(file, (void *) value, chunks->input->nwords * sizeof(uint64));
	if (++chunks->counts[chunk] % 1024 == 0)
		CHECK_FOR_INTERRUPTS();
}

/*
 * Move the entries that have been read into files, with the rest of the group.
 * Nothing in the bucket has been ordered.
 *
 * There are as many files as if all that is left to read were of this group.
 */
void
shpairs_chunks_write(ShPairsWideChunks *chunks, ShPairsWideBucket *wide, size_t per_chunk)
{
	ShPairsWideInput *input = chunks->input;
	uint32		group = wide->bucket.group;

	chunks->nchunks = 1 + (int) ((wide->count + input->entries - input->nread) / per_chunk);
	chunks->files = palloc(chunks->nchunks * sizeof(BufFile *));
	chunks->counts = palloc0(chunks->nchunks * sizeof(size_t));
	PrepareTempTablespaces();
	for (int i = 0; i < chunks->nchunks; i++)
		chunks->files[i] = BufFileCreateTemp(false);
	for (size_t i = 0; i < wide->count; i++)
		write_entry(chunks, wide->added[i], wide->values + i * input->nwords);
	for (; !input->at_end && input->group == group; shpairs_wide_advance(input))
	{
		write_entry(chunks, input->row, input->value);
		chunks->count++;
	}
	shpairs_wide_bucket_clear(wide, group);
}

/*
 * Read the group of the next entry, which becomes that of the bucket.  If it does
 * not fit in memory, it is written to files, for chunks of about this size.
 */
void
shpairs_chunks_read(ShPairsWideChunks *chunks, ShPairsWideBucket *wide, size_t per_chunk)
{
	ShPairsWideInput *input = chunks->input;
	uint32		group = input->group;

	shpairs_chunks_end(chunks);
	chunks->first_number += chunks->count;
	chunks->count = 0;
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
 * Add a chunk to a bucket, which has room for it.
 */
void
shpairs_chunks_load(ShPairsWideChunks *chunks, int chunk, ShPairsWideBucket *wide)
{
	BufFile    *file = chunks->files[chunk];
	uint64		value[SHBITS_MAX_PARTS];
	ShRowsNumber row;
	Size		size = chunks->input->nwords * sizeof(uint64);

	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file: %m")));
	for (size_t i = 0; i < chunks->counts[chunk]; i++)
	{
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (BufFileRead(file, &row, sizeof(row)) != sizeof(row) ||
			BufFileRead(file, value, size) != size)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from temporary file: %m")));
		shpairs_wide_bucket_add(wide, row, value);
	}
}

/*
 * The number of the first key of a chunk.
 */
uint64
shpairs_chunk_number(const ShPairsWideChunks *chunks, int chunk)
{
	uint64		number = chunks->first_number;

	for (int i = 0; i < chunk; i++)
		number += chunks->counts[i];
	return number;
}

/*
 * Close the files, if there are any.
 */
void
shpairs_chunks_end(ShPairsWideChunks *chunks)
{
	if (chunks->files == NULL)
		return;
	for (int i = 0; i < chunks->nchunks; i++)
		BufFileClose(chunks->files[i]);
	pfree(chunks->files);
	pfree(chunks->counts);
	chunks->files = NULL;
	chunks->nchunks = 1;
}
