/*-------------------------------------------------------------------------
 *
 * query.c
 *	  What a scan looks for: from scan keys to balls.
 *
 * A condition is read as balls of whole fingerprints.  The condition that costs least
 * is searched for: by its balls if fingerprints have one part, otherwise by balls of
 * their parts (bits/probe.h).  What lies in a ball of a part may lie in the whole ball,
 * and has to be rechecked.  So do the other conditions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/cache.h"
#include "index/class.h"
#include "index/leaf.h"
#include "index/query.h"
#include "type/wide.h"

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
 * Prepare to read the keys of scans of an index.
 *
 * Allocates, now and later, in the current memory context or those below it.
 */
void
shidx_query_begin(ShIdxQuery *query, Relation index)
{
	query->index = index;
	query->geometry = shidx_get_geometry(index);
	shidx_fingerprinter_begin(&query->fingerprinter, index, query->geometry);
	query->context = AllocSetContextCreate(CurrentMemoryContext, "simhash scan keys",
										   ALLOCSET_SMALL_SIZES);
	query->parts = palloc(query->geometry->nparts * sizeof(ShIdxBalls));
	query->allotted = -1;
}

/*
 * The type of the argument of a key on the fingerprint.
 */
static Oid
argument_type(const ShIdxQuery *query, ScanKey key)
{
	return OidIsValid(key->sk_subtype) ? key->sk_subtype :
		query->index->rd_opcintype[key->sk_attno - 1];
}

/*
 * Report an error if a key on the fingerprint has a strategy that is not for its
 * purpose, a condition or an order, or an argument that cannot be read as what the
 * strategy needs.
 */
void
shidx_check_key(ShIdxQuery *query, ScanKey key)
{
	Oid			type = argument_type(query, key);
	bool		orders = (key->sk_flags & SK_ORDER_BY) != 0;
	ShIdxCache *cache = shidx_get_cache(query->index);

	if (key->sk_strategy == cache->checked_strategy && type == cache->checked_type &&
		orders == cache->checked_orders)
		return;
	shidx_check_operator(query->index, query->index->rd_opcintype[key->sk_attno - 1], type,
						 key->sk_strategy, orders);

	/* looking up types may have renewed it */
	cache = shidx_get_cache(query->index);
	cache->checked_strategy = key->sk_strategy;
	cache->checked_type = type;
	cache->checked_orders = orders;
}

/*
 * The ball of wide fingerprints that an operator finds for an argument.  Returns
 * false if there is nothing in it.  Of bands, sets how many the center has.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if the argument has another width,
 * as the operator does, which may have nothing to compare it with.
 */
static bool
wide_ball(const ShIdxQuery *query, ShIdxAsk ask, Datum argument, ShFingerprint *parts,
		  int *radius, int *bands)
{
	const uint8 *center;
	int			width;

	if (ask == SHIDX_ASK_BALL)
	{
		SimhashBitsBall *ball = DatumGetSimhashBitsBall(argument);

		center = ball->center;
		width = shtype_ball_bytes(ball) * BITS_PER_BYTE;
		*radius = ball->radius;
		if (query->geometry->prefix_bits > 0)
		{
			*bands = shtype_ball_bands(ball);
			shtype_split_bits(center, width, parts);
			return true;
		}
	}
	else
	{
		bytea	   *bits = DatumGetSimhashBits(argument);

		center = shtype_bits_data(bits);
		width = shtype_bits_width(bits);
	}
	if (width != query->geometry->width)
	{
		/* then they are just not equal */
		if (ask == SHIDX_ASK_EQUAL)
			return false;
		shtype_report_widths(query->geometry->width, width);
	}
	shtype_split_bits(center, query->geometry->width, parts);
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
 * parts of its center, and *radius and *bands, unless they are known.  Returns false if
 * there is nothing in it, as the argument has no fingerprint, for instance.
 */
static bool
ball_of_argument(ShIdxQuery *query, ShIdxAsk ask, Datum argument, Oid type,
				 ShFingerprint *parts, int *radius, int *bands)
{
	if (query->fingerprinter.kind >= SHIDX_COMPUTED && ask != SHIDX_ASK_BALL)
		return shidx_get_parts(&query->fingerprinter, argument, parts);
	if (query->fingerprinter.wide)
		return wide_ball(query, ask, argument, parts, radius, bands);
	if (ask == SHIDX_ASK_BALL)
	{
		*parts = DatumGetSimhashBall(argument)->center;
		*radius = DatumGetSimhashBall(argument)->radius;
	}
	else
		*parts = argument_as_fingerprint(argument, type);
	return true;
}

/*
 * Drop balls that are empty, or are contained in another one with the same
 * center.  If a ball contains everything, drop all others.
 */
static void
simplify_balls(ShIdxBalls *balls)
{
	int			kept = 0;

	if (balls->count > 1)
		sort_balls(balls->list, balls->count);
	for (int i = 0; i < balls->count; i++)
	{
		SimhashBall ball = balls->list[i];

		if (ball.radius >= SHBITS_WIDTH)
		{
			balls->list[0] = ball;
			balls->count = 1;
			return;
		}
		if (ball.radius >= 0 && (kept == 0 || balls->list[kept - 1].center != ball.center))
			balls->list[kept++] = ball;
	}
	balls->count = kept;
}

/*
 * Add the condition of a scan key that has an argument.  Returns false if nothing
 * can meet it.
 */
static bool
read_condition(ShIdxQuery *query, ScanKey key)
{
	ShIdxBalls *balls = &query->conditions[query->nconditions++];
	Datum	   *arguments;
	int			narguments = shidx_key_arguments(key, &arguments);
	Oid			type = argument_type(query, key);
	ShIdxMeaning meaning = shidx_meaning(key->sk_strategy, query->fingerprinter.kind,
										 query->geometry->width);
	int			nparts = query->geometry->nparts;
	bool		banded = query->geometry->prefix_bits > 0;

	balls->count = 0;
	balls->list = MemoryContextAllocHuge(CurrentMemoryContext, Max(narguments, 1) *
										 (Size) nparts * sizeof(SimhashBall));
	for (int i = 0; i < narguments; i++)
	{
		SimhashBall *ball = balls->list + (Size) balls->count * nparts;
		ShFingerprint parts[SHBITS_MAX_PARTS];
		int			radius = meaning.radius;
		int			bands = meaning.bands;

		CHECK_FOR_INTERRUPTS();
		if (banded)
			memset(parts, 0, sizeof(parts));
		if (!ball_of_argument(query, meaning.ask, arguments[i], type, parts, &radius, &bands) ||
			radius < 0)
			continue;
		for (int p = 0; p < nparts; p++)
			ball[p] = simhash_make_ball(parts[p], Min(radius, query->geometry->width));
		for (int p = bands; banded && p < nparts; p++)
			ball[p].radius = -1;
		if (banded && bands > nparts)
		{
			for (int p = 0; p < nparts; p++)
				ball[p].radius = p == 0 ? SHBITS_WIDTH : -1;
			query->inexact = true;
		}
		balls->count++;
	}
	if (nparts == 1)
		simplify_balls(balls);
	return balls->count > 0;
}

/*
 * Read the keys of a scan.
 *
 * If fingerprints are computed, all that is said of the values, but not of the
 * fingerprints, has to be rechecked.  A value that is not null may then be among the
 * nulls.  Conditions on wide fingerprints are rechecked, too, but for bands in a ball.
 */
void
shidx_read_query(ShIdxQuery *query, ScanKey keys, int nkeys)
{
	bool		computed = query->fingerprinter.kind >= SHIDX_COMPUTED;
	int			fp_column = shidx_fp_column(query->index);
	bool		is_null = false;
	bool		is_not_null = false;
	bool		nothing = false;
	MemoryContext old;

	MemoryContextReset(query->context);
	old = MemoryContextSwitchTo(query->context);
	shidx_read_group_keys(&query->groups, query->index, keys, nkeys);
	query->inexact = false;
	query->nconditions = 0;
	query->conditions = palloc(Max(nkeys, 1) * sizeof(ShIdxBalls));
	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];

		if (key->sk_attno <= fp_column)
		{
			query->inexact = true;
			continue;
		}
		query->inexact |= (query->fingerprinter.wide && query->geometry->prefix_bits == 0) ||
			(computed && key->sk_strategy != SIMHASH_STRATEGY_BALL);
		if (key->sk_flags & SK_SEARCHNULL)
			is_null = true;
		else if (key->sk_flags & SK_SEARCHNOTNULL)
			is_not_null |= !computed;
		else
		{
			is_not_null = true;
			if (key->sk_flags & SK_ISNULL)
			{
				nothing = true; /* the operators are strict */
				continue;
			}
			shidx_check_key(query, key);
			nothing |= !read_condition(query, key);
		}
	}
	MemoryContextSwitchTo(old);

	/* only one of them is searched for */
	query->inexact |= query->nconditions > 1;
	if (!query->groups.all && query->groups.count == 0)
		nothing = true;
	query->nulls = !nothing && !is_not_null;
	query->non_nulls = !nothing && !is_null;
}

/*
 * The terms of a condition, for the plan.
 */
static List *
terms_of_condition(const ShIdxQuery *query, const ShIdxBalls *balls)
{
	int			nparts = query->geometry->nparts;
	List	   *terms = NIL;

	for (int i = 0; i < balls->count; i++)
	{
		const SimhashBall *ball = &balls->list[(Size) i * nparts];
		int			tables = 0;

		for (int p = 0; query->geometry->prefix_bits > 0 && p < nparts; p++)
			tables += ball[p].radius >= 0;
		if (tables > 0 && ball->radius >= SHBITS_WIDTH)
			tables = nparts + 1;
		terms = shidx_add_term(terms, tables, Min(ball->radius, query->geometry->width), 1);
	}
	return terms;
}

/*
 * How far part p may be from that of a ball that lies around whole fingerprints; -1 if the
 * part is not searched.
 */
static int
radius_of_part(ShIdxQuery *query, const SimhashBall *ball, int p, double leaves)
{
	if (query->geometry->prefix_bits > 0)
		return ball[p].radius;
	if (ball->radius != query->allotted || leaves != query->leaves)
	{
		shbits_allot(query->geometry->scheme, query->geometry->width, ball->radius, leaves,
					 query->groups.total, leaves * SHIDX_USUAL_ENTRIES, &query->allotment);
		query->allotted = ball->radius;
		query->leaves = leaves;
	}
	return query->allotment.radii[p];
}

/*
 * Make the balls in which to search each part for what lies in one of the balls of
 * whole fingerprints.
 */
static void
make_parts(ShIdxQuery *query, const ShIdxBalls *balls, double leaves)
{
	int			nparts = query->geometry->nparts;

	memset(query->parts, 0, nparts * sizeof(ShIdxBalls));
	for (int i = 0; i < balls->count; i++)
	{
		const SimhashBall *ball = balls->list + (Size) i * nparts;

		CHECK_FOR_INTERRUPTS();
		for (int p = 0; p < nparts; p++)
		{
			ShIdxBalls *part = &query->parts[p];
			int			radius = radius_of_part(query, ball, p, leaves);

			if (radius < 0)
				continue;
			if (part->list == NULL)
				part->list = MemoryContextAllocHuge(query->context,
													(Size) balls->count * sizeof(SimhashBall));
			part->list[part->count++] = simhash_make_ball(ball[p].center, radius);
		}
	}
	query->nsearched = 0;
	for (int p = 0; p < nparts; p++)
	{
		/* if one finds all rows, the others find no more */
		if (p > 0 && query->parts[0].count > 0 && query->parts[0].list->radius >= SHBITS_WIDTH)
			query->parts[p].count = 0;
		simplify_balls(&query->parts[p]);
		query->nsearched += query->parts[p].count;
	}
}

/*
 * Choose what to search for, to find all that is wanted of the fingerprints that are
 * not null.  leaves_per_table is the number of leaves of a table for one of the
 * groups, or for all if the groups are not known.
 *
 * wants_cost says that query->cost is needed even if there is nothing to choose.
 */
void
shidx_choose(ShIdxQuery *query, double leaves_per_table, bool wants_cost)
{
	static SimhashBall everything = {.center = 0,.radius = SHBITS_WIDTH};
	MemoryContext old = MemoryContextSwitchTo(query->context);

	query->chosen = query->nconditions - 1;
	if (query->nconditions > 1 || wants_cost)
	{
		List	   *conditions = NIL;

		for (int i = 0; i < query->nconditions; i++)
			conditions = lappend(conditions, terms_of_condition(query, &query->conditions[i]));
		query->chosen = shidx_plan_cheapest(conditions, query->geometry, leaves_per_table,
											query->groups.total, &query->cost);
	}
	if (query->chosen < 0)
	{
		memset(query->parts, 0, query->geometry->nparts * sizeof(ShIdxBalls));
		query->parts[0] = (ShIdxBalls)
		{
			.count = 1,.list = &everything
		};
		query->nsearched = 1;
	}
	else if (query->geometry->nparts == 1)
	{
		query->parts[0] = query->conditions[query->chosen];
		query->nsearched = query->parts[0].count;
	}
	else
		make_parts(query, &query->conditions[query->chosen], Max(leaves_per_table, 1));
	MemoryContextSwitchTo(old);
}

/*
 * The largest distance from a center at which fingerprints of one part can meet all
 * conditions.  Sets *all to whether all within it do.
 */
int
shidx_find_reach(const ShIdxQuery *query, ShFingerprint center, bool *all)
{
	int			reach = SHBITS_WIDTH;

	*all = true;
	for (int i = 0; i < query->nconditions; i++)
	{
		const ShIdxBalls *balls = &query->conditions[i];
		int			farthest = 0;

		for (int b = 0; b < balls->count; b++)
		{
			const SimhashBall *ball = &balls->list[b];

			farthest = Max(farthest, ball->radius + shbits_distance(ball->center, center));
		}
		reach = Min(reach, farthest);
		*all &= balls->count == 1 && balls->list[0].center == center;
	}
	return reach;
}
