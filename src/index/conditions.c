/*-------------------------------------------------------------------------
 *
 * conditions.c
 *	  What a scan looks for: from scan keys to balls.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "bits/distance.h"
#include "index/am.h"
#include "index/conditions.h"

/*
 * The ball of those that an operator of the strategy finds for an argument.
 */
static SimhashBall
make_ball(StrategyNumber strategy, Datum argument)
{
	if (strategy == SHIDX_STRATEGY_BALL)
		return *DatumGetSimhashBall(argument);
	if (strategy < 1 || strategy > SHIDX_MAX_WITHIN_STRATEGY)
		elog(ERROR, "unknown strategy %d", strategy);
	return simhash_make_ball(DatumGetSimhash(argument), SHIDX_RADIUS_OF_STRATEGY(strategy));
}

static int
compare_balls(const void *a, const void *b)
{
	const SimhashBall *x = a;
	const SimhashBall *y = b;

	if (x->centre != y->centre)
		return x->centre < y->centre ? -1 : 1;
	/* the larger one first, which holds the smaller one */
	return x->radius > y->radius ? -1 : x->radius < y->radius;
}

/*
 * Drop the balls that are empty, or lie in another one with the same centre.
 */
static void
simplify_balls(ShIdxCondition *condition)
{
	int			kept = 0;

	qsort(condition->balls, condition->nballs, sizeof(SimhashBall), compare_balls);
	for (int i = 0; i < condition->nballs; i++)
	{
		SimhashBall ball = condition->balls[i];

		if (ball.radius >= 0 &&
			(kept == 0 || condition->balls[kept - 1].centre != ball.centre))
			condition->balls[kept++] = ball;
	}
	condition->nballs = kept;
	condition->points = true;
	for (int i = 0; i < kept; i++)
		condition->points &= condition->balls[i].radius == 0;
}

/*
 * The condition of one scan key that has an argument.
 */
static ShIdxCondition
read_condition(ScanKey key)
{
	ShIdxCondition condition = {0};

	if (key->sk_flags & SK_SEARCHARRAY)
	{
		ArrayType  *array = DatumGetArrayTypeP(key->sk_argument);
		Datum	   *elements;
		bool	   *nulls;
		int			nelements;
		int16		length;
		bool		by_value;
		char		alignment;

		get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
		deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment,
						  &elements, &nulls, &nelements);
		condition.balls = palloc(Max(nelements, 1) * sizeof(SimhashBall));
		for (int i = 0; i < nelements; i++)
		{
			if (!nulls[i])
				condition.balls[condition.nballs++] = make_ball(key->sk_strategy, elements[i]);
		}
	}
	else
	{
		condition.balls = palloc(sizeof(SimhashBall));
		condition.balls[0] = make_ball(key->sk_strategy, key->sk_argument);
		condition.nballs = 1;
	}
	simplify_balls(&condition);
	return condition;
}

static int
largest_radius(const ShIdxCondition *condition)
{
	int			radius = -1;

	for (int i = 0; i < condition->nballs; i++)
		radius = Max(radius, condition->balls[i].radius);
	return radius;
}

/*
 * Turn scan keys into conditions, the one with the smallest balls first.
 *
 * Allocates in the current memory context.
 */
void
shidx_read_conditions(ShIdxConditions *conditions, ScanKey keys, int nkeys)
{
	bool		is_null = false;
	bool		is_not_null = false;
	bool		nothing = false;

	conditions->count = 0;
	conditions->list = palloc(Max(nkeys, 1) * sizeof(ShIdxCondition));
	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		ShIdxCondition condition;

		if (key->sk_flags & SK_SEARCHNULL)
		{
			is_null = true;
			continue;
		}
		is_not_null = true;
		if (key->sk_flags & SK_SEARCHNOTNULL)
			continue;
		if (key->sk_flags & SK_ISNULL)
		{
			nothing = true;		/* the operators are strict */
			continue;
		}

		condition = read_condition(key);
		if (condition.nballs == 0)
			nothing = true;
		if (conditions->count > 0 &&
			largest_radius(&condition) < largest_radius(&conditions->list[0]))
		{
			ShIdxCondition first = conditions->list[0];

			conditions->list[0] = condition;
			condition = first;
		}
		conditions->list[conditions->count++] = condition;
	}

	if (conditions->count == 0)
	{
		ShIdxCondition *all = &conditions->list[conditions->count++];

		all->balls = palloc(sizeof(SimhashBall));
		all->balls[0] = simhash_make_ball(0, SHBITS_WIDTH);
		all->nballs = 1;
		all->points = false;
	}
	conditions->nulls = !nothing && !is_not_null;
	conditions->non_nulls = !nothing && !is_null;
}

/*
 * Does the fingerprint lie in one of the first balls of a condition?
 *
 * Takes time in proportion to their number, unless they are points.
 */
bool
shidx_in_balls(const ShIdxCondition *condition, int nballs, uint64 fp)
{
	const SimhashBall *balls = condition->balls;

	if (condition->points)
	{
		int			low = 0;
		int			high = nballs;

		while (low < high)
		{
			int			middle = (low + high) / 2;

			if (balls[middle].centre < fp)
				low = middle + 1;
			else
				high = middle;
		}
		return low < nballs && balls[low].centre == fp;
	}

	for (int i = 0; i < nballs; i++)
	{
		if (shbits_distance(fp, balls[i].centre) <= balls[i].radius)
			return true;
	}
	return false;
}

/*
 * Does the fingerprint meet all conditions, from that number on?
 */
bool
shidx_meets(const ShIdxConditions *conditions, int from, uint64 fp)
{
	for (int i = from; i < conditions->count; i++)
	{
		const ShIdxCondition *condition = &conditions->list[i];

		if (!shidx_in_balls(condition, condition->nballs, fp))
			return false;
	}
	return true;
}
