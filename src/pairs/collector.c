/*-------------------------------------------------------------------------
 *
 * collector.c
 *	  Collecting the entries of a bucket in memory.
 *
 * With one word, entries come in order, and equal ones are one key at once.
 * With several, each is kept as a key when it comes, and they are ordered when all are
 * there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "index/sort.h"
#include "pairs/collector.h"
#include "pairs/pairs.h"

#define FIRST_CAPACITY		1024

/*
 * The memory of an entry that is a key of its own, including its search.
 */
Size
shpairs_entry_bytes(int nwords)
{
	return nwords * sizeof(uint64) + sizeof(size_t) + sizeof(ShPairsRow) +
		shpairs_search_bytes(nwords) + (nwords > 1 ? sizeof(ShPairsRow) : 0);
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
 * Is there enough for so many entries?
 */
bool
shpairs_bucket_fits(int nwords, double entries)
{
	return entries <= shpairs_bucket_capacity(nwords, maintenance_work_mem * (Size) 1024);
}

static void
resize(ShPairsCollector *collector, size_t capacity)
{
	ShPairsBucket *bucket = &collector->bucket;

	collector->capacity = capacity;
	bucket->values = repalloc_huge(bucket->values, capacity * bucket->nwords * sizeof(uint64));
	bucket->starts = repalloc_huge(bucket->starts, capacity * sizeof(size_t));
	bucket->rows = repalloc_huge(bucket->rows, capacity * sizeof(ShPairsRow));
	if (collector->scratch != NULL)
		collector->scratch = repalloc_huge(collector->scratch, capacity * sizeof(ShPairsRow));
}

/*
 * Prepare to collect values of so many words, and at most so many entries.  Of a key with
 * several rows, the sink is passed all but the first if it has a function for that.
 */
void
shpairs_collector_init(ShPairsCollector *collector, int nwords, ShPairsSink *sink,
					   size_t max_capacity)
{
	ShPairsBucket *bucket = &collector->bucket;

	memset(collector, 0, sizeof(ShPairsCollector));
	bucket->nwords = nwords;
	bucket->values = palloc(sizeof(uint64));
	bucket->starts = palloc(sizeof(size_t));
	bucket->rows = palloc(sizeof(ShPairsRow));
	if (nwords > 1)
		collector->scratch = palloc(sizeof(ShPairsRow));
	collector->sink = sink != NULL && sink->repeat != NULL ? sink : NULL;
	collector->max_capacity = max_capacity;
	resize(collector, Min(FIRST_CAPACITY, max_capacity));
}

/*
 * Give up the memory of what has been collected.
 */
void
shpairs_collector_shrink(ShPairsCollector *collector)
{
	shpairs_collector_clear(collector, collector->bucket.group);
	resize(collector, Min(FIRST_CAPACITY, collector->max_capacity));
}

/*
 * Is there room for another entry?  Each key has at least one row.
 */
static inline bool
has_room(ShPairsCollector *collector)
{
	if (likely(collector->bucket.nrows < collector->capacity))
		return true;
	if (collector->capacity == collector->max_capacity)
		return false;
	resize(collector, Min(collector->capacity * 2, collector->max_capacity));
	return true;
}

/*
 * Add entries as new keys.  Returns for how many there was room.
 */
static size_t
collect_keys(ShPairsCollector *collector, const uint64 *values, const ShPairsRow *rows,
			 size_t count)
{
	ShPairsBucket *bucket = &collector->bucket;
	size_t		done = 0;

	while (done < count && has_room(collector))
	{
		size_t		n = Min(count - done, collector->capacity - bucket->nrows);

		memcpy(bucket->values + bucket->nkeys * bucket->nwords, values + done * bucket->nwords,
			   n * bucket->nwords * sizeof(uint64));
		memcpy(bucket->rows + bucket->nrows, rows + done, n * sizeof(ShPairsRow));
		for (size_t i = 0; i < n; i++)
			bucket->starts[bucket->nkeys + i] = bucket->nrows + i;
		bucket->nkeys += n;
		bucket->nrows += n;
		bucket->last_repeated = false;
		done += n;
	}
	return done;
}

/*
 * Another row of the last key.  Returns false if there is no room for it.
 */
static bool
collect_repeat(ShPairsCollector *collector, ShPairsRow row)
{
	ShPairsBucket *bucket = &collector->bucket;

	if (collector->sink != NULL)
		collector->sink->repeat(collector->sink, bucket, row);
	else if (!has_room(collector))
		return false;
	else
		bucket->rows[bucket->nrows++] = row;
	bucket->last_repeated = true;
	return true;
}

/*
 * Add entries of one word, which ascend.
 */
static size_t
collect_ascending(ShPairsCollector *collector, const uint64 *values, const ShPairsRow *rows,
				  size_t count)
{
	const ShPairsBucket *bucket = &collector->bucket;
	size_t		start = 0;

	while (start < count)
	{
		size_t		end = start;

		if (bucket->nkeys > 0 && values[start] == bucket->values[bucket->nkeys - 1])
		{
			if (!collect_repeat(collector, rows[start]))
				return start;
			start++;
			continue;
		}
		do
			end++;
		while (end < count && values[end] != values[end - 1]);
		start += collect_keys(collector, values + start, rows + start, end - start);
		if (start < end)
			return start;
	}
	return count;
}

/*
 * Add entries.  Returns for how many there was room.
 */
size_t
shpairs_collect(ShPairsCollector *collector, const uint64 *values, const ShPairsRow *rows,
				size_t count)
{
	if (collector->bucket.nwords == 1)
		return collect_ascending(collector, values, rows, count);
	return collect_keys(collector, values, rows, count);
}

/*
 * Add an entry that has the value of the last key, or one that no key has.  There must
 * be room.
 */
void
shpairs_collect_in_order(ShPairsCollector *collector, const uint64 *value, ShPairsRow row)
{
	const ShPairsBucket *bucket = &collector->bucket;

	if (bucket->nkeys > 0 &&
		shpairs_compare(shpairs_stored(bucket, bucket->nkeys - 1), value, bucket->nwords) == 0)
		(void) collect_repeat(collector, row);
	else
		(void) collect_keys(collector, value, &row, 1);
}

/* which of the values of two items comes first */
static inline int
compare_items(const ShIdxSortItem *a, const ShIdxSortItem *b, const ShPairsBucket *bucket)
{
	int			result = shpairs_compare(shpairs_value(bucket, a->value),
										 shpairs_value(bucket, b->value), bucket->nwords);

	if (result == 0)
		result = a->value < b->value ? -1 : a->value > b->value;
	return result;
}

/* the server's qsort does not look for interrupts */
#define ST_SORT sort_items
#define ST_ELEMENT_TYPE ShIdxSortItem
#define ST_COMPARE(a, b, bucket) compare_items(a, b, bucket)
#define ST_COMPARE_ARG_TYPE const ShPairsBucket
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort values by their first word, and then those that have the same.  The values of
 * the items are the places of values.
 */
static void
sort_values(const ShPairsBucket *bucket, ShIdxSortItem *items, ShIdxSortItem *sorted)
{
	size_t		count = bucket->nkeys;

	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		items[i] = shidx_sort_item(*shpairs_value(bucket, i), i);
	}
	shidx_sort_radix(items, sorted, count);
	for (size_t start = 0, end; start < count; start = end)
	{
		end = start + 1;
		while (end < count && sorted[end].key == sorted[start].key)
			end++;
		if (end - start > 1)
			sort_items(sorted + start, end - start, bucket);
	}
}

/*
 * Move values in place, so that value i is the one at the place in item i.
 */
static void
move_values(ShPairsBucket *bucket, ShIdxSortItem *sorted)
{
	int			nwords = bucket->nwords;
	Size		size = nwords * sizeof(uint64);
	uint64		value[SHBITS_MAX_PARTS];
	size_t		moved = 0;

	for (size_t first = 0; first < bucket->nkeys; first++)
	{
		size_t		to = first;

		if (sorted[first].value == first)
			continue;
		memcpy(value, shpairs_value(bucket, first), size);
		for (size_t from = sorted[to].value; from != first; from = sorted[to].value)
		{
			/* all may be in one circle */
			shcompat_check_at(++moved);
			memcpy(bucket->values + to * nwords, shpairs_value(bucket, from), size);
			sorted[to].value = to;
			to = from;
		}
		memcpy(bucket->values + to * nwords, value, size);
		sorted[to].value = to;
	}
}

/*
 * All entries have been added: make the keys.
 */
void
shpairs_collector_finish(ShPairsCollector *collector)
{
	ShPairsBucket *bucket = &collector->bucket;
	int			nwords = bucket->nwords;
	Size		size = nwords * sizeof(uint64);
	size_t		count = bucket->nkeys;
	ShPairsRow *ordered = collector->scratch;
	ShIdxSortItem *items;
	ShIdxSortItem *sorted;

	if (nwords == 1)
		return;
	items = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(ShIdxSortItem));
	sorted = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(ShIdxSortItem));
	sort_values(bucket, items, sorted);
	pfree(items);
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		ordered[i] = bucket->rows[sorted[i].value];
	}
	move_values(bucket, sorted);
	pfree(sorted);

	bucket->nkeys = bucket->nrows = 0;
	for (size_t i = 0; i < count; i++)
	{
		const uint64 *value = shpairs_value(bucket, i);

		shcompat_check_at(i);
		if (bucket->nkeys > 0 &&
			memcmp(shpairs_value(bucket, bucket->nkeys - 1), value, size) == 0)
		{
			(void) collect_repeat(collector, ordered[i]);
			continue;
		}
		memmove(bucket->values + bucket->nkeys * nwords, value, size);
		bucket->starts[bucket->nkeys++] = bucket->nrows;
		bucket->rows[bucket->nrows++] = ordered[i];
		bucket->last_repeated = false;
	}
}
