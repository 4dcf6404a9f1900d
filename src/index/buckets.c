/*-------------------------------------------------------------------------
 *
 * buckets.c
 *	  Sorting more items than fit in memory, by distribution.
 *
 * The items are read once and distributed to buckets by the leading bits in
 * which they differ: those of their groups, otherwise of their keys, otherwise
 * of their values.  Each bucket, in order, is then read, sorted in memory and
 * returned.  So most items are written and read once.  A bucket that is too
 * large for memory is distributed again.  One whose items came in order is
 * returned as it is; this is the case for a fingerprint that very many rows
 * have.
 *
 * Buckets are tapes of one of the server's tape sets: one temporary file,
 * whose blocks are used again as soon as they have been read.  An item takes 14
 * bytes there, and 4 more if items have groups.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "index/sort.h"

/*
 * A bucket should not be larger than this even if memory allows: its items
 * then stay in the CPU's cache while they are sorted.
 */
#define BUCKET_ITEMS	32768

/* buckets of one distribution, as powers of two */
#define MIN_DIGIT_BITS	4
#define MAX_DIGIT_BITS	9

/* how many items are read at a time, about as many as fit in a block */
#define READ_ITEMS		584

/* bytes of an item on a tape, in native order: tapes are private to a build */
#define GROUP_BYTES		sizeof(uint32)
#define KEY_BYTES		sizeof(uint64)
#define VALUE_BYTES		6
#define ITEM_BYTES		(KEY_BYTES + VALUE_BYTES)
#define MAX_ITEM_BYTES	(ITEM_BYTES + GROUP_BYTES)

/*
 * What is read ahead: at most so many bytes, and 1 / READ_PART of the memory, but a block of
 * each tape
 */
#define MAX_READ_BUFFER	(32 * BLCKSZ)
#define READ_PART		16

typedef struct Bucket
{
	LogicalTape *tape;
	ShIdxSortSummary summary;
} Bucket;

struct ShIdxSortBuckets
{
	MemoryContext context;
	LogicalTapeSet *tapes;		/* NULL while there are none */
	bool		grouped;
	Size		memory;

	/* buckets still to be returned, the next one last */
	Bucket	   *stack;
	size_t		depth;
	size_t		max_depth;

	/* the current one, sorted in memory, if there is one */
	size_t		capacity;
	ShIdxSortItems items;
	ShIdxSortItems sorted;
	size_t		count;

	/* or returned without sorting */
	LogicalTape *stream;
};

/* tapes to read one after the other, permuting keys if table is given */
typedef struct TapeReader
{
	LogicalTape **tapes;
	int			ntapes;
	ShIdxSortSummary summary;	/* of all items, with permuted keys */
	const ShBitsTable *table;
} TapeReader;

static inline char *
pack(char *to, ShIdxSortItem item)
{
	uint32		low = (uint32) item.value;
	uint16		high = (uint16) (item.value >> 32);

	memcpy(to, &item.key, KEY_BYTES);
	memcpy(to + KEY_BYTES, &low, sizeof(low));
	memcpy(to + KEY_BYTES + sizeof(low), &high, sizeof(high));
	return to + ITEM_BYTES;
}

static inline const char *
unpack(const char *from, ShIdxSortItem *item)
{
	uint32		low;
	uint16		high;

	memcpy(&item->key, from, KEY_BYTES);
	memcpy(&low, from + KEY_BYTES, sizeof(low));
	memcpy(&high, from + KEY_BYTES + sizeof(low), sizeof(high));
	item->value = ((uint64) high << 32) | low;
	return from + ITEM_BYTES;
}

/*
 * Begin to write items to an empty tape.  tape is NULL if it is to be created
 * only when there is an item; the caller then sets it before the first flush.
 * Its memory, which the first write allocates, gets into the context that is current
 * here.
 */
void
shidx_sort_tape_begin(ShIdxSortTapeWriter *writer, LogicalTape *tape, bool grouped)
{
	writer->tape = tape;
	writer->context = CurrentMemoryContext;
	writer->grouped = grouped;
	memset(&writer->summary, 0, sizeof(ShIdxSortSummary));
	writer->summary.ascending = true;
	writer->count = 0;
}

/*
 * Update the summary with the items that will be written.
 */
static void
summarize(ShIdxSortTapeWriter *writer)
{
	ShIdxSortSummary *summary = &writer->summary;

	if (summary->count == 0)
	{
		summary->first = summary->last = writer->items[0];
		summary->first_group = summary->last_group = writer->groups[0];
	}
	for (int i = 0; i < writer->count; i++)
	{
		summary->varying.keys |= writer->items[i].key ^ summary->first.key;
		summary->varying.values |= writer->items[i].value ^ summary->first.value;
		summary->varying.groups |= writer->groups[i] ^ summary->first_group;
	}
	for (int i = 0; i < writer->count && summary->ascending; i++)
	{
		if (shidx_sort_grouped_less(writer->items[i], writer->groups[i], summary->last, summary->last_group))
			summary->ascending = false;
		summary->last = writer->items[i];
		summary->last_group = writer->groups[i];
	}
	summary->count += writer->count;
}

/*
 * Write the items that are not on the tape yet.
 */
void
shidx_sort_tape_flush(ShIdxSortTapeWriter *writer)
{
	char		bytes[SHIDX_SORT_WRITE_ITEMS * MAX_ITEM_BYTES];
	char	   *end = bytes;
	MemoryContext old;

	if (writer->count == 0)
		return;
	summarize(writer);
	for (int i = 0; i < writer->count; i++)
	{
		end = pack(end, writer->items[i]);
		if (writer->grouped)
		{
			memcpy(end, &writer->groups[i], GROUP_BYTES);
			end += GROUP_BYTES;
		}
	}
	old = MemoryContextSwitchTo(writer->context);
	LogicalTapeWrite(writer->tape, bytes, end - bytes);
	MemoryContextSwitchTo(old);
	writer->count = 0;
}

/*
 * Read up to "most" items from a tape, with groups if items.groups is set.
 * Returns their number, 0 after the last.
 */
static size_t
read_tape(LogicalTape *tape, ShIdxSortItems items, size_t most)
{
	char		bytes[READ_ITEMS * MAX_ITEM_BYTES];
	Size		width = items.groups != NULL ? MAX_ITEM_BYTES : ITEM_BYTES;
	Size		nread = LogicalTapeRead(tape, bytes, Min(most, READ_ITEMS) * width);
	size_t		count = nread / width;
	const char *from = bytes;

	if (nread % width != 0)
		elog(ERROR, "unexpected end of tape");
	for (size_t i = 0; i < count; i++)
	{
		from = unpack(from, &items.items[i]);
		if (items.groups != NULL)
		{
			memcpy(&items.groups[i], from, GROUP_BYTES);
			from += GROUP_BYTES;
		}
	}
	return count;
}

/*
 * Combine two summaries into *to; the items of *from come after those of *to.
 */
void
shidx_sort_add_summary(ShIdxSortSummary *to, const ShIdxSortSummary *from)
{
	if (from->count == 0)
		return;
	if (to->count == 0)
	{
		*to = *from;
		return;
	}
	to->varying.groups |= from->varying.groups | (to->first_group ^ from->first_group);
	to->varying.keys |= from->varying.keys | (to->first.key ^ from->first.key);
	to->varying.values |= from->varying.values | (to->first.value ^ from->first.value);
	to->ascending &= from->ascending &&
		!shidx_sort_grouped_less(from->first, from->first_group, to->last, to->last_group);
	to->last = from->last;
	to->last_group = from->last_group;
	to->count += from->count;
}

/*
 * Make a sort that uses up to the given memory, in bytes.
 *
 * The result, and the memory of the tapes, is allocated in the current memory
 * context, which must live as long as the sort.
 */
ShIdxSortBuckets *
shidx_sort_buckets_begin(bool grouped, Size memory)
{
	ShIdxSortBuckets *buckets = palloc0(sizeof(ShIdxSortBuckets));

	buckets->context = CurrentMemoryContext;
	buckets->grouped = grouped;
	buckets->memory = memory;
	buckets->max_depth = 2 << MAX_DIGIT_BITS;
	buckets->stack = palloc(buckets->max_depth * sizeof(Bucket));
	return buckets;
}

/*
 * Read up to "most" items.  Returns their number, 0 after the last.
 */
static size_t
read_items(TapeReader *reader, ShIdxSortItems items, size_t most)
{
	while (reader->ntapes > 0)
	{
		size_t		count = read_tape(reader->tapes[0], items, most);

		for (size_t i = 0; reader->table != NULL && i < count; i++)
			items.items[i].key = shbits_permute(reader->table, items.items[i].key);
		if (count > 0)
			return count;
		reader->tapes++;
		reader->ntapes--;
	}
	return 0;
}

/* bytes that an item takes in memory */
static Size
item_size(const ShIdxSortBuckets *buckets)
{
	return sizeof(ShIdxSortItem) + (buckets->grouped ? sizeof(uint32) : 0);
}

/*
 * How many items may be sorted in memory, which needs room for two copies.
 */
static double
max_loaded(const ShIdxSortBuckets *buckets)
{
	Size		memory = buckets->memory - buckets->memory / READ_PART;

	return (double) memory / (2 * item_size(buckets));
}

/*
 * Rewind one of ntapes tapes, with the given number of items, for reading.  Until it is
 * read, it then takes no memory.
 */
static void
rewind_tape(const ShIdxSortBuckets *buckets, LogicalTape *tape, double count, int ntapes)
{
	Size		most = Min(MAX_READ_BUFFER, buckets->memory / READ_PART / ntapes);

	LogicalTapeRewindForRead(tape, (Size) Min(count * MAX_ITEM_BYTES + BLCKSZ, most));
}

static void
push(ShIdxSortBuckets *buckets, LogicalTape *tape, ShIdxSortSummary summary)
{
	if (buckets->depth == buckets->max_depth)
	{
		buckets->max_depth *= 2;
		buckets->stack = repalloc(buckets->stack, buckets->max_depth * sizeof(Bucket));
	}
	rewind_tape(buckets, tape, summary.count, 1);
	buckets->stack[buckets->depth].tape = tape;
	buckets->stack[buckets->depth].summary = summary;
	buckets->depth++;
}

/*
 * The number of buckets, as a power of two, to which items are distributed
 * that differ in the last "bits" bits.
 */
static int
choose_digit_bits(const ShIdxSortBuckets *buckets, double count, int bits)
{
	int			max_bits = MAX_DIGIT_BITS;
	int			digit_bits = MIN_DIGIT_BITS;
	Size		bucket_size = BLCKSZ + sizeof(ShIdxSortTapeWriter);

	/* each tape has a buffer of a block while it is written */
	while (max_bits > MIN_DIGIT_BITS && (bucket_size << max_bits) > buckets->memory / 4)
		max_bits--;
	while (digit_bits < max_bits && count / (1 << digit_bits) > BUCKET_ITEMS)
		digit_bits++;
	return Min(digit_bits, bits);
}

static void
free_loaded(ShIdxSortBuckets *buckets)
{
	shidx_sort_free_items(&buckets->items);
	shidx_sort_free_items(&buckets->sorted);
	buckets->capacity = 0;
}

/* make room in memory for the given number of items */
static void
reserve_loaded(ShIdxSortBuckets *buckets, size_t count)
{
	if (count <= buckets->capacity)
		return;
	free_loaded(buckets);
	buckets->items = shidx_sort_allocate_items(buckets->context, count, buckets->grouped);
	buckets->sorted = shidx_sort_allocate_items(buckets->context, count, buckets->grouped);
	buckets->capacity = count;
}

/*
 * Distribute items to buckets, and push the buckets so that they are popped in
 * order.
 */
static void
distribute(ShIdxSortBuckets *buckets, TapeReader reader)
{
	ShIdxSortVarying varying = reader.summary.varying;
	bool		by_group = varying.groups != 0;
	bool		by_key = !by_group && varying.keys != 0;
	uint64		differ = by_group ? varying.groups : by_key ? varying.keys : varying.values;

	/* at least one, also if a scan has found one row again and again */
	int			bits = pg_leftmost_one_pos64(differ | 1) + 1;
	int			digit_bits = choose_digit_bits(buckets, reader.summary.count, bits);
	int			shift = bits - digit_bits;
	size_t		nwriters = (size_t) 1 << digit_bits;
	ShIdxSortTapeWriter *writers = palloc(nwriters * sizeof(ShIdxSortTapeWriter));
	ShIdxSortItem items[READ_ITEMS];
	uint32		groups[READ_ITEMS];
	ShIdxSortItems chunk = {items, buckets->grouped ? groups : NULL};
	size_t		count;

	for (size_t digit = 0; digit < nwriters; digit++)
		shidx_sort_tape_begin(&writers[digit], NULL, buckets->grouped);
	while ((count = read_items(&reader, chunk, READ_ITEMS)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < count; i++)
		{
			uint32		group = shidx_sort_group(chunk, i);
			uint64		of = by_group ? group : by_key ? items[i].key : items[i].value;
			ShIdxSortTapeWriter *writer = &writers[(of >> shift) & (nwriters - 1)];

			if (unlikely(writer->tape == NULL))
				writer->tape = LogicalTapeCreate(buckets->tapes);
			shidx_sort_tape_put(writer, items[i], group);
		}
	}
	for (size_t digit = nwriters; digit-- > 0;)
	{
		shidx_sort_tape_flush(&writers[digit]);
		if (writers[digit].tape != NULL)
			push(buckets, writers[digit].tape, writers[digit].summary);
	}
	pfree(writers);
}

/*
 * Read items into memory and sort them.
 */
static void
load_bucket(ShIdxSortBuckets *buckets, TapeReader reader)
{
	size_t		expected = (size_t) reader.summary.count;
	size_t		loaded = 0;

	reserve_loaded(buckets, expected);
	while (loaded < expected)
	{
		size_t		count = read_items(&reader, shidx_sort_items_from(buckets->items, loaded),
									   expected - loaded);

		CHECK_FOR_INTERRUPTS();
		if (count == 0)
			elog(ERROR, "unexpected end of tape");
		loaded += count;
	}
	shidx_sort_radix_table(buckets->items, buckets->sorted, loaded, NULL, reader.summary.varying);
	buckets->count = loaded;
}

/*
 * Drop all tapes with their file, as blocks that have not been read are never used again.
 */
static void
drop_buckets(ShIdxSortBuckets *buckets)
{
	buckets->count = 0;
	if (buckets->stream != NULL)
		LogicalTapeClose(buckets->stream);
	buckets->stream = NULL;
	while (buckets->depth > 0)
		LogicalTapeClose(buckets->stack[--buckets->depth].tape);
	if (buckets->tapes != NULL)
		LogicalTapeSetClose(buckets->tapes);
	buckets->tapes = NULL;
}

/*
 * Begin to sort the items of some tapes, which summary describes, with keys
 * permuted according to a table.  The tapes have been read when this returns.
 */
void
shidx_sort_buckets_start(ShIdxSortBuckets *buckets, LogicalTape **rows, int nrows,
						 ShIdxSortSummary summary, const ShBitsTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(buckets->context);
	TapeReader	reader = {rows, nrows, summary, table};

	drop_buckets(buckets);
	reader.summary.varying.keys = shbits_permute(table, summary.varying.keys);
	for (int i = 0; i < nrows; i++)
		rewind_tape(buckets, rows[i], summary.count, nrows);
	if (summary.count <= max_loaded(buckets))
		load_bucket(buckets, reader);
	else
	{
		/* the memory is needed for the buffers of tapes */
		free_loaded(buckets);
		buckets->tapes = LogicalTapeSetCreate(true, NULL, -1);
		distribute(buckets, reader);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Move to the next bucket.  Returns false if there is none.
 */
static bool
next_bucket(ShIdxSortBuckets *buckets)
{
	while (buckets->depth > 0)
	{
		Bucket		bucket = buckets->stack[--buckets->depth];
		TapeReader	reader = {&bucket.tape, 1, bucket.summary, NULL};

		if (bucket.summary.count <= max_loaded(buckets))
			load_bucket(buckets, reader);
		else if (bucket.summary.ascending)
		{
			buckets->stream = bucket.tape;
			return true;
		}
		else
		{
			free_loaded(buckets);
			distribute(buckets, reader);
		}
		LogicalTapeClose(bucket.tape);
		if (buckets->count > 0)
			return true;
	}
	return false;
}

/*
 * Return the next items, ascending, in *items, and their number, 0 after the
 * last.  They are valid until the next call.
 */
size_t
shidx_sort_buckets_next(ShIdxSortBuckets *buckets, ShIdxSortItems *items)
{
	MemoryContext old = MemoryContextSwitchTo(buckets->context);
	size_t		count = 0;

	for (;;)
	{
		if (buckets->count > 0)
		{
			*items = buckets->sorted;
			count = buckets->count;
			buckets->count = 0;
			break;
		}
		if (buckets->stream != NULL)
		{
			reserve_loaded(buckets, READ_ITEMS);
			*items = buckets->items;
			count = read_tape(buckets->stream, buckets->items, READ_ITEMS);
			if (count > 0)
				break;
			LogicalTapeClose(buckets->stream);
			buckets->stream = NULL;
		}
		if (!next_bucket(buckets))
			break;
	}
	MemoryContextSwitchTo(old);
	return count;
}

/*
 * Free all memory and files.
 */
void
shidx_sort_buckets_end(ShIdxSortBuckets *buckets)
{
	drop_buckets(buckets);
	free_loaded(buckets);
	pfree(buckets->stack);
	pfree(buckets);
}
