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
 * 2. Otherwise a ball grows by rings (bits/probe.h).  The first one is the ball of the
 *	  scheme's distance, which contains what most queries want, at the cost of a lookup;
 *	  each later one adds one bit.  Matches that later rings meet beyond the ball are held
 *	  until it has grown that far.  The plan (plan.c) says how long rings are worth their pages.
 *
 * 3. Then a table is read from end to end for a ball that should hold a batch, and
 *	  once more for the nearest sixteenth of its entries, or as many as fit in memory.
 *	  The second ball begins with all entries.  Both shrink when they turn out to hold
 *	  more.
 *
 * 4. If the next distance has more matches than work_mem holds, these matches need no
 *	  sorting.  They are returned as the table is read, in place of the second read.
 *
 * 5. A final read of a table returns the rest.
 *
 * So no scan reads more than four times the leaves of one table to find its rows.  An
 * index-only scan also looks up the entry of each row that it returns.
 *
 * The matches of a batch are candidates.  They are kept and sorted in an array as long
 * as they fit in work_mem.  Beyond that all of them are sorted on disk.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "index/leaf.h"
#include "index/page.h"
#include "index/matches.h"

/* the first capacity of the array of candidates */
#define FIRST_CAPACITY	256

/* a match that waits to be returned by an ordered scan */
typedef struct Candidate
{
	ShFingerprint fp;
	ItemPointerData tid;
	uint16		distance;
} Candidate;

typedef struct Candidates
{
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

static void
add_to_sort(Candidates *candidates, const Candidate *candidate)
{
	shidx_sort_add_grouped(candidates->sort, candidate->distance, candidate->fp,
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
 * Add a match and its distance.
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
 * Sort the array.  The number of candidates at each distance is known, and
 * hence the range of positions where they belong: each one is swapped into its
 * range.
 */
static void
sort_candidates(Candidates *candidates)
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
		sort_candidates(candidates);
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

/* the second read of a table collects about this share of its entries */
#define LARGE_BATCH		(1.0 / 16)

struct ShIdxOrdered
{
	ShIdxReader *reader;
	ShFingerprint center;
	bool		by_condition;	/* what the cheapest condition finds is next */
	bool		streams;		/* distance "next" is returned as it is read */
	int			reach;			/* no match is farther away */
	int			next;			/* all nearer matches have been collected */
	int			least;			/* up to here all matches must be collected at
								 * once */
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
 * Start, after the conditions have been planned.  Returns false if there is no
 * order because the key is null: then so are all distances.  Nothing is read before
 * shidx_ordered_next.
 *
 * Sets *exact to false if rows will be returned that do not meet the conditions.
 */
bool
shidx_ordered_start(ShIdxOrdered *ordered, ScanKey orderby, bool *exact)
{
	ShIdxReader *reader = ordered->reader;
	double		leaves = shidx_ball_leaves(&reader->ballscan);

	Assert(orderby->sk_attno == RelationGetNumberOfAttributes(reader->query->index));
	forget_candidates(&ordered->candidates);
	if ((orderby->sk_flags & SK_ISNULL) != 0)
		return false;

	ordered->center = DatumGetSimhash(orderby->sk_argument);
	ordered->reach = shidx_find_reach(reader->query, ordered->center, exact);
	ordered->next = 0;
	ordered->batch = FIRST_BATCH;
	ordered->ring = -1;
	ordered->held_radius = -1;
	ordered->tables_read = 0;
	ordered->next_overflows = false;
	ordered->streams = false;
	ordered->by_condition = shidx_plan_by_condition(&reader->query->cost,
													reader->ballscan.leaves_per_table);
	ordered->allowance = (int64) (ordered->by_condition ? leaves : shidx_plan_for_rings(leaves));
	return true;
}

/*
 * Lower *radius so that, of the candidates, about the wanted number remains, or raise
 * *limit, which is reached.  Returns false if what has to be collected at once does not fit
 * in memory.
 */
static bool
make_room(ShIdxOrdered *ordered, int64 wanted, int *radius, int64 *limit)
{
	Candidates *candidates = &ordered->candidates;
	int64		kept = 0;
	int			last = ordered->next - 1;

	while (last < *radius && (kept < wanted || last < ordered->least))
		kept += candidates->counts[++last];
	ordered->next_overflows = false;
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
	drop_candidates(candidates, last);
	*radius = last;
	ordered->reader->ballscan.ball.radius = last;
	return last >= ordered->least;
}

/*
 * Collect the matches of the reader from distance "next" to *radius, which is lowered if
 * there are many more than wanted: PG_INT64_MAX, or at most half of what memory holds.
 *
 * Returns false if not all that has to be collected at once could be: it does not fit in
 * memory, or takes more pages than the allowance.
 */
static bool
collect_within(ShIdxOrdered *ordered, int *radius, int64 wanted, int64 allowance)
{
	ShIdxReader *reader = ordered->reader;
	int64		limit = wanted < PG_INT64_MAX ? 2 * wanted : wanted;
	bool		complete = true;

	reader->ballscan.allowance = allowance;
	while (complete && shidx_next_matches(reader))
	{
		const ShIdxMatches *matches = &reader->matches;

		for (int i = 0; i < matches->count && complete; i++)
		{
			int			distance = shbits_distance(matches->fps[i], ordered->center);

			if (distance < ordered->next || distance > *radius)
				continue;
			if (ordered->candidates.count >= limit)
			{
				complete = make_room(ordered, wanted, radius, &limit);
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
 * Collect all matches of the reader from distance "next" on.  Returns false, with nothing
 * collected, if they take more pages than the allowance.
 */
static bool
collect_all_within(ShIdxOrdered *ordered, int64 allowance)
{
	int			radius = ordered->reach;

	if (!collect_within(ordered, &radius, PG_INT64_MAX, allowance))
	{
		forget_candidates(&ordered->candidates);
		return false;
	}
	start_candidates(&ordered->candidates, SHBITS_WIDTH);
	ordered->next = ordered->reach + 1;
	return true;
}

static SimhashBall
ball_around(const ShIdxOrdered *ordered, int radius)
{
	return simhash_make_ball(ordered->center, radius);
}

/*
 * The radius, at least "least", within which a batch of matches is expected.
 */
static int
radius_of_batch(const ShIdxOrdered *ordered, int least)
{
	return Min(shidx_plan_radius(shidx_ball_leaves(&ordered->reader->ballscan), least,
								 ordered->batch),
			   ordered->reach);
}

/*
 * Estimate the radius at which the ball has one more match: that of the
 * nearest match held, or where one is expected.
 */
static int
next_match_radius(const ShIdxOrdered *ordered)
{
	int			radius = shidx_plan_radius(shidx_ball_leaves(&ordered->reader->ballscan),
										   ordered->next, 1);

	for (int d = ordered->next; d < radius; d++)
	{
		if (ordered->candidates.counts[d] > 0)
			radius = d;
	}
	return Min(radius, ordered->reach);
}

/*
 * Let the ball grow by a ring, and sort what is in it.  Returns false, with nothing held, if
 * that costs too much.
 */
static bool
collect_ring(ShIdxOrdered *ordered)
{
	ShIdxReader *reader = ordered->reader;
	ShIdxBallScan *ballscan = &reader->ballscan;
	Candidates *candidates = &ordered->candidates;
	bool		first = ordered->next == 0;
	double		allowance = (double) ordered->allowance / ballscan->groups.count;
	int			radius = first ? Min(ballscan->geometry->scheme->distance, ordered->reach) :
		ordered->next;

	/*
	 * If nothing is held for the next ring, it has to begin at the center.
	 * Nothing is held for the second one: where many fingerprints share a
	 * prefix, the first one jumps over those that lie outside of its ball.
	 */
	if (ordered->next > ordered->held_radius)
	{
		if (ordered->ring >= 0)
			ordered->batch *= BATCH_GROWTH;
		forget_candidates(candidates);
		ordered->ring = -1;
		ordered->held_radius = first ? radius : radius_of_batch(ordered, radius);
	}
	ordered->least = radius;
	if ((first || shidx_plan_is_ring_worth(ballscan->geometry->scheme, ballscan->leaves_per_table,
										   ordered->ring, radius, next_match_radius(ordered),
										   allowance)) &&
		shidx_start_ring(reader, ball_around(ordered, ordered->held_radius), ordered->ring, radius,
						 allowance) &&
		collect_within(ordered, &ordered->held_radius, candidates->max / 2, ordered->allowance))
	{
		start_candidates(candidates, radius);
		ordered->ring = radius;
		ordered->next = radius + 1;
		return true;
	}
	ordered->allowance = 0;
	forget_candidates(candidates);
	ordered->ring = -1;
	return false;
}

/*
 * Collect the nearest matches from a table: at first those of a ball that should hold a
 * batch if fingerprints were uniformly distributed; then of all matches, so that no
 * assumption can fail again.
 */
static void
collect_nearest(ShIdxOrdered *ordered)
{
	double		entries = shidx_ball_leaves(&ordered->reader->ballscan) * SHIDX_USUAL_ENTRIES;
	double		wanted = ordered->batch * BATCH_GROWTH;
	int			radius = ordered->reach;

	if (ordered->tables_read == 0)
		radius = radius_of_batch(ordered, ordered->next);
	else
		wanted = Max(wanted, entries * LARGE_BATCH);
	ordered->least = ordered->next;
	ordered->next_overflows = false;
	shidx_start_table(ordered->reader, ball_around(ordered, radius));
	(void) collect_within(ordered, &radius, (int64) Min(wanted, ordered->candidates.max / 2.0),
						  PG_INT64_MAX);
	start_candidates(&ordered->candidates, SHBITS_WIDTH);
	ordered->next = radius + 1;
	ordered->tables_read++;
}

/*
 * Collect what follows in the order, when all that was collected has been returned; or
 * have it streamed.
 */
static void
collect_next(ShIdxOrdered *ordered)
{
	if (ordered->by_condition)
	{
		ordered->by_condition = false;
		shidx_start_query(ordered->reader, true);
		if (collect_all_within(ordered, ordered->allowance))
			return;
	}
	if (ordered->tables_read == 0 && collect_ring(ordered))
		return;
	if (ordered->tables_read == 0 || (ordered->tables_read == 1 && !ordered->next_overflows))
		collect_nearest(ordered);
	else if (ordered->tables_read == 1)
	{
		shidx_start_table(ordered->reader, ball_around(ordered, ordered->next));
		ordered->streams = true;
	}
	else
	{
		shidx_start_table(ordered->reader, ball_around(ordered, ordered->reach));
		(void) collect_all_within(ordered, PG_INT64_MAX);
	}
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
		if (shbits_distance(*fp, ordered->center) == ordered->next)
			return true;
	}
	ordered->streams = false;
	ordered->next++;
	ordered->tables_read++;
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
	if (ordered->ring < 0)
		forget_candidates(&ordered->candidates);
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
	for (;;)
	{
		/* pages of collected candidates need no pin */
		shidx_reader_keep_pins(ordered->reader, want_pin && ordered->streams);
		if (ordered->streams ? next_streamed(ordered, fp, tid) :
			next_collected(ordered, want_pin, fp, tid))
			return true;
		if (ordered->next > ordered->reach)
			break;
		collect_next(ordered);
	}
	shidx_reader_keep_pins(ordered->reader, want_pin);
	return false;
}
