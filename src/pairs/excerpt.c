/*-------------------------------------------------------------------------
 *
 * excerpt.c
 *	  What one process tells another about buckets: their pairs.
 *
 * An excerpt has pairs of keys of a bucket, or of two buckets side by side, and
 * these keys with all their rows.  Many buckets are small and have no more than
 * a pair, so an excerpt goes on with the pairs of the next bucket, as long as
 * that is of the same table and group: nobody needs to know where a bucket ends.
 *
 * An excerpt is passed on when it has enough pairs or rows.  If a bucket has
 * more pairs after that, their keys are sent again, with their rows.  Keys with
 * many rows do not count, so that these are sent once for many pairs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pairs/excerpt.h"

/* an excerpt is complete with this many pairs, or rows of keys with few */
#define ENOUGH_PAIRS		4096
#define ENOUGH_ROWS			8192

/* a key has many rows if there are more than this */
#define MANY_ROWS			256

/*
 * but no excerpt has more than these and a key, since there is a limit of 1 GB
 * for messages
 */
#define MOST_ROWS			0x1000000

/*
 * Begin to make excerpts, each of which is passed to emit, with arg.  Memory is
 * allocated in the current context.
 */
void
shpairs_excerpt_init(ShPairsExcerpt *excerpt, ShPairsEmitFunction emit, void *arg)
{
	memset(excerpt, 0, sizeof(ShPairsExcerpt));
	excerpt->emit = emit;
	excerpt->arg = arg;
	excerpt->pairs = palloc(ENOUGH_PAIRS * sizeof(ShPairsExcerptPair));
	for (int i = 0; i < lengthof(excerpt->sides); i++)
	{
		ShPairsExcerptSide *side = &excerpt->sides[i];

		/* a key has at least one row, so that there are no more keys */
		side->max_keys = ENOUGH_ROWS + 2 * ENOUGH_PAIRS;
		side->keys = palloc(side->max_keys * sizeof(ShPermuted));
		side->starts = palloc(side->max_keys * sizeof(size_t));
		side->sources = palloc(side->max_keys * sizeof(uint32));
		side->max_rows = ENOUGH_ROWS;
		side->rows = palloc(side->max_rows * sizeof(ShRowsNumber));
		side->max_numbers = ENOUGH_ROWS;
		side->numbers = palloc0(side->max_numbers * sizeof(uint32));
	}
}

static void
clear(ShPairsExcerpt *excerpt)
{
	excerpt->npairs = 0;
	for (int i = 0; i < lengthof(excerpt->sides); i++)
	{
		excerpt->sides[i].first = 0;
		excerpt->sides[i].nkeys = excerpt->sides[i].nrows = excerpt->sides[i].nsmall = 0;
	}
}

/*
 * Pass on what there is, if anything.
 */
void
shpairs_excerpt_emit(ShPairsExcerpt *excerpt)
{
	if (excerpt->npairs > 0)
		excerpt->emit(excerpt->arg, excerpt);
	clear(excerpt);
}

static void
start_side(ShPairsExcerptSide *side, const ShPairsBucket *bucket)
{
	side->bucket = bucket;
	side->first = side->nkeys;
	if (bucket->nkeys > side->max_numbers)
	{
		pfree(side->numbers);
		side->max_numbers = Max(bucket->nkeys, 2 * side->max_numbers);
		side->numbers = MemoryContextAllocExtended(GetMemoryChunkContext(side->keys),
												   side->max_numbers * sizeof(uint32),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	}
}

/*
 * Go on with a bucket or, unless b is NULL, with two of them side by side.  They
 * must stay until the next call.
 */
void
shpairs_excerpt_start(ShPairsExcerpt *excerpt, const ShPairsBucket *a, const ShPairsBucket *b)
{
	if (excerpt->npairs > 0 &&
		(excerpt->group != a->group || excerpt->table != a->table))
		shpairs_excerpt_emit(excerpt);
	excerpt->group = a->group;
	excerpt->table = a->table;
	excerpt->first_walk = a->first_walk;
	start_side(&excerpt->sides[0], a);
	if (b != NULL)
		start_side(&excerpt->sides[1], b);
}

static void
add_rows(ShPairsExcerptSide *side, const ShRowsNumber *rows, size_t count)
{
	if (count > side->max_rows - side->nrows)
	{
		side->max_rows = Max(side->nrows + count, 2 * side->max_rows);
		side->rows = repalloc_huge(side->rows, side->max_rows * sizeof(ShRowsNumber));
	}
	memcpy(side->rows + side->nrows, rows, count * sizeof(ShRowsNumber));
	side->nrows += count;
	if (count <= MANY_ROWS)
		side->nsmall += count;
}

/*
 * The number in the excerpt of a key of the current bucket.
 */
static uint32
add_key(ShPairsExcerptSide *side, size_t source)
{
	const ShPairsBucket *bucket = side->bucket;
	uint32		number = side->numbers[source];

	if (number >= side->first && number < side->nkeys && side->sources[number] == source)
		return number;
	number = side->nkeys++;
	side->numbers[source] = number;
	side->sources[number] = source;
	side->keys[number] = bucket->keys[source];
	side->starts[number] = side->nrows;
	add_rows(side, bucket->rows + bucket->starts[source],
			 shpairs_bucket_rows_end(bucket, source) - bucket->starts[source]);
	return number;
}

/*
 * Add a pair of keys of the current bucket or buckets.
 */
void
shpairs_excerpt_add(ShPairsExcerpt *excerpt, size_t i, size_t j)
{
	ShPairsExcerptSide *a = &excerpt->sides[0];
	ShPairsExcerptSide *b = excerpt->sides[1].bucket != NULL ? &excerpt->sides[1] : a;
	ShPairsExcerptPair *pair;

	if (excerpt->npairs == ENOUGH_PAIRS || a->nsmall > ENOUGH_ROWS || b->nsmall > ENOUGH_ROWS ||
		a->nrows > MOST_ROWS || b->nrows > MOST_ROWS)
		shpairs_excerpt_emit(excerpt);
	pair = &excerpt->pairs[excerpt->npairs++];
	pair->i = add_key(a, i);
	pair->j = add_key(b, j);
}

static void
set_piece(shm_mq_iovec *piece, const void *data, Size size)
{
	piece->data = data;
	piece->len = size;
}

/*
 * The SHPAIRS_EXCERPT_PIECES pieces of a message, the first of which is *head.
 */
void
shpairs_excerpt_pieces(const ShPairsExcerpt *excerpt, const ShBitsScheme *scheme,
					   ShPairsExcerptHead *head, shm_mq_iovec *pieces)
{
	head->table = excerpt->table - scheme->tables;
	head->group = excerpt->group;
	head->first_walk = excerpt->first_walk;
	head->npairs = excerpt->npairs;
	set_piece(pieces++, head, sizeof(*head));
	for (int i = 0; i < lengthof(excerpt->sides); i++)
	{
		const ShPairsExcerptSide *side = &excerpt->sides[i];

		head->nkeys[i] = side->nkeys;
		head->nrows[i] = side->nrows;
		set_piece(pieces++, side->keys, side->nkeys * sizeof(ShPermuted));
		set_piece(pieces++, side->starts, side->nkeys * sizeof(size_t));
		set_piece(pieces++, side->rows, side->nrows * sizeof(ShRowsNumber));
	}
	set_piece(pieces, excerpt->pairs, excerpt->npairs * sizeof(ShPairsExcerptPair));
}

/*
 * Show an excerpt of this process as buckets.  They are valid as long as the
 * excerpt is.
 */
void
shpairs_excerpt_show(const ShPairsExcerpt *excerpt, ShPairsReceived *received)
{
	for (int i = 0; i < lengthof(excerpt->sides); i++)
	{
		const ShPairsExcerptSide *side = &excerpt->sides[i];
		ShPairsBucket *bucket = &received->buckets[i];

		bucket->table = excerpt->table;
		bucket->group = excerpt->group;
		bucket->first_walk = excerpt->first_walk;
		bucket->nkeys = side->nkeys;
		bucket->nrows = side->nrows;
		bucket->keys = side->keys;
		bucket->starts = side->starts;
		bucket->rows = side->rows;
		bucket->last_repeated = false;
	}
	received->npairs = excerpt->npairs;
	received->pairs = excerpt->pairs;
}

/*
 * The same for a message, which is copied.  The buckets are valid until the next
 * message is received.
 */
void
shpairs_excerpt_receive(ShPairsReceived *received, const ShBitsScheme *scheme,
						const void *message, Size size)
{
	const ShPairsExcerptHead *head;
	char	   *next;

	if (size > received->capacity)
	{
		if (received->copy != NULL)
			pfree(received->copy);
		received->capacity = Max(size, 2 * received->capacity);
		received->copy = MemoryContextAllocHuge(CurrentMemoryContext, received->capacity);
	}
	memcpy(received->copy, message, size);
	head = (const ShPairsExcerptHead *) received->copy;
	next = received->copy + sizeof(*head);
	for (int i = 0; i < lengthof(received->buckets); i++)
	{
		ShPairsBucket *bucket = &received->buckets[i];

		bucket->table = &scheme->tables[head->table];
		bucket->group = head->group;
		bucket->first_walk = head->first_walk;
		bucket->nkeys = head->nkeys[i];
		bucket->nrows = head->nrows[i];
		bucket->keys = (ShPermuted *) next;
		next += bucket->nkeys * sizeof(ShPermuted);
		bucket->starts = (size_t *) next;
		next += bucket->nkeys * sizeof(size_t);
		bucket->rows = (ShRowsNumber *) next;
		next += bucket->nrows * sizeof(ShRowsNumber);
		bucket->last_repeated = false;
	}
	received->npairs = head->npairs;
	received->pairs = (const ShPairsExcerptPair *) next;
	Assert(next + received->npairs * sizeof(ShPairsExcerptPair) == received->copy + size);
}
