/*-------------------------------------------------------------------------
 *
 * wide_balls.c
 *	  Conditions on wide fingerprints, as balls of their parts.
 *
 * A ball of wide fingerprints becomes a ball for each part that is searched
 * (bits/probe.h).  What lies in these may lie in the ball, and has to be
 * rechecked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "btree/leaf.h"
#include "search/arguments.h"
#include "search/wide_balls.h"

/*
 * Begin to collect conditions on fingerprints of so many bits, in the current
 * memory context.
 */
ShFndWide *
shfnd_make_wide(int width, int max_conditions)
{
	ShFndWide  *wide = palloc0(sizeof(ShFndWide));

	wide->width = width;
	wide->nparts = shbits_nparts(width);
	wide->list = palloc(Max(max_conditions, 1) * sizeof(ShFndWideBalls));
	return wide;
}

/*
 * Add the ball of an argument of an operator to a condition, unless nothing lies
 * in it, or the argument has no fingerprint.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if the argument has another width,
 * as the operator does, which may have nothing to compare it with.
 */
static void
add_ball(const ShFndWide *wide, ShFndWideBalls *balls, ShClsFingerprinter *fingerprinter,
		 int strategy, Datum argument)
{
	ShFingerprint *parts = balls->centers + (Size) balls->nballs * wide->nparts;
	const uint8 *center;
	int			nbytes;
	int			radius;

	if (fingerprinter->computes)
	{
		if (shcls_get_parts(fingerprinter, argument, parts))
			balls->radii[balls->nballs++] = Min(SIMHASH_RADIUS_OF_STRATEGY(strategy), wide->width);
		return;
	}
	if (strategy == SIMHASH_STRATEGY_BALL)
	{
		SimhashBitsBall *ball = DatumGetSimhashBitsBall(argument);

		center = ball->center;
		nbytes = shtype_ball_bytes(ball);
		radius = ball->radius;
	}
	else
	{
		bytea	   *bits = DatumGetSimhashBits(argument);

		center = shtype_bits_data(bits);
		nbytes = shtype_bits_bytes(bits);
		if (strategy == SIMHASH_STRATEGY_EQUAL)
			radius = 0;
		else if (strategy == SIMHASH_STRATEGY_EIGHTH)
			radius = shtype_near_radius(wide->width);
		else if (strategy >= SIMHASH_STRATEGY_WITHIN)
			radius = SIMHASH_RADIUS_OF_STRATEGY(strategy);
		else
			elog(ERROR, "unrecognized strategy number: %d", strategy);
	}
	if (nbytes * BITS_PER_BYTE != wide->width)
	{
		/* then they are just not equal */
		if (strategy == SIMHASH_STRATEGY_EQUAL)
			return;
		shtype_report_widths(wide->width, nbytes * BITS_PER_BYTE);
	}
	if (radius < 0)
		return;
	shtype_split_bits(center, wide->width, parts);
	balls->radii[balls->nballs++] = Min(radius, wide->width);
}

static void
begin_balls(const ShFndWide *wide, ShFndWideBalls *balls, int most)
{
	balls->nballs = 0;
	balls->radii = MemoryContextAllocHuge(CurrentMemoryContext, Max(most, 1) * sizeof(int));
	balls->centers = MemoryContextAllocHuge(CurrentMemoryContext, Max(most, 1) *
											(Size) wide->nparts * sizeof(ShFingerprint));
}

/*
 * Add the condition of a scan key that has an argument.  Returns false if nothing
 * can meet it.
 *
 * Allocates in the current memory context.
 */
bool
shfnd_add_wide(ShFndWide *wide, ShClsFingerprinter *fingerprinter, ScanKey key)
{
	ShFndWideBalls *balls = &wide->list[wide->count++];
	Datum	   *arguments;
	int			narguments = shfnd_get_arguments(key, &arguments);

	begin_balls(wide, balls, narguments);
	for (int i = 0; i < narguments; i++)
		add_ball(wide, balls, fingerprinter, key->sk_strategy, arguments[i]);
	return balls->nballs > 0;
}

/*
 * Plan how to find everything that lies in counts[r] balls of each radius r from 0
 * to the width.
 */
void
shfnd_plan_wide_counts(const int *counts, int width, const ShBitsScheme *scheme,
					   bool by_table, double leaves_per_table, ShFndWidePlan *plan)
{
	int			nparts = shbits_nparts(width);
	double		rows = leaves_per_table * SHBT_USUAL_ENTRIES;
	int			(*parts)[SHBITS_WIDTH + 1] = palloc0(nparts * sizeof(*parts));
	ShFndBallsPlan *sum = &plan->balls;

	memset(plan, 0, sizeof(*plan));
	for (int r = 0; r <= width; r++)
	{
		ShBitsAllotment allotment;

		if (counts[r] == 0)
			continue;
		shbits_allot(scheme, width, r, by_table, leaves_per_table, rows, &allotment);
		plan->share += allotment.share * counts[r];
		for (int i = 0; i < nparts; i++)
		{
			if (allotment.radii[i] >= 0)
				parts[i][allotment.radii[i]] = Min((int64) parts[i][allotment.radii[i]] + counts[r],
												   INT_MAX);
		}
	}
	plan->share = Min(plan->share, 1);

	for (int i = 0; i < nparts; i++)
	{
		double		work = shfnd_usual_work(parts[i]);
		ShFndBallsPlan part;
		bool		empty = true;

		for (int r = 0; r <= SHBITS_WIDTH; r++)
			empty &= parts[i][r] == 0;
		if (empty)
			continue;
		if (by_table)
			shfnd_plan_balls_by_table(parts[i], work, leaves_per_table, &part);
		else
			shfnd_plan_balls(parts[i], work, scheme, leaves_per_table, &part);
		sum->table |= part.table;
		sum->ranges += part.ranges;
		sum->pages += part.pages;
		sum->comparing += part.comparing;
	}
	pfree(parts);
}

/*
 * Plan how to find what lies in the balls of a condition.
 */
static void
plan_balls(const ShFndWide *wide, const ShFndWideBalls *balls, const ShBitsScheme *scheme,
		   bool by_table, double leaves, ShFndWidePlan *plan)
{
	int		   *counts = palloc0((wide->width + 1) * sizeof(int));

	for (int i = 0; i < balls->nballs; i++)
		counts[balls->radii[i]]++;
	shfnd_plan_wide_counts(counts, wide->width, scheme, by_table, leaves, plan);
	pfree(counts);
}

/*
 * The same for the condition that has been chosen.
 */
void
shfnd_plan_chosen(const ShFndWide *wide, const ShBitsScheme *scheme, bool by_table,
				  double leaves_per_table, ShFndWidePlan *plan)
{
	plan_balls(wide, wide->chosen, scheme, by_table, Max(leaves_per_table, 1), plan);
}

/*
 * About how much it costs to find what lies in the balls of a condition, in pages.
 */
static double
cost_of(const ShFndWide *wide, const ShFndWideBalls *balls, const ShBitsScheme *scheme,
		bool by_table, double leaves)
{
	ShFndWidePlan plan;

	plan_balls(wide, balls, scheme, by_table, leaves, &plan);
	return plan.balls.pages + plan.balls.comparing + plan.share * leaves * SHBT_USUAL_ENTRIES;
}

/*
 * Allot a radius, unless the last one that was allotted is the same.
 */
static const ShBitsAllotment *
allot(const ShFndWide *wide, const ShBitsScheme *scheme, int radius, bool by_table,
	  double leaves, ShFndAllotted *allotted)
{
	if (radius != allotted->radius || by_table != allotted->by_table ||
		leaves != allotted->leaves)
	{
		shbits_allot(scheme, wide->width, radius, by_table, leaves,
					 leaves * SHBT_USUAL_ENTRIES, &allotted->allotment);
		allotted->radius = radius;
		allotted->by_table = by_table;
		allotted->leaves = leaves;
	}
	return &allotted->allotment;
}

/*
 * Choose the condition that costs least, and make the sets of balls in which to
 * search each part.  There must be at least one condition.  leaves_per_table is
 * the number of leaves of a table for one of the groups, or for all if by_table
 * says that tables are read from end to end.  *allotted is kept from one plan to
 * the next of the same index.
 *
 * Allocates in the current memory context.
 */
void
shfnd_plan_wide(ShFndWide *wide, const ShBitsScheme *scheme, bool by_table,
				double leaves_per_table, ShFndAllotted *allotted)
{
	double		leaves = Max(leaves_per_table, 1);
	double		least = 0;
	const ShFndWideBalls *balls;

	wide->chosen = &wide->list[0];
	for (int i = 0; i < wide->count && wide->count > 1; i++)
	{
		double		cost = cost_of(wide, &wide->list[i], scheme, by_table, leaves);

		if (i == 0 || cost < least)
		{
			least = cost;
			wide->chosen = &wide->list[i];
		}
	}

	balls = wide->chosen;
	wide->sets = palloc0(wide->nparts * sizeof(ShFndBallSet));
	for (int i = 0; i < balls->nballs; i++)
	{
		const ShBitsAllotment *allotment;

		CHECK_FOR_INTERRUPTS();
		allotment = allot(wide, scheme, balls->radii[i], by_table, leaves, allotted);
		for (int p = 0; p < wide->nparts; p++)
		{
			ShFndBallSet *set = &wide->sets[p];

			if (allotment->radii[p] < 0)
				continue;
			if (set->balls == NULL)
				set->balls = MemoryContextAllocHuge(CurrentMemoryContext,
													(Size) balls->nballs * sizeof(SimhashBall));
			set->balls[set->nballs++] =
				simhash_make_ball(balls->centers[(Size) i * wide->nparts + p],
								  allotment->radii[p]);
		}
	}
	wide->searched = 0;
	for (int p = 0; p < wide->nparts; p++)
	{
		if (wide->sets[p].nballs > 0)
		{
			shfnd_make_ball_set(&wide->sets[p]);
			wide->searched++;
		}
	}
}

/*
 * The balls of the first part in which everything lies that meets the chosen
 * condition: for when no other part is searched.
 *
 * Allocates in the current memory context.
 */
ShFndBallSet
shfnd_rest_of_wide(const ShFndWide *wide)
{
	const ShFndWideBalls *balls = wide->chosen;
	ShFndBallSet set = {.nballs = balls->nballs};

	set.balls = MemoryContextAllocHuge(CurrentMemoryContext,
									   (Size) balls->nballs * sizeof(SimhashBall));
	for (int i = 0; i < balls->nballs; i++)
		set.balls[i] = simhash_make_ball(balls->centers[(Size) i * wide->nparts],
										 Min(balls->radii[i], SHBITS_WIDTH));
	shfnd_make_ball_set(&set);
	return set;
}
