/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reading what a query looks for, in no particular order.
 *
 * This reads the balls of the parts of the query, one after the other, or what the
 * caller names: a ball, a ring, or a table from end to end.
 *
 * Where a row may be met by several parts, the rows that have been returned are kept,
 * to return each only once (src/README, section 1).
 *
 * A row that is inserted during the scan, in the place of a dead one that has
 * been returned, is left out too.  No MVCC snapshot sees it.  Nor need the check of
 * an exclusion constraint: the row that it checks is in the index before the scan
 * begins, and so the check of the other row, which comes later, meets that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "btree/cache.h"
#include "search/reader.h"

typedef struct ReturnedRow
{
	ShBtRow		row;
	char		status;
} ReturnedRow;

#define SH_PREFIX shfnd_rows
#define SH_ELEMENT_TYPE ReturnedRow
#define SH_KEY_TYPE ShBtRow
#define SH_KEY row
#define SH_HASH_KEY(table, key) ((uint32) ((key) * UINT64CONST(0x9E3779B97F4A7C15) >> 32))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* what the hash table begins with */
#define FIRST_ROWS	256

/*
 * Prepare to read.  *query must live as long as *reader, and may change between two
 * searches.
 *
 * Allocates in the current memory context.
 */
void
shfnd_reader_begin(ShFndReader *reader, const ShFndQuery *query)
{
	reader->query = query;
	shfnd_ball_begin(&reader->ballscan, query->index, shbt_get_scheme(query->index));
	reader->nsearches = NULL;
	reader->rows = NULL;
	if (query->nparts > 1)
		reader->rows_context = AllocSetContextCreate(CurrentMemoryContext,
													 "simhash rows returned",
													 ALLOCSET_DEFAULT_SIZES);
	reader->matches.count = 0;
	reader->next = 0;
	reader->ndead = 0;
}

/*
 * Count a search: a scan, or another element of an array in it.  How many tables
 * and pages it reads is the method's own affair.
 */
void
shfnd_count_search(ShFndReader *reader)
{
	pgstat_count_index_scan(reader->ballscan.index);
	if (reader->nsearches != NULL)
		(*reader->nsearches)++;
}

/*
 * Mark the entries that led to dead rows, while their positions are known.
 */
static void
mark_dead(ShFndReader *reader)
{
	if (reader->ndead > 0)
		shfnd_ball_mark_dead(&reader->ballscan, &reader->matches, reader->dead, reader->ndead);
	reader->ndead = 0;
}

/*
 * Forget the matches, and release the pin of their leaf.
 */
void
shfnd_reader_release(ShFndReader *reader)
{
	mark_dead(reader);
	shfnd_ball_release(&reader->ballscan);
	reader->matches.count = 0;
	reader->next = 0;
}

/*
 * Start to read a set of balls of a part.
 */
static void
start_balls(ShFndReader *reader, int part, const ShFndBallSet *balls, bool table)
{
	shfnd_ball_set_part(&reader->ballscan, part);
	reader->balls = balls;
	reader->table = table;
	reader->ball = 0;
	reader->filters = table || reader->rows != NULL ||
		(reader->query->nconditions > 1 && reader->query->nparts == 1);
	if (table)
		shfnd_ball_start_table(&reader->ballscan, simhash_make_ball(0, SHBITS_WIDTH));
	else
		shfnd_ball_start(&reader->ballscan, balls->balls[0]);
}

/*
 * Start to read the next part that is searched, from the given one on.  Returns
 * false if there is none.
 */
static bool
start_part(ShFndReader *reader, int part)
{
	const ShFndQuery *query = reader->query;

	for (; part < query->nparts; part++)
	{
		if (query->parts[part].balls.nballs > 0)
		{
			start_balls(reader, part, &query->parts[part].balls, query->parts[part].table);
			return true;
		}
	}
	reader->balls = NULL;
	return false;
}

/*
 * How many rows fit in a hash table in work_mem, including the copy while it grows: it
 * has a power of two of places, up to nine tenths of which are taken.
 */
static uint32
max_rows(void)
{
	uint64		places = work_mem * UINT64CONST(1024) / (sizeof(ReturnedRow) * 3 / 2);
	uint64		size = FIRST_ROWS;

	while (size * 2 <= Min(places, UINT64CONST(1) << 31))
		size *= 2;
	return (uint32) (size * 0.85);
}

/*
 * Start to read what the query has chosen to search for, by shfnd_choose.  Of
 * fingerprints of several parts this is what may be wanted, and if distinct is
 * false, a row may be returned several times.
 */
void
shfnd_start_query(ShFndReader *reader, bool distinct)
{
	const ShFndQuery *query = reader->query;

	shfnd_reader_release(reader);
	reader->first_part = true;
	reader->full = false;
	reader->rows = NULL;
	if (query->nparts > 1)
	{
		MemoryContextReset(reader->rows_context);
		if (distinct && query->nsearched > 1)
		{
			reader->rows = shfnd_rows_create(reader->rows_context, FIRST_ROWS, NULL);
			reader->max_rows = max_rows();
		}
	}
	(void) start_part(reader, 0);
}

/*
 * Prepare to read what the caller names, of which that is wanted which meets all
 * conditions.
 */
static void
start_named(ShFndReader *reader)
{
	shfnd_reader_release(reader);
	reader->balls = NULL;
	reader->filters = reader->query->nconditions > 0;
}

/*
 * Start to read what lies in a ball of fingerprints of one part.
 */
void
shfnd_start_within(ShFndReader *reader, SimhashBall ball)
{
	start_named(reader);
	shfnd_ball_start(&reader->ballscan, ball);
}

/*
 * The same for what the last planned ring finds of a ball.
 */
void
shfnd_start_ring(ShFndReader *reader, SimhashBall ball)
{
	start_named(reader);
	shfnd_ball_start_ring(&reader->ballscan, ball);
}

/*
 * The same, by reading one table from end to end.
 */
void
shfnd_start_table(ShFndReader *reader, SimhashBall ball)
{
	start_named(reader);
	shfnd_ball_start_table(&reader->ballscan, ball);
}

/*
 * Start to read the null fingerprints.
 */
void
shfnd_start_nulls(ShFndReader *reader)
{
	start_named(reader);
	reader->filters = false;
	shfnd_ball_set_part(&reader->ballscan, reader->query->nparts);
	shfnd_ball_start_table(&reader->ballscan, simhash_make_ball(0, SHBITS_WIDTH));
}

static inline void
keep_match(ShFndMatches *matches, int *kept, int i)
{
	matches->fps[*kept] = matches->fps[i];
	matches->tids[*kept] = matches->tids[i];
	matches->positions[*kept] = matches->positions[i];
	(*kept)++;
}

/*
 * Is a fingerprint that lies in the ball that is read wanted?  It may lie in none of
 * the balls that are read together, or in an earlier one, which has returned it.  The
 * conditions are about whole fingerprints.
 */
static bool
is_wanted(const ShFndReader *reader, ShFingerprint fp)
{
	const ShFndQuery *query = reader->query;
	const ShFndBallSet *balls = reader->balls;

	if (balls != NULL &&
		(reader->table ? !shfnd_in_balls(balls, balls->nballs, fp) :
		 shfnd_in_balls(balls, reader->ball, fp)))
		return false;
	return query->nparts > 1 ||
		shfnd_meets_others(query, balls != NULL ? query->chosen : -1, fp);
}

/*
 * Drop matches whose rows have been returned, and note that the others are.  If
 * memory is full, all are dropped, and what has not been returned is read from one
 * table.
 */
static void
drop_returned(ShFndReader *reader)
{
	ShFndMatches *matches = &reader->matches;
	int			kept = 0;

	if (!reader->full && reader->rows->members + matches->count > reader->max_rows)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->rows_context);

		reader->full = true;
		reader->others = shfnd_balls_of_first_part(reader->query);
		MemoryContextSwitchTo(old);
		start_balls(reader, 0, &reader->others, true);
		matches->count = 0;
		return;
	}
	for (int i = 0; i < matches->count; i++)
	{
		ShBtRow		row = shbt_tid_to_int(&matches->tids[i]);
		bool		found;

		if (reader->full)
			found = shfnd_rows_lookup(reader->rows, row) != NULL;
		else
			(void) shfnd_rows_insert(reader->rows, row, &found);
		if (!found)
			keep_match(matches, &kept, i);
	}
	matches->count = kept;
}

/*
 * Drop matches that are not wanted, or whose rows have been returned.
 */
static void
filter_matches(ShFndReader *reader)
{
	ShFndMatches *matches = &reader->matches;
	int			kept = 0;
	bool		wanted = false;

	for (int i = 0; i < matches->count; i++)
	{
		/* equal fingerprints are next to each other */
		if (i == 0 || matches->fps[i] != matches->fps[i - 1])
		{
			CHECK_FOR_INTERRUPTS();
			wanted = is_wanted(reader, matches->fps[i]);
		}
		if (wanted)
			keep_match(matches, &kept, i);
	}
	matches->count = kept;
	if (reader->rows != NULL)
		drop_returned(reader);
}

/*
 * Turn to the next ball of the part that is read, or to the next part.  Returns false
 * after the last.
 */
static bool
start_next_ball(ShFndReader *reader)
{
	if (reader->balls == NULL || reader->ballscan.allowance <= 0)
		return false;
	if (!reader->table && ++reader->ball < reader->balls->nballs)
	{
		/* the elements of an array are counted with the first part */
		if (reader->first_part)
			shfnd_count_search(reader);
		reader->filters = true;
		shfnd_ball_start(&reader->ballscan, reader->balls->balls[reader->ball]);
		return true;
	}
	reader->first_part = false;
	return !reader->full && start_part(reader, reader->ballscan.part + 1);
}

/*
 * Read the matches of the next leaf that has any.  Returns false after the
 * last one, or when the ball scan's allowance of pages is used up.
 *
 * For the pin of the leaf see shfnd_ball_next.  No lock is held on return.
 */
bool
shfnd_next_matches(ShFndReader *reader)
{
	mark_dead(reader);
	reader->next = 0;
	do
	{
		while (shfnd_ball_next(&reader->ballscan, &reader->matches))
		{
			if (unlikely(reader->filters))
				filter_matches(reader);
			if (reader->matches.count > 0)
				return true;
		}
	} while (start_next_ball(reader));
	return false;
}
