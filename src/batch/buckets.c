/*-------------------------------------------------------------------------
 *
 * buckets.c
 *	  All pairs within a distance, by walks over the tables of a scheme.
 *
 * In each table the entries with one prefix lie together.  They are collected,
 * equal fingerprints as one, and pairs are looked for among them (pairs.c).  A
 * pair that shares the prefix of several walks belongs to the first of these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/buckets.h"
#include "batch/progress.h"
#include "bits/distance.h"

/* above this number of entries in a bucket a longer prefix is the cheaper way to
 * tell them apart */
#define LARGE_BUCKET			512

/* what the arrays of buckets begin with */
#define FIRST_CAPACITY		1024

/* bytes that a key and a row of a bucket take, and the search among the keys */
#define BYTES_PER_KEY		(sizeof(uint64) + sizeof(size_t) + SHBATCH_PAIRS_BYTES_PER_KEY)
#define BYTES_PER_ROW		sizeof(uint64)

typedef struct Search
{
	ShBatchSink *sink;
	ShBatchBucket bucket;
	ShBatchPairs pairs;
	size_t		bucket_entries; /* read, of the bucket that is open */
	double		entries;		/* searched, and not reported yet */
	int			prefix_bits;
	uint64		prefix;			/* of a permuted fingerprint */

	/*
	 * a bucket that does not lie in one piece among the entries that are read
	 * together, or has repeats, is collected here
	 */
	size_t		max_keys;
	size_t		max_rows;
	uint64	   *keys;
	size_t	   *starts;
	uint64	   *tids;
	size_t		own_rows[SHBATCH_STREAM_MAX];	/* starts where no key repeats */
} Search;

/*
 * How many blocks of the prefixes of a scheme should be used.
 *
 * Of the first d + j blocks of two fingerprints within d bits, j are equal: so
 * C(d + j, j) walks suffice, and with one block as few as d + 1.  More blocks
 * pay only where fewer leave large buckets.
 */
static int
blocks_to_use(const ShBitsScheme *scheme, double entries)
{
	int			most = scheme->blocks - scheme->distance;
	int			used = 1;

	while (used < most && ldexp(entries, -(used * 64 / scheme->blocks)) > LARGE_BUCKET)
		used++;
	return used;
}

/* length of the prefix that the first blocks of a table make */
static int
bits_of_blocks(const ShBitsScheme *scheme, const ShBitsTable *table, int nblocks)
{
	int			bits = 0;

	for (int i = 0; i < nblocks; i++)
		bits += shbits_block_start(table->order[i] + 1, scheme->blocks) -
			shbits_block_start(table->order[i], scheme->blocks);
	return bits;
}

static void
add_walk(ShBatchPlan *plan, const ShBitsScheme *scheme, int table, int prefix_bits)
{
	ShBatchWalk *walk = &plan->walks[plan->nwalks++];

	walk->table = table;
	walk->prefix_bits = prefix_bits;
	walk->mask = shbits_unpermute(&scheme->tables[table], shbits_prefix_mask(prefix_bits));
}

/*
 * Plan the walks over the tables of a scheme, which have about so many
 * entries each.  The distance must not exceed that of the scheme.
 */
void
shbatch_plan(ShBatchPlan *plan, const ShBitsScheme *scheme, int distance, double entries)
{
	int			used = blocks_to_use(scheme, entries);

	Assert(distance <= scheme->distance);
	plan->first = plan->nwalks = 0;
	if (distance == 0)
	{
		/* no two keys are a pair: each is a bucket by itself */
		add_walk(plan, scheme, 0, 64);
		return;
	}
	for (int t = 0; t < scheme->ntables; t++)
	{
		const ShBitsTable *table = &scheme->tables[t];

		/* the blocks of a prefix ascend, and so do the tables by them */
		if (table->order[used - 1] >= distance + used ||
			(t > 0 && memcmp(table->order, (table - 1)->order, used) == 0))
			continue;
		add_walk(plan, scheme, t, bits_of_blocks(scheme, table, used));
	}
}

/*
 * Plan one walk over a table, all of which is one bucket: for any distance.
 */
void
shbatch_plan_whole(ShBatchPlan *plan)
{
	plan->first = 0;
	plan->nwalks = 1;
	memset(&plan->walks[0], 0, sizeof(ShBatchWalk));
}

/*
 * Plan a walk over one table of a scheme, for the pairs that share its prefix
 * and that of no table before it.
 */
void
shbatch_plan_table(ShBatchPlan *plan, const ShBitsScheme *scheme, int table)
{
	plan->first = table;
	plan->nwalks = 0;
	for (int t = 0; t <= table; t++)
		add_walk(plan, scheme, t, scheme->tables[t].prefix_bits);
}

static void
report_too_large(const Search *search)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("fingerprints with a common prefix do not fit into maintenance_work_mem"),
			 errdetail("So far there are %zu different ones in %zu rows that agree in a prefix of %d bits.",
					   search->bucket.nkeys, search->bucket.nrows, search->prefix_bits),
			 errhint("Increase maintenance_work_mem, which is now %d kB.",
					 maintenance_work_mem)));
}

/*
 * How many items of some size an array that is full should have room for,
 * where the other array of the bucket takes used bytes.
 */
static size_t
next_capacity(const Search *search, size_t capacity, Size size, Size used)
{
	Size		limit = maintenance_work_mem * (Size) 1024;
	size_t		most = limit > used ? (limit - used) / size : 0;

	if (most <= capacity)
		report_too_large(search);
	return Min(capacity * 2, most);
}

static void
enlarge_keys(Search *search)
{
	size_t		repeats = search->max_rows - search->max_keys;

	/* each key has a row, at least */
	search->max_keys = next_capacity(search, search->max_keys, BYTES_PER_KEY + BYTES_PER_ROW,
									 repeats * BYTES_PER_ROW);
	search->max_rows = search->max_keys + repeats;
	search->tids = repalloc_huge(search->tids, search->max_rows * sizeof(uint64));
	search->keys = repalloc_huge(search->keys, search->max_keys * sizeof(uint64));
	search->starts = repalloc_huge(search->starts, search->max_keys * sizeof(size_t));
}

static void
enlarge_rows(Search *search)
{
	search->max_rows = next_capacity(search, search->max_rows, BYTES_PER_ROW,
									 search->max_keys * BYTES_PER_KEY);
	search->tids = repalloc_huge(search->tids, search->max_rows * sizeof(uint64));
}

/* the bucket is the one that is collected, whose arrays may have moved */
static void
show_collected(Search *search)
{
	search->bucket.keys = search->keys;
	search->bucket.starts = search->starts;
	search->bucket.tids = search->tids;
}

static void
pair_found(void *arg, size_t i, size_t j)
{
	Search	   *search = arg;

	search->sink->pair(search->sink, &search->bucket, i, j);
}

/* this part of the work on a bucket is done */
static void
report_part(void *arg, double part)
{
	Search	   *search = arg;

	shbatch_progress_entries(search->entries + search->bucket_entries * part);
}

/*
 * The bucket is complete: look for pairs, and forget it.
 */
static void
end_bucket(Search *search)
{
	ShBatchBucket *bucket = &search->bucket;

	if (bucket->nrows > 1)
	{
		if (search->sink->begin != NULL)
			search->sink->begin(search->sink, bucket);
		if (bucket->nkeys > 1)
			shbatch_find_pairs(&search->pairs, bucket->keys, bucket->nkeys);
		if (search->sink->end != NULL)
			search->sink->end(search->sink, bucket);
	}
	search->entries += search->bucket_entries;
	search->bucket_entries = 0;
	bucket->nkeys = 0;
	bucket->nrows = 0;
}

/*
 * Add entries to the bucket that is collected whose keys are new to it.
 */
static void
collect_keys(Search *search, const uint64 *keys, const uint64 *tids, int count)
{
	ShBatchBucket *bucket = &search->bucket;

	while (count > 0)
	{
		int			n;

		if (bucket->nkeys == search->max_keys)
			enlarge_keys(search);
		if (bucket->nrows == search->max_rows)
			enlarge_rows(search);
		n = Min(count, Min(search->max_keys - bucket->nkeys, search->max_rows - bucket->nrows));
		memcpy(search->keys + bucket->nkeys, keys, n * sizeof(uint64));
		memcpy(search->tids + bucket->nrows, tids, n * sizeof(uint64));
		for (int i = 0; i < n; i++)
			search->starts[bucket->nkeys + i] = bucket->nrows + i;
		bucket->nkeys += n;
		bucket->nrows += n;
		keys += n;
		tids += n;
		count -= n;
	}
	bucket->last_repeated = false;
	show_collected(search);
}

/*
 * Add another row of the last key of the bucket that is collected.
 */
static void
collect_repeat(Search *search, uint64 tid)
{
	ShBatchBucket *bucket = &search->bucket;

	if (search->sink->repeat(search->sink, bucket, tid))
	{
		if (bucket->nrows == search->max_rows)
			enlarge_rows(search);
		search->tids[bucket->nrows++] = tid;
		show_collected(search);
	}
	bucket->last_repeated = true;
}

/*
 * Add entries to the bucket that is collected.
 */
static void
collect_entries(Search *search, const uint64 *keys, const uint64 *tids, int count)
{
	const ShBatchBucket *bucket = &search->bucket;
	int			start = 0;

	search->bucket_entries += count;
	while (start < count)
	{
		int			end = start;

		if (bucket->nkeys > 0 && keys[start] == bucket->keys[bucket->nkeys - 1])
		{
			collect_repeat(search, tids[start++]);
			continue;
		}
		do
			end++;
		while (end < count && keys[end] != keys[end - 1]);
		collect_keys(search, keys + start, tids + start, end - start);
		start = end;
	}
}

/*
 * Search a bucket that lies in one piece, without repeats, among entries that
 * were read.
 */
static void
search_in_place(Search *search, uint64 *keys, uint64 *tids, size_t count)
{
	ShBatchBucket *bucket = &search->bucket;

	search->bucket_entries = count;
	bucket->nkeys = count;
	bucket->nrows = count;
	bucket->last_repeated = false;
	bucket->keys = keys;
	bucket->starts = search->own_rows;
	bucket->tids = tids;
	end_bucket(search);
	show_collected(search);
}

/*
 * The end of the entries that share the prefix of the first one.  Is any key
 * among them that of the one before?
 */
static int
prefix_end(const Search *search, const uint64 *keys, int start, int count, bool *repeats)
{
	int			end;

	*repeats = false;
	for (end = start + 1; end < count; end++)
	{
		uint64		difference = keys[end] ^ keys[end - 1];

		if ((difference & search->prefix) != 0)
			break;
		*repeats |= difference == 0;
	}
	return end;
}

/*
 * Add entries of a table, in order.  Those of the last bucket remain, as more may
 * follow.
 */
static void
add_entries(Search *search, uint64 *keys, uint64 *tids, int count)
{
	ShBatchBucket *bucket = &search->bucket;
	int			start = 0;

	if (bucket->nkeys > 0)
	{
		while (start < count && ((keys[start] ^ bucket->keys[0]) & search->prefix) == 0)
			start++;
		collect_entries(search, keys, tids, start);
		if (start < count)
			end_bucket(search);
	}

	while (start < count)
	{
		bool		repeats;
		int			end = prefix_end(search, keys, start, count, &repeats);

		if (end == start + 1 && end < count)
			search->entries++;
		else if (end < count && !repeats)
			search_in_place(search, keys + start, tids + start, end - start);
		else
		{
			collect_entries(search, keys + start, tids + start, end - start);
			if (end < count)
				end_bucket(search);
		}
		start = end;
	}
}

/*
 * Do a walk of the plan.
 */
static void
do_walk(Search *search, ShBatchStream *stream, const ShBatchPlan *plan, int number)
{
	const ShBatchWalk *walk = &plan->walks[number];
	const ShBitsTable *table = &stream->scheme->tables[walk->table];
	uint64	   *keys;
	uint64	   *tids;
	uint32		group;
	int			count;

	search->bucket.table = table;
	search->bucket.first_walk = number == 0;
	search->prefix_bits = walk->prefix_bits;
	search->prefix = shbits_prefix_mask(walk->prefix_bits);

	/* pairs that share the prefix of a walk before were found there */
	search->pairs.nmasks = number;
	for (int i = 0; i < number; i++)
		search->pairs.masks[i] = shbits_permute(table, plan->walks[i].mask);

	shbatch_stream_start(stream, walk->table);
	while ((count = shbatch_stream_next(stream, &group, &keys, &tids)) > 0)
	{
		if (group != search->bucket.group)
		{
			if (search->bucket.nkeys > 0)
				end_bucket(search);
			search->bucket.group = group;
		}
		add_entries(search, keys, tids, count);
		shbatch_progress_entries(search->entries);
	}
	if (search->bucket.nkeys > 0)
		end_bucket(search);
	shbatch_progress_entries(search->entries);
}

/*
 * Find all pairs of different fingerprints in a stream that differ in at most
 * distance bits, by a plan for that distance, and pass them to the sink: each
 * once.
 *
 * Memory, up to maintenance_work_mem, is needed for the largest bucket of
 * entries with a common prefix; ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if that
 * is not enough.
 */
void
shbatch_search(ShBatchStream *stream, const ShBatchPlan *plan, int distance, ShBatchSink *sink)
{
	Search	   *search = palloc0(sizeof(Search));

	search->sink = sink;
	search->max_keys = FIRST_CAPACITY;
	search->max_rows = FIRST_CAPACITY;
	search->keys = palloc(FIRST_CAPACITY * sizeof(uint64));
	search->starts = palloc(FIRST_CAPACITY * sizeof(size_t));
	search->tids = palloc(FIRST_CAPACITY * sizeof(uint64));
	show_collected(search);
	for (int i = 0; i < SHBATCH_STREAM_MAX; i++)
		search->own_rows[i] = i;
	shbatch_pairs_init(&search->pairs, distance, pair_found, report_part, search);

	for (int i = plan->first; i < plan->nwalks; i++)
	{
		shbatch_progress_table(i - plan->first, plan->nwalks - plan->first);
		do_walk(search, stream, plan, i);
	}
	shbatch_progress_table(plan->nwalks - plan->first, plan->nwalks - plan->first);
}

/*
 * ShBatchSink.repeat for those to whom equal fingerprints are one.
 */
bool
shbatch_drop_repeat(ShBatchSink *sink, const ShBatchBucket *bucket, uint64 tid)
{
	return false;
}
