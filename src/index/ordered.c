/*-------------------------------------------------------------------------
 *
 * ordered.c
 *	  Scanning a simhash index in the order of the distance from a query.
 *
 * If the first condition is answered by a few probes, its matches are all
 * collected and sorted.  Else balls around the query are read, of growing
 * radius: first the one that exact prefixes answer, which contains what most
 * queries want; then such as should hold a batch of matches, if fingerprints
 * were spread evenly.  Where they are not and a ball holds more than work_mem
 * does, a histogram of the distances in it tells which to collect together.
 * A single distance with that many matches is not collected but returned as
 * it is read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "bits/hamming_ball.h"
#include "btree/search.h"
#include "index/ordered.h"

/* about how many candidates the first batch has, and how batches grow */
#define FIRST_BATCH		256
#define BATCH_GROWTH	16

/* a match that waits for its turn */
typedef struct ShIdxCandidate
{
	uint64		fp;
	ItemPointerData tid;
	uint16		distance;		/* from the first centre */
} ShIdxCandidate;

typedef enum ShIdxOrderedStep
{
	COLLECT_CONDITIONS,			/* all that the first condition finds */
	COLLECT_BATCH,				/* the next distances */
	RETURN_COLLECTED,
	STREAM_DISTANCE,			/* the matches at distance next, as they come */
	DONE
} ShIdxOrderedStep;

struct ShIdxOrdered
{
	ShIdxReader *reader;
	ShIdxOrderedStep step;
	int			ncentres;
	uint64	   *centres;		/* of the ORDER BY keys that are not null */
	int			reach;			/* no match is farther away */
	int			next;			/* nearer matches have been returned or
								 * collected */
	int			counted;		/* histogram reaches so far; -1: there is none */
	int64		histogram[SHBITS_WIDTH + 1];
	int64		batch;			/* about how many to collect next */

	MemoryContext context;		/* of the candidates */
	ShIdxCandidate *candidates;
	int64		ncandidates;
	int64		capacity;
	int64		max_candidates; /* what work_mem holds */
	int64		next_candidate;
	Buffer		pin;			/* page of the last candidate returned */
};

/* the secondary ORDER BY keys, while candidates are sorted */
typedef struct SortKeys
{
	const uint64 *centres;
	int			ncentres;
} SortKeys;

static int
compare_candidates(const ShIdxCandidate *a, const ShIdxCandidate *b, const SortKeys *keys)
{
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	for (int i = 1; i < keys->ncentres; i++)
	{
		int			x = shbits_distance(a->fp, keys->centres[i]);
		int			y = shbits_distance(b->fp, keys->centres[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

#define ST_SORT sort_candidates
#define ST_ELEMENT_TYPE ShIdxCandidate
#define ST_COMPARE(a, b, keys) compare_candidates(a, b, keys)
#define ST_COMPARE_ARG_TYPE SortKeys
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Prepare to read in order; the reader is that of the scan.
 */
ShIdxOrdered *
shidx_ordered_begin(ShIdxReader *reader, int norderbys)
{
	ShIdxOrdered *ordered = palloc0(sizeof(ShIdxOrdered));

	ordered->reader = reader;
	ordered->step = DONE;
	ordered->centres = palloc(norderbys * sizeof(uint64));
	ordered->context = AllocSetContextCreate(CurrentMemoryContext, "simhash candidates",
											 ALLOCSET_DEFAULT_SIZES);
	ordered->max_candidates = Max(work_mem * INT64CONST(1024) / sizeof(ShIdxCandidate), 1024);
	ordered->pin = InvalidBuffer;
	return ordered;
}

void
shidx_ordered_end(ShIdxOrdered *ordered)
{
	shidx_ordered_release(ordered);
	MemoryContextDelete(ordered->context);
	pfree(ordered->centres);
	pfree(ordered);
}

/*
 * Give up the pin of the last candidate, if one is held.
 */
void
shidx_ordered_release(ShIdxOrdered *ordered)
{
	if (BufferIsValid(ordered->pin))
		ReleaseBuffer(ordered->pin);
	ordered->pin = InvalidBuffer;
}

static void
forget_candidates(ShIdxOrdered *ordered)
{
	MemoryContextReset(ordered->context);
	ordered->candidates = NULL;
	ordered->capacity = 0;
	ordered->ncandidates = 0;
	ordered->next_candidate = 0;
}

/*
 * How far from a fingerprint one that meets all conditions can be.
 */
static int
find_reach(const ShIdxConditions *conditions, uint64 centre)
{
	int			reach = SHBITS_WIDTH;

	for (int i = 0; i < conditions->count; i++)
	{
		const ShIdxCondition *condition = &conditions->list[i];
		int			farthest = 0;

		for (int b = 0; b < condition->nballs; b++)
			farthest = Max(farthest,
						   shbits_distance(centre, condition->balls[b].centre) +
						   Min(condition->balls[b].radius, SHBITS_WIDTH));
		reach = Min(reach, farthest);
	}
	return reach;
}

/*
 * Is the first condition answered by reading clearly less than a table?
 */
static bool
is_selective(ShIdxReader *reader)
{
	const ShIdxCondition *first = &reader->conditions->list[0];
	ShIdxBallScan *ballscan = &reader->ballscan;
	double		pages = 0;

	for (int b = 0; b < first->nballs; b++)
	{
		shidx_ball_plan(ballscan, first->balls[b].radius);
		pages += ballscan->plan.pages;
	}
	return pages < ballscan->leaves_per_table / 2;
}

/*
 * Start, after the conditions have been read.  Returns false if there is no
 * order.
 */
bool
shidx_ordered_start(ShIdxOrdered *ordered, ScanKey orderbys, int norderbys)
{
	forget_candidates(ordered);
	ordered->ncentres = 0;
	for (int i = 0; i < norderbys; i++)
	{
		/* distances from null are null: nothing to tell rows apart by */
		if ((orderbys[i].sk_flags & SK_ISNULL) == 0)
			ordered->centres[ordered->ncentres++] = DatumGetSimhash(orderbys[i].sk_argument);
	}
	if (ordered->ncentres == 0)
		return false;
	ordered->reach = find_reach(ordered->reader->conditions, ordered->centres[0]);
	ordered->next = 0;
	ordered->counted = -1;
	ordered->batch = FIRST_BATCH;
	ordered->step = is_selective(ordered->reader) ? COLLECT_CONDITIONS : COLLECT_BATCH;
	return true;
}

static inline int
distance_of(const ShIdxOrdered *ordered, uint64 fp)
{
	return shbits_distance(fp, ordered->centres[0]);
}

static void
add_candidate(ShIdxOrdered *ordered, uint64 fp, ItemPointerData tid, int distance)
{
	ShIdxCandidate *candidate;

	if (ordered->ncandidates == ordered->capacity)
	{
		ordered->capacity = Max(2 * ordered->capacity, FIRST_BATCH);
		if (ordered->candidates == NULL)
			ordered->candidates = MemoryContextAlloc(ordered->context,
													 ordered->capacity * sizeof(ShIdxCandidate));
		else
			ordered->candidates = repalloc_huge(ordered->candidates,
												ordered->capacity * sizeof(ShIdxCandidate));
	}
	candidate = &ordered->candidates[ordered->ncandidates++];
	candidate->fp = fp;
	candidate->tid = tid;
	candidate->distance = distance;
}

static void
sort_collected(ShIdxOrdered *ordered)
{
	SortKeys	keys = {ordered->centres, ordered->ncentres};

	if (ordered->ncandidates > 1)
		sort_candidates(ordered->candidates, ordered->ncandidates, &keys);
}

/*
 * Collect all that meet the conditions.  Returns false, with nothing
 * collected, if they are too many.
 */
static bool
collect_conditions(ShIdxOrdered *ordered)
{
	ShIdxReader *reader = ordered->reader;
	const ShIdxMatches *matches = &reader->matches;

	forget_candidates(ordered);
	shidx_start_conditions(reader);
	while (shidx_next_matches(reader))
	{
		if (ordered->ncandidates + matches->count > ordered->max_candidates)
		{
			forget_candidates(ordered);
			return false;
		}
		for (int i = 0; i < matches->count; i++)
			add_candidate(ordered, matches->fps[i], matches->tids[i],
						  distance_of(ordered, matches->fps[i]));
	}
	sort_collected(ordered);
	ordered->next = ordered->reach + 1;
	return true;
}

static void
start_within(ShIdxOrdered *ordered, int distance)
{
	shidx_start_within(ordered->reader, simhash_make_ball(ordered->centres[0], distance));
}

/*
 * Collect the matches at distances from ordered->next to last.  Returns false,
 * with nothing collected, if they are more than limit.
 */
static bool
collect_distances(ShIdxOrdered *ordered, int last, int64 limit)
{
	const ShIdxMatches *matches = &ordered->reader->matches;

	forget_candidates(ordered);
	start_within(ordered, last);
	while (shidx_next_matches(ordered->reader))
	{
		for (int i = 0; i < matches->count; i++)
		{
			int			distance = distance_of(ordered, matches->fps[i]);

			if (distance < ordered->next)
				continue;
			if (ordered->ncandidates == limit)
			{
				forget_candidates(ordered);
				return false;
			}
			add_candidate(ordered, matches->fps[i], matches->tids[i], distance);
		}
	}
	sort_collected(ordered);
	ordered->next = last + 1;
	return true;
}

/*
 * Count the matches at each distance up to last.
 */
static void
make_histogram(ShIdxOrdered *ordered, int last)
{
	const ShIdxMatches *matches = &ordered->reader->matches;

	memset(ordered->histogram, 0, sizeof(ordered->histogram));
	start_within(ordered, last);
	while (shidx_next_matches(ordered->reader))
	{
		for (int i = 0; i < matches->count; i++)
			ordered->histogram[distance_of(ordered, matches->fps[i])]++;
	}
	ordered->counted = last;
}

/*
 * Up to which distance there should be a batch of fingerprints.
 */
static int
guess_distance(const ShIdxOrdered *ordered)
{
	const ShIdxBallScan *ballscan = &ordered->reader->ballscan;
	double		entries = ballscan->leaves_per_table * SHBT_LEAF_CAPACITY;
	double		all = shbits_ball_size(SHBITS_WIDTH, SHBITS_WIDTH);
	int			distance = ordered->next;

	if (distance == 0)
		distance = ballscan->scheme->distance;
	else
	{
		while (distance < ordered->reach &&
			   entries * shbits_ball_size(SHBITS_WIDTH, distance) / all < ordered->batch)
			distance++;
	}
	return Min(distance, ordered->reach);
}

/*
 * Collect the next batch.  Returns false, with nothing collected, if memory
 * does not hold the next distance.
 */
static bool
collect_batch(ShIdxOrdered *ordered)
{
	int			last;
	int64		count;

	if (ordered->next > ordered->counted)
	{
		last = guess_distance(ordered);
		if (collect_distances(ordered, last, ordered->max_candidates))
		{
			ordered->batch = Min(ordered->batch * BATCH_GROWTH, ordered->max_candidates);
			return true;
		}
		make_histogram(ordered, last);
	}

	last = ordered->next;
	count = ordered->histogram[last];
	while (last < ordered->counted &&
		   count + ordered->histogram[last + 1] <= ordered->max_candidates)
		count += ordered->histogram[++last];

	/* secondary keys need a sort: then memory has to do, whatever it takes */
	if (count > ordered->max_candidates && ordered->ncentres == 1)
		return false;
	return collect_distances(ordered, last, PG_INT64_MAX);
}

/*
 * The next match at the distance that is streamed.  Its page stays pinned if
 * the reader keeps pins.
 */
static bool
next_streamed(ShIdxOrdered *ordered, uint64 *fp, ItemPointer tid)
{
	ShIdxReader *reader = ordered->reader;
	int			match;

	while ((match = shidx_next_match(reader)) >= 0)
	{
		*fp = reader->matches.fps[match];
		*tid = reader->matches.tids[match];
		if (distance_of(ordered, *fp) == ordered->next)
			return true;
	}
	return false;
}

/*
 * The next candidate.  No pin has been held since it was collected, so if one
 * is wanted its entry is looked for again; where it is gone, so is the row.
 */
static bool
next_collected(ShIdxOrdered *ordered, bool want_pin, uint64 *fp, ItemPointer tid)
{
	ShIdxBallScan *ballscan = &ordered->reader->ballscan;

	while (ordered->next_candidate < ordered->ncandidates)
	{
		ShIdxCandidate *candidate = &ordered->candidates[ordered->next_candidate++];

		*fp = candidate->fp;
		*tid = candidate->tid;
		if (want_pin)
		{
			uint64		permuted = shbits_permute(&ballscan->scheme->tables[0], *fp);
			ShBtKey		key = shbt_make_key(permuted, shbt_tid_to_int(tid));

			if (!shbt_pin_entry(ballscan->index, 0, key, ballscan->snapshot, &ordered->pin))
				continue;
		}
		return true;
	}
	return false;
}

/*
 * The next match in order of distance.  Returns false after the last.
 *
 * With want_pin the leaf it came from is pinned until the next call.
 */
bool
shidx_ordered_next(ShIdxOrdered *ordered, bool want_pin, uint64 *fp, ItemPointer tid)
{
	ShIdxBallScan *ballscan = &ordered->reader->ballscan;

	shidx_ordered_release(ordered);

	/* the pages of candidates are not worth a pin */
	ballscan->keep_pin = want_pin && ordered->step == STREAM_DISTANCE;
	for (;;)
	{
		switch (ordered->step)
		{
			case COLLECT_CONDITIONS:
				ordered->step = collect_conditions(ordered) ? RETURN_COLLECTED : COLLECT_BATCH;
				break;

			case COLLECT_BATCH:
				if (ordered->next > ordered->reach)
					ordered->step = DONE;
				else if (collect_batch(ordered))
					ordered->step = RETURN_COLLECTED;
				else
				{
					ordered->step = STREAM_DISTANCE;
					ballscan->keep_pin = want_pin;
					start_within(ordered, ordered->next);
				}
				break;

			case RETURN_COLLECTED:
				if (next_collected(ordered, want_pin, fp, tid))
					return true;
				ordered->step = COLLECT_BATCH;
				break;

			case STREAM_DISTANCE:
				if (next_streamed(ordered, fp, tid))
					return true;
				ballscan->keep_pin = false;
				ordered->next++;
				ordered->step = COLLECT_BATCH;
				break;

			case DONE:
				ballscan->keep_pin = want_pin;
				return false;
		}
	}
}
