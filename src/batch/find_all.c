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
#include "bits/distance.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_find_all_index);
PG_FUNCTION_INFO_V1(simhash_find_all_array);

/* a fingerprint among the rows that are looked up together */
typedef struct Fingerprint
{
	uint64		fp;
	size_t		first_row;
	size_t		nrows;			/* resolved: visible ones, which come first */
	bool		repeated;		/* its rows are pairs */
} Fingerprint;

/* returns pairs of rows */
typedef struct RowSink
{
	ShBatchSink sink;
	ReturnSetInfo *result;
	ShBatchRows *rows;
	uint32		nfps;
	uint32		max_fps;
	Fingerprint *fps;

	/* numbers of the fingerprints of the current group, if they have one */
	bool		numbers_valid;
	size_t		max_numbers;
	uint32	   *numbers;
} RowSink;

#define NO_NUMBER		PG_UINT32_MAX

static bool
keep_row(ShBatchSink *sink, const ShBatchGroup *group, uint64 tid)
{
	return true;
}

/*
 * Return a pair of rows, the one with the lower TID first.
 */
static void
return_rows(RowSink *sink, uint64 a_tid, uint64 a_fp, uint64 b_tid, uint64 b_fp)
{
	ItemPointerData a;
	ItemPointerData b;
	Datum		values[5];
	bool		nulls[5] = {0};

	if (a_tid > b_tid)
	{
		return_rows(sink, b_tid, b_fp, a_tid, a_fp);
		return;
	}
	shbt_int_to_tid(a_tid, &a);
	shbt_int_to_tid(b_tid, &b);
	values[0] = PointerGetDatum(&a);
	values[1] = PointerGetDatum(&b);
	values[2] = SimhashGetDatum(a_fp);
	values[3] = SimhashGetDatum(b_fp);
	values[4] = Int32GetDatum(shbits_distance(a_fp, b_fp));
	tuplestore_putvalues(sink->result->setResult, sink->result->setDesc, values, nulls);
	shbatch_progress_found();
}

/* Return the pairs among the rows of a fingerprint. */
static void
return_repeated(RowSink *sink, const Fingerprint *fp)
{
	const uint64 *tids = sink->rows->tids + fp->first_row;

	for (size_t i = 0; i < fp->nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t j = i + 1; j < fp->nrows; j++)
			return_rows(sink, tids[i], fp->fp, tids[j], fp->fp);
	}
}

/* Return each row of one fingerprint with each of another. */
static void
return_product(RowSink *sink, const Fingerprint *a, const Fingerprint *b)
{
	const uint64 *a_tids = sink->rows->tids + a->first_row;
	const uint64 *b_tids = sink->rows->tids + b->first_row;

	for (size_t i = 0; i < a->nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t j = 0; j < b->nrows; j++)
			return_rows(sink, a_tids[i], a->fp, b_tids[j], b->fp);
	}
}

/* Move the visible rows of a fingerprint to the front. */
static void
drop_invisible(RowSink *sink, Fingerprint *fp)
{
	uint64	   *tids = sink->rows->tids + fp->first_row;
	size_t		visible = 0;

	for (size_t i = 0; i < fp->nrows; i++)
	{
		if (tids[i] != SHBATCH_INVISIBLE)
			tids[visible++] = tids[i];
	}
	fp->nrows = visible;
}

/*
 * Look up the rows that have been collected, and return their pairs.
 */
static void
flush(RowSink *sink)
{
	shbatch_rows_resolve(sink->rows);
	for (uint32 i = 0; i < sink->nfps; i++)
	{
		drop_invisible(sink, &sink->fps[i]);
		if (sink->fps[i].repeated)
			return_repeated(sink, &sink->fps[i]);
	}
	for (size_t i = 0; i < sink->rows->npairs; i++)
		return_product(sink, &sink->fps[sink->rows->pairs[i].a], &sink->fps[sink->rows->pairs[i].b]);

	shbatch_rows_reset(sink->rows);
	sink->nfps = 0;
	sink->numbers_valid = false;
}

/*
 * Make room to number the keys of a group.
 */
static void
start_numbers(RowSink *sink, const ShBatchGroup *group)
{
	if (group->nkeys > sink->max_numbers)
	{
		sink->max_numbers = group->max_keys;
		sink->numbers = repalloc_huge(sink->numbers, sink->max_numbers * sizeof(uint32));
	}
	memset(sink->numbers, 0xFF, group->nkeys * sizeof(uint32));
	sink->numbers_valid = true;
}

/*
 * Number of key i of the group among the fingerprints that are collected.
 */
static uint32
collect(RowSink *sink, const ShBatchGroup *group, size_t i)
{
	size_t		first = group->starts[i];
	size_t		nrows = shbatch_group_rows_end(group, i) - first;
	Fingerprint *fp;

	if (!sink->numbers_valid)
		start_numbers(sink, group);
	if (sink->numbers[i] != NO_NUMBER)
		return sink->numbers[i];

	if (sink->nfps == sink->max_fps)
	{
		Assert(sink->max_fps < NO_NUMBER / 2);
		sink->max_fps *= 2;
		sink->fps = repalloc_huge(sink->fps, sink->max_fps * sizeof(Fingerprint));
	}
	fp = &sink->fps[sink->nfps];
	fp->fp = shbatch_fingerprint(group, i);
	fp->first_row = sink->rows->count;
	fp->nrows = nrows;
	fp->repeated = false;
	shbatch_rows_add(sink->rows, group->tids + first, nrows);
	sink->numbers[i] = sink->nfps++;
	return sink->numbers[i];
}

static void
flush_if_full(RowSink *sink)
{
	if (shbatch_rows_full(sink->rows))
		flush(sink);
}

/*
 * Equal fingerprints share all prefixes: their pairs belong to the first walk.
 */
static void
collect_repeated(ShBatchSink *base, const ShBatchGroup *group)
{
	RowSink    *sink = (RowSink *) base;

	sink->numbers_valid = false;
	if (!group->first_walk || group->nrows == group->nkeys)
		return;
	for (size_t i = 0; i < group->nkeys; i++)
	{
		if (shbatch_group_rows_end(group, i) - group->starts[i] > 1)
		{
			uint32		number;

			flush_if_full(sink);
			number = collect(sink, group, i);
			sink->fps[number].repeated = true;
		}
	}
}

static void
collect_pair(ShBatchSink *base, const ShBatchGroup *group, size_t i, size_t j)
{
	RowSink    *sink = (RowSink *) base;
	uint32		a;
	uint32		b;

	flush_if_full(sink);
	a = collect(sink, group, i);
	b = collect(sink, group, j);
	shbatch_rows_add_pair(sink->rows, a, b);
}

/*
 * simhash_find_all(index regclass, distance int) -> every pair of rows that the
 * snapshot sees whose fingerprints differ in at most distance bits, or as many
 * as the index's own distance if that is null; once, the lower TID first.
 */
Datum
simhash_find_all_index(PG_FUNCTION_ARGS)
{
	RowSink		sink = {{keep_row, collect_repeated, collect_pair}};
	ShBatchCall call;

	if (!shbatch_begin_index(fcinfo, SHBATCH_FIND_ALL, &call))
		return (Datum) 0;

	sink.result = call.result;
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
typedef struct ValueSink
{
	ShBatchSink sink;
	ReturnSetInfo *result;
} ValueSink;

static void
return_values(ShBatchSink *base, const ShBatchGroup *group, size_t i, size_t j)
{
	ValueSink  *sink = (ValueSink *) base;
	uint64		a = shbatch_fingerprint(group, i);
	uint64		b = shbatch_fingerprint(group, j);
	Datum		values[3];
	bool		nulls[3] = {0};

	values[0] = SimhashGetDatum(Min(a, b));
	values[1] = SimhashGetDatum(Max(a, b));
	values[2] = Int32GetDatum(shbits_distance(a, b));
	tuplestore_putvalues(sink->result->setResult, sink->result->setDesc, values, nulls);
	shbatch_progress_found();
}

/*
 * simhash_find_all(hashes simhash[], distance int, blocks int) -> every pair of
 * different values in the array that differ in at most distance bits; once,
 * the smaller first.
 */
Datum
simhash_find_all_array(PG_FUNCTION_ARGS)
{
	ValueSink	sink = {{shbatch_drop_repeat, NULL, return_values}};
	ShBatchCall call;

	if (!shbatch_begin_array(fcinfo, SHBATCH_FIND_ALL, &call))
		return (Datum) 0;

	sink.result = call.result;
	shbatch_source_search(&call.input, &sink.sink);

	shbatch_end_array(&call);
	return (Datum) 0;
}
