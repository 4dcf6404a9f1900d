/*-------------------------------------------------------------------------
 *
 * nearest.c
 *	  Reading what meets the conditions of a scan in the order of the distance.
 *
 * The number of rows that will be fetched is unknown, so matches are read in
 * batches.  Each batch is sorted and returned before the next one is read.  Nothing
 * is returned twice: everything in a batch is nearer than what follows it.
 *
 * 1. If reading the cheapest condition costs less than half a table, its matches are all
 *	  that is needed.
 *
 * 2. Otherwise the ball of the scheme's distance is read.  It contains what most
 *	  queries want, at the cost of a lookup.
 *
 * 3. The ball then grows by one bit at a time, by rings (bits/probe.h).  Matches that
 *	  rings meet beyond the ball are held until it has grown that far.  The target
 *	  radius is that of the nearest match held or, if there is none, the radius where
 *	  the next row would be if fingerprints were uniformly distributed.  If the rings
 *	  up to the target would exceed the budget of two thirds of a table, no more rings
 *	  are read.  The first rings, up to an eighth of a table, are read in any case,
 *	  because real fingerprints are clustered.
 *
 * 4. Then a table is read from end to end for a ball that should hold a batch, and
 *	  once more for the nearest sixteenth of its entries, or as many as fit in memory.
 *	  The second ball begins with all entries, and shrinks when it turns out to hold
 *	  more.
 *
 * 5. If the next distance has more matches than work_mem holds, and there is only one
 *	  ORDER BY key, these matches need no sorting.  They are returned as the table is
 *	  read, in place of the second read.
 *
 * 6. A final read of a table returns the rest.
 *
 * So no scan reads more than four times the leaves of one table to find its rows.  An
 * index-only scan also looks up the entry of each row that it returns.
 *
 * The matches of a batch are candidates.  They are kept and sorted in an array as long
 * as they fit in work_mem.  Beyond that all of them are sorted by their distances from
 * the centers of the ORDER BY keys, on disk.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "bits/hamming_ball.h"
#include "index/leaf.h"
#include "index/page.h"
#include "index/reader.h"

/* the first capacity of the array of candidates */
#define FIRST_CAPACITY	256

/* a match that waits to be returned by an ordered scan */
typedef struct Candidate
{
	ShFingerprint fp;
	ItemPointerData tid;
	uint16		distance;		/* from the first center */
} Candidate;

typedef struct Candidates
{
	int			ncenters;		/* at least 1 while there are candidates */
	ShFingerprint centers[SHIDX_MAX_ORDERBYS];	/* candidates are sorted by
												 * distances from these */
	MemoryContext context;		/* of what follows */

	/* in memory */
	int64		max;			/* how many may be */
	int64		count;
	int64		capacity;
	Candidate  *array;
	int64		counts[SHBITS_WIDTH + 1];	/* at each distance */
	int64		sorted;			/* the first ones of the array */
	int64		next;			/* of these */

	ShIdxSort  *sort;			/* of all on disk; NULL while in memory */
} Candidates;

/*
 * Prepare to collect candidates, in the current memory context.
 */
static void
begin_candidates(Candidates *candidates)
{
	memset(candidates, 0, sizeof(*candidates));
	candidates->context = AllocSetContextCreate(CurrentMemoryContext, "simhash candidates",
												ALLOCSET_DEFAULT_SIZES);
	candidates->max = Max(work_mem * INT64CONST(1024) / sizeof(Candidate), 1024);
}

/*
 * Free all candidates, and the files they may be in.
 */
static void
forget_candidates(Candidates *candidates)
{
	if (candidates->sort != NULL)
		shidx_sort_end(candidates->sort);
	MemoryContextReset(candidates->context);
	candidates->sort = NULL;
	candidates->array = NULL;
	candidates->capacity = 0;
	candidates->count = 0;
	candidates->sorted = 0;
	candidates->next = 0;
	memset(candidates->counts, 0, sizeof(candidates->counts));
}

/*
 * Add a candidate to those that are sorted on disk.
 */
static void
add_to_sort(Candidates *candidates, const Candidate *candidate)
{
	uint32		distances = candidate->distance;

	for (int i = 1; i < candidates->ncenters; i++)
		distances = distances << BITS_PER_BYTE |
			shbits_distance(candidate->fp, candidates->centers[i]);
	shidx_sort_add_grouped(candidates->sort, distances, candidate->fp,
						   shidx_tid_to_int(&candidate->tid));
}

/*
 * Start to sort the candidates on disk, as memory is full.
 */
static void
start_sort(Candidates *candidates)
{
	MemoryContext old = MemoryContextSwitchTo(candidates->context);

	/* little memory is enough, and the array takes all there is */
	candidates->sort = shidx_sort_begin_grouped(work_mem / 8, true);
	for (int64 i = 0; i < candidates->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_to_sort(candidates, &candidates->array[i]);
	}
	pfree(candidates->array);
	candidates->array = NULL;
	candidates->capacity = 0;
	MemoryContextSwitchTo(old);
}

static void
enlarge_candidates(Candidates *candidates)
{
	int64		capacity = Min(Max(2 * candidates->capacity, FIRST_CAPACITY), candidates->max);

	if (candidates->array == NULL)
		candidates->array = MemoryContextAllocHuge(candidates->context,
												   capacity * sizeof(Candidate));
	else
		candidates->array = repalloc_huge(candidates->array,
										  capacity * sizeof(Candidate));
	candidates->capacity = capacity;
}

/*
 * Add a match and its distance from the first center.
 *
 * While count < max it stays in memory; otherwise all candidates go to disk.
 */
static void
hold_candidate(Candidates *candidates, ShFingerprint fp, ItemPointerData tid, int distance)
{
	Candidate	candidate = {.fp = fp,.tid = tid,.distance = distance};

	if (candidates->sort == NULL && candidates->count >= candidates->max)
		start_sort(candidates);
	if (candidates->sort != NULL)
		add_to_sort(candidates, &candidate);
	else
	{
		if (candidates->count == candidates->capacity)
			enlarge_candidates(candidates);
		candidates->array[candidates->count] = candidate;
	}
	candidates->count++;
	candidates->counts[distance]++;
}

/*
 * Drop the candidates beyond a distance.  All must be in memory.
 */
static void
drop_candidates(Candidates *candidates, int distance)
{
	int64		kept = 0;

	Assert(candidates->sort == NULL);
	for (int64 i = 0; i < candidates->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (candidates->array[i].distance <= distance)
			candidates->array[kept++] = candidates->array[i];
	}
	candidates->count = kept;
	for (int d = distance + 1; d <= SHBITS_WIDTH; d++)
		candidates->counts[d] = 0;
}

/*
 * Compare candidates at equal distances from the first center by their
 * distances from the other centers.
 */
static int
compare_further(const Candidate *a, const Candidate *b,
				const Candidates *candidates)
{
	for (int i = 1; i < candidates->ncenters; i++)
	{
		int			x = shbits_distance(a->fp, candidates->centers[i]);
		int			y = shbits_distance(b->fp, candidates->centers[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

#define ST_SORT sort_further
#define ST_ELEMENT_TYPE Candidate
#define ST_COMPARE(a, b, candidates) compare_further(a, b, candidates)
#define ST_COMPARE_ARG_TYPE const Candidates
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort the array.  The number of candidates at each distance is known, and
 * hence the range of positions where they belong: each one is swapped into its
 * range.  Candidates beyond the given distance are not compared by the other
 * centers.
 */
static void
sort_candidates(Candidates *candidates, int distance)
{
	Candidate  *array = candidates->array;
	int64		next[SHBITS_WIDTH + 1]; /* next position to fill */
	int64		end = 0;

	for (int d = 0; d <= SHBITS_WIDTH; d++)
	{
		next[d] = end;
		end += candidates->counts[d];
	}
	end = 0;
	for (int d = 0; d <= SHBITS_WIDTH; d++)
	{
		int64		start = end;

		end += candidates->counts[d];
		while (next[d] < end)
		{
			Candidate	candidate = array[next[d]];
			int64		place = next[candidate.distance]++;

			CHECK_FOR_INTERRUPTS();
			if (candidate.distance != d)
			{
				array[next[d]] = array[place];
				array[place] = candidate;
			}
		}
		if (candidates->ncenters > 1 && d <= distance && end - start > 1)
			sort_further(array + start, end - start, candidates);
	}
}

/*
 * Remove the candidates that have been returned.
 */
static void
drop_returned(Candidates *candidates)
{
	if (candidates->next == 0)
		return;
	/* these were all up to the distance of the last one */
	memset(candidates->counts, 0,
		   (candidates->array[candidates->next - 1].distance + 1) * sizeof(candidates->counts[0]));
	candidates->count -= candidates->next;
	memmove(candidates->array, candidates->array + candidates->next,
			candidates->count * sizeof(Candidate));
	candidates->sorted = 0;
	candidates->next = 0;
}

/*
 * Sort the candidates up to a distance; next_candidate then returns
 * them.  If all are in memory, candidates beyond the distance stay for later,
 * and more may be added.  If not, there must be none beyond it.
 */
static void
start_candidates(Candidates *candidates, int distance)
{
	if (candidates->sort != NULL)
	{
		shidx_sort_start(candidates->sort);
		return;
	}
	Assert(candidates->next == 0);
	candidates->sorted = 0;
	for (int d = 0; d <= Min(distance, SHBITS_WIDTH); d++)
		candidates->sorted += candidates->counts[d];
	if (candidates->sorted > 0 && candidates->count > 1)
		sort_candidates(candidates, distance);
}

/*
 * Return the next of the sorted candidates.  Returns false after the last.
 */
static bool
next_candidate(Candidates *candidates, ShFingerprint *fp, ItemPointer tid)
{
	if (candidates->sort != NULL)
	{
		ShIdxSortItem item;

		if (!shidx_sort_next(candidates->sort, &item))
			return false;
		*fp = item.key;
		shidx_int_to_tid(item.value, tid);
		return true;
	}
	if (candidates->next < candidates->sorted)
	{
		const Candidate *candidate = &candidates->array[candidates->next++];

		*fp = candidate->fp;
		*tid = candidate->tid;
		return true;
	}
	drop_returned(candidates);
	return false;
}

/* the size of the first batch, in candidates, and the growth of batches */
#define FIRST_BATCH		256
#define BATCH_GROWTH	16

/*
 * The budget of all balls of a scan, as a share of the pages of a table; and
 * the budget for balls in which no row is expected.
 */
#define BALLS_SHARE		(2.0 / 3)
#define SPARE_SHARE		(1.0 / 8)

/* the second read of a table collects about this share of its entries */
#define LARGE_BATCH		(1.0 / 16)

typedef enum ShIdxOrderedStep
{
	COLLECT_CONDITIONS,			/* everything that the cheapest condition
								 * finds */
	COLLECT_BALL,				/* a ball around the query, by probes */
	WIDEN_BALL,					/* a larger ball, by rings */
	COLLECT_NEAREST,			/* the nearest ones, from a whole table */
	STREAM_DISTANCE,			/* one distance, as it is read */
	COLLECT_REST,				/* all others, from a whole table */
	RETURN_COLLECTED,
	DONE
} ShIdxOrderedStep;

struct ShIdxOrdered
{
	ShIdxReader *reader;
	ShIdxOrderedStep step;
	int			reach;			/* no match is farther away */
	int			next;			/* all nearer matches have been collected */
	int			radius;			/* of the ball that is collected */
	double		batch;			/* about how many matches to collect next */
	int64		allowance;		/* page budget left for balls */
	int			ring;			/* radius of the last one; -1 if none */
	int			held_radius;	/* matches within it are held for later rings */
	int			tables_read;	/* from end to end */
	bool		next_overflows; /* distance "next" does not fit in memory */
	Candidates	candidates;
};

/*
 * Prepare to read in order, with the reader of the scan.
 *
 * Allocates in the current memory context.
 */
ShIdxOrdered *
shidx_ordered_begin(ShIdxReader *reader)
{
	ShIdxOrdered *ordered = palloc0(sizeof(ShIdxOrdered));

	ordered->reader = reader;
	ordered->step = DONE;
	begin_candidates(&ordered->candidates);
	return ordered;
}

/*
 * Release what is held until the next start: memory, files.
 */
void
shidx_ordered_release(ShIdxOrdered *ordered)
{
	forget_candidates(&ordered->candidates);
}

/*
 * Should a condition that reads this many pages be collected as a whole,
 * rather than balls around the query?
 */
bool
shidx_ordered_by_condition(double pages, double leaves_per_table)
{
	return pages < leaves_per_table / 2;
}

/*
 * The radius, at least "least", within which a batch of matches is expected.
 */
static int
choose_radius(double leaves_per_table, int least, double batch)
{
	double		entries = leaves_per_table * SHIDX_USUAL_ENTRIES;
	double		all = shbits_ball_size(SHBITS_WIDTH, SHBITS_WIDTH);
	int			radius = least;

	while (radius < SHBITS_WIDTH &&
		   entries * shbits_ball_size(SHBITS_WIDTH, radius) / all < batch)
		radius++;
	return radius;
}

/*
 * The pages that count against the budget of a ball: leaves, and one more for
 * each search.
 */
static double
pages_charged(double ranges, double pages)
{
	return pages + Min(ranges, pages);
}

/*
 * Should a ball grow by the ring from radius inner, or -1, to radius?  Only if
 * it can continue to target, where the next row is expected, within the
 * budget; or if the ring costs little, since fingerprints are rarely uniformly
 * distributed.
 *
 * Sets *ranges and *pages to what the ring reads.
 */
static bool
worth_a_ring(const ShBitsScheme *scheme, double leaves_per_table, int inner, int radius,
			 int target, double allowance, double *ranges, double *pages)
{
	double		spare = allowance - leaves_per_table * (BALLS_SHARE - SPARE_SHARE);
	double		charged = 0;
	ShBitsProbePlan plan;

	for (int r = radius; r <= Max(target, radius); inner = r++)
	{
		if (!shbits_plan_ring(scheme, inner, r, leaves_per_table, &plan))
			return false;
		charged += pages_charged(plan.ranges, plan.pages);
		if (r == radius)
		{
			*ranges = plan.ranges;
			*pages = plan.pages;
			if (charged < spare)
				return true;
		}
		if (charged >= allowance)
			return false;
	}
	return true;
}

/*
 * Estimate what is read, except if a condition is collected.
 *
 * Sets the ranges and pages that are read before the first row is returned,
 * assuming uniformly distributed fingerprints, and returns the number of pages
 * that are read after it if all rows are fetched.
 */
double
shidx_ordered_pages(const ShBitsScheme *scheme, double leaves_per_table,
					double *first_ranges, double *first_pages)
{
	double		leaves = Max(leaves_per_table, 1);
	double		allowance = leaves * BALLS_SHARE;
	int			radius = scheme->distance;
	int			target = choose_radius(leaves, radius + 1, 1);
	double		ranges;
	double		pages;
	ShBitsProbePlan plan;

	*first_ranges = 0;
	*first_pages = 0;
	shbits_plan_probes(scheme, radius, leaves, 0, &plan);
	ranges = plan.ranges;
	pages = plan.pages;
	for (int inner = -1; pages_charged(ranges, pages) < allowance; inner = radius)
	{
		*first_ranges += ranges;
		*first_pages += pages;
		allowance -= pages_charged(ranges, pages);
		if (radius == target)
			return 3 * leaves;
		radius++;
		if (!worth_a_ring(scheme, leaves, inner, radius, target, allowance, &ranges, &pages))
			break;
	}
	*first_ranges += 1;
	*first_pages += leaves;
	return 2 * leaves;
}

/*
 * The share of one group in the pages that are left for balls.
 */
static double
group_allowance(const ShIdxOrdered *ordered)
{
	const ShIdxGroups *groups = &ordered->reader->ballscan.groups;

	return groups->all ? ordered->allowance : (double) ordered->allowance / groups->count;
}

/*
 * Estimate the radius at which the ball has one more match: that of the
 * nearest match held, or where one is expected.
 */
static int
next_match_radius(const ShIdxOrdered *ordered)
{
	int			radius = choose_radius(shidx_ball_leaves(&ordered->reader->ballscan),
									   ordered->next, 1);

	for (int d = ordered->next; d < radius; d++)
	{
		if (ordered->candidates.counts[d] > 0)
			radius = d;
	}
	return Min(radius, ordered->reach);
}

/*
 * Forget what rings hold; the next one, if any, begins at the center.
 */
static void
stop_rings(ShIdxOrdered *ordered)
{
	forget_candidates(&ordered->candidates);
	ordered->ring = -1;
}

/*
 * Prepare the next ring of the ball.  Returns false if the ball should not
 * grow any more.
 */
static bool
choose_ring(ShIdxOrdered *ordered)
{
	const ShIdxBallScan *ballscan = &ordered->reader->ballscan;
	double		ranges;
	double		pages;

	/* if nothing is held for the next ring, it has to begin at the center */
	if (ordered->next > ordered->held_radius)
	{
		if (ordered->ring >= 0)
			ordered->batch *= BATCH_GROWTH;
		stop_rings(ordered);
		ordered->held_radius = Min(choose_radius(shidx_ball_leaves(ballscan), ordered->next,
												 ordered->batch),
								   ordered->reach);
	}
	ordered->radius = ordered->next;
	return worth_a_ring(ballscan->geometry->scheme, ballscan->leaves_per_table, ordered->ring,
						ordered->radius, next_match_radius(ordered), group_allowance(ordered),
						&ranges, &pages);
}

/*
 * What to do when all that was collected has been returned.
 */
static ShIdxOrderedStep
choose_step(ShIdxOrdered *ordered)
{
	ShIdxBallScan *ballscan = &ordered->reader->ballscan;

	if (ordered->next > ordered->reach)
		return DONE;
	if (ordered->tables_read == 0)
	{
		if (ordered->next == 0)
		{
			ordered->radius = Min(ballscan->geometry->scheme->distance, ordered->reach);
			shidx_ball_plan(ballscan, ordered->radius);
			if (!ballscan->groups.all &&
				pages_charged(ballscan->plan.ranges, ballscan->plan.pages) <
				group_allowance(ordered))
				return COLLECT_BALL;
		}
		else if (choose_ring(ordered))
			return WIDEN_BALL;
		stop_rings(ordered);
		return COLLECT_NEAREST;
	}
	if (ordered->tables_read == 1 && !ordered->next_overflows)
		return COLLECT_NEAREST;
	if (ordered->tables_read == 1 && ordered->candidates.ncenters == 1)
		return STREAM_DISTANCE;
	return COLLECT_REST;
}

/*
 * Start, after the conditions have been planned.  Returns false if there is no
 * order because all keys are null.  Nothing is read before shidx_ordered_next.
 *
 * Sets *exact to false if rows will be returned that do not meet the conditions.
 */
bool
shidx_ordered_start(ShIdxOrdered *ordered, ScanKey orderbys, int norderbys, bool *exact)
{
	Candidates *candidates = &ordered->candidates;
	double		leaves = shidx_ball_leaves(&ordered->reader->ballscan);

	forget_candidates(candidates);
	candidates->ncenters = 0;
	for (int i = 0; i < norderbys; i++)
	{
		Assert(orderbys[i].sk_attno == RelationGetNumberOfAttributes(ordered->reader->query->index));
		/* distances from null are null and do not order rows */
		if ((orderbys[i].sk_flags & SK_ISNULL) == 0)
			candidates->centers[candidates->ncenters++] = DatumGetSimhash(orderbys[i].sk_argument);
	}
	if (candidates->ncenters == 0)
		return false;

	ordered->reach = shidx_find_reach(ordered->reader->query, candidates->centers[0], exact);
	ordered->next = 0;
	ordered->batch = FIRST_BATCH;
	ordered->ring = -1;
	ordered->held_radius = -1;
	ordered->tables_read = 0;
	ordered->next_overflows = false;
	if (shidx_ordered_by_condition(ordered->reader->query->cost.pages,
								   ordered->reader->ballscan.leaves_per_table))
	{
		ordered->allowance = (int64) leaves;
		ordered->step = COLLECT_CONDITIONS;
	}
	else
	{
		ordered->allowance = (int64) (leaves * BALLS_SHARE);
		ordered->step = choose_step(ordered);
	}
	return true;
}

/*
 * Called when there are *limit candidates, and another one within *radius.
 * Raises *limit, or lowers *radius and drops the candidates beyond it.  Returns
 * false if no more can be collected.
 */
typedef bool (*RoomFunction) (ShIdxOrdered *ordered, int *radius, int64 *limit);

/*
 * Collect the matches of the reader from distance "next" to *radius.
 *
 * Returns false if not all could be collected: there was no room, or they take
 * more pages than the allowance.  Without make_room, there is none beyond the limit.
 */
static bool
collect_within(ShIdxOrdered *ordered, int *radius, int64 limit, int64 allowance,
			   RoomFunction make_room)
{
	ShIdxReader *reader = ordered->reader;
	bool		complete = true;

	reader->ballscan.allowance = allowance;
	while (complete && shidx_next_matches(reader))
	{
		const ShIdxMatches *matches = &reader->matches;

		for (int i = 0; i < matches->count && complete; i++)
		{
			int			distance = shbits_distance(matches->fps[i], ordered->candidates.centers[0]);

			if (distance < ordered->next || distance > *radius)
				continue;
			if (ordered->candidates.count >= limit)
			{
				complete = make_room != NULL && make_room(ordered, radius, &limit);
				if (!complete || distance > *radius)
					continue;
			}
			hold_candidate(&ordered->candidates, matches->fps[i], matches->tids[i],
						   distance);
		}
	}
	complete &= reader->ballscan.allowance > 0;
	ordered->allowance = complete ? reader->ballscan.allowance : 0;
	reader->ballscan.allowance = PG_INT64_MAX;
	return complete;
}

/*
 * Collect the matches of the reader at distance "next" and beyond.
 *
 * Returns false, with nothing collected, if there are more than limit or if
 * they take more pages than the allowance.
 */
static bool
collect_in_order(ShIdxOrdered *ordered, int64 limit, int64 allowance)
{
	int			radius = SHBITS_WIDTH;

	if (!collect_within(ordered, &radius, limit, allowance, NULL))
	{
		forget_candidates(&ordered->candidates);
		return false;
	}
	start_candidates(&ordered->candidates, SHBITS_WIDTH);
	return true;
}

static SimhashBall
ball_around(const ShIdxOrdered *ordered, int radius)
{
	return simhash_make_ball(ordered->candidates.centers[0], radius);
}

/*
 * Collect all matches of the conditions.
 */
static bool
collect_conditions(ShIdxOrdered *ordered)
{
	shidx_start_query(ordered->reader, true);
	if (!collect_in_order(ordered, PG_INT64_MAX, ordered->allowance))
		return false;
	ordered->next = ordered->reach + 1;
	return true;
}

/*
 * Collect the ball of ordered->radius.
 */
static bool
collect_ball(ShIdxOrdered *ordered)
{
	shidx_start_within(ordered->reader, ball_around(ordered, ordered->radius));
	if (!collect_in_order(ordered, ordered->candidates.max, ordered->allowance))
		return false;
	ordered->next = ordered->radius + 1;
	ordered->batch *= BATCH_GROWTH;
	return true;
}

/*
 * Memory is full with the matches of a ring, which begins at the next
 * distance: hold less from now on.  Returns false if even the ring itself does
 * not fit.
 */
static bool
hold_less(ShIdxOrdered *ordered, int *radius, int64 *limit)
{
	Candidates *candidates = &ordered->candidates;
	int64		kept = 0;
	int			last = ordered->next - 1;

	while (last < *radius && kept + candidates->counts[last + 1] <= *limit / 2)
		kept += candidates->counts[++last];
	if (last < ordered->radius)
		return false;
	drop_candidates(candidates, last);
	*radius = last;
	ordered->reader->ballscan.ball.radius = last;
	return true;
}

/*
 * Let the ball grow by one ring, up to ordered->radius.  Returns false, with
 * nothing held, if that costs too much.
 */
static bool
widen_ball(ShIdxOrdered *ordered)
{
	ShIdxReader *reader = ordered->reader;
	bool		planned = shidx_ball_plan_ring(&reader->ballscan, ordered->ring, ordered->radius);

	shidx_start_ring(reader, ball_around(ordered, ordered->held_radius));
	if (!planned || !collect_within(ordered, &ordered->held_radius, ordered->candidates.max,
									ordered->allowance, hold_less))
	{
		ordered->allowance = 0;
		stop_rings(ordered);
		return false;
	}
	start_candidates(&ordered->candidates, ordered->radius);
	ordered->ring = ordered->radius;
	ordered->next = ordered->radius + 1;
	return true;
}

/*
 * Collect all remaining matches.
 */
static void
collect_rest(ShIdxOrdered *ordered)
{
	shidx_start_table(ordered->reader, ball_around(ordered, ordered->reach));
	(void) collect_in_order(ordered, PG_INT64_MAX, PG_INT64_MAX);
	ordered->next = ordered->reach + 1;
}

/*
 * How many of the nearest candidates to collect from a table, about.
 */
static int64
wanted_nearest(const ShIdxOrdered *ordered)
{
	double		entries = shidx_ball_leaves(&ordered->reader->ballscan) * SHIDX_USUAL_ENTRIES;
	double		wanted = ordered->batch * BATCH_GROWTH;

	if (ordered->tables_read > 0)
		wanted = Max(wanted, entries * LARGE_BATCH);
	return (int64) Min(wanted, ordered->candidates.max / 2.0);
}

/*
 * Make room for more of the nearest candidates when the limit is reached:
 * lower *radius so that about the wanted number remains, or raise *limit.
 */
static bool
narrow(ShIdxOrdered *ordered, int *radius, int64 *limit)
{
	Candidates *candidates = &ordered->candidates;
	int64		wanted = wanted_nearest(ordered);
	int64		kept = 0;
	int			last = ordered->next - 1;

	while (last < *radius && kept < wanted)
		kept += candidates->counts[++last];

	if (kept > *limit / 4 * 3)
	{
		/* the largest distance has many of them */
		if (*limit < candidates->max)
		{
			*limit = Min(2 * *limit, candidates->max);
			return true;
		}
		last--;
		ordered->next_overflows = true;
	}
	else
		ordered->next_overflows = false;
	drop_candidates(candidates, last);
	*radius = last;
	ordered->reader->ballscan.ball.radius = last;
	return last >= ordered->next;
}

/*
 * Collect the nearest matches from a table.  The ball shrinks when it turns out to
 * hold more than is worth sorting.  At first it is one that should hold a batch if
 * fingerprints were uniformly distributed; then one that holds all matches, so that
 * no assumption can fail again.
 */
static void
collect_nearest(ShIdxOrdered *ordered)
{
	int			radius = ordered->reach;

	if (ordered->tables_read == 0)
		radius = Min(choose_radius(shidx_ball_leaves(&ordered->reader->ballscan), ordered->next,
								   ordered->batch),
					 radius);
	shidx_start_table(ordered->reader, ball_around(ordered, radius));
	(void) collect_within(ordered, &radius, 2 * wanted_nearest(ordered), PG_INT64_MAX, narrow);
	start_candidates(&ordered->candidates, SHBITS_WIDTH);
	ordered->next = radius + 1;
	ordered->tables_read++;
}

/*
 * Return the next match at the distance that is streamed.  Its page stays
 * pinned if the reader keeps pins.
 */
static bool
next_streamed(ShIdxOrdered *ordered, ShFingerprint *fp, ItemPointer tid)
{
	ShIdxReader *reader = ordered->reader;
	int			match;

	while ((match = shidx_next_match(reader)) >= 0)
	{
		*fp = reader->matches.fps[match];
		*tid = reader->matches.tids[match];
		if (shbits_distance(*fp, ordered->candidates.centers[0]) == ordered->next)
			return true;
	}
	return false;
}

/*
 * Return the next candidate.  No pin has been held since it was collected.  If
 * a pin is wanted, its entry is looked up again; if that is gone, so is the
 * row.
 */
static bool
next_collected(ShIdxOrdered *ordered, bool want_pin, ShFingerprint *fp, ItemPointer tid)
{
	while (next_candidate(&ordered->candidates, fp, tid))
	{
		CHECK_FOR_INTERRUPTS();
		if (!want_pin || shidx_ball_pin(&ordered->reader->ballscan, *fp, *tid))
			return true;
	}
	shidx_ball_release(&ordered->reader->ballscan);
	return false;
}

/*
 * Return the next match in order of distance.  Returns false after the last.
 *
 * With want_pin the leaf it came from is pinned until the next call.
 */
bool
shidx_ordered_next(ShIdxOrdered *ordered, bool want_pin, ShFingerprint *fp, ItemPointer tid)
{
	ShIdxBallScan *ballscan = &ordered->reader->ballscan;

	for (;;)
	{
		/* pages of collected candidates need no pin */
		ballscan->keep_pin = want_pin && ordered->step == STREAM_DISTANCE;

		switch (ordered->step)
		{
			case COLLECT_CONDITIONS:
				ordered->step = collect_conditions(ordered) ?
					RETURN_COLLECTED : choose_step(ordered);
				break;

			case COLLECT_BALL:
				ordered->step = collect_ball(ordered) ?
					RETURN_COLLECTED : choose_step(ordered);
				break;

			case WIDEN_BALL:
				ordered->step = widen_ball(ordered) ?
					RETURN_COLLECTED : choose_step(ordered);
				break;

			case COLLECT_NEAREST:
				collect_nearest(ordered);
				ordered->step = RETURN_COLLECTED;
				break;

			case COLLECT_REST:
				collect_rest(ordered);
				ordered->step = RETURN_COLLECTED;
				break;

			case RETURN_COLLECTED:
				if (next_collected(ordered, want_pin, fp, tid))
					return true;
				if (ordered->ring < 0)
					forget_candidates(&ordered->candidates);
				ordered->step = choose_step(ordered);
				if (ordered->step == STREAM_DISTANCE)
					shidx_start_table(ordered->reader, ball_around(ordered, ordered->next));
				break;

			case STREAM_DISTANCE:
				if (next_streamed(ordered, fp, tid))
					return true;
				ordered->next++;
				ordered->tables_read++;
				ordered->next_overflows = false;
				ordered->step = choose_step(ordered);
				break;

			case DONE:
				ballscan->keep_pin = want_pin;
				return false;
		}
	}
}
