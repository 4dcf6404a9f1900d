/*-------------------------------------------------------------------------
 *
 * wide_ordered.c
 *	  Reading wide fingerprints in order of distance.
 *
 * The parts of a fingerprint are in different tables, so the distance of a row is
 * not known when a part of it is met.  But there is a lower bound: if all that
 * is within t bits of a part has been read, a row that it has not met differs in at
 * least t + 1 bits of this part.  The sum of these over all parts bounds the
 * distance of rows that have not been met at all; and for a row that has been met,
 * the distances of the parts that are known replace theirs.
 *
 * Rows are returned by these bounds.  The executor computes the distances, and
 * keeps a row back until the bound of another one has reached its distance.
 *
 * - If a condition is cheap, everything that it may find is collected.
 * - Otherwise the balls around all parts grow together: first to the index's
 *   distance, then bit by bit, by rings, as in ordered.c.  After each step the rows
 *   are returned whose bounds are no more than that of all others.
 * - If that gets too expensive, or there are too many such rows, one table of each
 *   part is read from end to end.  The distances of the parts are added up
 *   (wide_sums.c), which gives all distances, and the rows that have not been
 *   returned follow in their order.
 *
 * After a step the executor may hold back rows although nothing nearer can follow.
 * It does not learn this before it gets another row, which may take long to find.
 * Therefore a step ends with any row that has not been met: its bound is what the
 * step has shown of all such rows.
 *
 * Bounds never decrease.  A row that has not been met in a step is as far away as
 * the bound of that step, and more knowledge only raises its bound.
 *
 * All this holds for rows that the scan's snapshot sees: their entries were there
 * before it began.  What is said of other rows may be wrong, and does not matter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/hamming_ball.h"
#include "btree/leaf.h"
#include "class/fingerprint.h"
#include "search/wide_ordered.h"
#include "search/wide_sums.h"

/* the budget of all balls, as a share of the pages of a table of each part */
#define BALLS_SHARE		(2.0 / 3)

/*
 * The cost of adding up the distances on a page, in units of a page that is
 * compared with a ball.  Measured with 100,000 and 1,000,000 rows of 256 and 1024
 * bits, beside sequential scans that sort.
 */
#define ADDING_COST		300

/* the memory that this takes for each row, in bytes */
#define ROW_BYTES		12

/* a row that has been met */
typedef struct MetRow
{
	ShBtRow		row;
	uint64		known;			/* a bit for each part with known distance */
	uint16		sum;			/* of these distances */
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

/* rows that can end a step; and how many do, as some may be invisible */
#define MAX_WITNESSES	32
#define STEP_WITNESSES	2

/* a row to return: its bound, and below it the row */
#define ROW_BITS		48
#define MAKE_QUEUED(bound, row)	((uint64) (bound) << ROW_BITS | (row))

typedef enum ShFndWideStep
{
	COLLECT_CONDITION,			/* all that the cheapest condition finds */
	GROW,						/* the balls around the parts */
	RETURN_MET,					/* those whose bound is low enough */
	RETURN_WITNESS,				/* a row that has not been met */
	COLLECT_ALL,				/* from a table of each part */
	RETURN_ALL,
	DONE
} ShFndWideStep;

struct ShFndWideOrdered
{
	ShFndReader *reader;
	ShFndConditions *conditions;	/* those of the reader */
	ShFndWideScan *scan;		/* of the conditions */
	int			width;
	int			nparts;
	MemoryContext context;		/* of what one scan allocates */

	ShFndWideStep step;
	ShFingerprint center[SHBITS_MAX_PARTS];
	int			reach;			/* no row that is wanted is farther away */
	bool		complete;		/* every row that is wanted has been met */

	/* the balls */
	int64		allowance;		/* page budget that is left */
	int			grown[SHBITS_MAX_PARTS];	/* their radii; -1: no ball yet */
	int			bound;			/* of rows that have not been met */
	int			radius;			/* of the largest ball; -1 before the first */
	int			ring;			/* up to which rings have been read, or -1 */
	int			held;			/* rings note what is within this radius */

	/* rows that have been met, or returned */
	struct shfnd_met_hash *met;
	uint32		max_met;
	uint64	   *queue;			/* those that are to be returned, by bound */
	int64		nqueued;
	int64		next;
	bool		inexact;		/* one was returned by a bound only */

	int			nwitnesses;		/* -1: they have not been read */
	ShBtRow		witnesses[MAX_WITNESSES];
	int			step_witnesses; /* how many more in this step */

	ShFndSums  *sums;
};

#define ST_SORT sort_queue
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Should a condition with this plan be collected as a whole?  Each row that it
 * finds has to be visited.
 */
bool
shfnd_wide_by_condition(const ShFndWidePlan *plan, int width, double leaves_per_table)
{
	double		rows = plan->share * leaves_per_table * SHBT_USUAL_ENTRIES;

	return plan->balls.pages + plan->balls.comparing + rows <
		shbits_nparts(width) * leaves_per_table / 2;
}

/*
 * Estimate what is read before the first row is returned, unless a condition is
 * collected.  With uniformly distributed fingerprints the balls find nothing, and
 * a table of each part is read.
 */
void
shfnd_wide_ordered_pages(int width, double leaves_per_table, ShFndBallsPlan *plan)
{
	int			nparts = shbits_nparts(width);
	double		leaves = Max(leaves_per_table, 1);
	double		rows = leaves * SHBT_USUAL_ENTRIES;

	plan->table = true;
	plan->ranges = nparts;
	plan->pages = nparts * leaves;
	plan->comparing = nparts * leaves * ADDING_COST;

	/* what does not fit in memory is written, and read again */
	if (rows * ROW_BYTES > work_mem * 1024.0)
	{
		plan->pages += 2 * nparts * rows * sizeof(uint64) / BLCKSZ;
		plan->comparing *= 1.5;
	}
}

/*
 * Prepare to read in order, with the reader and the conditions of the scan.
 *
 * Allocates in the current memory context.
 */
ShFndWideOrdered *
shfnd_wide_ordered_begin(ShFndReader *reader, ShFndConditions *conditions, ShFndWideScan *scan,
						 int width)
{
	ShFndWideOrdered *ordered = palloc0(sizeof(ShFndWideOrdered));

	ordered->reader = reader;
	ordered->conditions = conditions;
	ordered->scan = scan;
	ordered->width = width;
	ordered->nparts = shbits_nparts(width);
	ordered->context = AllocSetContextCreate(CurrentMemoryContext, "simhash rows met",
											 ALLOCSET_DEFAULT_SIZES);
	ordered->step = DONE;
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
	ordered->step = DONE;
	MemoryContextReset(ordered->context);
}

/*
 * The largest distance at which all conditions can be met.
 */
static int
find_reach(const ShFndWideOrdered *ordered)
{
	const ShFndWide *wide = ordered->conditions->wide;
	int			reach = ordered->width;

	for (int i = 0; wide != NULL && i < wide->count; i++)
	{
		const ShFndWideBalls *condition = &wide->list[i];
		int			farthest = 0;

		for (int b = 0; b < condition->nballs; b++)
		{
			const ShFingerprint *center = condition->centers + (Size) b * ordered->nparts;
			int			distance = condition->radii[b];

			for (int p = 0; p < ordered->nparts; p++)
				distance += shbits_distance(center[p], ordered->center[p]);
			farthest = Max(farthest, distance);
		}
		reach = Min(reach, farthest);
	}
	return reach;
}

/*
 * How many rows fit in half of work_mem, including the copy while the table
 * grows: it has a power of two of places, up to nine tenths of which are taken.
 */
static uint32
max_rows(void)
{
	uint64		places = work_mem * UINT64CONST(1024) / 2 / (sizeof(MetRow) * 3 / 2);
	uint64		size = FIRST_ROWS;

	while (size * 2 <= Min(places, UINT64CONST(1) << 31))
		size *= 2;
	return (uint32) (size * 0.85);
}

/*
 * From now on the reader is told what to read, whatever the conditions.
 */
static void
forget_conditions(ShFndWideOrdered *ordered)
{
	shfnd_reader_release(ordered->reader);
	ordered->conditions->count = 0;
}

/*
 * Start, after the conditions have been planned.  center is what the distances are
 * from.  Nothing is read before shfnd_wide_ordered_next.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if it has another width, as the
 * operator does.
 */
void
shfnd_wide_ordered_start(ShFndWideOrdered *ordered, Datum center)
{
	ShFndBallScan *ballscan = &ordered->reader->ballscan;
	double		leaves = ballscan->leaves_per_table;
	bytea	   *bits = DatumGetSimhashBits(center);

	if (shtype_bits_width(bits) != ordered->width)
		shtype_report_widths(ordered->width, shtype_bits_width(bits));
	shfnd_wide_ordered_release(ordered);
	shtype_split_bits(shtype_bits_data(bits), ordered->width, ordered->center);
	if ((Pointer) bits != DatumGetPointer(center))
		pfree(bits);

	ordered->met = shfnd_met_create(ordered->context, FIRST_ROWS, NULL);
	ordered->max_met = max_rows();
	ordered->reach = find_reach(ordered);
	ordered->complete = false;
	ordered->allowance = (int64) (BALLS_SHARE * ordered->nparts * shfnd_ball_leaves(ballscan));
	for (int i = 0; i < ordered->nparts; i++)
		ordered->grown[i] = -1;
	ordered->bound = 0;
	ordered->radius = -1;
	ordered->ring = -1;
	ordered->held = -1;
	ordered->inexact = false;
	ordered->nwitnesses = -1;

	if (ordered->conditions->wide != NULL)
	{
		ShFndWidePlan plan;

		shfnd_plan_chosen(ordered->conditions->wide, ballscan->scheme,
						  ballscan->groups.all, leaves, &plan);
		if (shfnd_wide_by_condition(&plan, ordered->width, Max(leaves, 1)))
		{
			ordered->step = COLLECT_CONDITION;
			return;
		}
	}
	forget_conditions(ordered);
	ordered->step = GROW;
}

/*
 * Note the distance of a part of a row.  Returns false if memory is full.
 */
static bool
meet(ShFndWideOrdered *ordered, ShBtRow row, int part, int distance)
{
	uint64		bit = UINT64CONST(1) << part;
	bool		found;
	MetRow	   *met;

	if (ordered->met->members >= ordered->max_met)
		return false;
	met = shfnd_met_insert(ordered->met, row, &found);
	if (!found)
	{
		met->known = 0;
		met->sum = 0;
		met->returned = false;
	}
	if ((met->known & bit) == 0)
	{
		met->known |= bit;
		met->sum += distance;
	}
	return true;
}

/*
 * Note the distances of what the reader finds of a part.  Returns false if memory
 * is full, or the allowance of pages used up.
 */
static bool
meet_matches(ShFndWideOrdered *ordered, int part)
{
	ShFndReader *reader = ordered->reader;
	const ShFndMatches *matches = &reader->matches;

	while (shfnd_next_matches(reader))
	{
		for (int i = 0; i < matches->count; i++)
		{
			if (!meet(ordered, shbt_tid_to_int(&matches->tids[i]), part,
					  shbits_distance(matches->fps[i], ordered->center[part])))
				return false;
		}
	}
	return reader->ballscan.allowance > 0;
}

/*
 * The lower bound of the distance of a row.
 */
static int
bound_of(const ShFndWideOrdered *ordered, const MetRow *met)
{
	int			bound = ordered->bound + met->sum;

	for (int i = 0; i < ordered->nparts; i++)
	{
		if ((met->known >> i & 1) != 0)
			bound -= ordered->grown[i] + 1;
	}
	return bound;
}

/*
 * Are the distances of all parts of a row known?
 */
static bool
is_exact(const ShFndWideOrdered *ordered, const MetRow *met)
{
	return met->known == PG_UINT64_MAX >> (SHBITS_MAX_PARTS - ordered->nparts);
}

/*
 * Return next the rows that have been met and whose bound is no more than that of
 * those that have not; or all, if these are not wanted.
 */
static void
queue_met(ShFndWideOrdered *ordered)
{
	int			last = ordered->complete ? ordered->width : ordered->bound;
	shfnd_met_iterator iterator;
	MetRow	   *met;
	int64		capacity = 0;

	ordered->nqueued = 0;
	ordered->next = 0;
	ordered->step_witnesses = STEP_WITNESSES;
	shfnd_met_start_iterate(ordered->met, &iterator);
	while ((met = shfnd_met_iterate(ordered->met, &iterator)) != NULL)
	{
		int			bound;

		CHECK_FOR_INTERRUPTS();
		if (met->returned)
			continue;
		bound = bound_of(ordered, met);
		if (bound > Min(last, ordered->reach))
			continue;
		if (ordered->queue == NULL || ordered->nqueued == capacity)
		{
			Size		size;

			capacity = Max(2 * capacity, FIRST_ROWS);
			size = capacity * sizeof(uint64);
			if (ordered->queue == NULL)
				ordered->queue = MemoryContextAllocHuge(ordered->context, size);
			else
				ordered->queue = repalloc_huge(ordered->queue, size);
		}
		ordered->queue[ordered->nqueued++] = MAKE_QUEUED(bound, met->row);
		met->returned = true;
		ordered->inexact |= !is_exact(ordered, met);
	}
	if (ordered->nqueued > 1)
		sort_queue(ordered->queue, ordered->nqueued);
}

/*
 * Collect what the chosen condition finds.  Returns false, with nothing
 * collected, if that is too much.
 */
static bool
collect_condition(ShFndWideOrdered *ordered)
{
	ShFndWideScan *scan = ordered->scan;
	const ShFndWide *wide = ordered->conditions->wide;
	const ShFndWideBalls *chosen = wide->chosen;
	bool		same_center;

	ordered->reader->ballscan.allowance = PG_INT64_MAX;
	shfnd_wide_start(scan, false);
	do
	{
		if (!meet_matches(ordered, scan->part))
		{
			shfnd_met_reset(ordered->met);
			return false;
		}
	} while (shfnd_wide_next_part(scan));

	/* around the same center, it tells of the parts that it has not met */
	same_center = chosen->nballs == 1 &&
		memcmp(chosen->centers, ordered->center, ordered->nparts * sizeof(ShFingerprint)) == 0;
	for (int i = 0; same_center && i < ordered->nparts; i++)
	{
		if (wide->sets[i].nballs > 0)
			ordered->grown[i] = wide->sets[i].balls[0].radius;
		ordered->bound += ordered->grown[i] + 1;
	}
	ordered->complete = true;
	return true;
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
 * The pages that count against the budget: leaves, and one more for each search.
 */
static double
pages_charged(const ShBitsProbePlan *plan)
{
	return plan->pages + Min(plan->ranges, plan->pages);
}

/*
 * The share of one group in the pages that are left.
 */
static double
group_allowance(const ShFndWideOrdered *ordered)
{
	return (double) ordered->allowance / Max(ordered->reader->ballscan.groups.count, 1);
}

/*
 * Up to which radius can the balls grow by rings?  They must not cost too much,
 * nor hold too many rows.
 */
static int
choose_held(const ShFndWideOrdered *ordered)
{
	const ShFndBallScan *ballscan = &ordered->reader->ballscan;
	int			whole_parts = ordered->width / SHBITS_WIDTH;
	double		rows = shfnd_ball_leaves(ballscan) * SHBT_USUAL_ENTRIES * whole_parts;
	double		left = group_allowance(ordered);
	int			inner = -1;
	int			radius = ordered->radius;

	while (radius < SHBITS_WIDTH)
	{
		ShBitsProbePlan plan;

		if (!shbits_plan_ring(ballscan->scheme, inner, radius + 1, ballscan->leaves_per_table,
							  &plan))
			break;
		left -= pages_charged(&plan) * whole_parts;
		if (left <= 0 ||
			rows * shbits_ball_share(SHBITS_WIDTH, radius + 1) >
			ordered->max_met / 4)
			break;
		inner = ++radius;
	}
	return radius;
}

/*
 * Choose the radius to which the balls grow next.  Returns false if they should not
 * grow any more.
 */
static bool
choose_radius(ShFndWideOrdered *ordered)
{
	ShFndBallScan *ballscan = &ordered->reader->ballscan;

	if (ballscan->groups.all)
		return false;
	if (ordered->radius < 0)
	{
		ordered->radius = ballscan->scheme->distance;
		shfnd_ball_plan(ballscan, ordered->radius);
		return pages_charged(&ballscan->plan) * ordered->nparts < group_allowance(ordered);
	}
	if (ordered->width < SHBITS_WIDTH)
		return false;
	if (ordered->held < 0)
		ordered->held = choose_held(ordered);
	return ++ordered->radius <= ordered->held;
}

/*
 * Let the balls grow to ordered->radius.  Returns false if there is too much in
 * them.
 */
static bool
grow(ShFndWideOrdered *ordered)
{
	ShFndReader *reader = ordered->reader;
	ShFndBallScan *ballscan = &reader->ballscan;
	bool		by_ring = ordered->held >= 0;

	for (int i = 0; i < ordered->nparts; i++)
	{
		int			radius = Min(ordered->radius, largest_radius(ordered, i));
		bool		complete;

		if (radius <= ordered->grown[i])
			continue;
		shfnd_reader_release(reader);
		shfnd_ball_set_part(ballscan, i);
		if (!by_ring)
			shfnd_start_within(reader, simhash_make_ball(ordered->center[i], radius));
		else if (shfnd_ball_plan_ring(ballscan, ordered->ring, radius))
			shfnd_start_ring(reader, simhash_make_ball(ordered->center[i], ordered->held));
		else
			return false;
		ballscan->allowance = ordered->allowance;
		complete = meet_matches(ordered, i);
		ordered->allowance = ballscan->allowance;
		ballscan->allowance = PG_INT64_MAX;
		if (!complete)
			return false;
		ordered->bound += radius - ordered->grown[i];
		ordered->grown[i] = radius;
	}
	if (by_ring)
		ordered->ring = ordered->radius;
	return true;
}

/*
 * Find rows that can end a step: those of any leaf.
 */
static void
read_witnesses(ShFndWideOrdered *ordered)
{
	ShFndReader *reader = ordered->reader;

	shfnd_reader_release(reader);
	shfnd_ball_set_part(&reader->ballscan, 0);
	shfnd_start_table(reader, simhash_make_ball(0, SHBITS_WIDTH));
	ordered->nwitnesses = 0;
	if (shfnd_next_matches(reader))
	{
		for (int i = 0; i < Min(reader->matches.count, MAX_WITNESSES); i++)
			ordered->witnesses[ordered->nwitnesses++] = shbt_tid_to_int(&reader->matches.tids[i]);
	}
	shfnd_reader_release(reader);
}

/*
 * Return a row that has not been returned, with the bound of the step.  It is at
 * least so far away: otherwise the step would have met it, and returned it.
 *
 * This is of use only if the executor holds back rows.  It would drop one that does
 * not meet a condition.
 */
static bool
next_witness(ShFndWideOrdered *ordered, ShBtRow *row)
{
	if (!ordered->inexact || ordered->conditions->wide != NULL || ordered->complete ||
		ordered->step_witnesses == 0)
		return false;
	ordered->step_witnesses--;
	if (ordered->nwitnesses < 0)
		read_witnesses(ordered);
	while (ordered->nwitnesses > 0)
	{
		MetRow	   *met;

		*row = ordered->witnesses[--ordered->nwitnesses];
		met = shfnd_met_lookup(ordered->met, *row);
		if (met != NULL && met->returned)
			continue;
		if (!meet(ordered, *row, 0, 0))
			return false;
		shfnd_met_lookup(ordered->met, *row)->returned = true;
		return true;
	}
	return false;
}

/*
 * Forget the rows that have been met, except for those that have been returned.
 */
static void
keep_returned(ShFndWideOrdered *ordered)
{
	struct shfnd_met_hash *returned = shfnd_met_create(ordered->context, FIRST_ROWS, NULL);
	shfnd_met_iterator iterator;
	MetRow	   *met;

	shfnd_met_start_iterate(ordered->met, &iterator);
	while ((met = shfnd_met_iterate(ordered->met, &iterator)) != NULL)
	{
		bool		found;

		CHECK_FOR_INTERRUPTS();
		if (met->returned)
			(void) shfnd_met_insert(returned, met->row, &found);
	}
	shfnd_met_destroy(ordered->met);
	ordered->met = returned;
}

static bool
is_wanted(ShBtRow row, int distance, void *arg)
{
	const ShFndWideOrdered *ordered = arg;

	return distance <= ordered->reach && shfnd_met_lookup(ordered->met, row) == NULL;
}

/*
 * Read a table of each part.
 */
static void
collect_all(ShFndWideOrdered *ordered)
{
	ShFndReader *reader = ordered->reader;
	const ShFndMatches *matches = &reader->matches;
	MemoryContext old = MemoryContextSwitchTo(ordered->context);

	keep_returned(ordered);
	ordered->sums = shfnd_sums_begin(work_mem * (Size) 1024 - ordered->met->size * sizeof(MetRow),
									 shfnd_ball_leaves(&reader->ballscan) * SHBT_USUAL_ENTRIES,
									 ordered->width);
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
	shfnd_sums_sort(ordered->sums, is_wanted, ordered);
}

/*
 * What to do when the rows with low bounds have been returned.
 */
static ShFndWideStep
choose_step(ShFndWideOrdered *ordered)
{
	if (ordered->complete || ordered->bound > ordered->reach)
		return DONE;
	return GROW;
}

/*
 * Return the next row, and a lower bound of its distance, which is not less than
 * the one before.  Returns false after the last.
 */
bool
shfnd_wide_ordered_next(ShFndWideOrdered *ordered, ItemPointer tid, int *bound)
{
	ShBtRow		row;

	for (;;)
	{
		switch (ordered->step)
		{
			case COLLECT_CONDITION:
				if (collect_condition(ordered))
				{
					queue_met(ordered);
					ordered->step = RETURN_MET;
				}
				else
					ordered->step = GROW;
				forget_conditions(ordered);
				break;

			case GROW:
				if (choose_radius(ordered) && grow(ordered))
				{
					queue_met(ordered);
					ordered->step = RETURN_MET;
				}
				else
					ordered->step = COLLECT_ALL;
				break;

			case RETURN_MET:
				if (ordered->next < ordered->nqueued)
				{
					uint64		queued = ordered->queue[ordered->next++];

					*bound = (int) (queued >> ROW_BITS);
					shbt_int_to_tid(queued & ((UINT64CONST(1) << ROW_BITS) - 1), tid);
					return true;
				}
				ordered->step = RETURN_WITNESS;
				break;

			case RETURN_WITNESS:
				if (next_witness(ordered, &row))
				{
					*bound = ordered->bound;
					shbt_int_to_tid(row, tid);
					return true;
				}
				ordered->step = choose_step(ordered);
				break;

			case COLLECT_ALL:
				collect_all(ordered);
				ordered->step = RETURN_ALL;
				break;

			case RETURN_ALL:
				if (shfnd_sums_next(ordered->sums, &row, bound))
				{
					shbt_int_to_tid(row, tid);
					return true;
				}
				shfnd_sums_end(ordered->sums);
				ordered->sums = NULL;
				ordered->step = DONE;
				break;

			case DONE:
				shfnd_ball_set_part(&ordered->reader->ballscan, 0);
				return false;
		}
	}
}
