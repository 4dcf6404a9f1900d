/*-------------------------------------------------------------------------
 *
 * bucket.c
 *	  Sorting more items than fit in memory, by distribution.
 *
 * The items are read once and distributed over buckets by the first bits of
 * their keys; each bucket, in order, is then read, sorted in memory and
 * returned.  So an item is written and read once, whatever their number.  A
 * bucket that is too large for memory is distributed again, by the first bits
 * that tell its items apart: of the keys, and where these are all equal, of
 * the values.  One whose items came in order is returned as it is, which is
 * what happens to a fingerprint that very many rows have.
 *
 * Buckets are tapes of one of the server's tape sets: one temporary file,
 * whose blocks are used again as soon as they have been read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "sort/bucket.h"

/* bytes of an item on a tape */
#define KEY_BYTES		8
#define VALUE_BYTES		6
#define ITEM_BYTES		(KEY_BYTES + VALUE_BYTES)

/* items that are sorted in memory at a time, and the result */
#define BYTES_PER_LOADED	(2 * sizeof(ShSortItem))

/*
 * A bucket should not be larger than this even if memory allows: its items
 * then stay in the CPU's cache while they are sorted.
 */
#define BUCKET_ITEMS	65536

/* buckets of one distribution, as powers of two */
#define MIN_DIGIT_BITS	4
#define MAX_DIGIT_BITS	9

/* how much of a tape is read at a time, in bytes */
#define READ_BUFFER		(32 * BLCKSZ)

/* how often interrupts are checked for, in items */
#define CHECK_INTERVAL	4096

typedef struct Bucket
{
	LogicalTape *tape;			/* NULL while it is empty */
	double		count;
	ShSortItem	first;
	ShSortItem	last;
	uint64		varying_keys;	/* bits in which its keys differ */
	uint64		varying_values;
	bool		ascending;		/* its items came in order */
} Bucket;

struct ShSortBuckets
{
	MemoryContext context;
	LogicalTapeSet *tapes;
	Size		memory;

	/* still to be returned, the next one last */
	Bucket	   *stack;
	size_t		depth;
	size_t		max_depth;

	/* the current one, sorted in memory */
	size_t		capacity;
	ShSortItem *items;
	ShSortItem *sorted;
	size_t		count;
	size_t		next;

	/* or as it comes */
	LogicalTape *stream;
};

/*
 * Write an item to a tape, whose set is private to this process: so the bytes
 * are in the order of this machine.
 */
void
shsort_write_item(LogicalTape *tape, ShSortItem item)
{
	char		bytes[ITEM_BYTES];
	uint32		low = (uint32) item.value;
	uint16		high = (uint16) (item.value >> 32);

	memcpy(bytes, &item.key, KEY_BYTES);
	memcpy(bytes + KEY_BYTES, &low, sizeof(low));
	memcpy(bytes + KEY_BYTES + sizeof(low), &high, sizeof(high));
	LogicalTapeWrite(tape, bytes, ITEM_BYTES);
}

/*
 * Read an item from a tape.  Returns false at its end.
 */
static bool
read_from(LogicalTape *tape, ShSortItem *item)
{
	char		bytes[ITEM_BYTES];
	uint32		low;
	uint16		high;
	size_t		nread = LogicalTapeRead(tape, bytes, ITEM_BYTES);

	if (nread == 0)
		return false;
	if (nread != ITEM_BYTES)
		elog(ERROR, "unexpected end of tape");
	memcpy(&item->key, bytes, KEY_BYTES);
	memcpy(&low, bytes + KEY_BYTES, sizeof(low));
	memcpy(&high, bytes + KEY_BYTES + sizeof(low), sizeof(high));
	item->value = ((uint64) high << 32) | low;
	return true;
}

/* tapes that are read one after the other, and their keys permuted if table is given */
typedef struct Reader
{
	LogicalTape **tapes;
	int			ntapes;
	double		count;			/* items on all */
	const ShBitsTable *table;
} Reader;

/*
 * Read an item.  Returns false after the last.
 */
static inline bool
read_item(Reader *reader, ShSortItem *item)
{
	while (reader->ntapes > 0)
	{
		if (read_from(reader->tapes[0], item))
		{
			if (reader->table != NULL)
				item->key = shbits_permute(reader->table, item->key);
			return true;
		}
		reader->tapes++;
		reader->ntapes--;
	}
	return false;
}

static void
add_to_bucket(ShSortBuckets *buckets, Bucket *bucket, ShSortItem item)
{
	if (bucket->tape == NULL)
	{
		bucket->tape = LogicalTapeCreate(buckets->tapes);
		bucket->first = item;
		bucket->ascending = true;
	}
	else if (shsort_item_less(item, bucket->last))
		bucket->ascending = false;
	bucket->last = item;
	bucket->varying_keys |= item.key ^ bucket->first.key;
	bucket->varying_values |= item.value ^ bucket->first.value;
	bucket->count++;
	shsort_write_item(bucket->tape, item);
}

static void
push(ShSortBuckets *buckets, const Bucket *bucket)
{
	if (buckets->depth == buckets->max_depth)
	{
		buckets->max_depth *= 2;
		buckets->stack = repalloc(buckets->stack, buckets->max_depth * sizeof(Bucket));
	}
	buckets->stack[buckets->depth++] = *bucket;
}

/* how many items may be sorted in memory */
static double
max_loaded(const ShSortBuckets *buckets)
{
	return (double) (buckets->memory / 4 * 3) / BYTES_PER_LOADED;
}

/*
 * Over how many buckets, as a power of two, to distribute items that differ
 * in the last so many bits.
 */
static int
choose_digit_bits(const ShSortBuckets *buckets, double count, int bits)
{
	int			max_bits = MAX_DIGIT_BITS;
	int			digit_bits = MIN_DIGIT_BITS;

	/* each tape has a buffer of a block while it is written */
	while (max_bits > MIN_DIGIT_BITS && ((Size) BLCKSZ << max_bits) > buckets->memory / 4)
		max_bits--;
	while (digit_bits < max_bits && count / (1 << digit_bits) > BUCKET_ITEMS)
		digit_bits++;
	return Min(digit_bits, bits);
}

/*
 * Distribute items over buckets, and push these so that they come in order.
 * varying has the bits in which the keys differ, or, where they are all equal,
 * the values.
 */
static void
distribute(ShSortBuckets *buckets, Reader reader, uint64 varying, bool by_value)
{
	int			bits = pg_leftmost_one_pos64(varying) + 1;
	int			digit_bits = choose_digit_bits(buckets, reader.count, bits);
	int			shift = bits - digit_bits;
	uint64		mask = (UINT64CONST(1) << digit_bits) - 1;
	Bucket	   *parts = palloc0((mask + 1) * sizeof(Bucket));
	ShSortItem	item;

	for (uint64 i = 0; read_item(&reader, &item); i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		add_to_bucket(buckets,
					  &parts[((by_value ? item.value : item.key) >> shift) & mask], item);
	}
	for (uint64 digit = mask + 1; digit-- > 0;)
	{
		if (parts[digit].tape != NULL)
			push(buckets, &parts[digit]);
	}
	pfree(parts);
}

/*
 * Read items into memory and sort them.
 */
static void
load(ShSortBuckets *buckets, Reader reader)
{
	size_t		loaded = 0;

	if (reader.count > buckets->capacity)
	{
		Size		size = (Size) reader.count * sizeof(ShSortItem);

		if (buckets->items != NULL)
		{
			pfree(buckets->items);
			pfree(buckets->sorted);
		}
		buckets->capacity = (size_t) reader.count;
		buckets->items = MemoryContextAllocHuge(buckets->context, size);
		buckets->sorted = MemoryContextAllocHuge(buckets->context, size);
	}
	while (loaded < reader.count && read_item(&reader, &buckets->items[loaded]))
	{
		if (loaded % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		loaded++;
	}
	if (loaded != reader.count)
		elog(ERROR, "unexpected end of tape");
	shsort_radix(buckets->items, buckets->sorted, loaded);
	buckets->count = loaded;
	buckets->next = 0;
}

/*
 * Begin to sort the items of some tapes, with their keys permuted as a table
 * has them.  memory, in bytes, is what may be used.  The tapes have been read
 * when this returns; buckets go to the set.
 *
 * The result, and what the tapes allocate, is in the current memory context,
 * which must live as long as they; so must the set.
 */
ShSortBuckets *
shsort_buckets_begin(LogicalTapeSet *tapes, LogicalTape **rows, int nrows, double count,
					 const ShBitsTable *table, Size memory)
{
	Reader		reader = {rows, nrows, count, table};
	ShSortBuckets *buckets = palloc0(sizeof(ShSortBuckets));

	buckets->context = CurrentMemoryContext;
	buckets->tapes = tapes;
	buckets->memory = memory;
	buckets->max_depth = 2 << MAX_DIGIT_BITS;
	buckets->stack = palloc(buckets->max_depth * sizeof(Bucket));
	for (int i = 0; i < nrows; i++)
		LogicalTapeRewindForRead(rows[i], READ_BUFFER);
	if (count <= max_loaded(buckets))
		load(buckets, reader);
	else
		distribute(buckets, reader, PG_UINT64_MAX, false);
	return buckets;
}

/*
 * Go on to the next bucket.  Returns false if there is none.
 */
static bool
next_bucket(ShSortBuckets *buckets)
{
	while (buckets->depth > 0)
	{
		Bucket		bucket = buckets->stack[--buckets->depth];
		Reader		reader = {&bucket.tape, 1, bucket.count, NULL};

		LogicalTapeRewindForRead(bucket.tape, READ_BUFFER);
		if (bucket.count <= max_loaded(buckets))
			load(buckets, reader);
		else if (bucket.ascending)
		{
			buckets->stream = bucket.tape;
			return true;
		}
		else if (bucket.varying_keys != 0)
			distribute(buckets, reader, bucket.varying_keys, false);
		else
			distribute(buckets, reader, bucket.varying_values, true);
		LogicalTapeClose(bucket.tape);
		if (buckets->next < buckets->count)
			return true;
	}
	return false;
}

/*
 * The next item, ascending.  Returns false after the last.
 */
bool
shsort_buckets_next(ShSortBuckets *buckets, ShSortItem *item)
{
	MemoryContext old;
	bool		found = true;

	if (buckets->next < buckets->count)
	{
		*item = buckets->sorted[buckets->next++];
		return true;
	}

	old = MemoryContextSwitchTo(buckets->context);
	while (buckets->stream == NULL || !read_from(buckets->stream, item))
	{
		if (buckets->stream != NULL)
			LogicalTapeClose(buckets->stream);
		buckets->stream = NULL;
		if (!next_bucket(buckets))
		{
			found = false;
			break;
		}
		if (buckets->stream == NULL)
		{
			*item = buckets->sorted[buckets->next++];
			break;
		}
	}
	MemoryContextSwitchTo(old);
	return found;
}

/*
 * Free all memory, and the tapes of buckets that have not been returned.
 */
void
shsort_buckets_end(ShSortBuckets *buckets)
{
	if (buckets->stream != NULL)
		LogicalTapeClose(buckets->stream);
	while (buckets->depth > 0)
		LogicalTapeClose(buckets->stack[--buckets->depth].tape);
	if (buckets->items != NULL)
	{
		pfree(buckets->items);
		pfree(buckets->sorted);
	}
	pfree(buckets->stack);
	pfree(buckets);
}
