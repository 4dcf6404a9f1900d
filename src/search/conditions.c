/*-------------------------------------------------------------------------
 *
 * conditions.c
 *	  What a scan looks for: from scan keys to balls.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "bits/distance.h"
#include "search/arguments.h"
#include "search/conditions.h"

#define ST_SORT sort_elements
#define ST_ELEMENT_TYPE ShFndElement
#define ST_COMPARE(a, b) \
	((a)->fp != (b)->fp ? ((a)->fp < (b)->fp ? -1 : 1) : \
	 (a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * The ball of the fingerprints that an operator finds for an argument.
 */
static SimhashBall
ball_of_argument(StrategyNumber strategy, Datum argument)
{
	if (strategy == SIMHASH_STRATEGY_BALL)
		return *DatumGetSimhashBall(argument);
	if (strategy == SIMHASH_STRATEGY_EQUAL)
		return simhash_make_ball(DatumGetSimhash(argument), 0);
	if (strategy < SIMHASH_STRATEGY_WITHIN)
		elog(ERROR, "unrecognized strategy number: %d", strategy);
	return simhash_make_ball(DatumGetSimhash(argument), SIMHASH_RADIUS_OF_STRATEGY(strategy));
}

/*
 * Report an error if an operator cannot be used with the fingerprint of its
 * argument.  Members may have been added to the operator family since the index
 * was created.
 */
static void
check_operator(Relation index, ScanKey key)
{
	Oid			type = index->rd_opcintype[key->sk_attno - 1];

	if (key->sk_strategy >= SIMHASH_STRATEGY_WITHIN &&
		(!OidIsValid(key->sk_subtype) || key->sk_subtype == type))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("an operator of strategy %d of index \"%s\" cannot be used with support function %d",
					key->sk_strategy, RelationGetRelationName(index), SIMHASH_FINGERPRINT_PROC),
			 errdetail("The operators must have the strategies %d + radius, and two arguments of type %s.",
					   SIMHASH_STRATEGY_WITHIN, format_type_be(type))));
}

/*
 * Add the ball of an argument to a set.  Returns false if the argument has no
 * fingerprint, so that the operator is true for no value.
 */
static bool
add_ball(ShFndBallSet *set, ShClsFingerprinter *fingerprinter, ScanKey key, Datum argument)
{
	if (fingerprinter->computes)
	{
		ShFingerprint fp;

		if (!shcls_get_parts(fingerprinter, argument, &fp))
			return false;
		argument = SimhashGetDatum(fp);
	}
	set->balls[set->nballs++] = ball_of_argument(key->sk_strategy, argument);
	return true;
}

/*
 * Sort the elements of an array of a type, and keep only one of equal ones.
 */
static void
simplify_elements(ShFndElements *elements, Oid type)
{
	ShFndElement *list = elements->list;
	int			kept = 1;
	int16		length;
	bool		by_value;

	get_typlenbyval(type, &length, &by_value);
	for (int i = 0; i < elements->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		list[i].hash = datum_image_hash(list[i].value, by_value, length);
	}
	sort_elements(list, elements->count);
	for (int i = 1; i < elements->count; i++)
	{
		const ShFndElement *last = &list[kept - 1];

		if (list[i].fp != last->fp || list[i].hash != last->hash ||
			!datum_image_eq(list[i].value, last->value, by_value, length))
			list[kept++] = list[i];
	}
	elements->count = kept;
}

/*
 * Keep the elements of the array of key number i, one of nkeys, unless the executor
 * compares a row with them as fast.  The set has the balls around them.
 *
 * A polymorphic operator would have to be told of which type they are.
 */
static void
keep_elements(ShFndConditions *conditions, Relation index, int i, int nkeys,
			  const ShFndBallSet *set, ShFndElements *elements)
{
	Oid			type = index->rd_opcintype[shcls_fp_column(index)];

	if (elements->count <= SHFND_FEW_BALLS || set->balls[0].radius >= SHBITS_WIDTH ||
		IsPolymorphicType(type))
		return;
	simplify_elements(elements, type);
	elements->balls = *set;
	if (conditions->elements == NULL)
		conditions->elements = palloc0(nkeys * sizeof(ShFndElements));
	conditions->elements[i] = *elements;
}

/*
 * The condition of one scan key that has an argument.  *elements becomes the list of
 * those whose fingerprints had to be computed.
 */
static ShFndBallSet
read_condition(ShClsFingerprinter *fingerprinter, ScanKey key, ShFndElements *elements)
{
	ShFndBallSet set = {0};
	Datum	   *arguments;
	int			narguments;

	narguments = shfnd_get_arguments(key, &arguments);
	set.balls = palloc(Max(narguments, 1) * sizeof(SimhashBall));
	elements->count = 0;
	if (fingerprinter->computes)
		elements->list = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(narguments, 1) * sizeof(ShFndElement));
	for (int i = 0; i < narguments; i++)
	{
		if (add_ball(&set, fingerprinter, key, arguments[i]) && fingerprinter->computes)
			elements->list[elements->count++] =
				(ShFndElement) {.fp = set.balls[set.nballs - 1].center,.value = arguments[i]};
	}
	shfnd_make_ball_set(&set);
	return set;
}

/*
 * Turn the scan keys of an index into conditions.  A single condition on the
 * fingerprint, with a single ball, needs no plan.
 *
 * If fingerprints are computed, all that is said of the values has to be
 * rechecked.  A value that is not null may then be among the nulls.  Conditions on
 * wide fingerprints are rechecked, too.
 *
 * Allocates in the current memory context.
 */
void
shfnd_read_conditions(ShFndConditions *conditions, Relation index,
					  ShClsFingerprinter *fingerprinter, ScanKey keys, int nkeys)
{
	int			fp_column = shcls_fp_column(index);
	bool		is_null = false;
	bool		is_not_null = false;
	bool		nothing = false;

	shfnd_read_group_keys(&conditions->groups, index, keys, nkeys);
	conditions->inexact = false;
	conditions->wide = fingerprinter->wide ? shfnd_make_wide(fingerprinter->width, nkeys) : NULL;
	conditions->elements = NULL;
	conditions->count = 0;
	conditions->list = palloc(Max(nkeys, 1) * sizeof(ShFndBallSet));
	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		ShFndElements elements;
		ShFndBallSet condition;

		if (key->sk_attno <= fp_column)
		{
			conditions->inexact = true;
			continue;
		}
		conditions->inexact |= !fingerprinter->direct;
		if (key->sk_flags & SK_SEARCHNULL)
		{
			is_null = true;
			continue;
		}
		if (key->sk_flags & SK_SEARCHNOTNULL)
		{
			is_not_null |= !fingerprinter->computes;
			continue;
		}
		is_not_null = true;
		if (key->sk_flags & SK_ISNULL)
		{
			nothing = true;		/* the operators are strict */
			continue;
		}

		if (fingerprinter->computes)
			check_operator(index, key);
		if (conditions->wide != NULL)
		{
			nothing |= !shfnd_add_wide(conditions->wide, fingerprinter, key);
			continue;
		}
		condition = read_condition(fingerprinter, key, &elements);
		keep_elements(conditions, index, i, nkeys, &condition, &elements);
		if (condition.nballs == 0)
			nothing = true;
		conditions->list[conditions->count++] = condition;
	}

	if (conditions->wide != NULL && conditions->wide->count == 0)
		conditions->wide = NULL;
	if (conditions->count == 0)
	{
		ShFndBallSet all = {.nballs = 1};

		all.balls = palloc(sizeof(SimhashBall));
		all.balls[0] = simhash_make_ball(0, SHBITS_WIDTH);
		shfnd_make_ball_set(&all);
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
shfnd_plan_conditions(ShFndConditions *conditions, const ShBitsScheme *scheme,
					  double leaves_per_table)
{
	ShFndBallsPlan *plan = &conditions->plan;
	int			best = 0;

	for (int i = 0; i < conditions->count; i++)
	{
		const ShFndBallSet *balls = &conditions->list[i];
		int			counts[SHBITS_WIDTH + 1];
		ShFndBallsPlan other;

		shfnd_count_radii(balls, counts);
		if (conditions->groups.all)
			shfnd_plan_balls_by_table(counts, shfnd_comparing_work(balls), leaves_per_table,
									  &other);
		else
			shfnd_plan_balls(counts, shfnd_comparing_work(balls), scheme, leaves_per_table,
							 &other);
		if (i == 0 || other.pages + other.comparing < plan->pages + plan->comparing)
		{
			*plan = other;
			best = i;
		}
	}
	if (best > 0)
	{
		ShFndBallSet first = conditions->list[best];

		conditions->list[best] = conditions->list[0];
		conditions->list[0] = first;
	}
}

/*
 * Does the fingerprint meet all conditions, starting with number "from"?
 */
bool
shfnd_meets(const ShFndConditions *conditions, int from, ShFingerprint fp)
{
	for (int i = from; i < conditions->count; i++)
	{
		const ShFndBallSet *balls = &conditions->list[i];

		if (!shfnd_in_balls(balls, balls->nballs, fp))
			return false;
	}
	return true;
}
