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
#include "index/group.h"

/*
 * The ball of the fingerprints that an operator finds for an argument.
 */
static SimhashBall
ball_of_argument(StrategyNumber strategy, Datum argument)
{
	if (strategy == SHIDX_STRATEGY_BALL)
		return *DatumGetSimhashBall(argument);
	if (strategy < 1 || strategy > SHIDX_MAX_WITHIN_STRATEGY)
		elog(ERROR, "unrecognized strategy number: %d", strategy);
	return simhash_make_ball(DatumGetSimhash(argument), SHIDX_RADIUS_OF_STRATEGY(strategy));
}

/*
 * The condition of one scan key that has an argument.
 */
static ShIdxBallSet
read_condition(ScanKey key)
{
	ShIdxBallSet set = {0};

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
		set.balls = palloc(Max(nelements, 1) * sizeof(SimhashBall));
		for (int i = 0; i < nelements; i++)
		{
			if (!nulls[i])
				set.balls[set.nballs++] = ball_of_argument(key->sk_strategy, elements[i]);
		}
	}
	else
	{
		set.balls = palloc(sizeof(SimhashBall));
		set.balls[0] = ball_of_argument(key->sk_strategy, key->sk_argument);
		set.nballs = 1;
	}
	shidx_make_ball_set(&set);
	return set;
}

/*
 * Turn the scan keys of an index into conditions.  A single condition on the
 * fingerprint, with a single ball, needs no plan.
 *
 * Allocates in the current memory context.
 */
void
shidx_read_conditions(ShIdxConditions *conditions, Relation index, ScanKey keys, int nkeys)
{
	int			fp_column = shidx_fp_column(index);
	bool		is_null = false;
	bool		is_not_null = false;
	bool		nothing = false;

	shidx_read_group_keys(&conditions->groups, index, keys, nkeys);
	conditions->inexact = false;
	conditions->count = 0;
	conditions->list = palloc(Max(nkeys, 1) * sizeof(ShIdxBallSet));
	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		ShIdxBallSet condition;

		if (key->sk_attno <= fp_column)
		{
			conditions->inexact = true;
			continue;
		}
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
		conditions->list[conditions->count++] = condition;
	}

	if (conditions->count == 0)
	{
		ShIdxBallSet all = {.nballs = 1};

		all.balls = palloc(sizeof(SimhashBall));
		all.balls[0] = simhash_make_ball(0, SHBITS_WIDTH);
		shidx_make_ball_set(&all);
		conditions->list[conditions->count++] = all;
	}
	if (!conditions->groups.all && conditions->groups.count == 0)
		nothing = true;
	conditions->plan.table = false;
	conditions->nulls = !nothing && !is_not_null;
	conditions->non_nulls = !nothing && !is_null;
}

/*
 * Plan how to find what meets all conditions.  The one that costs least drives
 * the scan and is moved to the front.  leaves_per_table is the number of
 * leaves of a table for one of the groups, or for all if the groups are not
 * known.
 */
void
shidx_plan_conditions(ShIdxConditions *conditions, const ShBitsScheme *scheme,
					  double leaves_per_table)
{
	ShIdxBallsPlan *plan = &conditions->plan;
	int			best = 0;

	for (int i = 0; i < conditions->count; i++)
	{
		const ShIdxBallSet *balls = &conditions->list[i];
		int			counts[SHBITS_WIDTH + 1];
		ShIdxBallsPlan other;

		shidx_count_radii(balls, counts);
		if (conditions->groups.all)
			shidx_plan_balls_by_table(counts, shidx_comparing_work(balls), leaves_per_table,
									  &other);
		else
			shidx_plan_balls(counts, shidx_comparing_work(balls), scheme, leaves_per_table,
							 &other);
		if (i == 0 || other.pages + other.comparing < plan->pages + plan->comparing)
		{
			*plan = other;
			best = i;
		}
	}
	if (best > 0)
	{
		ShIdxBallSet first = conditions->list[best];

		conditions->list[best] = conditions->list[0];
		conditions->list[0] = first;
	}
}

/*
 * Does the fingerprint meet all conditions, starting with number "from"?
 */
bool
shidx_meets(const ShIdxConditions *conditions, int from, uint64 fp)
{
	for (int i = from; i < conditions->count; i++)
	{
		const ShIdxBallSet *balls = &conditions->list[i];

		if (!shidx_in_balls(balls, balls->nballs, fp))
			return false;
	}
	return true;
}
