/*-------------------------------------------------------------------------
 *
 * wide_ordered.c
 *	  Reading wide fingerprints in order of distance.
 *
 * Rows are returned by lower bounds of their distances, and the executor keeps each
 * back until a bound has reached its distance (src/README, section 1).  Balls around
 * the parts grow, and after each step the rows that it has met are returned.  If that
 * gets too expensive, or there are too many such rows, one table of each part is
 * read, which gives the distances of all others.
 *
 * All that is said of rows holds for those that the scan's snapshot sees: their
 * entries were there before it began.  What is said of others does not matter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "btree/leaf.h"
#include "search/wide_ordered.h"
#include "search/wide_sums.h"
#include "type/wide.h"

/* the budget of all balls, as a share of the pages of a table of each part */
#define BALLS_SHARE		(2.0 / 3)

/*
 * The cost of adding up the distances on a page, in units of a page that is
 * compared with a ball.  Measured with 100,000 to 1,000,000 rows of 256 and 1024
 * bits, beside sequential scans that sort, it takes two thirds of this.  The rest is
 * for balls that were read in vain, mostly pages anywhere in the index.
 */
#define ADDING_COST		300

/* the memory that this takes for each row, in bytes, with offsets without a row */
#define ROW_BYTES		3

/* a row that has been met */
typedef struct MetRow
{
	ShBtRow		row;
	int32		less;			/* than the bound of rows that have not been */
	bool		returned;
	char		status;
} MetRow;

#define SH_PREFIX shfnd_met
#define SH_ELEMENT_TYPE MetRow
#define SH_KEY_TYPE ShBtRow
#define SH_KEY row
#define SH_HASH_KEY(table, key) shfnd_hash_row(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* what the table of these begins with */
#define FIRST_ROWS	64

/* how many rows can end a step, as some may be invisible */
#define WITNESSES	2

/* a row to return: its bound, and below it the row */
#define ROW_BITS		48
#define MAKE_QUEUED(bound, row)	((uint64) (bound) << ROW_BITS | (row))

struct ShFndWideOrdered
{
	ShFndReader *reader;
	const ShFndQuery *query;	/* that of the reader */
	int			width;
	int			nparts;
	MemoryContext context;		/* of what one scan allocates */

	Relation	heap;			/* the table */
	ShFingerprint center[SHBITS_MAX_PARTS];
	int			reach;			/* no row that is wanted is farther away */
	bool		by_condition;	/* collect what the chosen condition finds */
	bool		complete;		/* every row that is wanted has been met */

	/* the balls */
	int64		allowance;		/* page budget that is left */
	int			grown[SHBITS_MAX_PARTS];	/* their radii; -1: no ball yet */
	int			radius;			/* to which they are growing */
	int			part;			/* the next one to grow */
	int			bound;			/* of rows that have not been met */

	/* rows that have been met */
	struct shfnd_met_hash *met;
	uint32		max_met;
	uint64	   *queue;			/* those that are to be returned, by bound */
	int64		nqueued;
	int64		next;
	int			witnesses;		/* how many more in this step */

	ShFndSums  *sums;			/* of all others */
};

#define ST_SORT sort_queue
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Should a condition of this cost be collected as a whole?  Each row that it
 * finds has to be visited.
 */
bool
shfnd_wide_by_condition(const ShFndCost *cost, int width, double leaves_per_table)
{
	return shfnd_cost_in_pages(cost, leaves_per_table) <
		shbits_nparts(width) * Max(leaves_per_table, 1) / 2;
}

/*
 * Estimate what is read before the first row is returned, unless a condition is
 * collected.  With uniformly distributed fingerprints the balls find nothing, and
 * a table of each part is read.
 */
void
shfnd_wide_ordered_pages(int width, double leaves_per_table, ShFndCost *cost)
{
	int			nparts = shbits_nparts(width);
	double		leaves = Max(leaves_per_table, 1);
	double		rows = leaves * SHBT_USUAL_ENTRIES;

	cost->table = true;
	cost->ranges = nparts;
	cost->pages = nparts * leaves;
	cost->comparing = nparts * leaves * ADDING_COST;
	cost->share = 0;

	/* what does not fit in memory is written, and read again */
	if (rows * ROW_BYTES > work_mem * 1024.0)
	{
		cost->pages += 2 * nparts * rows * sizeof(uint64) / BLCKSZ;
		cost->comparing *= 1.5;
	}
}

/*
 * Prepare to read in order, with the reader of the scan.
 *
 * Allocates in the current memory context.
 */
ShFndWideOrdered *
shfnd_wide_ordered_begin(ShFndReader *reader)
{
	ShFndWideOrdered *ordered = palloc0(sizeof(ShFndWideOrdered));

	ordered->reader = reader;
	ordered->query = reader->query;
	ordered->width = reader->query->width;
	ordered->nparts = reader->query->nparts;
	ordered->context = AllocSetContextCreate(CurrentMemoryContext, "simhash rows met",
											 ALLOCSET_DEFAULT_SIZES);
	return ordered;
}

/*
 * Release what is held until the next start: memory and files.
 */
void
shfnd_wide_ordered_release(ShFndWideOrdered *ordered)
{
	if (ordered->sums != NULL)
		shfnd_sums_end(ordered->sums);
	ordered->sums = NULL;
	ordered->met = NULL;
	ordered->queue = NULL;
	MemoryContextReset(ordered->context);
}

/*
 * Start, after shfnd_choose with the cost.  center is what the distances of
 * the rows of the table are from.  Nothing is read before shfnd_wide_ordered_next.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if it has another width, as the
 * operator does.
 */
void
shfnd_wide_ordered_start(ShFndWideOrdered *ordered, Relation heap, Datum center)
{
	ShFndBallScan *ballscan = &ordered->reader->ballscan;
	bytea	   *bits = DatumGetSimhashBits(center);

	if (shtype_bits_width(bits) != ordered->width)
		shtype_report_widths(ordered->width, shtype_bits_width(bits));
	shfnd_wide_ordered_release(ordered);
	shtype_split_bits(shtype_bits_data(bits), ordered->width, ordered->center);
	if ((Pointer) bits != DatumGetPointer(center))
		pfree(bits);

	ordered->heap = heap;
	ordered->reach = shfnd_find_reach(ordered->query, ordered->center);
	ordered->by_condition = ordered->query->nconditions > 0 &&
		shfnd_wide_by_condition(&ordered->query->cost, ordered->width,
								ballscan->leaves_per_table);
	ordered->complete = false;
	ordered->allowance = (int64) (BALLS_SHARE * ordered->nparts * shfnd_ball_leaves(ballscan));
	for (int i = 0; i < ordered->nparts; i++)
		ordered->grown[i] = -1;
	ordered->radius = ballscan->scheme->distance;
	ordered->part = 0;
	ordered->bound = 0;
	ordered->met = shfnd_met_create(ordered->context, FIRST_ROWS, NULL);
	ordered->max_met = shfnd_max_rows(work_mem * UINT64CONST(1024) / 2, sizeof(MetRow));
	ordered->nqueued = 0;
	ordered->next = 0;
	ordered->witnesses = 0;
}

/*
 * Get a row that has been met, or is now.  Returns NULL if memory is full.
 */
static MetRow *
meet(ShFndWideOrdered *ordered, ShBtRow row)
{
	bool		found;
	MetRow	   *met;

	if (ordered->met->members >= ordered->max_met)
		return NULL;
	met = shfnd_met_insert(ordered->met, row, &found);
	if (!found)
	{
		met->less = 0;
		met->returned = false;
	}
	return met;
}

/*
 * The ball of a part has grown to a radius, or will when it has been read.
 */
static void
set_grown(ShFndWideOrdered *ordered, int part, int radius)
{
	ordered->bound += radius - ordered->grown[part];
	ordered->grown[part] = radius;
}

/*
 * Meet what the reader finds in the balls of parts.  Returns false if memory is full,
 * or the allowance of pages used up.
 */
static bool
meet_matches(ShFndWideOrdered *ordered)
{
	ShFndReader *reader = ordered->reader;
	const ShFndMatches *matches = &reader->matches;

	while (shfnd_next_matches(reader))
	{
		int			part = reader->ballscan.part;

		for (int i = 0; i < matches->count; i++)
		{
			MetRow	   *met = meet(ordered, shbt_tid_to_int(&matches->tids[i]));

			if (met == NULL)
				return false;
			met->less += ordered->grown[part] + 1 -
				shbits_distance(matches->fps[i], ordered->center[part]);
		}
	}
	return reader->ballscan.allowance > 0;
}

/*
 * Meet what the chosen condition finds.  Returns false, with nothing met, if that is
 * too much.
 */
static bool
collect_condition(ShFndWideOrdered *ordered)
{
	const ShFndQuery *query = ordered->query;
	const ShFndBallSet *balls = &query->conditions[query->chosen].balls;
	bool		same_center = balls->nballs == 1;

	/* around the same center, its balls tell of what they do not have */
	for (int i = 0; same_center && i < ordered->nparts; i++)
		same_center = balls->balls[i].center == ordered->center[i];
	for (int i = 0; same_center && i < ordered->nparts; i++)
	{
		if (query->parts[i].balls.nballs > 0)
			set_grown(ordered, i, query->parts[i].balls.balls[0].radius);
	}
	shfnd_start_query(ordered->reader, false);
	if (meet_matches(ordered))
		return true;
	shfnd_met_reset(ordered->met);
	return false;
}

/*
 * Return next the rows that have been met in this step.
 */
static void
queue_met(ShFndWideOrdered *ordered)
{
	shfnd_met_iterator iterator;
	MetRow	   *met;

	if (ordered->queue != NULL)
		pfree(ordered->queue);
	ordered->queue = MemoryContextAllocHuge(ordered->context,
											(ordered->met->members + 1) * sizeof(uint64));
	ordered->nqueued = 0;
	ordered->next = 0;
	shfnd_met_start_iterate(ordered->met, &iterator);
	while ((met = shfnd_met_iterate(ordered->met, &iterator)) != NULL)
	{
		int			bound = ordered->bound - met->less;

		CHECK_FOR_INTERRUPTS();
		if (!met->returned && bound <= ordered->reach)
			ordered->queue[ordered->nqueued++] = MAKE_QUEUED(Max(bound, 0), met->row);
		met->returned = true;
	}
	if (ordered->nqueued > 1)
		sort_queue(ordered->queue, ordered->nqueued);
}

/*
 * The radius up to which a part can grow.  The leading bits of a last part of less
 * than 64 bits are constant, so its ball is read by those tables whose prefixes
 * are not.
 */
static int
largest_radius(const ShFndWideOrdered *ordered, int part)
{
	const ShBitsScheme *scheme = ordered->reader->ballscan.scheme;
	int			nbits = shbits_part_bits(ordered->width, part);
	int			blocks = scheme->blocks * nbits / SHBITS_WIDTH;

	if (nbits == SHBITS_WIDTH)
		return SHBITS_WIDTH;
	if (nbits < SHBITS_LEAST_BITS && ordered->nparts > 1)
		return -1;
	return Max(Min(blocks - (scheme->blocks - scheme->distance), scheme->distance), -1);
}

/*
 * Let the ball of a part grow to a radius.  Returns false if it costs too much, or
 * there is too much in it.
 *
 * The whole ball is read again: larger ones cost so much more that rings would
 * save little.
 */
static bool
grow_part(ShFndWideOrdered *ordered, int part, int radius)
{
	ShFndReader *reader = ordered->reader;
	ShFndBallScan *ballscan = &reader->ballscan;
	bool		complete;

	if (radius <= ordered->grown[part])
		return true;
	shfnd_reader_release(reader);
	shfnd_ball_set_part(ballscan, part);
	shfnd_ball_plan(ballscan, radius);
	if ((ballscan->plan.pages + Min(ballscan->plan.ranges, ballscan->plan.pages)) *
		ballscan->groups.count >= ordered->allowance)
		return false;
	shfnd_start_within(reader, simhash_make_ball(ordered->center[part], radius));
	ballscan->allowance = ordered->allowance;
	set_grown(ordered, part, radius);
	complete = meet_matches(ordered);
	ordered->allowance = ballscan->allowance;
	ballscan->allowance = PG_INT64_MAX;
	return complete;
}

/*
 * Let the balls grow, first all of them, then one in each step.  Returns false if
 * they should not grow any more.
 *
 * The next radius is one at which each probe reads prefixes that differ in one bit
 * more (bits/probe.h): what is between costs nearly as much.
 */
static bool
grow(ShFndWideOrdered *ordered)
{
	const ShFndBallScan *ballscan = &ordered->reader->ballscan;
	int			distance = ballscan->scheme->distance;

	if (ballscan->groups.all)
		return false;
	do
	{
		if (ordered->part == ordered->nparts)
		{
			if (ordered->width < SHBITS_WIDTH || ordered->radius >= SHBITS_WIDTH)
				return false;
			ordered->part = 0;
			ordered->radius = Min(ordered->radius + distance + 1, SHBITS_WIDTH);
		}
		if (!grow_part(ordered, ordered->part,
					   Min(ordered->radius, largest_radius(ordered, ordered->part))))
			return false;
	} while (++ordered->part < ordered->nparts && ordered->radius == distance);
	return true;
}

/*
 * Add up the distances of all other rows, from a table of each part.
 */
static void
collect_all(ShFndWideOrdered *ordered)
{
	ShFndReader *reader = ordered->reader;
	const ShFndMatches *matches = &reader->matches;
	shfnd_met_iterator iterator;
	MetRow	   *met;
	MemoryContext old = MemoryContextSwitchTo(ordered->context);

	ordered->sums = shfnd_sums_begin(work_mem * (Size) 1024 - ordered->met->size * sizeof(MetRow),
									 RelationGetNumberOfBlocks(ordered->heap),
									 ordered->nparts, ordered->reach);
	MemoryContextSwitchTo(old);
	for (int part = 0; part < ordered->nparts; part++)
	{
		ShFingerprint center = ordered->center[part];

		shfnd_reader_release(reader);
		shfnd_ball_set_part(&reader->ballscan, part);
		shfnd_start_table(reader, simhash_make_ball(center, SHBITS_WIDTH));
		while (shfnd_next_matches(reader))
			shfnd_sums_add(ordered->sums, center, matches->count, matches->fps, matches->tids);
	}
	shfnd_met_start_iterate(ordered->met, &iterator);
	while ((met = shfnd_met_iterate(ordered->met, &iterator)) != NULL)
	{
		if (met->returned)
			shfnd_sums_drop(ordered->sums, met->row);
	}
	shfnd_sums_sort(ordered->sums);
}

/*
 * Take the next step: more rows, and a higher bound of those that are not met.
 */
static void
step(ShFndWideOrdered *ordered)
{
	bool		met = ordered->by_condition ? collect_condition(ordered) : grow(ordered);

	ordered->complete = ordered->by_condition || !met || ordered->bound > ordered->reach;
	ordered->by_condition = false;
	if (met)
	{
		queue_met(ordered);
		ordered->witnesses = WITNESSES;
	}
	else
		collect_all(ordered);
}

/*
 * Return the next row that the last step has met.
 */
static bool
next_met(ShFndWideOrdered *ordered, ShBtRow *row, int *bound)
{
	uint64		queued;

	if (ordered->next == ordered->nqueued)
		return false;
	queued = ordered->queue[ordered->next++];
	*row = queued & ((UINT64CONST(1) << ROW_BITS) - 1);
	*bound = (int) (queued >> ROW_BITS);
	return true;
}

/*
 * Return a row of any leaf that has not been returned, with the bound of the step: it
 * is at least so far away, otherwise the step would have met it.
 *
 * The executor may hold back rows although nothing nearer can follow.  It does not
 * learn this before it gets another row, which may take long to find; but it would
 * drop one that does not meet a condition.
 */
static bool
next_witness(ShFndWideOrdered *ordered, ShBtRow *row, int *bound)
{
	ShFndReader *reader = ordered->reader;
	int			match;

	if (ordered->witnesses == 0 || ordered->met->members == 0 || ordered->complete ||
		ordered->query->nconditions > 0)
		return false;
	if (ordered->witnesses == WITNESSES)
	{
		shfnd_ball_set_part(&reader->ballscan, 0);
		shfnd_start_table(reader, simhash_make_ball(0, SHBITS_WIDTH));
	}
	while ((match = shfnd_next_match(reader)) >= 0)
	{
		MetRow	   *met;

		*row = shbt_tid_to_int(&reader->matches.tids[match]);
		*bound = ordered->bound;
		met = meet(ordered, *row);
		if (met == NULL)
			break;
		if (met->returned)
			continue;
		met->returned = true;
		ordered->witnesses--;
		return true;
	}
	ordered->witnesses = 0;
	return false;
}

static bool
next_sum(ShFndWideOrdered *ordered, ShBtRow *row, int *bound)
{
	return ordered->sums != NULL && shfnd_sums_next(ordered->sums, row, bound);
}

/*
 * Return the next row, and a lower bound of its distance, which is not less than
 * the one before.  Returns false after the last.
 */
bool
shfnd_wide_ordered_next(ShFndWideOrdered *ordered, ItemPointer tid, int *bound)
{
	ShBtRow		row;

	while (!next_met(ordered, &row, bound) && !next_witness(ordered, &row, bound) &&
		   !next_sum(ordered, &row, bound))
	{
		if (ordered->complete)
		{
			shfnd_ball_set_part(&ordered->reader->ballscan, 0);
			return false;
		}
		step(ordered);
	}
	shbt_int_to_tid(row, tid);
	return true;
}
