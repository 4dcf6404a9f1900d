/*-------------------------------------------------------------------------
 *
 * chunks.c
 *	  Buckets that do not fit in memory, in chunks that do.
 *
 * The entries of a bucket are written to a file in the order of their values.  A chunk
 * is as many of them as fit in half of the memory, and each chunk is searched, and
 * compared with each later one, or with those of the other side.  So the memory is
 * bounded, but the time grows with the square of the number of chunks.
 *
 * No value is too much for a chunk, however many rows have it.  If the sink is passed
 * all rows of a key but the first, they take no memory.  Otherwise the rows of a value
 * may go on in the next chunks, where its keys are pairs with each other.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "pairs/chunks.h"
#include "pairs/collector.h"
#include "pairs/pairs.h"
#include "pairs/temp_file.h"

/* an entry in a file: a value, and the number of a row */
#define MAX_ENTRY_WORDS		(SHBITS_MAX_PARTS + 1)

/* some successive entries of a side */
typedef struct Chunk
{
	size_t		start;			/* how many are before them */
	size_t		count;
	size_t		nkeys;
	size_t		nrows;			/* that its bucket keeps */
} Chunk;

/* the entries of one side */
typedef struct Side
{
	BufFile    *file;
	size_t		count;
	uint64		first_number;	/* see keys.h */

	/* once they are in order: */
	int			nchunks;
	int			max_chunks;
	Chunk	   *chunks;
	uint64		last_value[SHBITS_MAX_PARTS];
} Side;

struct ShPairsChunks
{
	MemoryContext context;
	int			nsides;
	Side		sides[2];		/* the first one only, if there is one */
	Size		memory;			/* for each of two buckets */

	/* the second has a chunk of the same side if there is one */
	ShPairsCollector collectors[2];

	/* the chunks that are compared next, if first is below their number */
	int			first;
	int			second;
	double		ncompared;		/* how many have been */
};

/*
 * Begin without entries of the inputs.  They are of the group of a bucket, and if their
 * values have one word, of its table, too.
 */
ShPairsChunks *
shpairs_chunks_begin(const ShPairsInput *inputs, int nsides, const ShPairsBucket *bucket,
					 ShPairsSink *sink)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "simhash chunks",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ShPairsChunks *chunks = palloc0(sizeof(ShPairsChunks));

	chunks->context = context;
	chunks->nsides = nsides;
	chunks->memory = maintenance_work_mem * (Size) 1024 / 2;
	for (int i = 0; i < nsides; i++)
		chunks->sides[i].file = shpairs_create_file();
	for (int i = 0; i < lengthof(chunks->collectors); i++)
	{
		ShPairsCollector *collector = &chunks->collectors[i];

		shpairs_collector_init(collector, bucket->nwords,
							   shpairs_input_sink(&inputs[Min(i, nsides - 1)], sink),
							   chunks->memory);
		shpairs_collector_clear(collector, bucket->group);
		collector->bucket.table = bucket->table;
		collector->bucket.first_walk = bucket->first_walk;
	}
	MemoryContextSwitchTo(old);
	return chunks;
}

static inline int
words_of(const ShPairsChunks *chunks)
{
	return chunks->collectors[0].bucket.nwords;
}

/*
 * The chunk of the next entry, which has the value of the one before if it is repeated.
 */
static Chunk *
last_chunk(ShPairsChunks *chunks, Side *side, bool repeated)
{
	const ShPairsCollector *collector = &chunks->collectors[side - chunks->sides];
	bool		drop = repeated && collector->sink != NULL;
	Chunk	   *chunk;

	if (side->nchunks > 0)
	{
		chunk = &side->chunks[side->nchunks - 1];
		if (drop)
			return chunk;
		if (shpairs_bucket_bytes(words_of(chunks), chunk->nkeys + !repeated,
								 chunk->nrows + 1) <= chunks->memory &&
			chunk->nkeys < SHPAIRS_MAX_KEYS)
		{
			chunk->nkeys += !repeated;
			chunk->nrows++;
			return chunk;
		}
	}
	if (side->nchunks == side->max_chunks)
	{
		side->max_chunks = Max(16, side->max_chunks * 2);
		side->chunks = side->chunks == NULL ?
			MemoryContextAlloc(chunks->context, side->max_chunks * sizeof(Chunk)) :
			repalloc_huge(side->chunks, side->max_chunks * sizeof(Chunk));
	}
	chunk = &side->chunks[side->nchunks++];
	*chunk = (Chunk)
	{
		.start = side->count,.nkeys = 1,.nrows = 1
	};
	return chunk;
}

/*
 * Add the next entry in order.
 */
static void
append_to_chunk(ShPairsChunks *chunks, Side *side, uint64 *entry)
{
	int			nwords = words_of(chunks);
	bool		repeated = side->nchunks > 0 &&
		shpairs_compare(side->last_value, entry, nwords) == 0;

	last_chunk(chunks, side, repeated)->count++;
	if (!repeated)
		memcpy(side->last_value, entry, nwords * sizeof(uint64));
	BufFileWrite(side->file, entry, (nwords + 1) * sizeof(uint64));
	side->count++;
}

static inline void
add_entry(ShPairsChunks *chunks, Side *side, const uint64 *value, ShPairsRow row)
{
	int			nwords = words_of(chunks);
	uint64		entry[MAX_ENTRY_WORDS];

	memcpy(entry, value, nwords * sizeof(uint64));
	entry[nwords] = row;
	if (nwords == 1)
		append_to_chunk(chunks, side, entry);
	else
	{
		BufFileWrite(side->file, entry, (nwords + 1) * sizeof(uint64));
		side->count++;
	}
}

/*
 * Add entries of a side, which ascend if their values have one word.
 */
void
shpairs_chunks_add(ShPairsChunks *chunks, int side, const uint64 *values,
				   const ShPairsRow * rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		add_entry(chunks, &chunks->sides[side], values + i * words_of(chunks), rows[i]);
	}
}

/*
 * Add the entries of a bucket, which come before all others of a side.  If it has
 * several words, it need not be finished.
 */
void
shpairs_chunks_add_bucket(ShPairsChunks *chunks, int number, const ShPairsBucket *bucket)
{
	Side	   *side = &chunks->sides[number];

	side->first_number = bucket->first_number;
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		for (size_t row = bucket->starts[i]; row < shpairs_rows_end(bucket, i); row++)
		{
			shcompat_check_at(row);
			add_entry(chunks, side, shpairs_stored(bucket, i), bucket->rows[row]);
		}
	}
}

static void
read_entry(BufFile *file, uint64 *entry, int nwords)
{
	Size		size = (nwords + 1) * sizeof(uint64);

	if (BufFileRead(file, entry, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/*
 * Sort the entries of a side, so that those with the same value follow each other.
 * Any order does, so the bytes are compared as they are.  The sorts of the words, from
 * which entries are read, still have their memory.
 */
static void
sort_side(ShPairsChunks *chunks, Side *side)
{
	int			nwords = words_of(chunks);
	size_t		count = side->count;
	Tuplesortstate *sort = tuplesort_begin_datum(BYTEAOID, ByteaLessOperator, InvalidOid, false,
												 maintenance_work_mem / 2, NULL, TUPLESORT_NONE);
	union
	{
		bytea		bytes;
		uint64		words[MAX_ENTRY_WORDS + 1];
	}			datum;
	Size		size = (nwords + 1) * sizeof(uint64);
	Datum		value;
	bool		is_null;

	SET_VARSIZE(&datum.bytes, VARHDRSZ + size);
	shpairs_rewind_file(side->file);
	for (size_t i = 0; i < count; i++)
	{
		uint64		entry[MAX_ENTRY_WORDS];

		shcompat_check_at(i);
		read_entry(side->file, entry, nwords);
		memcpy(VARDATA(&datum.bytes), entry, size);
		tuplesort_putdatum(sort, PointerGetDatum(&datum.bytes), false);
	}
	BufFileClose(side->file);
	tuplesort_performsort(sort);
	side->file = shpairs_create_file();
	side->count = 0;
	for (size_t i = 0; shcompat_tuplesort_getdatum(sort, true, &value, &is_null); i++)
	{
		uint64		entry[MAX_ENTRY_WORDS];

		shcompat_check_at(i);
		memcpy(entry, VARDATA_ANY(DatumGetPointer(value)), size);
		pfree(DatumGetPointer(value));
		append_to_chunk(chunks, side, entry);
	}
	tuplesort_end(sort);
	Assert(side->count == count);
}

/*
 * All entries have been added: divide them into chunks.
 */
void
shpairs_chunks_divide(ShPairsChunks *chunks)
{
	MemoryContext old = MemoryContextSwitchTo(chunks->context);

	for (int i = 0; i < chunks->nsides && words_of(chunks) > 1; i++)
		sort_side(chunks, &chunks->sides[i]);
	MemoryContextSwitchTo(old);
}

/*
 * Make a bucket of a chunk.
 */
static void
load_chunk(ShPairsChunks *chunks, int number, int chunk_number, ShPairsCollector *collector)
{
	Side	   *side = &chunks->sides[number];
	const Chunk *chunk = &side->chunks[chunk_number];
	int			nwords = words_of(chunks);
	Size		size = (nwords + 1) * sizeof(uint64);

	if (BufFileSeek(side->file, 0, (off_t) (chunk->start * size), SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
	shpairs_collector_reserve(collector, chunk->nkeys, chunk->nrows);
	shpairs_collector_clear(collector, collector->bucket.group);
	/* there are no more keys than entries before it */
	collector->bucket.first_number = side->first_number + chunk->start;
	for (size_t i = 0; i < chunk->count; i++)
	{
		uint64		entry[MAX_ENTRY_WORDS];

		shcompat_check_at(i);
		read_entry(side->file, entry, nwords);
		shpairs_collect_in_order(collector, entry, entry[nwords]);
	}
}

static void
end_chunks(ShPairsChunks *chunks)
{
	for (int i = 0; i < chunks->nsides; i++)
		BufFileClose(chunks->sides[i].file);
	MemoryContextDelete(chunks->context);
}

/*
 * Load the next two chunks, or the same one twice.  Returns false if there are none, and
 * after the last, when memory and files are freed and *pointer is set to NULL.
 *
 * What is called for a pair may have changed the rows of a bucket, so both are loaded
 * again.
 */
bool
shpairs_chunks_next(ShPairsChunks **pointer, ShPairsBucket **a, ShPairsBucket **b)
{
	ShPairsChunks *chunks = *pointer;
	int			other;
	bool		among;

	if (chunks == NULL)
		return false;
	if (chunks->first == chunks->sides[0].nchunks)
	{
		end_chunks(chunks);
		*pointer = NULL;
		return false;
	}
	other = chunks->nsides - 1;
	among = other == 0 && chunks->first == chunks->second;
	load_chunk(chunks, 0, chunks->first, &chunks->collectors[0]);
	if (!among)
		load_chunk(chunks, other, chunks->second, &chunks->collectors[1]);
	*a = &chunks->collectors[0].bucket;
	*b = among ? *a : &chunks->collectors[1].bucket;
	chunks->ncompared++;
	if (++chunks->second == chunks->sides[other].nchunks)
	{
		chunks->first++;
		chunks->second = other == 0 ? chunks->first : 0;
	}
	return true;
}

/*
 * The fraction of the work that is done, with that of the current two chunks.
 */
double
shpairs_chunks_done(const ShPairsChunks *chunks, double fraction)
{
	double		count = chunks->sides[0].nchunks;
	double		all = chunks->nsides == 1 ? count * (count + 1) / 2 :
		count * chunks->sides[1].nchunks;

	return Min((chunks->ncompared - 1 + fraction) / all, 1);
}
