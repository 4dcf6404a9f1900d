/*-------------------------------------------------------------------------
 *
 * ordered.c
 *	  Scanning a simhash index in the order of the distance from a query.
 *
 * If the first condition is answered by a few probes, its matches are all
 * collected and sorted.  Else balls around the query are read, of growing
 * radius: first the one that exact prefixes answer, which has what most who
 * ask are after; then such as should hold a batch of matches, if fingerprints
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
#include "index/am.h"
#include "index/scan.h"

/* about how many candidates the first batch has, and how batches grow */
#define FIRST_BATCH		256
#define BATCH_GROWTH	16

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
 * Called by ambeginscan.
 */
void
shidx_ordered_begin(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	ShIdxOrdered *nearest = palloc0(sizeof(ShIdxOrdered));

	nearest->centres = palloc(scan->numberOfOrderBys * sizeof(uint64));
	nearest->context = AllocSetContextCreate(CurrentMemoryContext, "simhash nearest",
											 ALLOCSET_DEFAULT_SIZES);
	nearest->max_candidates = Max(work_mem * INT64CONST(1024) / sizeof(ShIdxCandidate), 1024);
	so->nearest = nearest;

	/* exact, so the executor has no use for the values: say null */
	scan->xs_orderbyvals = palloc0(scan->numberOfOrderBys * sizeof(Datum));
	scan->xs_orderbynulls = palloc(scan->numberOfOrderBys * sizeof(bool));
	memset(scan->xs_orderbynulls, true, scan->numberOfOrderBys * sizeof(bool));
}

/*
 * Called by amendscan.
 */
void
shidx_ordered_end(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	MemoryContextDelete(so->nearest->context);
	pfree(so->nearest->centres);
	pfree(so->nearest);
	so->nearest = NULL;
}

static void
forget_candidates(ShIdxOrdered *nearest)
{
	MemoryContextReset(nearest->context);
	nearest->candidates = NULL;
	nearest->capacity = 0;
	nearest->ncandidates = 0;
	nearest->next_candidate = 0;
}

/*
 * How far from the query a fingerprint that meets all conditions can be.
 */
static int
find_reach(ShIdxScan so, uint64 centre)
{
	int			reach = SHBITS_WIDTH;

	for (int i = 0; i < so->nconditions; i++)
	{
		const ShIdxCondition *condition = &so->conditions[i];
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
is_selective(ShIdxScan so)
{
	double		pages = 0;

	for (int b = 0; b < so->conditions[0].nballs; b++)
	{
		shidx_ball_plan(&so->ballscan, so->conditions[0].balls[b].radius);
		pages += so->ballscan.plan.pages;
	}
	return pages < so->ballscan.leaves_per_table / 2;
}

/*
 * Start an ordered scan, after the conditions have been read.  Returns false
 * if there is no order.
 */
bool
shidx_ordered_start(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	ShIdxOrdered *nearest = so->nearest;

	forget_candidates(nearest);
	nearest->ncentres = 0;
	for (int i = 0; i < scan->numberOfOrderBys; i++)
	{
		ScanKey		key = &scan->orderByData[i];

		/* distances from null are null: nothing to tell rows apart by */
		if ((key->sk_flags & SK_ISNULL) == 0)
			nearest->centres[nearest->ncentres++] = DatumGetSimhash(key->sk_argument);
	}
	if (nearest->ncentres == 0)
		return false;
	nearest->reach = find_reach(so, nearest->centres[0]);
	nearest->next = 0;
	nearest->collect_all = is_selective(so);
	nearest->streaming = false;
	nearest->counted = -1;
	nearest->batch = FIRST_BATCH;
	return true;
}

static void
add_candidate(ShIdxOrdered *nearest, uint64 fp, ItemPointerData tid, int distance)
{
	ShIdxCandidate *candidate;

	if (nearest->ncandidates == nearest->capacity)
	{
		nearest->capacity = Max(2 * nearest->capacity, FIRST_BATCH);
		if (nearest->candidates == NULL)
			nearest->candidates = MemoryContextAlloc(nearest->context,
													 nearest->capacity * sizeof(ShIdxCandidate));
		else
			nearest->candidates = repalloc_huge(nearest->candidates,
												nearest->capacity * sizeof(ShIdxCandidate));
	}
	candidate = &nearest->candidates[nearest->ncandidates++];
	candidate->fp = fp;
	candidate->tid = tid;
	candidate->distance = distance;
}

static void
sort_collected(ShIdxOrdered *nearest)
{
	SortKeys	keys = {nearest->centres, nearest->ncentres};

	if (nearest->ncandidates > 1)
		sort_candidates(nearest->candidates, nearest->ncandidates, &keys);
}

/*
 * Collect all matches of the first condition.  Returns false, with nothing
 * collected, if they are too many.
 */
static bool
collect_all(ShIdxScan so)
{
	ShIdxOrdered *nearest = so->nearest;

	forget_candidates(nearest);
	shidx_start_matches(so);
	while (shidx_next_matches(so))
	{
		if (nearest->ncandidates + so->matches.count > nearest->max_candidates)
		{
			forget_candidates(nearest);
			return false;
		}
		for (int i = 0; i < so->matches.count; i++)
			add_candidate(nearest, so->matches.fps[i], so->matches.tids[i],
						  shbits_distance(so->matches.fps[i], nearest->centres[0]));
	}
	return true;
}

/*
 * Read the next matches within a distance.  Returns false after the last.
 */
static bool
next_within(ShIdxScan so)
{
	ShIdxMatches *matches = &so->matches;

	while (shidx_ball_next(&so->ballscan, matches))
	{
		int			kept = 0;

		for (int i = 0; i < matches->count; i++)
		{
			if (shidx_meets(so, 0, matches->fps[i]))
			{
				matches->fps[kept] = matches->fps[i];
				matches->tids[kept] = matches->tids[i];
				kept++;
			}
		}
		matches->count = kept;
		if (kept > 0)
			return true;
	}
	return false;
}

static void
start_within(ShIdxScan so, int distance)
{
	shidx_ball_start(&so->ballscan, simhash_make_ball(so->nearest->centres[0], distance));
}

/*
 * Collect the matches at distances from nearest->next to last.  Returns false,
 * with nothing collected, if they are more than limit.
 */
static bool
collect_distances(ShIdxScan so, int last, int64 limit)
{
	ShIdxOrdered *nearest = so->nearest;

	forget_candidates(nearest);
	start_within(so, last);
	while (next_within(so))
	{
		for (int i = 0; i < so->matches.count; i++)
		{
			int			distance = shbits_distance(so->matches.fps[i], nearest->centres[0]);

			if (distance < nearest->next)
				continue;
			if (nearest->ncandidates == limit)
			{
				forget_candidates(nearest);
				return false;
			}
			add_candidate(nearest, so->matches.fps[i], so->matches.tids[i], distance);
		}
	}
	nearest->next = last + 1;
	return true;
}

/*
 * Count the matches at each distance up to last.
 */
static void
make_histogram(ShIdxScan so, int last)
{
	ShIdxOrdered *nearest = so->nearest;

	memset(nearest->histogram, 0, sizeof(nearest->histogram));
	start_within(so, last);
	while (next_within(so))
	{
		for (int i = 0; i < so->matches.count; i++)
			nearest->histogram[shbits_distance(so->matches.fps[i], nearest->centres[0])]++;
	}
	nearest->counted = last;
}

/*
 * Up to which distance there should be a batch of fingerprints.
 */
static int
guess_distance(ShIdxScan so)
{
	const ShIdxOrdered *nearest = so->nearest;
	double		entries = so->ballscan.leaves_per_table * SHBT_LEAF_CAPACITY;
	double		all = shbits_ball_size(SHBITS_WIDTH, SHBITS_WIDTH);
	int			distance = nearest->next;

	if (distance == 0)
		distance = so->ballscan.scheme->distance;
	else
	{
		while (distance < nearest->reach &&
			   entries * shbits_ball_size(SHBITS_WIDTH, distance) / all < nearest->batch)
			distance++;
	}
	return Min(distance, nearest->reach);
}

/*
 * Collect the next batch, or start streaming.
 */
static void
next_batch(ShIdxScan so)
{
	ShIdxOrdered *nearest = so->nearest;
	int			last;
	int64		count;

	if (nearest->next > nearest->counted)
	{
		last = guess_distance(so);
		if (collect_distances(so, last, nearest->max_candidates))
		{
			sort_collected(nearest);
			nearest->batch = Min(nearest->batch * BATCH_GROWTH, nearest->max_candidates);
			return;
		}
		make_histogram(so, last);
	}

	last = nearest->next;
	count = nearest->histogram[last];
	while (last < nearest->counted &&
		   count + nearest->histogram[last + 1] <= nearest->max_candidates)
		count += nearest->histogram[++last];

	/* secondary keys need a sort: then memory has to do, whatever it takes */
	if (count > nearest->max_candidates && nearest->ncentres == 1)
	{
		nearest->streaming = true;
		so->matches.count = 0;
		so->next_match = 0;
		start_within(so, nearest->next);
		return;
	}
	(void) collect_distances(so, last, PG_INT64_MAX);
	sort_collected(nearest);
}

/*
 * The next match at the distance that is streamed.  Its page stays pinned if
 * the scan wants that.
 */
static bool
next_streamed(ShIdxScan so, uint64 *fp, ItemPointer tid)
{
	for (;;)
	{
		while (so->next_match < so->matches.count)
		{
			int			i = so->next_match++;

			if (shbits_distance(so->matches.fps[i], so->nearest->centres[0]) == so->nearest->next)
			{
				*fp = so->matches.fps[i];
				*tid = so->matches.tids[i];
				return true;
			}
		}
		so->next_match = 0;
		if (!next_within(so))
		{
			so->matches.count = 0;
			so->nearest->streaming = false;
			so->nearest->next++;
			return false;
		}
	}
}

/*
 * The next candidate.  No pin has been held since it was collected, so if one
 * is wanted its entry is looked for again; where it is gone, so is the row.
 */
static bool
next_candidate(ShIdxScan so, bool want_pin, uint64 *fp, ItemPointer tid)
{
	ShIdxOrdered *nearest = so->nearest;

	while (nearest->next_candidate < nearest->ncandidates)
	{
		ShIdxCandidate *candidate = &nearest->candidates[nearest->next_candidate++];

		*fp = candidate->fp;
		*tid = candidate->tid;
		if (want_pin)
		{
			uint64		permuted = shbits_permute(&so->ballscan.scheme->tables[0], *fp);
			ShBtKey	key = shbt_make_key(permuted, shbt_tid_to_int(tid));

			if (!shbt_pin_entry(so->ballscan.index, 0, key, so->ballscan.snapshot, &so->pin))
				continue;
		}
		return true;
	}
	return false;
}

/*
 * Give up the pin of the last candidate, if one is held.
 */
void
shidx_ordered_release(ShIdxScan so)
{
	if (BufferIsValid(so->pin))
		ReleaseBuffer(so->pin);
	so->pin = InvalidBuffer;
}

/*
 * The next match in order of distance.  Returns false after the last.
 */
bool
shidx_ordered_next(IndexScanDesc scan, bool want_pin, uint64 *fp, ItemPointer tid)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	ShIdxOrdered *nearest = so->nearest;

	shidx_ordered_release(so);
	for (;;)
	{
		if (nearest->streaming && next_streamed(so, fp, tid))
			return true;
		if (next_candidate(so, want_pin, fp, tid))
			return true;
		if (nearest->next > nearest->reach)
			return false;

		/* the pages of candidates are not worth a pin */
		so->ballscan.keep_pin = false;
		if (nearest->collect_all)
		{
			nearest->collect_all = false;
			if (collect_all(so))
			{
				sort_collected(nearest);
				nearest->next = nearest->reach + 1;
			}
		}
		else
			next_batch(so);
		so->ballscan.keep_pin = want_pin;
	}
}
