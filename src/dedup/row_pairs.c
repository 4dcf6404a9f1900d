/*-------------------------------------------------------------------------
 *
 * row_pairs.c
 *	  Returning the rows of pairs of fingerprints.
 *
 * Pairs of keys are collected, with the rows of each key, until there are
 * enough rows for a lookup.  Then each visible row of one key is passed on
 * with each visible row of the other.  The keys are those of one bucket, or of
 * two buckets side by side.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "compat.h"
#include "dedup/checks.h"
#include "dedup/progress.h"
#include "type/simhash.h"

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

struct ShDupRowPairs
{
	ShDupRowCheck *check;		/* of rows, or NULL */
	ShDupTakeFunction take;
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
};

/* in place of a number: not collected; rows not looked up, or looked up */
#define NOT_COLLECTED	PG_UINT32_MAX
#define LOOKED_UP		(PG_UINT32_MAX - 1)

/* the fraction of maintenance_work_mem that copies of wide fingerprints may take */
#define VALUES_FRACTION	0.25

/*
 * The fraction that fingerprints and numbers may take: visible_rows.c leaves 40 of 60
 * bytes for each row in half of the memory
 */
#define FPS_FRACTION	(1.0 / 3)

/* a value of an array counts as one row */
static ShPairsRow no_row = 0;

/*
 * Begin to pass the rows of the pairs that are added, and that are the same by the
 * check unless it is NULL, to take, with arg.
 *
 * With values_first, the first key of each pair is a value without rows, and is
 * passed on with 0 for its row.
 */
ShDupRowPairs *
shdup_row_pairs_begin(ShDup *rows, bool values_first, ShDupRowCheck *check,
					  ShDupTakeFunction take, void *arg)
{
	ShDupRowPairs *pairs = palloc0(sizeof(ShDupRowPairs));

	pairs->rows = rows;
	pairs->check = check;
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
	return pairs;
}

/*
 * Pass on each row of a with each row of b; or, if they are the same fingerprint, each
 * row with those after it.
 */
static void
take_pair_rows(ShDupRowPairs *pairs, const Fingerprint *a, const Fingerprint *b)
{
	ShDupRowPair pair = {.a_fp = a->fp,.b_fp = b->fp,.a_value = a->value,.b_value = b->value};
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
in_bucket(const ShDupRowPairs *pairs)
{
	return pairs->collected[0].bucket != NULL || pairs->collected[1].bucket != NULL;
}

/*
 * Store the looked-up rows in the bucket, since the fingerprints are about to
 * be forgotten, so that they are not looked up again.
 */
static void
keep_in_bucket(ShDupRowPairs *pairs)
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
return_all(ShDupRowPairs *pairs)
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
start_numbers(ShDupRowPairs *pairs, Collected *collected, const ShPairsBucket *bucket)
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
add_fingerprint(ShDupRowPairs *pairs)
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
copy_value(ShDupRowPairs *pairs, const uint64 *value, int nwords)
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
is_full(const ShDupRowPairs *pairs)
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
collect_pairs(ShDupRowPairs *pairs, bool second, const ShPairsBucket *bucket, size_t i)
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
 * Add a pair: key i of bucket a and key j of b, which may be the same bucket.
 * A key paired with itself stands for the pairs of its rows.  The rows of both
 * buckets may be changed.
 */
void
shdup_row_pairs_add(ShDupRowPairs *pairs, const ShPairsBucket *a, size_t i,
					const ShPairsBucket *b, size_t j)
{
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
 * The buckets of the last pairs become invalid.
 */
void
shdup_row_pairs_leave(ShDupRowPairs *pairs)
{
	if (pairs->refers_to_bucket)
		return_all(pairs);
	pairs->collected[0].bucket = pairs->collected[1].bucket = NULL;
	shdup_check_forget(pairs->check);
}

/*
 * The last pair has been added.
 */
void
shdup_row_pairs_finish(ShDupRowPairs *pairs)
{
	shdup_row_pairs_leave(pairs);
	return_all(pairs);
}

/*
 * The values of the result columns (a, b, a_fp, b_fp, distance, a_table,
 * b_table) of a pair of rows.  They point to two TIDs, which are set here.
 */
void
shdup_pair_values(const ShDupHeaps *heaps, const ShDupRowPair *pair,
				  ItemPointerData *tids, Datum *values)
{
	values[5] = ObjectIdGetDatum(shdup_name(heaps, pair->a_row, &tids[0]));
	values[6] = ObjectIdGetDatum(shdup_name(heaps, pair->b_row, &tids[1]));
	values[0] = PointerGetDatum(&tids[0]);
	values[1] = PointerGetDatum(&tids[1]);
	values[2] = SimhashGetDatum(pair->a_fp);
	values[3] = SimhashGetDatum(pair->b_fp);
	values[4] = Int32GetDatum(pair->distance);
}
