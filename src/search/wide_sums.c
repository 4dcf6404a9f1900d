/*-------------------------------------------------------------------------
 *
 * wide_sums.c
 *	  The distances of rows, added up from those of the parts of their
 *	  fingerprints.
 *
 * Each part has an entry of each row, but each in another order.  So the
 * distances are added up in a hash table, which takes one word for a row.  If
 * that does not fit in memory, all goes to tapes, which divide the rows by
 * another hash: one tape after the other is then added up.
 *
 * How many rows will be fetched is not known, so ever larger batches of the nearest
 * ones are chosen and sorted.  What comes from tapes is written to other ones, each
 * for a range of distances, and these are sorted one after the other, by the server
 * if one does not fit in memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/logtape.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "search/wide_sums.h"
#include "type/wide.h"

/*
 * A sum: the distance, and below it the row, which is never 0.  So sums have the
 * order in which they are returned, also as signed integers.
 */
#define ROW_BITS		48
#define ROW_OF(sum)		((sum) & ((UINT64CONST(1) << ROW_BITS) - 1))
#define DISTANCE_OF(sum)	((int) ((sum) >> ROW_BITS))
#define MAKE_SUM(row, distance)	((uint64) (distance) << ROW_BITS | (row))

#define LEAST_PLACES	1024

/* the first batch of rows to sort, and the growth of batches */
#define FIRST_BATCH		1024
#define BATCH_GROWTH	16

/* the buffers of the tapes, of one block each, are not counted as memory */
#define MIN_TAPES		8
#define MAX_TAPES		256
#define RANGES			64		/* of distances */

/* how much of a tape is read at a time, in sums and in bytes */
#define READ_SUMS		1024
#define READ_BUFFER		(8 * BLCKSZ)

/* the place of a row is fetched from memory so many rows ahead */
#define AHEAD			8

/* how often interrupts are checked for, in sums */
#define CHECK_INTERVAL	4096

struct ShFndSums
{
	MemoryContext context;		/* of all that follows, and of this */
	Size		memory;			/* how much to use, in bytes */
	double		expected_rows;
	int			max_distance;

	/* the hash table, with linear probing; an empty place is 0 */
	uint64		nplaces;		/* less than 2^32 */
	uint64		max_places;
	uint64		count;
	uint64	   *places;

	/* on tapes; NULL while all are in memory */
	LogicalTapeSet *tape_set;
	int			ntapes;
	LogicalTape **tapes;		/* by rows */
	LogicalTape *ranges[RANGES];	/* by distance; NULL if empty */
	uint64		counts[RANGES]; /* how many sums each has */
	int			range;			/* the next one */

	/* what is returned: from places, of which the first ones are sorted */
	uint64		batch;
	uint64		sorted;
	uint64		next;
	Tuplesortstate *sort;		/* or from here */
};

#define ST_SORT sort_sums
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Prepare to add up the distances of about as many rows as expected, in so many
 * bytes of memory.  The sums will not be larger than max_distance, unless they are
 * of rows that no snapshot sees.
 *
 * Allocates in a child of the current memory context.
 */
ShFndSums *
shfnd_sums_begin(Size memory, double expected_rows, int max_distance)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "simhash distances of rows",
												  ALLOCSET_DEFAULT_SIZES);
	ShFndSums  *sums = MemoryContextAllocZero(context, sizeof(ShFndSums));

	sums->context = context;
	sums->memory = memory;
	sums->expected_rows = expected_rows;
	sums->max_distance = max_distance;
	sums->max_places = Min(Max(memory / sizeof(uint64), LEAST_PLACES), PG_UINT32_MAX);
	sums->nplaces = (uint64) Min(Max(expected_rows * 1.5, LEAST_PLACES), sums->max_places);
	sums->places = MemoryContextAllocExtended(context, sums->nplaces * sizeof(uint64),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	sums->batch = FIRST_BATCH;
	return sums;
}

/*
 * Free all memory and files.
 */
void
shfnd_sums_end(ShFndSums *sums)
{
	if (sums->sort != NULL)
		tuplesort_end(sums->sort);
	if (sums->tape_set != NULL)
		LogicalTapeSetClose(sums->tape_set);
	MemoryContextDelete(sums->context);
}

static inline uint64
hash_row(ShBtRow row)
{
	uint64		hash = row * UINT64CONST(0x9E3779B97F4A7C15);

	return (hash ^ hash >> 32) * UINT64CONST(0xD6E8FEB86659FD93);
}

/*
 * Where a row belongs in the hash table, if that place is free.
 */
static inline uint64
first_place(const ShFndSums *sums, ShBtRow row)
{
	return ((hash_row(row) >> 32) * sums->nplaces) >> 32;
}

/*
 * The place of a row in the hash table, or an empty one where it belongs.
 */
static inline uint64 *
find_place(const ShFndSums *sums, ShBtRow row)
{
	uint64		place = first_place(sums, row);

	while (sums->places[place] != 0 && ROW_OF(sums->places[place]) != row)
		place = place + 1 == sums->nplaces ? 0 : place + 1;
	return &sums->places[place];
}

static inline bool
is_full(const ShFndSums *sums)
{
	return sums->count >= sums->nplaces / 4 * 3;
}

static void
enlarge(ShFndSums *sums, uint64 nplaces)
{
	uint64	   *old = sums->places;
	uint64		nold = sums->nplaces;

	sums->nplaces = nplaces;
	sums->places = MemoryContextAllocExtended(sums->context, nplaces * sizeof(uint64),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint64 i = 0; i < nold; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (old[i] != 0)
			*find_place(sums, ROW_OF(old[i])) = old[i];
	}
	pfree(old);
}

/*
 * Write a sum to the tape of its row.  The bits of the hash are others than those
 * that make the place.
 */
static void
write_to_tape(ShFndSums *sums, uint64 sum)
{
	uint32		low = (uint32) hash_row(ROW_OF(sum));
	int			tape = (int) (((uint64) low * sums->ntapes) >> 32);

	LogicalTapeWrite(sums->tapes[tape], &sum, sizeof(sum));
}

/*
 * Start to write to tapes, as memory is full.  Called in the memory context of the
 * sums.
 */
static void
start_tapes(ShFndSums *sums)
{
	double		rows = Max(sums->expected_rows, sums->count * 2.0);
	double		ntapes = ceil(rows * 2 / (sums->max_places / 4 * 3));

	sums->ntapes = (int) Min(Max(ntapes, MIN_TAPES), MAX_TAPES);
	sums->tape_set = LogicalTapeSetCreate(true, NULL, -1);
	sums->tapes = palloc(sums->ntapes * sizeof(LogicalTape *));
	for (int i = 0; i < sums->ntapes; i++)
		sums->tapes[i] = LogicalTapeCreate(sums->tape_set);
	for (uint64 i = 0; i < sums->nplaces; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (sums->places[i] != 0)
			write_to_tape(sums, sums->places[i]);
	}
}

/*
 * Add to the sum of a row that may be in the hash table.  Returns false if it is
 * not, and the table is full.
 */
static inline bool
add_to_table(ShFndSums *sums, uint64 sum)
{
	uint64	   *place = find_place(sums, ROW_OF(sum));

	if (*place != 0)
	{
		*place += MAKE_SUM(0, DISTANCE_OF(sum));
		return true;
	}
	if (is_full(sums))
		return false;
	*place = sum;
	sums->count++;
	return true;
}

/*
 * Add a sum.  Called in the memory context of the sums.
 */
static inline void
add(ShFndSums *sums, uint64 sum)
{
	if (sums->tape_set == NULL)
	{
		if (add_to_table(sums, sum))
			return;

		/* the old table and the new one exist at the same time */
		if (sums->nplaces <= sums->max_places / 3)
		{
			enlarge(sums, sums->nplaces * 2);
			(void) add_to_table(sums, sum);
			return;
		}
		start_tapes(sums);
	}
	write_to_tape(sums, sum);
}

/*
 * Add the distances of one part of some rows from the same part of the center.
 */
void
shfnd_sums_add(ShFndSums *sums, ShFingerprint center, int count,
			   const ShFingerprint *fps, const ItemPointerData *tids)
{
	MemoryContext old = MemoryContextSwitchTo(sums->context);

	for (int i = 0; i < count; i++)
	{
		if (i + AHEAD < count && sums->tape_set == NULL)
			shcompat_prefetch(&sums->places[first_place(sums, shbt_tid_to_int(&tids[i + AHEAD]))]);
		add(sums, MAKE_SUM(shbt_tid_to_int(&tids[i]), shbits_distance(fps[i], center)));
	}
	MemoryContextSwitchTo(old);
}

/*
 * Read many sums from a tape.  Returns 0 at its end.
 */
static int
read_from_tape(LogicalTape *tape, uint64 *sums)
{
	size_t		nread = LogicalTapeRead(tape, sums, READ_SUMS * sizeof(uint64));

	CHECK_FOR_INTERRUPTS();
	if (nread % sizeof(uint64) != 0)
		elog(ERROR, "unexpected end of a tape of distances");
	return (int) (nread / sizeof(uint64));
}

/*
 * Add up what is on a tape, in the hash table, which becomes larger than it should
 * only if there are far more rows than expected.
 */
static void
add_tape(ShFndSums *sums, LogicalTape *tape)
{
	uint64		buffer[READ_SUMS];
	int			nread;

	memset(sums->places, 0, sums->nplaces * sizeof(uint64));
	sums->count = 0;
	LogicalTapeRewindForRead(tape, READ_BUFFER);
	while ((nread = read_from_tape(tape, buffer)) > 0)
	{
		for (int i = 0; i < nread; i++)
		{
			if (!add_to_table(sums, buffer[i]))
			{
				enlarge(sums, sums->nplaces * 2);
				(void) add_to_table(sums, buffer[i]);
			}
		}
	}
	LogicalTapeClose(tape);
}

/*
 * Keep those sums of the hash table that are wanted, at its start.
 */
static void
keep_wanted(ShFndSums *sums, ShFndWanted wanted, void *arg)
{
	sums->count = 0;
	for (uint64 i = 0; i < sums->nplaces; i++)
	{
		uint64		sum = sums->places[i];

		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (sum != 0 && wanted(ROW_OF(sum), DISTANCE_OF(sum), arg))
			sums->places[sums->count++] = sum;
	}
}

/*
 * Write the sums that have been kept to the tapes of their ranges.
 */
static void
write_ranges(ShFndSums *sums)
{
	for (uint64 i = 0; i < sums->count; i++)
	{
		uint64		sum = sums->places[i];
		int			range = Min(DISTANCE_OF(sum) * RANGES / (sums->max_distance + 1), RANGES - 1);

		if (sums->ranges[range] == NULL)
			sums->ranges[range] = LogicalTapeCreate(sums->tape_set);
		LogicalTapeWrite(sums->ranges[range], &sum, sizeof(sum));
		sums->counts[range]++;
	}
	sums->count = 0;
}

/*
 * Everything has been added: from now on shfnd_sums_next returns the rows that are
 * wanted.
 */
void
shfnd_sums_sort(ShFndSums *sums, ShFndWanted wanted, void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(sums->context);

	if (sums->tape_set == NULL)
		keep_wanted(sums, wanted, arg);
	else
	{
		for (int i = 0; i < sums->ntapes; i++)
		{
			add_tape(sums, sums->tapes[i]);
			keep_wanted(sums, wanted, arg);
			write_ranges(sums);
		}
	}
	MemoryContextSwitchTo(old);
}

/*
 * Turn to the next range of distances.  Returns false after the last.  Called in
 * the memory context of the sums.
 */
static bool
start_range(ShFndSums *sums)
{
	LogicalTape *tape = NULL;
	uint64		buffer[READ_SUMS];
	uint64		count = 0;
	int			nread;

	if (sums->tape_set == NULL)
		return false;
	while (tape == NULL)
	{
		if (sums->range == RANGES)
			return false;
		count = sums->counts[sums->range];
		tape = sums->ranges[sums->range++];
	}
	LogicalTapeRewindForRead(tape, READ_BUFFER);
	sums->count = 0;
	sums->sorted = 0;
	sums->next = 0;
	sums->batch = FIRST_BATCH;
	if (count > sums->nplaces)
		sums->sort = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
										   (int) Max(sums->memory / 1024, 64), NULL,
										   TUPLESORT_NONE);
	while ((nread = read_from_tape(tape, buffer)) > 0)
	{
		if (sums->sort == NULL)
		{
			memcpy(sums->places + sums->count, buffer, nread * sizeof(uint64));
			sums->count += nread;
			continue;
		}
		for (int i = 0; i < nread; i++)
			tuplesort_putdatum(sums->sort, Int64GetDatum((int64) buffer[i]), false);
	}
	LogicalTapeClose(tape);
	if (sums->sort != NULL)
		tuplesort_performsort(sums->sort);
	return true;
}

/*
 * Sort the next batch, of the nearest rows that have not been sorted, and all at
 * the same distances.
 */
static void
sort_batch(ShFndSums *sums)
{
	uint64	   *rest = sums->places + sums->sorted;
	uint64		left = sums->count - sums->sorted;
	uint64		wanted = sums->batch;

	sums->batch *= BATCH_GROWTH;
	if (left / 4 > wanted)
	{
		uint64		counts[SIMHASH_BITS_MAX_WIDTH + 1] = {0};
		uint64		nearest = 0;
		int			radius = -1;

		for (uint64 i = 0; i < left; i++)
			counts[Min(DISTANCE_OF(rest[i]), SIMHASH_BITS_MAX_WIDTH)]++;
		for (uint64 chosen = 0; chosen < wanted; chosen += counts[radius])
			radius++;
		for (uint64 i = 0; i < left; i++)
		{
			uint64		sum = rest[i];

			if (DISTANCE_OF(sum) <= radius)
			{
				rest[i] = rest[nearest];
				rest[nearest++] = sum;
			}
		}
		left = nearest;
	}
	CHECK_FOR_INTERRUPTS();
	sort_sums(rest, left);
	sums->sorted += left;
}

/*
 * Get the next sum that the server has sorted.  Returns false after the last.
 */
static bool
next_of_sort(ShFndSums *sums, uint64 *sum)
{
	Datum		value;
	bool		is_null;

	if (!shcompat_tuplesort_getdatum(sums->sort, true, &value, &is_null))
	{
		tuplesort_end(sums->sort);
		sums->sort = NULL;
		return false;
	}
	*sum = (uint64) DatumGetInt64(value);
	return true;
}

static bool
next_of_places(ShFndSums *sums, uint64 *sum)
{
	if (sums->next == sums->sorted)
	{
		if (sums->sorted == sums->count)
			return false;
		sort_batch(sums);
	}
	*sum = sums->places[sums->next++];
	return true;
}

/*
 * Return the next row, nearest first.  Returns false after the last.
 */
bool
shfnd_sums_next(ShFndSums *sums, ShBtRow *row, int *distance)
{
	MemoryContext old = MemoryContextSwitchTo(sums->context);
	uint64		sum;
	bool		found;

	do
	{
		found = sums->sort != NULL ? next_of_sort(sums, &sum) : next_of_places(sums, &sum);
	} while (!found && start_range(sums));
	MemoryContextSwitchTo(old);
	if (!found)
		return false;
	*row = ROW_OF(sum);
	*distance = DISTANCE_OF(sum);
	return true;
}
