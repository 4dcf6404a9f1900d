/*-------------------------------------------------------------------------
 *
 * collector.c
 *	  Collecting the entries of a bucket in memory.
 *
 * With one word, entries come in order, and equal ones are one key at once.
 * With several, they are collected as records, a value and its row, and become keys when
 * all are there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "pairs/collector.h"
#include "pairs/pairs.h"

#define FIRST_CAPACITY		1024

/*
 * The memory of an entry that is a key of its own, including its search.
 */
Size
shpairs_entry_bytes(int nwords)
{
	return shpairs_record_words(nwords) * sizeof(uint64) + 2 * sizeof(uint32) + sizeof(ShPairsRow) +
		shpairs_search_bytes(nwords);
}

/*
 * How many entries a bucket can have in so much memory.
 */
size_t
shpairs_bucket_capacity(int nwords, Size memory)
{
	return Min(Max(memory / shpairs_entry_bytes(nwords), 1), SHPAIRS_MAX_KEYS);
}

/*
 * Is there enough memory for so many entries of one word?
 */
bool
shpairs_bucket_fits(double entries)
{
	return entries <= shpairs_bucket_capacity(1, maintenance_work_mem * (Size) 1024);
}

/* many rows may have one key, so there may be less room for keys than for rows */
static void
resize_keys(ShPairsCollector *collector, size_t capacity)
{
	ShPairsBucket *bucket = &collector->bucket;

	collector->key_capacity = capacity;
	bucket->values = repalloc_huge(bucket->values, capacity * shpairs_record_words(bucket->nwords) *
								   sizeof(uint64));
	bucket->starts = repalloc_huge(bucket->starts, capacity * sizeof(uint32));
	bucket->numbers = repalloc_huge(bucket->numbers, capacity * sizeof(uint32));
}

static void
resize_rows(ShPairsCollector *collector, size_t capacity)
{
	collector->row_capacity = capacity;
	collector->bucket.rows = repalloc_huge(collector->bucket.rows, capacity * sizeof(ShPairsRow));
}

/* make the room that there is at first */
static void
resize_first(ShPairsCollector *collector)
{
	resize_keys(collector, Min(FIRST_CAPACITY, collector->max_capacity));
	resize_rows(collector, Min(FIRST_CAPACITY, collector->max_capacity));
}

/*
 * Prepare to collect values of so many words, and at most so many entries: elements of an
 * array, which count once, or others, for the sink.
 */
void
shpairs_collector_init(ShPairsCollector *collector, int nwords, bool of_array, ShPairsSink *sink,
					   size_t max_capacity)
{
	ShPairsBucket *bucket = &collector->bucket;

	memset(collector, 0, sizeof(ShPairsCollector));
	bucket->nwords = nwords;
	bucket->of_array = of_array;
	bucket->values = palloc(sizeof(uint64));
	bucket->starts = palloc(sizeof(uint32));
	bucket->numbers = palloc(sizeof(uint32));
	bucket->rows = palloc(sizeof(ShPairsRow));
	collector->sink = sink->takes_all_rows && !of_array ? sink : NULL;
	collector->max_capacity = max_capacity;
	resize_first(collector);
}

/*
 * Give up the memory of what has been collected.
 */
void
shpairs_collector_shrink(ShPairsCollector *collector)
{
	shpairs_collector_clear(collector, collector->bucket.group);
	resize_first(collector);
}

/*
 * Is there room for another row?
 */
static inline bool
has_row_room(ShPairsCollector *collector)
{
	if (likely(collector->bucket.nrows < collector->row_capacity))
		return true;
	if (collector->row_capacity == collector->max_capacity)
		return false;
	resize_rows(collector, Min(collector->row_capacity * 2, collector->max_capacity));
	return true;
}

/*
 * Is there room for another key, or record, of which there are so many, and for its row?
 */
static inline bool
has_key_room(ShPairsCollector *collector, size_t nkeys)
{
	if (!has_row_room(collector))
		return false;
	/* there are no more keys than rows */
	if (unlikely(nkeys == collector->key_capacity))
		resize_keys(collector, Min(nkeys * 2, collector->max_capacity));
	return true;
}

/*
 * Add entries of several words as records.  Returns for how many there was room.
 */
static size_t
collect_records(ShPairsCollector *collector, const uint64 *values, const ShPairsRow *rows,
				size_t count)
{
	ShPairsBucket *bucket = &collector->bucket;
	int			nwords = bucket->nwords;
	size_t		done;

	for (done = 0; done < count && has_key_room(collector, bucket->nrows); done++)
	{
		uint64	   *record = bucket->values + bucket->nrows++ * shpairs_record_words(nwords);

		memcpy(record, values + done * nwords, nwords * sizeof(uint64));
		record[nwords] = rows[done];
	}
	return done;
}

/*
 * Pass another row of the last key on; and before it the first one, if there has been no
 * other.
 */
static void
pass_row(const ShPairsCollector *collector, ShPairsRow *row)
{
	const ShPairsBucket *bucket = &collector->bucket;
	size_t		last = bucket->nkeys - 1;
	ShPairsElement element = shpairs_element(bucket, last);

	if (!bucket->last_repeated)
		bucket->numbers[last] = collector->sink->number(collector->sink, &element, false);
	element.rows = row;
	(void) collector->sink->number(collector->sink, &element, true);
}

/*
 * Another row of the last key.  Returns false if there is no room for it.
 */
static bool
collect_repeat(ShPairsCollector *collector, ShPairsRow row)
{
	ShPairsBucket *bucket = &collector->bucket;

	if (collector->sink != NULL)
		pass_row(collector, &row);
	else if (shpairs_keeps_rows(collector))
	{
		if (!has_row_room(collector))
			return false;
		bucket->rows[bucket->nrows++] = row;
	}
	bucket->last_repeated = true;
	return true;
}

/*
 * Add an entry that has the value of the last key, or one that no key has.  Its value may
 * be one of the bucket's records.  Returns false if there is no room for it.
 */
static inline bool
collect_entry(ShPairsCollector *collector, const uint64 *value, int nwords, ShPairsRow row)
{
	ShPairsBucket *bucket = &collector->bucket;
	uint64	   *next = bucket->values + bucket->nkeys * nwords;

	if (bucket->nkeys > 0 && shpairs_compare(next - nwords, value, nwords) == 0)
		return collect_repeat(collector, row);
	if (!has_key_room(collector, bucket->nkeys))
		return false;
	memmove(bucket->values + bucket->nkeys * nwords, value, nwords * sizeof(uint64));
	bucket->numbers[bucket->nkeys] = SHPAIRS_NO_NUMBER;
	bucket->starts[bucket->nkeys++] = bucket->nrows;
	bucket->rows[bucket->nrows++] = row;
	bucket->last_repeated = false;
	return true;
}

/*
 * Add entries, which ascend if they have one word.  Returns for how many there was room.
 */
size_t
shpairs_collect(ShPairsCollector *collector, const uint64 *values, const ShPairsRow *rows,
				size_t count)
{
	size_t		done = 0;

	if (collector->bucket.nwords > 1)
		return collect_records(collector, values, rows, count);
	while (done < count && collect_entry(collector, &values[done], 1, rows[done]))
		done++;
	return done;
}

/*
 * Add an entry that has the value of the last key, or one that no key has.  There must
 * be room.
 */
void
shpairs_collect_in_order(ShPairsCollector *collector, const uint64 *value, ShPairsRow row)
{
	(void) collect_entry(collector, value, collector->bucket.nwords, row);
}

/* the server's qsort does not look for interrupts */
#define ST_SORT sort_records
#define ST_ELEMENT_TYPE_VOID
#define ST_COMPARE(a, b, nwords) \
	shpairs_compare((const uint64 *) (a), (const uint64 *) (b), *(nwords))
#define ST_COMPARE_ARG_TYPE const int
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * All entries, of several words, have been added: make keys of the records, in place.
 */
void
shpairs_collector_finish(ShPairsCollector *collector)
{
	ShPairsBucket *bucket = &collector->bucket;
	const int	nwords = bucket->nwords;
	const int	record_words = shpairs_record_words(nwords);
	size_t		count = bucket->nrows;

	sort_records(bucket->values, count, record_words * sizeof(uint64), &record_words);
	bucket->nkeys = bucket->nrows = 0;
	for (size_t i = 0; i < count; i++)
	{
		const uint64 *record = bucket->values + i * record_words;

		shcompat_check_at(i);
		/* there is room, so the array of the records stays where it is */
		(void) collect_entry(collector, record, nwords, record[nwords]);
	}
}
