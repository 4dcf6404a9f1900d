/*-------------------------------------------------------------------------
 *
 * matches.c
 *	  Reading what a query looks for, in no particular order.
 *
 * This reads the balls of the parts of the query, one after the other, or what the
 * caller names: a ball, a ring, or a table from end to end.
 *
 * Where a row may be met by several balls, all matches are read and sorted before the
 * first one is returned, to return each row only once.  By then their leaves are no
 * longer pinned, so a row may have been removed, and another one inserted in its place.
 * No MVCC snapshot sees that one.  The check of an exclusion constraint sees it only with
 * wide fingerprints, whose values it compares: one part has one ball, of which nothing is
 * collected.
 *
 * Where parts are bands, one table after the other is read, and its matches are returned leaf
 * by leaf.  The rows that have been returned are remembered, and skipped in later tables; so no
 * entry there is marked as dead because a row has been found dead that had its TID before.
 * When they exceed work_mem, the matches that are left are sorted together with them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "index/matches.h"

/* a row that has been returned */
typedef struct ReturnedRow
{
	ShIdxRow	row;
	char		status;
} ReturnedRow;

#define SH_PREFIX			rows
#define SH_ELEMENT_TYPE		ReturnedRow
#define SH_KEY_TYPE			ShIdxRow
#define SH_KEY				row
#define SH_HASH_KEY(tb, key)	((uint32) ((key) * UINT64CONST(0x9E3779B97F4A7C15) >> 32))
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* for how many rows there is room at first */
#define RETURNED_ROWS		64

/*
 * Prepare to read.  *query must live as long as *reader, and may change between two
 * searches.
 *
 * Allocates in the current memory context.
 */
void
shidx_reader_begin(ShIdxReader *reader, ShIdxQuery *query)
{
	memset(reader, 0, offsetof(ShIdxReader, matches));
	reader->query = query;
	shidx_ball_begin(&reader->ballscan, query->index, query->geometry);
	reader->matches.count = 0;
	reader->next = 0;
	reader->ndead = 0;
}

/*
 * Count a search: a scan, or another element of an array in it.  How many tables
 * and pages it reads is the method's own affair.
 */
static void
count_search(ShIdxReader *reader)
{
	pgstat_count_index_scan(reader->ballscan.index);
	if (reader->nsearches != NULL)
		(*reader->nsearches)++;
}

/*
 * Prepare to read what the query has read of the keys of a scan, and choose what to search
 * for.  *nsearches counts searches, unless it is NULL.  wants_cost says that query->cost will
 * be needed.
 */
void
shidx_reader_prepare(ShIdxReader *reader, Snapshot snapshot, bool skip_dead, uint64 *nsearches,
					 bool wants_cost)
{
	ShIdxQuery *query = reader->query;
	ShIdxBallScan *scan = &reader->ballscan;

	scan->snapshot = snapshot;
	scan->skip_dead = skip_dead;
	scan->part = 0;
	shidx_ball_set_groups(scan, &query->groups, query->nconditions > 0);
	reader->nsearches = nsearches;
	if (query->non_nulls || query->nulls)
		count_search(reader);
	if (query->non_nulls)
		shidx_choose(query, scan->leaves_per_table, wants_cost);
}

/*
 * Mark the entries that led to dead rows, while their positions are known.
 */
static void
mark_dead(ShIdxReader *reader)
{
	if (reader->ndead > 0)
		shidx_ball_mark_dead(&reader->ballscan, &reader->matches, reader->dead, reader->ndead);
	reader->ndead = 0;
}

/*
 * Forget the matches, and release the pin of their leaf, memory and files.
 */
void
shidx_reader_release(ShIdxReader *reader)
{
	mark_dead(reader);
	shidx_ball_release(&reader->ballscan);
	if (reader->sort != NULL)
		shidx_sort_end(reader->sort);
	reader->sort = NULL;
	reader->collects = false;
	if (reader->returned != NULL)
		rows_destroy(reader->returned);
	reader->returned = NULL;
	reader->remembers = false;
	reader->ballscan.of_all_parts = false;
	reader->matches.count = 0;
	reader->next = 0;
}

/*
 * Start to read the next part that is searched, from the given one on.  Returns
 * false if there is none.
 */
static bool
start_part(ShIdxReader *reader, int part)
{
	const ShIdxQuery *query = reader->query;

	for (; part < query->geometry->nparts; part++)
	{
		if (query->parts[part].count > 0)
		{
			reader->ballscan.part = part;
			reader->balls = &query->parts[part];
			reader->ball = 0;
			shidx_ball_start(&reader->ballscan, reader->balls->list[0]);
			return true;
		}
	}
	reader->balls = NULL;
	return false;
}

/*
 * Start to read what the query has chosen to search for, by shidx_choose.  If distinct
 * is false, a row may be returned several times.
 */
void
shidx_start_query(ShIdxReader *reader, bool distinct)
{
	const ShIdxQuery *query = reader->query;

	shidx_reader_release(reader);
	reader->first_part = true;
	if (query->geometry->prefix_bits == 0)
		reader->collects = distinct && query->nsearched > 1;
	else
	{
		bool		single = true;	/* no array */

		reader->remembers = distinct && query->nsearched > 1;
		for (int p = 0; p < query->geometry->nparts; p++)
			single &= query->parts[p].count <= 1;
		if (single)
			shidx_ball_look_ahead(&reader->ballscan, query->parts);
	}
	(void) start_part(reader, 0);
}

/*
 * Prepare to read what the caller names.
 */
static void
start_named(ShIdxReader *reader)
{
	shidx_reader_release(reader);
	reader->balls = NULL;
}

/*
 * Start to read the entries within a ball that a ring meets, as shidx_ball_start_ring does.
 */
bool
shidx_start_ring(ShIdxReader *reader, SimhashBall ball, int inner, int radius, double allowance)
{
	start_named(reader);
	return shidx_ball_start_ring(&reader->ballscan, ball, inner, radius, allowance);
}

/*
 * Start to read the entries within a ball by reading one table from end to end.
 */
void
shidx_start_table(ShIdxReader *reader, SimhashBall ball)
{
	start_named(reader);
	shidx_ball_start_table(&reader->ballscan, ball);
}

/*
 * Start to read the null fingerprints.
 */
void
shidx_start_nulls(ShIdxReader *reader)
{
	start_named(reader);
	reader->ballscan.part = reader->query->geometry->nparts;
	shidx_ball_start_table(&reader->ballscan, simhash_make_ball(0, SHBITS_WIDTH));
}

/*
 * Turn to the next ball of the part that is read, or to the next part.  Returns false
 * after the last.
 */
static bool
start_next_ball(ShIdxReader *reader)
{
	if (reader->balls == NULL || reader->ballscan.allowance <= 0)
		return false;
	if (++reader->ball < reader->balls->count)
	{
		/* the elements of an array are counted with the first part */
		if (reader->first_part)
			count_search(reader);
		shidx_ball_start(&reader->ballscan, reader->balls->list[reader->ball]);
		return true;
	}
	reader->first_part = false;
	return start_part(reader, reader->ballscan.part + 1);
}

/*
 * Read the next leaf that has matches.
 */
static bool
read_matches(ShIdxReader *reader)
{
	do
	{
		if (shidx_ball_next(&reader->ballscan, &reader->matches))
			return true;
	} while (start_next_ball(reader));
	return false;
}

/*
 * Read all matches that are left, and sort them.
 *
 * A row has one fingerprint if that has one part; otherwise each part that meets it has
 * another one, of which nothing is needed.  Of bands, the rows that have been returned take all
 * memory: they are sorted together with the matches, each by its row and before these.
 */
static void
sort_all(ShIdxReader *reader)
{
	const ShIdxMatches *matches = &reader->matches;
	bool		whole = reader->query->geometry->nparts == 1;
	bool		keep_pin = reader->ballscan.keep_pin;
	bool		more = reader->remembers;	/* matches have been read */
	MemoryContext old = MemoryContextSwitchTo(reader->query->context);

	reader->collects = false;
	reader->sort = shidx_sort_begin_distinct(work_mem, false);
	if (reader->remembers)
	{
		rows_iterator iterator;
		ReturnedRow *returned;

		rows_start_iterate(reader->returned, &iterator);
		while ((returned = rows_iterate(reader->returned, &iterator)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			shidx_sort_add(reader->sort, returned->row, 0);
		}
		rows_destroy(reader->returned);
		reader->returned = NULL;
	}
	reader->ballscan.keep_pin = false;
	while (more || read_matches(reader))
	{
		more = false;
		for (int i = 0; i < matches->count; i++)
		{
			ShIdxRow	row = shidx_tid_to_int(&matches->tids[i]);

			if (reader->remembers)
				shidx_sort_add(reader->sort, row, 1);
			else
				shidx_sort_add(reader->sort, whole ? matches->fps[i] : 0, row);
		}
	}
	reader->ballscan.keep_pin = keep_pin;
	reader->last = shidx_sort_item(0, 0);	/* no TID is 0 */
	shidx_sort_start(reader->sort);
	MemoryContextSwitchTo(old);
}

/*
 * Drop the matches whose rows have been returned, and remember the others.  Returns false,
 * with nothing changed, if that would take too much memory.
 */
static bool
skip_returned(ShIdxReader *reader)
{
	ShIdxMatches *matches = &reader->matches;
	int			count = matches->count;

	if (reader->returned == NULL)
		reader->returned = rows_create(reader->query->context, RETURNED_ROWS, NULL);
	else if (reader->returned->members + count > reader->returned->grow_threshold &&
			 2 * reader->returned->size * sizeof(ReturnedRow) > work_mem * (Size) 1024)
		return false;
	matches->count = 0;
	for (int i = 0; i < count; i++)
	{
		bool		found;

		rows_insert(reader->returned, shidx_tid_to_int(&matches->tids[i]), &found);
		if (found)
			continue;
		matches->fps[matches->count] = matches->fps[i];
		matches->positions[matches->count] = matches->positions[i];
		matches->tids[matches->count++] = matches->tids[i];
	}
	return true;
}

/*
 * Take the next ones of all matches, each row once, but for rows that were returned
 * before the matches were sorted.
 */
static bool
take_matches(ShIdxReader *reader)
{
	ShIdxMatches *matches = &reader->matches;
	ShIdxSortItem item;

	matches->count = 0;
	while (matches->count < SHIDX_MAX_ENTRIES && shidx_sort_next(reader->sort, &item))
	{
		CHECK_FOR_INTERRUPTS();
		if (item.key == reader->last.key && (reader->remembers || item.value == reader->last.value))
			continue;
		reader->last = item;
		if (reader->remembers && item.value == 0)
			continue;
		matches->fps[matches->count] = item.key;
		shidx_int_to_tid(reader->remembers ? item.key : item.value,
						 &matches->tids[matches->count++]);
	}
	if (matches->count > 0)
		return true;
	shidx_reader_release(reader);
	return false;
}

/*
 * Read the next matches: those on the next leaf that has any, or the next ones of all
 * if all have to be read first.  Returns false after the last one, or when the ball
 * scan's allowance of pages is used up.
 *
 * For the pin of the leaf see shidx_ball_next.  No lock is held on return.
 */
bool
shidx_next_matches(ShIdxReader *reader)
{
	mark_dead(reader);
	reader->next = 0;
	if (reader->collects)
		sort_all(reader);
	while (reader->remembers && reader->sort == NULL)
	{
		if (!read_matches(reader))
			return false;
		if (!skip_returned(reader))
			sort_all(reader);
		else if (reader->matches.count > 0)
			return true;
	}
	return reader->sort != NULL ? take_matches(reader) : read_matches(reader);
}

/*
 * Pin the leaf of a match, in place of the last one, if none has been pinned since it
 * was read.  Returns false if the entry is gone, and so is its row.
 */
bool
shidx_pin_match(ShIdxReader *reader, int match)
{
	ShIdxBallScan *scan = &reader->ballscan;
	const ShIdxMatches *matches = &reader->matches;

	return reader->sort == NULL ||
		shidx_ball_pin(scan, matches->fps[match], matches->tids[match]);
}
