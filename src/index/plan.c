/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  What a scan will read: of a condition, of the cheapest one, of an order, and of groups.
 *
 * A scan (query.c, nearest.c) and the planner's estimate (cost.c) ask the same functions,
 * so they choose alike.  How a ball is searched in the tables is planned by bits/probe.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"

#include "bits/probe.h"
#include "index/leaf.h"
#include "index/query.h"
#include "index/tree.h"

/*
 * The budget of all balls of an ordered scan, as a share of the pages of a table; and
 * the budget for balls in which no row is expected.
 */
#define BALLS_SHARE		(2.0 / 3)
#define SPARE_SHARE		(1.0 / 8)

/* of so many counts of a group's leaves, one reads the pages even if the map knows */
#define RECOUNT_INTERVAL	16

/* the leaves of this many groups are counted; the others are assumed to be alike */
#define MAX_COUNTED		32

/* groups are counted on so many inner pages, and again when a table has grown by this factor */
#define COUNTED_PAGES		16
#define RECOUNT_GROWTH		1.125

/* a table with fewer leaves is read instead */
#define MIN_COUNTED_LEAVES	32

/*
 * Add what it takes to find what lies in some balls of a radius, by fingerprints of one
 * part.
 */
static void
add_balls(ShIdxCost *cost, int radius, double balls, const ShBitsScheme *scheme, double leaves,
		  double groups)
{
	ShBitsProbePlan probes;

	shbits_plan_probes(scheme, radius, leaves, groups, &probes);
	cost->balls += balls;
	cost->ranges += balls * probes.ranges;
	cost->pages += balls * probes.pages;
}

/*
 * Add what it takes to find what shares one of the first bands, of which a term says how many.
 * If there are fewer tables, all rows of one are candidates.
 */
static void
add_bands(ShIdxCost *cost, const ShIdxTerm *term, const ShIdxGeometry *geometry, double leaves,
		  double groups)
{
	int			tables = term->tables;
	double		share = tables * shbits_ball_share(SHBITS_BAND_OTHER_BITS, term->radius) /
		ldexp(1, SHBITS_BAND_PREFIX_BITS);
	ShBitsProbePlan plan;

	shbits_plan_band(leaves, groups, &plan);
	if (tables == 0 || tables > geometry->nparts)
	{
		shbits_plan_table(leaves, &plan);
		share = Min(tables, 1);
		tables = 1;
	}
	cost->balls += tables * term->balls;
	cost->ranges += tables * term->balls * plan.ranges;
	cost->pages += tables * term->balls * plan.pages;
	cost->share += share * term->balls;
}

/*
 * Add balls of a radius to the terms of a condition; those of a negative one are empty.
 * Most conditions have one term.
 */
List *
shidx_add_term(List *terms, int tables, int radius, double balls)
{
	ShIdxTerm  *term;
	ListCell   *lc;

	if (radius < 0)
		return terms;
	foreach(lc, terms)
	{
		term = lfirst(lc);
		if (term->radius == radius && term->tables == tables)
		{
			term->balls += balls;
			return terms;
		}
	}
	term = palloc(sizeof(ShIdxTerm));
	*term = (ShIdxTerm)
	{
		tables, radius, balls
	};
	return lappend(terms, term);
}

/*
 * What it takes to find everything that lies in the balls of a condition.
 */
static void
cost_of_condition(const List *terms, const ShIdxGeometry *geometry, double leaves_per_table,
				  double groups, ShIdxCost *cost)
{
	const ShBitsScheme *scheme = geometry->scheme;
	double		leaves = Max(leaves_per_table, 1);
	ListCell   *lc;

	memset(cost, 0, sizeof(*cost));
	foreach(lc, terms)
	{
		const ShIdxTerm *term = lfirst(lc);
		ShBitsAllotment allotment;

		if (geometry->prefix_bits > 0)
		{
			add_bands(cost, term, geometry, leaves, groups);
			continue;
		}
		if (geometry->nparts == 1)
		{
			add_balls(cost, term->radius, term->balls, scheme, leaves, groups);
			continue;
		}
		shbits_allot(scheme, geometry->width, term->radius, leaves, groups,
					 leaves * SHIDX_USUAL_ENTRIES, &allotment);
		cost->share += allotment.share * term->balls;
		for (int i = 0; i < geometry->nparts; i++)
		{
			if (allotment.radii[i] >= 0)
				add_balls(cost, allotment.radii[i], term->balls, scheme, leaves, groups);
		}
	}
	cost->share = Min(cost->share, 1);
}

/*
 * All of it, in pages.
 */
static double
cost_in_pages(const ShIdxCost *cost, double leaves_per_table)
{
	return cost->pages + cost->share * Max(leaves_per_table, 1) * SHIDX_USUAL_ENTRIES;
}

/*
 * Find the condition that costs least, and what it takes to find what meets it.  Each
 * condition is a list of ShIdxTerm.  For groups see shbits_plan_probes.
 *
 * Returns its position, or -1 if there are none: then one table is read.
 */
int
shidx_plan_cheapest(const List *conditions, const ShIdxGeometry *geometry,
					double leaves_per_table, double groups, ShIdxCost *cost)
{
	int			cheapest = -1;
	ListCell   *lc;

	*cost = (ShIdxCost)
	{
		.balls = 1,.ranges = 1,.pages = Max(leaves_per_table, 1)
	};
	foreach(lc, conditions)
	{
		ShIdxCost	one;

		cost_of_condition(lfirst(lc), geometry, leaves_per_table, groups, &one);
		if (cheapest < 0 ||
			cost_in_pages(&one, leaves_per_table) < cost_in_pages(cost, leaves_per_table))
		{
			cheapest = foreach_current_index(lc);
			*cost = one;
		}
	}
	return cheapest;
}

/*
 * Should what meets a condition of this cost be collected as a whole for an ordered scan,
 * rather than balls around the query?
 */
bool
shidx_plan_by_condition(const ShIdxCost *cost, double leaves_per_table)
{
	return cost->pages < leaves_per_table / 2;
}

/*
 * The pages that the balls of an ordered scan may take.
 */
double
shidx_plan_for_rings(double leaves_per_table)
{
	return leaves_per_table * BALLS_SHARE;
}

/*
 * The radius, at least "least", within which a batch of matches is expected.
 */
int
shidx_plan_radius(double leaves_per_table, int least, double batch)
{
	double		entries = leaves_per_table * SHIDX_USUAL_ENTRIES;
	int			radius = least;

	while (radius < SHBITS_WIDTH && entries * shbits_ball_share(SHBITS_WIDTH, radius) < batch)
		radius++;
	return radius;
}

/*
 * The pages that count against the budget of a ball: leaves, and one more for
 * each search.
 */
double
shidx_plan_charge(const ShBitsProbePlan *plan)
{
	return plan->pages + Min(plan->ranges, plan->pages);
}

/*
 * Should a ball grow by the ring from radius inner, or -1, to radius?  Only if
 * it can continue to target, where the next row is expected, within the
 * budget; or if the ring costs little, since fingerprints are rarely uniformly
 * distributed.
 */
bool
shidx_plan_is_ring_worth(const ShBitsScheme *scheme, double leaves_per_table, int inner, int radius,
						 int target, double allowance)
{
	double		spare = allowance - leaves_per_table * (BALLS_SHARE - SPARE_SHARE);
	double		charged = 0;
	ShBitsProbePlan plan;

	for (int r = radius; r <= Max(target, radius); inner = r++)
	{
		if (!shbits_plan_ring(scheme, inner, r, leaves_per_table, &plan))
			return false;
		charged += shidx_plan_charge(&plan);
		if (r == radius && charged < spare)
			return true;
		if (charged >= allowance)
			return false;
	}
	return true;
}

/*
 * Estimate what an ordered scan reads, except if it collects a condition.
 *
 * Sets the ranges and pages that are read before the first row is returned,
 * assuming uniformly distributed fingerprints, and returns the number of pages
 * that are read after it if all rows are fetched.
 */
double
shidx_plan_order(const ShBitsScheme *scheme, double leaves_per_table, ShIdxCost *first)
{
	double		leaves = Max(leaves_per_table, 1);
	double		allowance = shidx_plan_for_rings(leaves);
	int			radius = scheme->distance;
	int			target = shidx_plan_radius(leaves, radius + 1, 1);
	ShBitsProbePlan plan;

	first->ranges = 0;
	first->pages = 0;
	for (; radius <= target; radius++)
	{
		/* the second ring begins at the center as well */
		int			inner = radius <= scheme->distance + 1 ? -1 : radius - 1;

		if (!shidx_plan_is_ring_worth(scheme, leaves, inner, radius,
									  radius == scheme->distance ? radius : target, allowance))
			break;
		(void) shbits_plan_ring(scheme, inner, radius, leaves, &plan);
		first->ranges += plan.ranges;
		first->pages += plan.pages;
		allowance -= shidx_plan_charge(&plan);
	}
	if (radius > target)
		return 3 * leaves;
	first->ranges += 1;
	first->pages += leaves;
	return 2 * leaves;
}

/* what one inner page tells about the pages below it */
typedef struct Count
{
	int			between;		/* start within the range of keys */
	int			all;
	bool		end;			/* the range does not continue to the right */
} Count;

/*
 * Count the downlinks with low < key <= high on the page of the first tree and of a level
 * that holds the key "at".
 */
static Count
count_downlinks(Relation index, int level, ShIdxKey at, ShIdxKey low, ShIdxKey high)
{
	Buffer		buffer = shidx_search(index, 0, level, at, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buffer);
	Count		count = {0};

	count.all = shidx_page_count(page);
	count.end = shidx_key_less(high, shidx_page_high(page));
	for (int i = 0; i < count.all; i++)
	{
		ShIdxKey	key = shidx_inner_key(page, i);

		count.between += shidx_key_less(low, key) && !shidx_key_less(high, key);
	}
	UnlockReleaseBuffer(buffer);
	return count;
}

/*
 * About how many pages of the first tree, on a level below its root, start at keys with
 * low < key <= high.
 */
static double
count_starts(Relation index, int level, int root_level, ShIdxKey low, ShIdxKey high)
{
	Count		first = count_downlinks(index, level + 1, low, low, high);
	Count		last;
	double		pages_between = 0;

	if (first.end)
		return first.between;
	last = count_downlinks(index, level + 1, high, low, high);
	if (level + 1 < root_level)
		pages_between = count_starts(index, level + 1, root_level, low, high) - 1;
	return first.between + last.between +
		Max(pages_between, 0) * (first.all + last.all) / 2;
}

/*
 * Estimate how many leaves the first tree, as any other, has for a group: at least 1, though other
 * groups may share it.  The downlinks of the group are counted on the inner pages
 * at its two ends; those between these are assumed to have as many.
 *
 * Each start of a scan asks, so where the map has these pages, its copies are asked,
 * which lack leaves of splits that no search of this backend has met.  A scan that plans
 * by too small a number reads a large group leaf by leaf.  So now and then, at random, as
 * scans may ask for the same groups in turn, the pages are read all the same; if they have
 * many more leaves, the copies of the index are forgotten.
 *
 * Reads one or two inner pages of each level, each from the root, and locks as
 * shidx_search does; holds no lock or pin on return.
 */
static double
count_leaves(Relation index, uint32 group)
{
	ShIdxKey	low = shidx_make_key(group, 0, 0);
	ShIdxKey	high = shidx_make_key(group, PG_UINT64_MAX, SHIDX_MAX_TID - 1);
	ShIdxRoot	root = shidx_get_cache(index)->trees[0].root;
	double		known;
	double		counted;

	if (root.level == 0)
		return 1;
	known = shidx_map_count(index, root, low, high);
	if (known >= 0 && pg_prng_uint32(&pg_global_prng_state) % RECOUNT_INTERVAL != 0)
		return 1 + known;
	counted = count_starts(index, 0, root.level, low, high);
	if (known >= 0 && counted > 2 * known + 1)
		shidx_map_forget(index);
	return 1 + counted;
}

/*
 * Count the leaves below one of the inner pages above the leaves of the first tree, and those
 * of them that are among the last two of a group.  The page lies at a fraction of the width
 * of the tree; both counts are multiplied by the number of pages for which it stands, which
 * is returned.
 *
 * Reads an inner page of each level, each from the root, and locks as shidx_search does.
 */
static double
sample_leaves(Relation index, int root_level, double at, double *leaves, double *last_two)
{
	ShIdxSortedEntry *entries = palloc(SHIDX_MAX_ENTRIES * sizeof(ShIdxSortedEntry));
	ShIdxKey	key = SHIDX_LOWEST_KEY;
	double		weight = 1;
	int			count = 0;

	for (int level = root_level; level > 0; level--)
	{
		Buffer		buffer = shidx_search(index, 0, level, key, BUFFER_LOCK_SHARE);
		int			child;

		count = shidx_sort_entries(BufferGetPage(buffer), entries);
		entries[count].key = shidx_page_high(BufferGetPage(buffer));
		UnlockReleaseBuffer(buffer);
		if (level == 1)
			break;
		child = Min((int) (at * count), count - 1);
		at = at * count - child;
		key = entries[child].key;
		weight *= count;
	}
	*leaves += weight * count;
	for (int i = 0; i < count; i++)
		*last_two += weight * (entries[i].key.group != entries[Min(i + 2, count)].key.group);
	pfree(entries);
	return weight;
}

/*
 * Estimate how many groups there are for a scan that goes from group to group of a table with
 * this many leaves, of the first tree or any other.  It meets the groups in the low fences
 * of leaves, and reads at least two leaves of each, unless it has only one.  So groups of
 * one leaf count half, and those that share one do not count.
 *
 * They are counted on a few inner pages that are spread over the tree, both ends included:
 * many small groups may be beside a large one.  The result is remembered until the table
 * has grown, or the index is invalidated.  Where counting would not pay, there is one
 * group for each leaf.
 */
double
shidx_count_groups(Relation index, double leaves)
{
	ShIdxCache *cache = shidx_get_cache(index);
	int			root_level = cache->trees[0].root.level;

	if (leaves < MIN_COUNTED_LEAVES || root_level == 0)
		return leaves;
	if (leaves > cache->counted_leaves * RECOUNT_GROWTH)
	{
		double		counted = 0;
		double		last_two = 0;
		double		pages = 1;

		for (int i = 0; i < Min(pages, COUNTED_PAGES); i++)
			pages = sample_leaves(index, root_level, i / Max(Min(pages, COUNTED_PAGES) - 1, 1),
								  &counted, &last_two);
		cache = shidx_get_cache(index);
		cache->groups_per_leaf = last_two / 2 / counted;
		cache->counted_leaves = leaves;
	}
	return Max(cache->groups_per_leaf * leaves, 1);
}

/*
 * The leaves by which a scan of groups is planned: of those that a table has, the leaves of one
 * of the groups, on average, or of all if none can be left out.  Then, if the scan looks for
 * a condition in each, sets groups->total.
 */
double
shidx_plan_groups(Relation index, ShIdxGroups *groups, bool has_condition, double table)
{
	int			counted = Min(groups->count, MAX_COUNTED);
	double		leaves = 0;

	if (groups->all)
	{
		if (has_condition)
			groups->total = shidx_count_groups(index, table);
		return table;
	}
	for (int i = 0; i < counted; i++)
		leaves += count_leaves(index, groups->list[(int64) i * groups->count / counted]);

	/* small groups share leaves, so there cannot be more than the table has */
	return counted == 0 ? 0 : Min(leaves / counted, Max(table / groups->count, 1));
}
