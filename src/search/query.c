/*-------------------------------------------------------------------------
 *
 * query.c
 *	  What a scan looks for: from scan keys to balls.
 *
 * A condition is read as balls of whole fingerprints.  One of the conditions is
 * then searched for: by its balls if fingerprints have one part, otherwise by balls
 * of their parts (bits/probe.h).  What lies in these may lie in the ball, and has to
 * be rechecked.
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

#include "btree/cache.h"
#include "btree/leaf.h"
#include "class/validate.h"
#include "search/query.h"
#include "type/wide.h"

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
 * Prepare to read the keys of scans of an index.
 *
 * Allocates, now and later, in the current memory context or those below it.
 */
void
shfnd_query_begin(ShFndQuery *query, Relation index)
{
	query->index = index;
	query->width = shbt_width(index);
	query->nparts = shbits_nparts(query->width);
	shcls_fingerprinter_begin(&query->fingerprinter, index, query->width);
	query->context = AllocSetContextCreate(CurrentMemoryContext, "simhash scan keys",
										   ALLOCSET_SMALL_SIZES);
	query->parts = palloc(query->nparts * sizeof(ShFndPart));
	query->checked_strategy = InvalidStrategy;
	query->allotted = -1;
}

/*
 * The type of the argument of a key on the fingerprint.
 */
static Oid
argument_type(const ShFndQuery *query, ScanKey key)
{
	return OidIsValid(key->sk_subtype) ? key->sk_subtype :
		query->index->rd_opcintype[key->sk_attno - 1];
}

/*
 * Report an error if the argument of a key on the fingerprint cannot be read as what
 * its strategy needs.
 */
void
shfnd_check_key(ShFndQuery *query, ScanKey key)
{
	Oid			type = argument_type(query, key);

	if (key->sk_strategy == query->checked_strategy && type == query->checked_type)
		return;
	shcls_check_operator(query->index, query->index->rd_opcintype[key->sk_attno - 1], type,
						 key->sk_strategy);
	query->checked_strategy = key->sk_strategy;
	query->checked_type = type;
}

/*
 * The radius of an operator other than that of balls.
 */
static int
radius_of_operator(const ShFndQuery *query, StrategyNumber strategy)
{
	if (strategy >= SIMHASH_STRATEGY_WITHIN)
	{
		if (strategy == SIMHASH_STRATEGY_EIGHTH && query->fingerprinter.wide &&
			!query->fingerprinter.computes)
			return shtype_near_radius(query->width);
		return SIMHASH_RADIUS_OF_STRATEGY(strategy);
	}
	if (strategy != SIMHASH_STRATEGY_EQUAL)
		elog(ERROR, "unrecognized strategy number: %d", strategy);
	return 0;
}

/*
 * The ball of wide fingerprints that an operator finds for an argument.  Returns
 * false if there is nothing in it.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if the argument has another width,
 * as the operator does, which may have nothing to compare it with.
 */
static bool
wide_ball(const ShFndQuery *query, StrategyNumber strategy, Datum argument,
		  ShFingerprint *parts, int *radius)
{
	const uint8 *center;
	int			width;

	if (strategy == SIMHASH_STRATEGY_BALL)
	{
		SimhashBitsBall *ball = DatumGetSimhashBitsBall(argument);

		center = ball->center;
		width = shtype_ball_bytes(ball) * BITS_PER_BYTE;
		*radius = ball->radius;
	}
	else
	{
		bytea	   *bits = DatumGetSimhashBits(argument);

		center = shtype_bits_data(bits);
		width = shtype_bits_width(bits);
		*radius = radius_of_operator(query, strategy);
	}
	if (width != query->width)
	{
		/* then they are just not equal */
		if (strategy == SIMHASH_STRATEGY_EQUAL)
			return false;
		shtype_report_widths(query->width, width);
	}
	shtype_split_bits(center, query->width, parts);
	return true;
}

/*
 * The fingerprint that is an argument of a type.  Of a shorter integer only its own
 * bits count: a function, or compiled code, may leave anything in the rest of a Datum.
 */
static ShFingerprint
argument_as_fingerprint(Datum argument, Oid type)
{
	switch (type)
	{
		case INT4OID:
			return (ShFingerprint) (int64) DatumGetInt32(argument);
		case INT2OID:
			return (ShFingerprint) (int64) DatumGetInt16(argument);
		default:
			return DatumGetSimhash(argument);
	}
}

/*
 * The ball of the fingerprints that an operator finds for an argument of a type: the
 * parts of its center, and its radius.  Returns false if there is nothing in it, as
 * the argument has no fingerprint, for instance.
 */
static bool
ball_of_argument(ShFndQuery *query, StrategyNumber strategy, Datum argument, Oid type,
				 ShFingerprint *parts, int *radius)
{
	if (query->fingerprinter.computes && strategy != SIMHASH_STRATEGY_BALL)
	{
		*radius = radius_of_operator(query, strategy);
		return shcls_get_parts(&query->fingerprinter, argument, parts);
	}
	if (query->fingerprinter.wide)
		return wide_ball(query, strategy, argument, parts, radius);
	if (strategy == SIMHASH_STRATEGY_BALL)
	{
		*parts = DatumGetSimhashBall(argument)->center;
		*radius = DatumGetSimhashBall(argument)->radius;
	}
	else
	{
		*parts = argument_as_fingerprint(argument, type);
		*radius = radius_of_operator(query, strategy);
	}
	return true;
}

/*
 * Are the elements of an array to be kept?  Not if the executor compares a row with
 * them as fast, or if all rows have to be compared with all of them.  A polymorphic
 * operator would have to be told of which type they are.
 */
static bool
keeps_elements(const ShFndQuery *query, ScanKey key, int nelements)
{
	return query->fingerprinter.computes && query->nparts == 1 &&
		nelements > SHFND_FEW_BALLS && key->sk_strategy >= SIMHASH_STRATEGY_WITHIN &&
		radius_of_operator(query, key->sk_strategy) < SHBITS_WIDTH &&
		!IsPolymorphicType(query->index->rd_opcintype[key->sk_attno - 1]);
}

/*
 * Sort the elements of an array of a type, and keep only one of equal ones.
 */
static void
simplify_elements(ShFndCondition *condition, Oid type)
{
	ShFndElement *list = condition->elements;
	int			kept = 1;
	int16		length;
	bool		by_value;

	get_typlenbyval(type, &length, &by_value);
	for (int i = 0; i < condition->nelements; i++)
	{
		CHECK_FOR_INTERRUPTS();
		list[i].hash = datum_image_hash(list[i].value, by_value, length);
	}
	sort_elements(list, condition->nelements);
	for (int i = 1; i < condition->nelements; i++)
	{
		const ShFndElement *last = &list[kept - 1];

		if (list[i].fp != last->fp || list[i].hash != last->hash ||
			!datum_image_eq(list[i].value, last->value, by_value, length))
			list[kept++] = list[i];
	}
	condition->nelements = kept;
}

/*
 * Add the condition of a scan key that has an argument.  Returns false if nothing
 * can meet it.
 */
static bool
add_condition(ShFndQuery *query, ScanKey key, int position)
{
	ShFndCondition *condition = &query->conditions[query->nconditions++];
	ShFndBallSet *balls = &condition->balls;
	Datum	   *arguments;
	int			narguments = shfnd_key_arguments(key, &arguments);
	Oid			type = argument_type(query, key);
	int			nparts = query->nparts;
	bool		keep_elements = keeps_elements(query, key, narguments);

	condition->key = position;
	condition->nelements = 0;
	if (keep_elements)
		condition->elements = MemoryContextAllocHuge(CurrentMemoryContext,
													 narguments * sizeof(ShFndElement));
	balls->nballs = 0;
	balls->balls = MemoryContextAllocHuge(CurrentMemoryContext, Max(narguments, 1) *
										  (Size) nparts * sizeof(SimhashBall));
	for (int i = 0; i < narguments; i++)
	{
		SimhashBall *ball = balls->balls + (Size) balls->nballs * nparts;
		ShFingerprint parts[SHBITS_MAX_PARTS];
		int			radius;

		if (!ball_of_argument(query, key->sk_strategy, arguments[i], type, parts, &radius) ||
			radius < 0)
			continue;
		for (int p = 0; p < nparts; p++)
			ball[p] = simhash_make_ball(parts[p], Min(radius, query->width));
		balls->nballs++;
		if (keep_elements)
			condition->elements[condition->nelements++] =
				(ShFndElement) {.fp = parts[0],.value = arguments[i]};
	}
	if (nparts == 1)
		shfnd_make_ball_set(balls);
	if (condition->nelements > 0)
	{
		simplify_elements(condition, query->index->rd_opcintype[key->sk_attno - 1]);
		query->has_elements = true;
	}
	return balls->nballs > 0;
}

/*
 * Read the keys of a scan.
 *
 * If fingerprints are computed, all that is said of the values, but not of the
 * fingerprints, has to be rechecked.  A value that is not null may then be among the
 * nulls.  Conditions on wide fingerprints are rechecked, too.
 */
void
shfnd_read_query(ShFndQuery *query, ScanKey keys, int nkeys)
{
	const ShClsFingerprinter *fingerprinter = &query->fingerprinter;
	int			fp_column = shcls_fp_column(query->index);
	bool		is_null = false;
	bool		is_not_null = false;
	bool		nothing = false;
	MemoryContext old;

	MemoryContextReset(query->context);
	old = MemoryContextSwitchTo(query->context);
	shfnd_read_group_keys(&query->groups, query->index, keys, nkeys);
	query->inexact = false;
	query->has_elements = false;
	query->nconditions = 0;
	query->conditions = palloc(Max(nkeys, 1) * sizeof(ShFndCondition));
	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];

		if (key->sk_attno <= fp_column)
		{
			query->inexact = true;
			continue;
		}
		query->inexact |= fingerprinter->wide ||
			(fingerprinter->computes && key->sk_strategy != SIMHASH_STRATEGY_BALL);
		if (key->sk_flags & SK_SEARCHNULL)
			is_null = true;
		else if (key->sk_flags & SK_SEARCHNOTNULL)
			is_not_null |= !fingerprinter->computes;
		else
		{
			is_not_null = true;
			if (key->sk_flags & SK_ISNULL)
			{
				nothing = true; /* the operators are strict */
				continue;
			}
			shfnd_check_key(query, key);
			nothing |= !add_condition(query, key, i);
		}
	}
	MemoryContextSwitchTo(old);

	if (!query->groups.all && query->groups.count == 0)
		nothing = true;
	query->nulls = !nothing && !is_not_null;
	query->non_nulls = !nothing && !is_null;
}

/*
 * What it takes to find what meets a condition.
 */
static void
cost_of_condition(const ShFndQuery *query, const ShFndCondition *condition,
				  const ShBitsScheme *scheme, double leaves_per_table, ShFndCost *cost)
{
	const ShFndBallSet *balls = &condition->balls;
	bool		by_table = query->groups.all;
	int		   *counts;

	if (query->nparts == 1)
	{
		shfnd_cost_of_set(balls, scheme, by_table, leaves_per_table, cost);
		return;
	}
	counts = palloc0((query->width + 1) * sizeof(int));
	for (int i = 0; i < balls->nballs; i++)
		counts[balls->balls[(Size) i * query->nparts].radius]++;
	shfnd_cost_of_counts(counts, query->width, scheme, by_table, leaves_per_table, cost);
	pfree(counts);
}

/*
 * Choose the condition that costs least, if there are several.
 */
static void
choose_condition(ShFndQuery *query, const ShBitsScheme *scheme, double leaves_per_table,
				 bool wants_cost)
{
	query->chosen = query->nconditions - 1;
	if (query->nconditions <= 1 && !wants_cost)
		return;
	for (int i = 0; i < query->nconditions; i++)
	{
		ShFndCost	cost;

		cost_of_condition(query, &query->conditions[i], scheme, leaves_per_table, &cost);
		if (i == 0 || shfnd_cost_in_pages(&cost, leaves_per_table) <
			shfnd_cost_in_pages(&query->cost, leaves_per_table))
		{
			query->cost = cost;
			query->chosen = i;
		}
	}
}

/*
 * Make the sets of balls in which to search each part for what lies in one of the
 * balls of whole fingerprints.
 */
static void
make_parts(ShFndQuery *query, const ShFndBallSet *balls, const ShBitsScheme *scheme,
		   double leaves)
{
	for (int i = 0; i < balls->nballs; i++)
	{
		const SimhashBall *ball = balls->balls + (Size) i * query->nparts;

		CHECK_FOR_INTERRUPTS();
		if (ball->radius != query->allotted || leaves != query->leaves)
		{
			shbits_allot(scheme, query->width, ball->radius, query->groups.all, leaves,
						 leaves * SHBT_USUAL_ENTRIES, &query->allotment);
			query->allotted = ball->radius;
			query->leaves = leaves;
		}
		for (int p = 0; p < query->nparts; p++)
		{
			ShFndBallSet *set = &query->parts[p].balls;

			if (query->allotment.radii[p] < 0)
				continue;
			if (set->balls == NULL)
				set->balls = MemoryContextAllocHuge(query->context,
													(Size) balls->nballs * sizeof(SimhashBall));
			set->balls[set->nballs++] = simhash_make_ball(ball[p].center, query->allotment.radii[p]);
		}
	}
	for (int p = 0; p < query->nparts; p++)
	{
		if (query->parts[p].balls.nballs > 0)
			shfnd_make_ball_set(&query->parts[p].balls);
	}
}

/*
 * Choose the condition that costs least, and the balls of each part.
 */
static pg_noinline void
choose_by_cost(ShFndQuery *query, const ShBitsScheme *scheme, double leaves_per_table,
			   bool wants_cost)
{
	static SimhashBall everything = {.center = 0,.radius = SHBITS_WIDTH};
	MemoryContext old = MemoryContextSwitchTo(query->context);

	choose_condition(query, scheme, leaves_per_table, wants_cost);
	memset(query->parts, 0, query->nparts * sizeof(ShFndPart));
	if (query->chosen < 0)
	{
		query->parts[0].balls = (ShFndBallSet) {.nballs = 1,.balls = &everything};
		shfnd_cost_of_set(&query->parts[0].balls, scheme, query->groups.all, leaves_per_table,
						  &query->cost);
	}
	else if (query->nparts == 1)
		query->parts[0].balls = query->conditions[query->chosen].balls;
	else
		make_parts(query, &query->conditions[query->chosen].balls, scheme,
				   Max(leaves_per_table, 1));

	query->nsearched = 0;
	for (int p = 0; p < query->nparts; p++)
	{
		ShFndPart  *part = &query->parts[p];
		ShFndCost	cost;

		if (part->balls.nballs > 0)
			query->nsearched++;
		if (part->balls.nballs > 1)
		{
			shfnd_cost_of_set(&part->balls, scheme, query->groups.all, leaves_per_table, &cost);
			part->table = cost.table;
		}
	}
	MemoryContextSwitchTo(old);
}

/*
 * Choose what to search for, to find all that is wanted of the fingerprints that are
 * not null.  leaves_per_table is the number of leaves of a table for one of the
 * groups, or for all if the groups are not known.
 *
 * A single ball of fingerprints of one part leaves nothing to choose, unless the cost
 * is asked for.
 */
void
shfnd_choose(ShFndQuery *query, const ShBitsScheme *scheme, double leaves_per_table,
			 bool wants_cost)
{
	if (query->nparts > 1 || query->nconditions != 1 || wants_cost ||
		query->conditions[0].balls.nballs > 1)
	{
		choose_by_cost(query, scheme, leaves_per_table, wants_cost);
		return;
	}
	query->chosen = 0;
	query->parts[0].balls = query->conditions[0].balls;
	query->parts[0].table = false;
	query->nsearched = 1;
}

/*
 * Does a fingerprint of one part meet all conditions but the given one?
 */
bool
shfnd_meets_others(const ShFndQuery *query, int condition, ShFingerprint fp)
{
	for (int i = 0; i < query->nconditions; i++)
	{
		const ShFndBallSet *balls = &query->conditions[i].balls;

		if (i != condition && !shfnd_in_balls(balls, balls->nballs, fp))
			return false;
	}
	return true;
}

/*
 * The largest distance from a center at which fingerprints of one part can meet all
 * conditions.
 */
int
shfnd_find_reach(const ShFndQuery *query, ShFingerprint center)
{
	int			reach = SHBITS_WIDTH;

	for (int i = 0; i < query->nconditions; i++)
	{
		const ShFndBallSet *balls = &query->conditions[i].balls;
		int			farthest = 0;

		for (int b = 0; b < balls->nballs; b++)
		{
			const SimhashBall *ball = &balls->balls[b];

			farthest = Max(farthest, ball->radius + shbits_distance(ball->center, center));
		}
		reach = Min(reach, farthest);
	}
	return reach;
}

/*
 * The balls of the first part in which everything lies that meets the chosen
 * condition: for when no other part is searched.
 *
 * Allocates in the current memory context.
 */
ShFndBallSet
shfnd_balls_of_first_part(const ShFndQuery *query)
{
	const ShFndBallSet *balls = &query->conditions[query->chosen].balls;
	ShFndBallSet first = {.nballs = balls->nballs};

	first.balls = MemoryContextAllocHuge(CurrentMemoryContext,
										 (Size) balls->nballs * sizeof(SimhashBall));
	for (int i = 0; i < balls->nballs; i++)
		first.balls[i] = balls->balls[(Size) i * query->nparts];
	shfnd_make_ball_set(&first);
	return first;
}
