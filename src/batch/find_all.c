/*-------------------------------------------------------------------------
 *
 * find_all.c
 *	  SQL functions that return all pairs of near-duplicates.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/batch_call.h"
#include "batch/result.h"
#include "bits/distance.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_find_all);
PG_FUNCTION_INFO_V1(simhash_find_all_in);

/* a fingerprint among those whose pairs are returned together */
typedef struct Fingerprint
{
	uint64		fp;
	size_t		key;			/* of the bucket that it came from */
	uint64	   *tids;			/* of its rows; looked up, with their kinds */
	size_t		nrows;			/* looked up: visible ones, which come first */
	bool		looked_up;		/* and in the bucket, not among the rows to be */
	bool		repeated;		/* its rows are pairs */
} Fingerprint;

/* returns pairs of rows */
typedef struct RowPairSink
{
	ShBatchSink sink;
	ShBatchResult result;
	ShBatchRows *rows;
	uint32		nfps;
	uint32		max_fps;
	Fingerprint *fps;

	/*
	 * The bucket that is searched, if any key of it was collected: numbers of
	 * its fingerprints by key, and the first one.
	 */
	const ShBatchBucket *bucket;
	size_t		max_numbers;
	uint32	   *numbers;
	uint32		first_number;
	bool		refers_to_bucket;	/* some fingerprint does, by tids */
} RowPairSink;

/* in place of a number: not collected, and if so, are its rows looked up? */
#define NOT_COLLECTED	PG_UINT32_MAX
#define LOOKED_UP		(PG_UINT32_MAX - 1)

static bool
keep_row(ShBatchSink *sink, const ShBatchBucket *bucket, uint64 tid)
{
	return true;
}

/*
 * Return a pair of rows of the same kind, the one with the lower number first.
 */
static void
return_rows(RowPairSink *sink, uint64 a_tid, uint64 a_fp, uint64 b_tid, uint64 b_fp)
{
	ItemPointerData a;
	ItemPointerData b;
	Datum		values[7];

	CHECK_FOR_INTERRUPTS();
	if (a_tid > b_tid)
	{
		return_rows(sink, b_tid, b_fp, a_tid, a_fp);
		return;
	}
	values[5] = ObjectIdGetDatum(shbatch_name_row(sink->rows->tables, a_tid, &a));
	values[6] = ObjectIdGetDatum(shbatch_name_row(sink->rows->tables, b_tid, &b));
	values[0] = PointerGetDatum(&a);
	values[1] = PointerGetDatum(&b);
	values[2] = SimhashGetDatum(a_fp);
	values[3] = SimhashGetDatum(b_fp);
	values[4] = Int32GetDatum(shbits_distance(a_fp, b_fp));
	shbatch_result_add(&sink->result, values);
	shbatch_progress_found();
}

/* the end of the rows of a fingerprint that are of one kind with the first */
static size_t
kind_end(const Fingerprint *fp, size_t start)
{
	uint32		kind = shbatch_row_kind(fp->tids[start]);
	size_t		end = start + 1;

	if (shbatch_row_kind(fp->tids[fp->nrows - 1]) == kind)
		return fp->nrows;
	while (shbatch_row_kind(fp->tids[end]) == kind)
		end++;
	return end;
}

/* Return the pairs among the rows of a fingerprint. */
static void
return_repeated(RowPairSink *sink, const Fingerprint *fp)
{
	for (size_t start = 0, end; start < fp->nrows; start = end)
	{
		end = kind_end(fp, start);
		for (size_t i = start; i < end; i++)
		{
			for (size_t j = i + 1; j < end; j++)
				return_rows(sink, fp->tids[i], fp->fp, fp->tids[j], fp->fp);
		}
	}
}

/* Return each row of one fingerprint with each of another that is of its kind. */
static void
return_product(RowPairSink *sink, const Fingerprint *a, const Fingerprint *b)
{
	size_t		a_start = 0;
	size_t		b_start = 0;

	CHECK_FOR_INTERRUPTS();
	while (a_start < a->nrows && b_start < b->nrows)
	{
		uint32		a_kind = shbatch_row_kind(a->tids[a_start]);
		uint32		b_kind = shbatch_row_kind(b->tids[b_start]);
		size_t		a_end = a_kind <= b_kind ? kind_end(a, a_start) : a_start;
		size_t		b_end = b_kind <= a_kind ? kind_end(b, b_start) : b_start;

		for (size_t i = a_start; i < a_end; i++)
		{
			for (size_t j = b_start; j < b_end; j++)
				return_rows(sink, a->tids[i], a->fp, b->tids[j], b->fp);
		}
		a_start = a_end;
		b_start = b_end;
	}
}

static int
compare_rows(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/* Have rows of one kind one after the other. */
static void
order_by_kind(uint64 *tids, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		if (shbatch_row_kind(tids[i]) != shbatch_row_kind(tids[0]))
		{
			qsort(tids, count, sizeof(uint64), compare_rows);
			return;
		}
	}
}

/*
 * Move the visible ones among rows that were looked up to the front, by kind.
 * Returns how many they are.
 */
static size_t
drop_invisible(uint64 *tids, size_t count)
{
	size_t		visible = 0;

	for (size_t i = 0; i < count; i++)
	{
		if (tids[i] != SHBATCH_INVISIBLE)
			tids[visible++] = tids[i];
	}
	for (size_t i = visible; i < count; i++)
		tids[i] = SHBATCH_INVISIBLE;
	order_by_kind(tids, visible);
	return visible;
}

/*
 * The fingerprints of the bucket will not be remembered: let it have what their
 * rows have turned out to be, so that they are not looked up again.
 */
static void
keep_in_bucket(RowPairSink *sink)
{
	for (uint32 i = sink->first_number; i < sink->nfps; i++)
	{
		const Fingerprint *fp = &sink->fps[i];

		if (!fp->looked_up)
			memcpy(sink->bucket->tids + sink->bucket->starts[fp->key], fp->tids,
				   fp->nrows * sizeof(uint64));
		sink->numbers[fp->key] = LOOKED_UP;
	}
	sink->first_number = 0;
}

/*
 * Look up the rows that have been collected, and return their pairs.
 */
static void
flush(RowPairSink *sink)
{
	shbatch_rows_resolve(sink->rows);
	if (sink->bucket != NULL)
		keep_in_bucket(sink);

	for (uint32 i = 0; i < sink->nfps; i++)
	{
		Fingerprint *fp = &sink->fps[i];

		if (!fp->looked_up)
			fp->nrows = drop_invisible(fp->tids, fp->nrows);
		if (fp->repeated)
			return_repeated(sink, fp);
	}
	for (size_t i = 0; i < sink->rows->npairs; i++)
		return_product(sink, &sink->fps[sink->rows->pairs[i].a],
					   &sink->fps[sink->rows->pairs[i].b]);

	shbatch_rows_reset(sink->rows);
	shbatch_rows_forget_kinds(sink->rows,
							  sink->bucket != NULL ? &sink->bucket->group : NULL);
	sink->nfps = 0;
	sink->refers_to_bucket = false;
}

/*
 * Make room to number the keys of a bucket.
 */
static void
start_numbers(RowPairSink *sink, const ShBatchBucket *bucket)
{
	if (bucket->nkeys > sink->max_numbers)
	{
		sink->max_numbers = Max(bucket->nkeys, 2 * sink->max_numbers);
		sink->numbers = repalloc_huge(sink->numbers, sink->max_numbers * sizeof(uint32));
	}
	for (size_t i = 0; i < bucket->nkeys; i++)
		sink->numbers[i] = NOT_COLLECTED;
	sink->first_number = sink->nfps;
	sink->bucket = bucket;
}

/*
 * A new fingerprint among those that are collected.
 */
static Fingerprint *
add_fingerprint(RowPairSink *sink)
{
	if (sink->nfps == sink->max_fps)
	{
		Assert(sink->max_fps < LOOKED_UP / 2);
		sink->max_fps *= 2;
		sink->fps = repalloc_huge(sink->fps, sink->max_fps * sizeof(Fingerprint));
	}
	return &sink->fps[sink->nfps++];
}

/*
 * Number of key i of the bucket among the fingerprints that are collected.
 *
 * However many keys it is a pair with, the rows of a key are looked up once:
 * those of one that has many at once, where they are in the bucket; those of
 * others together with many more, and if the search of the bucket goes on then,
 * they are put back there.
 */
static uint32
collect(RowPairSink *sink, const ShBatchBucket *bucket, size_t i)
{
	uint64	   *tids = bucket->tids + bucket->starts[i];
	size_t		nrows = shbatch_bucket_rows_end(bucket, i) - bucket->starts[i];
	uint32		number;
	Fingerprint *fp;

	if (sink->bucket == NULL)
		start_numbers(sink, bucket);
	number = sink->numbers[i];
	if (number < LOOKED_UP)
		return number;

	if (number == NOT_COLLECTED && nrows > SHBATCH_MANY_ROWS)
	{
		shbatch_rows_look_up(sink->rows, bucket->group, tids, nrows);
		number = LOOKED_UP;
	}

	sink->numbers[i] = sink->nfps;
	fp = add_fingerprint(sink);
	fp->fp = shbatch_fingerprint(bucket, i);
	fp->key = i;
	fp->repeated = false;
	fp->looked_up = number == LOOKED_UP;
	if (fp->looked_up)
	{
		fp->tids = tids;
		fp->nrows = drop_invisible(tids, nrows);
		sink->refers_to_bucket = true;
	}
	else
	{
		fp->tids = sink->rows->tids + sink->rows->count;
		fp->nrows = nrows;
		shbatch_rows_add(sink->rows, bucket->group, tids, nrows);
	}
	return sink->numbers[i];
}

/*
 * Equal fingerprints share all prefixes: their pairs belong to the first walk.
 */
static void
collect_repeated(ShBatchSink *base, const ShBatchBucket *bucket)
{
	RowPairSink *sink = (RowPairSink *) base;

	if (!bucket->first_walk || bucket->nrows == bucket->nkeys)
		return;
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		if (shbatch_bucket_rows_end(bucket, i) - bucket->starts[i] > 1)
		{
			uint32		number;

			if (shbatch_rows_full(sink->rows))
				flush(sink);
			number = collect(sink, bucket, i);
			sink->fps[number].repeated = true;
		}
	}
}

static void
collect_pair(ShBatchSink *base, const ShBatchBucket *bucket, size_t i, size_t j)
{
	RowPairSink *sink = (RowPairSink *) base;
	uint32		a;
	uint32		b;

	if (shbatch_rows_full(sink->rows))
		flush(sink);
	a = collect(sink, bucket, i);
	b = collect(sink, bucket, j);
	shbatch_rows_add_pair(sink->rows, a, b);
}

static void
leave_bucket(ShBatchSink *base, const ShBatchBucket *bucket)
{
	RowPairSink *sink = (RowPairSink *) base;

	sink->bucket = NULL;
	if (sink->refers_to_bucket)
		flush(sink);
}

/*
 * simhash_find_all(index regclass, distance int) -> every pair of rows that the
 * snapshot sees whose fingerprints differ in at most distance bits, or as many
 * as the index's own distance if that is null; once, the first by table and TID
 * first.
 */
Datum
simhash_find_all(PG_FUNCTION_ARGS)
{
	RowPairSink sink = {
		.sink = {
			.repeat = keep_row,
			.begin = collect_repeated,
			.pair = collect_pair,
			.end = leave_bucket
		}
	};
	ShBatchCall call;

	if (!shbatch_begin_index(fcinfo, SHBATCH_FIND_ALL, &call))
		return (Datum) 0;

	shbatch_result_begin(&sink.result, call.result);
	sink.rows = &call.rows;
	sink.max_fps = 1024;
	sink.fps = palloc(sink.max_fps * sizeof(Fingerprint));
	sink.max_numbers = 1;
	sink.numbers = palloc(sizeof(uint32));
	shbatch_source_search(&call.input, &sink.sink);
	flush(&sink);

	shbatch_end_index(&call);
	return (Datum) 0;
}

/* returns pairs of values */
typedef struct ValuePairSink
{
	ShBatchSink sink;
	ShBatchResult result;
} ValuePairSink;

static void
return_values(ShBatchSink *base, const ShBatchBucket *bucket, size_t i, size_t j)
{
	ValuePairSink *sink = (ValuePairSink *) base;
	uint64		a = shbatch_fingerprint(bucket, i);
	uint64		b = shbatch_fingerprint(bucket, j);
	Datum		values[3];

	values[0] = SimhashGetDatum(Min(a, b));
	values[1] = SimhashGetDatum(Max(a, b));
	values[2] = Int32GetDatum(shbits_distance(a, b));
	shbatch_result_add(&sink->result, values);
	shbatch_progress_found();
}

/*
 * simhash_find_all_in(fingerprints simhash[], distance int, blocks int, table_no
 * int) -> every pair of different values in the array that differ in at most
 * distance bits; once, the smaller first.  With table_no, only the pairs whose
 * first table with a common prefix it is.
 */
Datum
simhash_find_all_in(PG_FUNCTION_ARGS)
{
	ValuePairSink sink = {.sink = {.repeat = shbatch_drop_repeat,.pair = return_values}};
	ShBatchCall call;

	if (!shbatch_begin_array(fcinfo, SHBATCH_FIND_ALL, &call))
		return (Datum) 0;

	shbatch_result_begin(&sink.result, call.result);
	shbatch_source_search(&call.input, &sink.sink);

	shbatch_end_array(&call);
	return (Datum) 0;
}
