/*-------------------------------------------------------------------------
 *
 * find_pairs.c
 *	  SQL functions that return the pairs of near-duplicates: of one index, of two, of
 *	  an array and an index, or of one array.
 *
 * Pairs of keys are collected, with the rows of each key, until there are
 * enough rows for a lookup.  Then each visible row of one key is passed on
 * with each visible row of the other.  The keys are those of one bucket, or of
 * two buckets side by side.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "compat.h"
#include "dedup/call.h"
#include "dedup/progress.h"
#include "dedup/rows.h"
#include "type/simhash.h"

/* two rows, and their fingerprints */
typedef struct RowPair
{
	ShPairsRow	a_row;
	ShFingerprint a_fp;
	ShPairsRow	b_row;
	ShFingerprint b_fp;
	int			distance;

	/* the words of fingerprints that have several, or NULL */
	const uint64 *a_value;
	const uint64 *b_value;
} RowPair;

/* called with two rows of a pair */
typedef void (*TakeFunction) (void *arg, const RowPair *pair);

/* a fingerprint of the current batch */
typedef struct Fingerprint
{
	ShFingerprint fp;
	const uint64 *value;		/* words of a wide one, or NULL */
	ShPairsRow *rows;
	size_t		nrows;			/* once looked up: visible rows, which come
								 * first */
	uint32		key;			/* in the bucket that it came from */
	bool		second;			/* belongs to the second bucket */
	bool		looked_up;		/* looked up, and in the bucket */
	bool		repeated;		/* its rows are pairs with each other */
} Fingerprint;

/*
 * A bucket that is being searched, if any of its keys have been collected, and
 * the numbers of its fingerprints by key.
 */
typedef struct Collected
{
	const ShPairsBucket *bucket;
	bool		values;			/* values that have no rows */
	size_t		max_numbers;
	uint32	   *numbers;
} Collected;

typedef struct RowPairs
{
	ShPairsSink sink;
	ShDupRowCheck *check;		/* of rows, or NULL */
	TakeFunction take;
	void	   *arg;
	ShDup	   *rows;
	uint32		nfps;
	uint32		max_fps;
	Fingerprint *fps;
	Collected	collected[2];
	uint32		first_number;	/* of the current buckets */
	int			nwords;			/* of wide fingerprints, or 0 */
	MemoryContext values;		/* copies of these */
	bool		refers_to_bucket;	/* rows of some fingerprint point to it */
} RowPairs;

/* in place of a number: not collected; rows not looked up, or looked up */
#define NOT_COLLECTED	PG_UINT32_MAX
#define LOOKED_UP		(PG_UINT32_MAX - 1)

/* the fraction of maintenance_work_mem that copies of wide fingerprints may take */
#define VALUES_FRACTION	0.25

/* the fraction that fingerprints and numbers may take */
#define FPS_FRACTION	(SHDUP_ROWS_SHARE * SHDUP_CALLER_BYTES / SHDUP_ROW_BYTES)

StaticAssertDecl(sizeof(Fingerprint) <= SHDUP_CALLER_BYTES, "too much memory for each row");

/* a value of an array counts as one row */
static ShPairsRow no_row = 0;

/*
 * Pass on each row of a with each row of b; or, if they are the same fingerprint, each
 * row with those after it.
 */
static void
take_pair_rows(RowPairs *pairs, const Fingerprint *a, const Fingerprint *b)
{
	RowPair		pair = {.a_fp = a->fp,.b_fp = b->fp,.a_value = a->value,.b_value = b->value};
	bool		counted = false;

	pair.distance = a->value == NULL ? shbits_distance(a->fp, b->fp) :
		shpairs_distance(a->value, b->value, pairs->nwords);
	for (size_t i = 0; i < a->nrows; i++)
	{
		for (size_t j = a == b ? i + 1 : 0; j < b->nrows; j++)
		{
			CHECK_FOR_INTERRUPTS();
			pair.a_row = a->rows[i];
			pair.b_row = b->rows[j];
			if (shdup_check_rows(pairs->check, pair.a_row, pair.b_row))
				pairs->take(pairs->arg, &pair);
			/* one was counted when the fingerprints were found */
			if (counted)
				shdup_progress_found();
			counted = true;
		}
	}
}

/*
 * Move the visible rows to the front.  Returns their number.
 */
static size_t
drop_invisible(ShPairsRow *rows, size_t count)
{
	size_t		visible = 0;

	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		if (rows[i] != SHDUP_INVISIBLE)
			rows[visible++] = rows[i];
	}
	for (size_t i = visible; i < count; i++)
	{
		shcompat_check_at(i);
		rows[i] = SHDUP_INVISIBLE;
	}
	return visible;
}

/* have any keys of the current buckets been collected? */
static inline bool
in_bucket(const RowPairs *pairs)
{
	return pairs->collected[0].bucket != NULL || pairs->collected[1].bucket != NULL;
}

/*
 * Store the looked-up rows in the bucket, since the fingerprints are about to
 * be forgotten, so that they are not looked up again.
 */
static void
keep_in_bucket(RowPairs *pairs)
{
	for (uint32 i = pairs->first_number; i < pairs->nfps; i++)
	{
		const Fingerprint *fp = &pairs->fps[i];
		const Collected *collected = &pairs->collected[fp->second];

		shcompat_check_at(i);
		if (!fp->looked_up)
			memcpy(collected->bucket->rows + collected->bucket->starts[fp->key], fp->rows,
				   fp->nrows * sizeof(ShPairsRow));
		collected->numbers[fp->key] = LOOKED_UP;
	}
	pairs->first_number = 0;
}

/*
 * Look up the rows that have been collected, pass them on, and begin anew.
 */
static void
return_all(RowPairs *pairs)
{
	shdup_resolve(pairs->rows);
	if (in_bucket(pairs))
		keep_in_bucket(pairs);
	for (uint32 i = 0; i < pairs->nfps; i++)
	{
		Fingerprint *fp = &pairs->fps[i];

		shcompat_check_at(i);
		if (!fp->looked_up)
			fp->nrows = drop_invisible(fp->rows, fp->nrows);
	}
	for (uint32 i = 0; i < pairs->nfps; i++)
	{
		shcompat_check_at(i);
		if (pairs->fps[i].repeated)
			take_pair_rows(pairs, &pairs->fps[i], &pairs->fps[i]);
	}
	for (size_t i = 0; i < pairs->rows->npairs; i++)
	{
		ShDupNumberPair numbers = pairs->rows->pairs[i];

		shcompat_check_at(i);
		take_pair_rows(pairs, &pairs->fps[numbers.a], &pairs->fps[numbers.b]);
	}

	shdup_check_release(pairs->check);
	shdup_reset(pairs->rows);
	if (pairs->values != NULL)
		MemoryContextReset(pairs->values);
	pairs->nfps = 0;
	pairs->refers_to_bucket = false;
}

/*
 * Make room to number the keys of a bucket.
 */
static void
start_numbers(RowPairs *pairs, Collected *collected, const ShPairsBucket *bucket)
{
	if (bucket->nkeys > collected->max_numbers)
	{
		collected->max_numbers = bucket->nkeys;
		collected->numbers = repalloc_huge(collected->numbers, collected->max_numbers * sizeof(uint32));
	}
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		shcompat_check_at(i);
		collected->numbers[i] = NOT_COLLECTED;
	}
	if (!in_bucket(pairs))
		pairs->first_number = pairs->nfps;
	collected->bucket = bucket;
}

/*
 * Add a fingerprint to the batch.
 */
static Fingerprint *
add_fingerprint(RowPairs *pairs)
{
	if (pairs->nfps == pairs->max_fps)
	{
		/* is_full leaves room for a pair */
		Assert(pairs->max_fps < LOOKED_UP / 2);
		pairs->max_fps = Max(Min(pairs->max_fps * 2, pairs->rows->most + 2), pairs->nfps + 1);
		pairs->fps = repalloc_huge(pairs->fps, pairs->max_fps * sizeof(Fingerprint));
	}
	return &pairs->fps[pairs->nfps++];
}

/*
 * Keep the value of a wide fingerprint, which is in a bucket, until its pairs have
 * been passed on.
 */
static const uint64 *
copy_value(RowPairs *pairs, const uint64 *value, int nwords)
{
	uint64	   *copy;

	if (pairs->values == NULL)
		pairs->values = AllocSetContextCreate(GetMemoryChunkContext(pairs),
											  "simhash wide fingerprints",
											  ALLOCSET_DEFAULT_SIZES);
	pairs->nwords = nwords;
	copy = MemoryContextAlloc(pairs->values, nwords * sizeof(uint64));
	memcpy(copy, value, nwords * sizeof(uint64));
	return copy;
}

/*
 * Should what has been collected be passed on before more is?
 *
 * There may be more fingerprints than rows, since some have been looked up before.
 */
static bool
is_full(const RowPairs *pairs)
{
	double		memory = Max(maintenance_work_mem * 1024.0 * FPS_FRACTION,
							 pairs->rows->most * (double) sizeof(Fingerprint));
	double		numbers = (double) sizeof(uint32) *
		(pairs->collected[0].max_numbers + pairs->collected[1].max_numbers);

	return shdup_full(pairs->rows) || pairs->nfps >= pairs->rows->most ||
		pairs->nfps * (double) sizeof(Fingerprint) > memory - Min(numbers, memory / 2) ||
		(double) pairs->nfps * pairs->nwords * sizeof(uint64) >
		maintenance_work_mem * 1024.0 * VALUES_FRACTION;
}

/*
 * The number of key i of the bucket among the collected fingerprints.
 *
 * The rows of a key are looked up once, no matter how many keys it is a pair
 * with.  If a key has many rows, they are looked up immediately, in the bucket.
 * Others are looked up together with many more and, if the search of the
 * bucket continues after that, stored back there.
 */
static uint32
collect_pairs(RowPairs *pairs, bool second, const ShPairsBucket *bucket, size_t i)
{
	Collected  *collected = &pairs->collected[second];
	ShPairsRow *rows = bucket->rows + bucket->starts[i];
	size_t		nrows = shpairs_rows_end(bucket, i) - bucket->starts[i];
	uint32		number;
	Fingerprint *fp;

	if (collected->bucket == NULL)
		start_numbers(pairs, collected, bucket);
	number = collected->numbers[i];
	if (number < LOOKED_UP)
		return number;

	if (number == NOT_COLLECTED && nrows > SHDUP_MANY && !collected->values)
	{
		shdup_look_up(pairs->rows, bucket->group, rows, nrows);
		number = LOOKED_UP;
	}

	collected->numbers[i] = pairs->nfps;
	fp = add_fingerprint(pairs);
	fp->fp = shpairs_key(bucket, i);
	fp->value = bucket->nwords == 1 ? NULL :
		copy_value(pairs, shpairs_value(bucket, i), bucket->nwords);
	fp->key = i;
	fp->second = second;
	fp->repeated = false;
	fp->looked_up = number == LOOKED_UP || collected->values;
	if (collected->values)
	{
		fp->rows = &no_row;
		fp->nrows = 1;
	}
	else if (fp->looked_up)
	{
		fp->rows = rows;
		fp->nrows = drop_invisible(rows, nrows);
		pairs->refers_to_bucket = true;
	}
	else
	{
		fp->rows = pairs->rows->numbers + pairs->rows->count;
		fp->nrows = nrows;
		shdup_add(pairs->rows, bucket->group, rows, nrows);
	}
	return collected->numbers[i];
}

/*
 * ShPairsSink.pair.  A key paired with itself stands for the pairs of its rows.  The rows
 * of both buckets may be changed.
 */
static void
add_row_pair(ShPairsSink *sink, const ShPairsBucket *a, size_t i, const ShPairsBucket *b,
			 size_t j)
{
	RowPairs   *pairs = (RowPairs *) sink;
	uint32		number;

	shdup_progress_found();
	if (is_full(pairs))
		return_all(pairs);
	number = collect_pairs(pairs, false, a, i);
	if (a == b && i == j)
		pairs->fps[number].repeated = true;
	else
		shdup_add_pair(pairs->rows, number, collect_pairs(pairs, a != b, b, j));
}

/*
 * ShPairsSink.leave: the buckets of the last pairs become invalid.
 */
static void
leave_buckets(ShPairsSink *sink)
{
	RowPairs   *pairs = (RowPairs *) sink;

	if (pairs->refers_to_bucket)
		return_all(pairs);
	pairs->collected[0].bucket = pairs->collected[1].bucket = NULL;
	shdup_check_forget(pairs->check);
}

/*
 * Begin to pass the rows of pairs of fingerprints, and that are the same by the check of
 * "rows" if there is one, to take, with arg.  Returns the sink of the search.
 *
 * With values_first, the first key of each pair is a value without rows, and is
 * passed on with 0 for its row.
 */
static ShPairsSink *
begin_row_pairs(ShDup *rows, bool values_first, TakeFunction take, void *arg)
{
	RowPairs   *pairs = palloc0(sizeof(RowPairs));

	pairs->sink.pair = add_row_pair;
	pairs->sink.leave = leave_buckets;
	pairs->rows = rows;
	pairs->check = rows->check;
	pairs->take = take;
	pairs->arg = arg;
	pairs->max_fps = 1024;
	pairs->fps = palloc(pairs->max_fps * sizeof(Fingerprint));
	for (int i = 0; i < lengthof(pairs->collected); i++)
	{
		pairs->collected[i].max_numbers = 1;
		pairs->collected[i].numbers = palloc(sizeof(uint32));
	}
	pairs->collected[0].values = values_first;
	return &pairs->sink;
}

/*
 * The last pair has been added.
 */
static void
finish_row_pairs(ShPairsSink *sink)
{
	leave_buckets(sink);
	return_all((RowPairs *) sink);
}

PG_FUNCTION_INFO_V1(simhash_find_all);
PG_FUNCTION_INFO_V1(simhash_find_all_in);
PG_FUNCTION_INFO_V1(simhash_find_all_in_bits);
PG_FUNCTION_INFO_V1(simhash_find_matches);
PG_FUNCTION_INFO_V1(simhash_find_matches_in);
PG_FUNCTION_INFO_V1(simhash_find_matches_in_bits);

/* the columns of the fingerprints in pairs of rows */
#define A_FP	2
#define B_FP	3

typedef struct FindPairs
{
	ShDupCall	call;
	ShDupResult result;
} FindPairs;

/*
 * Return a pair of rows: if both are of one index, the one with the lower number first.
 */
static void
take_row_pair(void *arg, const RowPair *pair)
{
	FindPairs  *find = arg;
	const ShDupHeaps *heaps = &find->call.heaps;
	bool		swap = heaps->nsides == 1 && pair->a_row > pair->b_row;
	ItemPointerData tids[2];
	Datum		values[SHDUP_RESULT_COLUMNS];

	values[0] = PointerGetDatum(&tids[0]);
	values[1] = PointerGetDatum(&tids[1]);
	values[A_FP] = SimhashGetDatum(swap ? pair->b_fp : pair->a_fp);
	values[B_FP] = SimhashGetDatum(swap ? pair->a_fp : pair->b_fp);
	values[4] = Int32GetDatum(pair->distance);
	values[5] = ObjectIdGetDatum(shdup_name(heaps, swap ? pair->b_row : pair->a_row, &tids[0]));
	values[6] = ObjectIdGetDatum(shdup_name(heaps, swap ? pair->a_row : pair->b_row, &tids[1]));
	shdup_result_add(&find->result, values);
}

/*
 * Return an element of an array and a row.
 */
static void
take_element_and_row(void *arg, const RowPair *pair)
{
	FindPairs  *find = arg;
	int			width = find->call.width;
	ItemPointerData tid;
	Datum		values[SHDUP_RESULT_COLUMNS];

	/* a single word is the fingerprint */
	values[0] = shdup_fp_datum(width, pair->a_value != NULL ? pair->a_value : &pair->a_fp);
	values[1] = PointerGetDatum(&tid);
	values[2] = shdup_fp_datum(width, pair->b_value != NULL ? pair->b_value : &pair->b_fp);
	values[3] = Int32GetDatum(pair->distance);
	values[4] = ObjectIdGetDatum(shdup_name(&find->call.heaps, pair->b_row, &tid));
	shdup_result_add(&find->result, values);
}

/*
 * The functions of indexes: with an array, its elements come first in the pairs.
 */
static Datum
find_row_pairs(FunctionCallInfo fcinfo, const ShDupSpec *spec)
{
	FindPairs	find;
	ShDupCall  *call = &find.call;
	bool		elements_first = spec->array > 0;
	ShPairsSink *sink;

	if (!shdup_call_begin(call, fcinfo, spec))
		return (Datum) 0;
	shdup_result_begin(&find.result, call->result);
	if (call->width > 0 && !elements_first)
	{
		/* they cannot hold a wide one */
		shdup_result_set_null(&find.result, A_FP);
		shdup_result_set_null(&find.result, B_FP);
	}
	sink = begin_row_pairs(&call->rows, elements_first,
						   elements_first ? take_element_and_row : take_row_pair, &find);
	shdup_call_search(call, sink);
	finish_row_pairs(sink);
	shdup_call_end(call);
	return (Datum) 0;
}

/*
 * simhash_find_all(index regclass, distance int, similarity float8) -> every pair of
 * rows that the snapshot sees whose fingerprints differ in at most distance bits, or
 * in at most the index's own distance if that is null.  If the operator class
 * compares the values, they must be as similar, or its operator must hold.  Each pair
 * is returned once, with the first row by table and TID first.
 */
Datum
simhash_find_all(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_ALL,.nindexes = 1,.distance = 2,.similarity = 3};

	return find_row_pairs(fcinfo, &spec);
}

/*
 * simhash_find_matches(a regclass, b regclass, distance int, similarity float8) ->
 * every row of index a with every row of index b, among those that the snapshot
 * sees, whose fingerprints differ in at most distance bits or, if that is null, the
 * smaller distance of the two indexes.  If the operator class of the indexes
 * compares the values, they must be as similar, or its operator must hold.
 */
Datum
simhash_find_matches(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_MATCHES,.nindexes = 2,.distance = 3,.similarity = 4};

	return find_row_pairs(fcinfo, &spec);
}

/*
 * simhash_find_matches_in(index regclass, queries simhash[], distance int) ->
 * every different value of the array with every row that the snapshot sees
 * whose fingerprint differs from it in at most distance bits or, if that is
 * null, the distance of the index.  The values of the rows do not matter.
 */
Datum
simhash_find_matches_in(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_MATCHES,.nindexes = 1,.array = 2,.distance = 3};

	return find_row_pairs(fcinfo, &spec);
}

/*
 * simhash_find_matches_in_bits(index regclass, queries simhash_bits[],
 * distance int) -> the same for wide fingerprints.
 */
Datum
simhash_find_matches_in_bits(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {
		.command = SHDUP_FIND_MATCHES,.nindexes = 1,.array = 2,.wide = true,.distance = 3
	};

	return find_row_pairs(fcinfo, &spec);
}

/* returns pairs of elements */
typedef struct ElementPairSink
{
	ShPairsSink sink;
	ShDupResult result;
	int			width;			/* of wide ones, or 0 */
} ElementPairSink;

static void
return_element_pair(ShPairsSink *base, const ShPairsBucket *a, size_t i, const ShPairsBucket *b,
					size_t j)
{
	ElementPairSink *sink = (ElementPairSink *) base;
	uint64		words[2];
	const uint64 *x = shpairs_words(a, i, &words[0]);
	const uint64 *y = shpairs_words(b, j, &words[1]);
	bool		swap = shpairs_compare(x, y, a->nwords) > 0;
	Datum		values[SHDUP_RESULT_COLUMNS];

	values[0] = shdup_fp_datum(sink->width, swap ? y : x);
	values[1] = shdup_fp_datum(sink->width, swap ? x : y);
	values[2] = Int32GetDatum(shpairs_distance(x, y, a->nwords));
	shdup_result_add(&sink->result, values);
	shdup_progress_found();
}

static Datum
find_all_in(FunctionCallInfo fcinfo, const ShDupSpec *spec)
{
	ElementPairSink sink = {.sink = {.pair = return_element_pair}};
	ShDupCall	call;

	if (!shdup_call_begin(&call, fcinfo, spec))
		return (Datum) 0;
	sink.width = call.width;
	shdup_result_begin(&sink.result, call.result);
	shdup_call_search(&call, &sink.sink);
	shdup_call_end(&call);
	return (Datum) 0;
}

/*
 * simhash_find_all_in(fingerprints simhash[], distance int, blocks int,
 * table_no int) -> every pair of different values in the array that differ in
 * at most distance bits.  Each pair is returned once, with the smaller value
 * first.  With table_no, only those pairs are returned for which this is the
 * first table with a common prefix.
 */
Datum
simhash_find_all_in(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {
		.command = SHDUP_FIND_ALL,.array = 1,.distance = 2,.blocks = 3,.table_no = 4
	};

	return find_all_in(fcinfo, &spec);
}

/*
 * simhash_find_all_in_bits(fingerprints simhash_bits[], distance int) -> every pair of
 * different values in the array that differ in at most distance bits or, if that is
 * null, in less than an eighth of their bits.  Each pair is returned once, with the
 * smaller value first.
 */
Datum
simhash_find_all_in_bits(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_ALL,.array = 1,.wide = true,.distance = 2};

	return find_all_in(fcinfo, &spec);
}
