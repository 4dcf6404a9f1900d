/*-------------------------------------------------------------------------
 *
 * row_pairs.c
 *	  The rows of pairs of fingerprints.
 *
 * Pairs of keys are collected, with the rows of each key, until these are worth a
 * look-up.  Then each row of one key that the snapshot sees is passed on with each
 * of the other.  The keys are those of one bucket, or of two side by side.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/row_pairs.h"

/* a fingerprint among those whose pairs are passed on together */
typedef struct Fingerprint
{
	uint64		fp;
	size_t		key;			/* of the bucket that it came from */
	uint64	   *tids;			/* of its rows; looked up, with their kinds */
	size_t		nrows;			/* looked up: visible ones, which come first */
	bool		second;			/* of the second bucket */
	bool		looked_up;		/* and in the bucket, not among the rows to be */
	bool		repeated;		/* its rows are pairs */
} Fingerprint;

/*
 * A bucket that is searched, if any key of it was collected, and the numbers of
 * its fingerprints by key.
 */
typedef struct Side
{
	const ShBatchBucket *bucket;
	bool		values;			/* that have no rows */
	size_t		max_numbers;
	uint32	   *numbers;
} Side;

struct ShBatchRowPairs
{
	ShBatchRowPairFunction found;
	void	   *arg;
	ShBatchRows *rows;
	uint32		nfps;
	uint32		max_fps;
	Fingerprint *fps;
	Side		sides[2];
	uint32		first_number;	/* of the buckets that are searched */
	bool		refers_to_bucket;	/* some fingerprint does, by tids */
};

/* in place of a number: not collected, and if so, are its rows looked up? */
#define NOT_COLLECTED	PG_UINT32_MAX
#define LOOKED_UP		(PG_UINT32_MAX - 1)

/* a value that is in no table counts as one row */
static uint64 no_row = 0;

/*
 * Begin to collect pairs whose rows are to be looked up by rows, and then passed on
 * to found, with arg.
 *
 * With values_first, the first key of each pair is a value that has no rows: then it
 * is passed on with 0 for its row.
 */
ShBatchRowPairs *
shbatch_row_pairs_begin(ShBatchRows *rows, bool values_first,
						ShBatchRowPairFunction found, void *arg)
{
	ShBatchRowPairs *pairs = palloc0(sizeof(ShBatchRowPairs));

	pairs->rows = rows;
	pairs->found = found;
	pairs->arg = arg;
	pairs->max_fps = 1024;
	pairs->fps = palloc(pairs->max_fps * sizeof(Fingerprint));
	for (int i = 0; i < lengthof(pairs->sides); i++)
	{
		pairs->sides[i].max_numbers = 1;
		pairs->sides[i].numbers = palloc(sizeof(uint32));
	}
	pairs->sides[0].values = values_first;
	return pairs;
}

static inline void
pass_on(ShBatchRowPairs *pairs, uint64 a_row, uint64 a_fp, uint64 b_row, uint64 b_fp)
{
	CHECK_FOR_INTERRUPTS();
	pairs->found(pairs->arg, a_row, a_fp, b_row, b_fp);
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

/* Pass on the pairs among the rows of a fingerprint. */
static void
pass_on_repeated(ShBatchRowPairs *pairs, const Fingerprint *fp)
{
	for (size_t start = 0, end; start < fp->nrows; start = end)
	{
		end = kind_end(fp, start);
		for (size_t i = start; i < end; i++)
		{
			for (size_t j = i + 1; j < end; j++)
				pass_on(pairs, fp->tids[i], fp->fp, fp->tids[j], fp->fp);
		}
	}
}

/* Pass on each row of one fingerprint with each of another that is of its kind. */
static void
pass_on_product(ShBatchRowPairs *pairs, const Fingerprint *a, const Fingerprint *b)
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
				pass_on(pairs, a->tids[i], a->fp, b->tids[j], b->fp);
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

/* are keys of the bucket, or the two, that are searched collected? */
static inline bool
in_bucket(const ShBatchRowPairs *pairs)
{
	return pairs->sides[0].bucket != NULL || pairs->sides[1].bucket != NULL;
}

/*
 * The fingerprints of the bucket will not be remembered: let it have what their
 * rows have turned out to be, so that they are not looked up again.
 */
static void
keep_in_bucket(ShBatchRowPairs *pairs)
{
	for (uint32 i = pairs->first_number; i < pairs->nfps; i++)
	{
		const Fingerprint *fp = &pairs->fps[i];
		const Side *side = &pairs->sides[fp->second];

		if (!fp->looked_up)
			memcpy(side->bucket->tids + side->bucket->starts[fp->key], fp->tids,
				   fp->nrows * sizeof(uint64));
		side->numbers[fp->key] = LOOKED_UP;
	}
	pairs->first_number = 0;
}

/*
 * Look up the rows that have been collected, and pass on their pairs.
 */
static void
flush(ShBatchRowPairs *pairs)
{
	const ShBatchBucket *bucket = pairs->sides[1].bucket;

	shbatch_rows_resolve(pairs->rows);
	if (in_bucket(pairs))
		keep_in_bucket(pairs);
	if (bucket == NULL)
		bucket = pairs->sides[0].bucket;

	for (uint32 i = 0; i < pairs->nfps; i++)
	{
		Fingerprint *fp = &pairs->fps[i];

		if (!fp->looked_up)
			fp->nrows = drop_invisible(fp->tids, fp->nrows);
		if (fp->repeated)
			pass_on_repeated(pairs, fp);
	}
	for (size_t i = 0; i < pairs->rows->npairs; i++)
		pass_on_product(pairs, &pairs->fps[pairs->rows->pairs[i].a],
						&pairs->fps[pairs->rows->pairs[i].b]);

	shbatch_rows_reset(pairs->rows);
	shbatch_rows_forget_kinds(pairs->rows, bucket != NULL ? &bucket->group : NULL);
	pairs->nfps = 0;
	pairs->refers_to_bucket = false;
}

/*
 * Make room to number the keys of a bucket.
 */
static void
start_numbers(ShBatchRowPairs *pairs, Side *side, const ShBatchBucket *bucket)
{
	if (bucket->nkeys > side->max_numbers)
	{
		side->max_numbers = Max(bucket->nkeys, 2 * side->max_numbers);
		side->numbers = repalloc_huge(side->numbers, side->max_numbers * sizeof(uint32));
	}
	for (size_t i = 0; i < bucket->nkeys; i++)
		side->numbers[i] = NOT_COLLECTED;
	if (!in_bucket(pairs))
		pairs->first_number = pairs->nfps;
	side->bucket = bucket;
}

/*
 * A new fingerprint among those that are collected.
 */
static Fingerprint *
add_fingerprint(ShBatchRowPairs *pairs)
{
	if (pairs->nfps == pairs->max_fps)
	{
		Assert(pairs->max_fps < LOOKED_UP / 2);
		pairs->max_fps *= 2;
		pairs->fps = repalloc_huge(pairs->fps, pairs->max_fps * sizeof(Fingerprint));
	}
	return &pairs->fps[pairs->nfps++];
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
collect(ShBatchRowPairs *pairs, bool second, const ShBatchBucket *bucket, size_t i)
{
	Side	   *side = &pairs->sides[second];
	uint64	   *tids = bucket->tids + bucket->starts[i];
	size_t		nrows = shbatch_bucket_rows_end(bucket, i) - bucket->starts[i];
	uint32		number;
	Fingerprint *fp;

	if (side->bucket == NULL)
		start_numbers(pairs, side, bucket);
	number = side->numbers[i];
	if (number < LOOKED_UP)
		return number;

	if (number == NOT_COLLECTED && nrows > SHBATCH_MANY_ROWS && !side->values)
	{
		shbatch_rows_look_up(pairs->rows, bucket->group, tids, nrows);
		number = LOOKED_UP;
	}

	side->numbers[i] = pairs->nfps;
	fp = add_fingerprint(pairs);
	fp->fp = shbatch_fingerprint(bucket, i);
	fp->key = i;
	fp->second = second;
	fp->repeated = false;
	fp->looked_up = number == LOOKED_UP || side->values;
	if (side->values)
	{
		fp->tids = &no_row;
		fp->nrows = 1;
	}
	else if (fp->looked_up)
	{
		fp->tids = tids;
		fp->nrows = drop_invisible(tids, nrows);
		pairs->refers_to_bucket = true;
	}
	else
	{
		fp->tids = pairs->rows->tids + pairs->rows->count;
		fp->nrows = nrows;
		shbatch_rows_add(pairs->rows, bucket->group, tids, nrows);
	}
	return side->numbers[i];
}

/*
 * The rows of keys of a bucket that have several are pairs.
 */
void
shbatch_row_pairs_add_repeated(ShBatchRowPairs *pairs, const ShBatchBucket *bucket)
{
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		if (shbatch_bucket_rows_end(bucket, i) - bucket->starts[i] > 1)
		{
			uint32		number;

			if (shbatch_rows_full(pairs->rows))
				flush(pairs);
			number = collect(pairs, false, bucket, i);
			pairs->fps[number].repeated = true;
		}
	}
}

/*
 * Key i of bucket a is a pair with key j of b, which may be the same bucket.  Of
 * both the TIDs may be changed.
 */
void
shbatch_row_pairs_add(ShBatchRowPairs *pairs, const ShBatchBucket *a, size_t i,
					  const ShBatchBucket *b, size_t j)
{
	uint32		a_number;
	uint32		b_number;

	if (shbatch_rows_full(pairs->rows))
		flush(pairs);
	a_number = collect(pairs, false, a, i);
	b_number = collect(pairs, a != b, b, j);
	shbatch_rows_add_pair(pairs->rows, a_number, b_number);
}

/*
 * The buckets that were last added from will be gone.
 */
void
shbatch_row_pairs_leave(ShBatchRowPairs *pairs)
{
	pairs->sides[0].bucket = pairs->sides[1].bucket = NULL;
	if (pairs->refers_to_bucket)
		flush(pairs);
}

/*
 * There are no more pairs.  None must be added to a bucket that was not left.
 */
void
shbatch_row_pairs_finish(ShBatchRowPairs *pairs)
{
	flush(pairs);
}
