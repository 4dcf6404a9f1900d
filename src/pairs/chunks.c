/*-------------------------------------------------------------------------
 *
 * chunks.c
 *	  Buckets that do not fit in memory, in chunks that do.
 *
 * The entries of a bucket are written to a file in the order of their values, for which
 * wide ones are sorted.  A chunk is as many of them as fit in half of the memory, and each
 * chunk is searched, and compared with each later one, or with those of the other side.
 * So the memory is bounded, but the time grows with the square of the number of chunks.
 *
 * No value is too much for a chunk, however many rows have it.  If the sink takes all rows
 * as they are read, they take no memory.  Otherwise the rows of a value may go on in the
 * next chunks, where its keys are pairs with each other.
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
#include "pairs/collector.h"
#include "pairs/keys.h"
#include "pairs/temp_file.h"
#include "pairs/pairs.h"
#include "pairs/walks.h"

/* an entry in a file: a value, and the number of a row */
#define MAX_ENTRY_WORDS		(SHBITS_MAX_PARTS + 1)

/* the entries of one side */
typedef struct Side
{
	Tuplesortstate *sort;		/* with several words, until all are there */
	BufFile    *file;
	size_t		count;			/* in the file */
	uint64		first_number;	/* see keys.h */

	int			nchunks;
	int			max_chunks;
	size_t	   *starts;			/* how many entries are before each chunk */
	size_t		kept;			/* entries of the last chunk that its bucket
								 * keeps */
	uint64		last_value[SHBITS_MAX_PARTS];
} Side;

struct ShPairsChunks
{
	MemoryContext context;
	int			nsides;
	Side		sides[2];		/* the first one only, if there is one */
	size_t		capacity;		/* of each of two buckets */

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
 *
 * Others are sorted, so that those with the same value follow each other.  Any order does,
 * so the bytes are compared as they are.  The sorts of the words, from which entries are
 * read, still have their memory.
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
	chunks->capacity = shpairs_bucket_capacity(bucket->nwords,
											   maintenance_work_mem * (Size) 1024 / 2);
	for (int i = 0; i < nsides; i++)
	{
		chunks->sides[i].file = shpairs_create_file();
		if (bucket->nwords > 1)
			chunks->sides[i].sort =
				tuplesort_begin_datum(BYTEAOID, ByteaLessOperator, InvalidOid, false,
									  Max(maintenance_work_mem / 2 / nsides, 64), NULL,
									  TUPLESORT_NONE);
	}
	for (int i = 0; i < lengthof(chunks->collectors); i++)
	{
		ShPairsCollector *collector = &chunks->collectors[i];

		shpairs_collector_init(collector, bucket->nwords,
							   inputs[Min(i, nsides - 1)].elements != NULL, sink, chunks->capacity);
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
 * Begin a chunk with the next entry.
 */
static void
add_chunk(ShPairsChunks *chunks, Side *side)
{
	if (side->nchunks == side->max_chunks)
	{
		side->max_chunks = Max(16, side->max_chunks * 2);
		side->starts = side->starts == NULL ?
			MemoryContextAlloc(chunks->context, side->max_chunks * sizeof(size_t)) :
			repalloc_huge(side->starts, side->max_chunks * sizeof(size_t));
	}
	side->starts[side->nchunks++] = side->count;
	side->kept = 0;
}

/*
 * Add the next entry in order.
 */
static void
append_to_chunk(ShPairsChunks *chunks, Side *side, const uint64 *entry)
{
	int			nwords = words_of(chunks);
	bool		repeated = side->nchunks > 0 &&
		shpairs_compare(side->last_value, entry, nwords) == 0;

	if (!repeated || shpairs_keeps_rows(&chunks->collectors[side - chunks->sides]))
	{
		if (side->nchunks == 0 || side->kept == chunks->capacity)
			add_chunk(chunks, side);
		side->kept++;
	}
	memcpy(side->last_value, entry, nwords * sizeof(uint64));
	BufFileWrite(side->file, unconstify(uint64 *, entry), (nwords + 1) * sizeof(uint64));
	side->count++;
}

static void
add_entry(ShPairsChunks *chunks, Side *side, const uint64 *value, ShPairsRow row)
{
	int			nwords = words_of(chunks);
	Size		size = (nwords + 1) * sizeof(uint64);
	struct
	{
		int32		header[2];	/* the entry follows the second, a length word */
		uint64		entry[MAX_ENTRY_WORDS];
	}			datum;
	bytea	   *bytes = (bytea *) &datum.header[1];

	memcpy(datum.entry, value, nwords * sizeof(uint64));
	datum.entry[nwords] = row;
	if (side->sort == NULL)
		append_to_chunk(chunks, side, datum.entry);
	else
	{
		SET_VARSIZE(bytes, VARHDRSZ + size);
		tuplesort_putdatum(side->sort, PointerGetDatum(bytes), false);
	}
}

/*
 * Add entries of a side, which ascend if their values have one word.
 */
void
shpairs_chunks_add(ShPairsChunks *chunks, int side, const uint64 *values,
				   const ShPairsRow *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		add_entry(chunks, &chunks->sides[side], values + i * words_of(chunks), rows[i]);
	}
}

/*
 * Add the entries of a bucket, which come before all others of a side.
 */
void
shpairs_chunks_add_bucket(ShPairsChunks *chunks, int number, const ShPairsBucket *bucket)
{
	Side	   *side = &chunks->sides[number];

	side->first_number = bucket->first_number;
	for (size_t i = 0; bucket->nkeys == 0 && i < bucket->nrows; i++)
	{
		const uint64 *record = bucket->values + i * shpairs_record_words(bucket->nwords);

		shcompat_check_at(i);
		add_entry(chunks, side, record, record[bucket->nwords]);
	}
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		for (size_t row = bucket->starts[i]; row < shpairs_rows_end(bucket, i); row++)
		{
			shcompat_check_at(row);
			add_entry(chunks, side, shpairs_value(bucket, i), bucket->rows[row]);
		}
	}
}

/*
 * Divide the entries of a side into chunks, in order.
 */
static void
divide_sorted(ShPairsChunks *chunks, Side *side)
{
	Datum		value;
	bool		is_null;

	tuplesort_performsort(side->sort);
	while (shcompat_tuplesort_getdatum(side->sort, true, &value, &is_null))
	{
		uint64		entry[MAX_ENTRY_WORDS];

		CHECK_FOR_INTERRUPTS();
		memcpy(entry, VARDATA_ANY(DatumGetPointer(value)), (words_of(chunks) + 1) * sizeof(uint64));
		pfree(DatumGetPointer(value));
		append_to_chunk(chunks, side, entry);
	}
	tuplesort_end(side->sort);
}

/*
 * All entries have been added: divide them into chunks.
 */
void
shpairs_chunks_divide(ShPairsChunks *chunks)
{
	MemoryContext old = MemoryContextSwitchTo(chunks->context);

	for (int i = 0; i < chunks->nsides; i++)
	{
		if (chunks->sides[i].sort != NULL)
			divide_sorted(chunks, &chunks->sides[i]);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Make a bucket of a chunk.
 */
static void
load_chunk(ShPairsChunks *chunks, int number, int chunk_number, ShPairsCollector *collector)
{
	Side	   *side = &chunks->sides[number];
	size_t		start = side->starts[chunk_number];
	size_t		end = chunk_number + 1 < side->nchunks ? side->starts[chunk_number + 1] : side->count;
	int			nwords = words_of(chunks);
	Size		size = (nwords + 1) * sizeof(uint64);

	shpairs_seek_file(side->file, start * size);
	shpairs_collector_clear(collector, collector->bucket.group);
	/* there are no more keys than entries before it */
	collector->bucket.first_number = side->first_number + start;
	for (size_t i = start; i < end; i++)
	{
		uint64		entry[MAX_ENTRY_WORDS];

		shcompat_check_at(i);
		shpairs_read_file(side->file, entry, size);
		shpairs_collect_in_order(collector, entry, entry[nwords]);
	}
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

	if (chunks->first == chunks->sides[0].nchunks)
	{
		for (int i = 0; i < chunks->nsides; i++)
			BufFileClose(chunks->sides[i].file);
		MemoryContextDelete(chunks->context);
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
