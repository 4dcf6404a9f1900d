/*-------------------------------------------------------------------------
 *
 * ballset.c
 *	  Many balls: in which of them does a fingerprint lie?
 *
 * For each block of bits, the balls are listed by its value (src/README, section 1).
 * Where that tells too few of them apart, the fingerprint is compared with all
 * centers by vector instructions.  Balls of radius 0 are found by binary search.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "bits/probe.h"
#include "btree/leaf.h"
#include "search/ballset.h"

/*
 * lists by blocks must leave no more than this share of the balls, on average
 */
#define MAX_LEFT			0.125

/* how many centers are compared between checks for interrupts */
#define CHUNK			1024

/* the cost of a comparison, relative to that of reading a page */
#define NARROW_WORK		0.05
#define WIDE_WORK		0.0002

#define ST_SORT sort_balls
#define ST_ELEMENT_TYPE SimhashBall
/* for equal centers the largest ball first, which contains the others */
#define ST_COMPARE(a, b) \
	((a)->center != (b)->center ? ((a)->center < (b)->center ? -1 : 1) : \
	 (a)->radius > (b)->radius ? -1 : (a)->radius < (b)->radius)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Drop balls that are empty, or are contained in another one with the same
 * center.  If a ball contains everything, drop all others.
 */
static void
simplify(ShFndBallSet *set)
{
	int			kept = 0;

	sort_balls(set->balls, set->nballs);
	for (int i = 0; i < set->nballs; i++)
	{
		SimhashBall ball = set->balls[i];

		if (ball.radius >= SHBITS_WIDTH)
		{
			set->balls[0] = ball;
			set->nballs = 1;
			return;
		}
		if (ball.radius >= 0 && (kept == 0 || set->balls[kept - 1].center != ball.center))
			set->balls[kept++] = ball;
	}
	set->nballs = kept;
}

static inline uint64
block_value(const ShFndBallBlock *block, ShFingerprint fp)
{
	return (fp >> block->shift) & block->mask;
}

/*
 * List the nnarrow narrow balls by the value of a block.  Returns the average
 * length of the list that a center is in.
 */
static double
fill_block(const ShFndBallSet *set, ShFndBallBlock *block, int nnarrow)
{
	int			nvalues = (int) block->mask + 1;
	int			end = 0;
	double		squares = 0;

	block->starts = MemoryContextAllocExtended(CurrentMemoryContext,
											   (nvalues + 1) * sizeof(int),
											   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	block->members = MemoryContextAllocHuge(CurrentMemoryContext, nnarrow * sizeof(int));

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < set->nballs; i++)
	{
		if (set->balls[i].radius <= SHFND_NARROW_RADIUS)
			block->starts[block_value(block, set->balls[i].center)]++;
	}
	for (int v = 0; v <= nvalues; v++)
	{
		int			count = block->starts[v];

		block->starts[v] = end;
		end += count;
		squares += (double) count * count;
	}

	/* each start advances to its end, where the next list started */
	for (int i = 0; i < set->nballs; i++)
	{
		if (set->balls[i].radius <= SHFND_NARROW_RADIUS)
			block->members[block->starts[block_value(block, set->balls[i].center)]++] = i;
	}
	memmove(block->starts + 1, block->starts, nvalues * sizeof(int));
	block->starts[0] = 0;
	return squares / nnarrow;
}

/*
 * List the narrow balls by all blocks.  Returns false, with nothing listed, if
 * that does not help.
 */
static bool
make_blocks(ShFndBallSet *set, int radius, int nnarrow)
{
	ShFndBallIndex *index = set->index;
	int			bits = Max(pg_leftmost_one_pos32(nnarrow) - 1, 1);
	double		left = 0;

	index->nblocks = radius + 1;
	for (int b = 0; b < index->nblocks; b++)
	{
		ShFndBallBlock *block = &index->blocks[b];
		int			end = (b + 1) * SHBITS_WIDTH / index->nblocks;

		block->shift = b * SHBITS_WIDTH / index->nblocks;
		block->mask = (UINT64CONST(1) << Min(bits, end - block->shift)) - 1;
		left += fill_block(set, block, nnarrow);
	}
	if (left <= nnarrow * MAX_LEFT)
		return true;

	for (int b = 0; b < index->nblocks; b++)
	{
		pfree(index->blocks[b].starts);
		pfree(index->blocks[b].members);
	}
	index->nblocks = 0;
	return false;
}

/*
 * List the centers of the balls with a larger radius than the given one.
 */
static void
list_centers(ShFndBallSet *set, int radius, int count)
{
	ShFndBallIndex *index = set->index;

	index->centers = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(ShFingerprint));
	index->places = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(int));
	for (int i = 0; i < set->nballs; i++)
	{
		SimhashBall ball = set->balls[i];

		if (ball.radius <= radius)
			continue;
		index->centers[index->ncenters] = ball.center;
		index->places[index->ncenters++] = i;
		index->radius = Max(index->radius, ball.radius);
	}
}

static void
make_index(ShFndBallSet *set)
{
	int			counts[SHBITS_WIDTH + 1];
	int			nnarrow = 0;
	int			radius = 0;

	shfnd_count_radii(set, counts);
	for (int r = 0; r <= SHFND_NARROW_RADIUS; r++)
	{
		nnarrow += counts[r];
		if (counts[r] > 0)
			radius = r;
	}
	set->index = palloc0(sizeof(ShFndBallIndex));
	if (nnarrow > 0 && !make_blocks(set, radius, nnarrow))
		list_centers(set, -1, set->nballs);
	else if (nnarrow < set->nballs)
		list_centers(set, SHFND_NARROW_RADIUS, set->nballs - nnarrow);
}

/*
 * Make a set of set->balls[0 .. nballs - 1], which may have any radius.  Balls
 * that are not needed are dropped.
 *
 * Allocates about as much memory as the balls take, in the current context.
 */
void
shfnd_make_ball_set(ShFndBallSet *set)
{
	simplify(set);
	set->points = true;
	for (int i = 0; i < set->nballs; i++)
		set->points &= set->balls[i].radius == 0;
	set->index = NULL;
	if (set->nballs > SHFND_FEW_BALLS && !set->points)
		make_index(set);
}

/*
 * Set counts[r], for r up to SHBITS_WIDTH, to the number of balls with that
 * radius.
 */
void
shfnd_count_radii(const ShFndBallSet *set, int *counts)
{
	memset(counts, 0, (SHBITS_WIDTH + 1) * sizeof(int));
	for (int i = 0; i < set->nballs; i++)
		counts[Min(set->balls[i].radius, SHBITS_WIDTH)]++;
}

static inline bool
in_ball(const SimhashBall *ball, ShFingerprint fp)
{
	return shbits_distance(fp, ball->center) <= ball->radius;
}

/*
 * Does a fingerprint with this difference from the center of a ball agree with it in
 * none of the blocks before b?
 */
static bool
is_first_block(const ShFndBallIndex *index, int b, ShFingerprint difference)
{
	for (int i = 0; i < b; i++)
	{
		if (block_value(&index->blocks[i], difference) == 0)
			return false;
	}
	return true;
}

static bool
find_in_blocks(const ShFndBallSet *set, int nballs, ShFingerprint fp, ShFndBallTest test, void *arg)
{
	for (int b = 0; b < set->index->nblocks; b++)
	{
		const ShFndBallBlock *block = &set->index->blocks[b];
		uint64		value = block_value(block, fp);

		for (int m = block->starts[value]; m < block->starts[value + 1]; m++)
		{
			int			i = block->members[m];

			if (i >= nballs)
				break;
			if (in_ball(&set->balls[i], fp) &&
				(test == NULL || (is_first_block(set->index, b, fp ^ set->balls[i].center) &&
								  test(i, arg))))
				return true;
		}
	}
	return false;
}

static bool
find_in_list(const ShFndBallSet *set, int nballs, ShFingerprint fp, ShFndBallTest test, void *arg)
{
	const ShFndBallIndex *index = set->index;

	for (int start = 0; start < index->ncenters && index->places[start] < nballs; start += CHUNK)
	{
		uint16		found[CHUNK];
		int			nfound = shbits_filter(index->centers + start,
										   Min(index->ncenters - start, CHUNK),
										   fp, index->radius, found);

		CHECK_FOR_INTERRUPTS();
		for (int f = 0; f < nfound; f++)
		{
			int			i = index->places[start + found[f]];

			if (i >= nballs)
				break;
			if (in_ball(&set->balls[i], fp) && (test == NULL || test(i, arg)))
				return true;
		}
	}
	return false;
}

static bool
find_center(const ShFndBallSet *set, int nballs, ShFingerprint fp, ShFndBallTest test, void *arg)
{
	int			low = 0;
	int			high = nballs;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (set->balls[middle].center < fp)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nballs && set->balls[low].center == fp && (test == NULL || test(low, arg));
}

/*
 * Call a test with the positions of those of the first nballs balls that a
 * fingerprint lies in, each once, until it returns true.  Returns whether it has.
 * Without a test, any ball will do.
 */
bool
shfnd_find_ball(const ShFndBallSet *set, int nballs, ShFingerprint fp, ShFndBallTest test,
				void *arg)
{
	if (set->points)
		return find_center(set, nballs, fp, test, arg);
	if (nballs <= SHFND_FEW_BALLS)
	{
		for (int i = 0; i < nballs; i++)
		{
			if (in_ball(&set->balls[i], fp) && (test == NULL || test(i, arg)))
				return true;
		}
		return false;
	}
	return find_in_blocks(set, nballs, fp, test, arg) || find_in_list(set, nballs, fp, test, arg);
}

/*
 * Does a fingerprint lie in one of the first nballs balls?
 */
bool
shfnd_in_balls(const ShFndBallSet *set, int nballs, ShFingerprint fp)
{
	return shfnd_find_ball(set, nballs, fp, NULL, NULL);
}

/*
 * The cost of comparing a fingerprint with all balls, relative to that of
 * reading a page.
 */
double
shfnd_comparing_work(const ShFndBallSet *set)
{
	const ShFndBallIndex *index = set->index;

	if (index == NULL)
		return NARROW_WORK;
	return (index->nblocks > 0 ? NARROW_WORK : 0) + index->ncenters * WIDE_WORK;
}

/*
 * The same, if only the number of balls of each radius is known.
 */
double
shfnd_expected_work(const int *counts)
{
	double		nwide = 0;

	for (int r = SHFND_NARROW_RADIUS + 1; r <= SHBITS_WIDTH; r++)
		nwide += counts[r];
	return NARROW_WORK + nwide * WIDE_WORK;
}
