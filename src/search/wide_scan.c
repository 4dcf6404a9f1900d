/*-------------------------------------------------------------------------
 *
 * wide_scan.c
 *	  Searching the parts of wide fingerprints, one after the other.
 *
 * Several parts of a row may lie in the balls of their parts, and an entry of one
 * part does not tell where the others lie.  So the rows that have been returned
 * are kept, to return each only once.
 *
 * If these fill work_mem, the search ends, and one table of the first part is
 * read from end to end, which has each row once.  What has been returned is left
 * out.  This is slow, but takes no more memory.
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
#include "utils/memutils.h"

#include "search/wide_scan.h"

typedef struct ReturnedRow
{
	ShBtRow		row;
	char		status;
} ReturnedRow;

#define SH_PREFIX shfnd_rows
#define SH_ELEMENT_TYPE ReturnedRow
#define SH_KEY_TYPE ShBtRow
#define SH_KEY row
#define SH_HASH_KEY(table, key) shfnd_hash_row(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* what the hash table begins with */
#define FIRST_ROWS	256

/*
 * Prepare to search.  The reader must have been begun with the same conditions.
 *
 * Allocates in the current memory context.
 */
void
shfnd_wide_begin(ShFndWideScan *scan, ShFndReader *reader, ShFndConditions *conditions)
{
	memset(scan, 0, sizeof(*scan));
	scan->reader = reader;
	scan->conditions = conditions;
	scan->allotted.radius = -1;
	scan->context = AllocSetContextCreate(CurrentMemoryContext, "simhash rows returned",
										  ALLOCSET_DEFAULT_SIZES);
}

/*
 * How many rows fit in work_mem, including the copy while the table grows: it
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
 * Search a part, or the first one for all that has not been returned, for what
 * lies in a set of balls.
 */
static void
search_part(ShFndWideScan *scan, int part, const ShFndBallSet *set)
{
	ShFndConditions *conditions = scan->conditions;
	ShFndReader *reader = scan->reader;
	ShFndBallScan *ballscan = &reader->ballscan;

	shfnd_reader_release(reader);
	conditions->list[0] = *set;
	conditions->count = 1;
	conditions->plan.table = scan->rest;
	shfnd_ball_set_part(ballscan, part);
	if (set->nballs > 1 && !scan->rest)
		shfnd_plan_conditions(conditions, ballscan->scheme, ballscan->leaves_per_table);
	shfnd_start_conditions(reader);
}

/*
 * Turn to the next part that is searched.  Returns false after the last.
 */
bool
shfnd_wide_next_part(ShFndWideScan *scan)
{
	const ShFndWide *wide = scan->conditions->wide;
	bool		first = scan->part < 0;

	if (scan->rest)
		return false;
	while (++scan->part < wide->nparts)
	{
		if (wide->sets[scan->part].nballs > 0)
		{
			/* the elements of an array have been counted with the first part */
			scan->reader->counts_balls = first;
			search_part(scan, scan->part, &wide->sets[scan->part]);
			return true;
		}
	}
	shfnd_ball_set_part(&scan->reader->ballscan, 0);
	return false;
}

/*
 * Start to search for what meets the conditions, which have been planned.  If
 * once is true, shfnd_wide_next is to return no row twice.
 */
void
shfnd_wide_start(ShFndWideScan *scan, bool once)
{
	MemoryContextReset(scan->context);
	scan->rows = NULL;
	if (once && scan->conditions->wide->searched > 1)
	{
		scan->rows = shfnd_rows_create(scan->context, FIRST_ROWS, NULL);
		scan->max_rows = max_rows();
	}
	scan->rest = false;
	scan->part = -1;
	shfnd_wide_next_part(scan);
}

/*
 * Read from now on one table of the first part, as memory is full.
 */
static void
start_rest(ShFndWideScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->context);
	ShFndBallSet all = shfnd_rest_of_wide(scan->conditions->wide);

	MemoryContextSwitchTo(old);
	scan->rest = true;
	search_part(scan, 0, &all);
}

/*
 * Has a row been returned?  If not, notes that it is now.
 */
static bool
is_returned(ShFndWideScan *scan, ShBtRow row)
{
	bool		found;

	if (scan->rest)
		return shfnd_rows_lookup(scan->rows, row) != NULL;
	(void) shfnd_rows_insert(scan->rows, row, &found);
	return found;
}

/*
 * Move to the next match.  Returns false after the last one.
 */
bool
shfnd_wide_next(ShFndWideScan *scan, ItemPointer tid)
{
	for (;;)
	{
		int			match = shfnd_next_match(scan->reader);

		if (match < 0)
		{
			if (!shfnd_wide_next_part(scan))
				return false;
			continue;
		}
		*tid = scan->reader->matches.tids[match];
		if (scan->rows == NULL)
			return true;
		if (!scan->rest && scan->rows->members >= scan->max_rows)
			start_rest(scan);
		else if (!is_returned(scan, shbt_tid_to_int(tid)))
			return true;
	}
}
