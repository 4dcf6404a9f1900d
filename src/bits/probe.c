/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  Which parts of which tables hold all fingerprints within a radius, of 64 bits
 *	  or wide ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits/probe.h"

/*
 * Reading the next page of a range costs less than finding the first one of
 * another: it takes no search, and the page is likely to follow on disk.
 */
#define NEXT_PAGE_COST		0.5

/*
 * The cost of looking at a row that may be near, in units of a leaf that is
 * searched for.
 */
#define ROW_COST		1.0

/*
 * About how many leaves a table reads for all prefixes within a radius, but
 * not within an inner one, and the number of these prefixes.
 *
 * Where a leaf has 2^n prefixes, they are equal but for the last n bits, more or
 * less: so the leaves lie in a ball, too, whose points have n bits fewer.  It
 * has no use for leaves all of whose prefixes lie within the inner radius.
 */
static double
probe_pages(const ShBitsTable *table, int inner, int radius, double leaves, double *ranges)
{
	double		per_prefix = leaves / ldexp(1, table->prefix_bits);
	double		shared = per_prefix < 1 ? -log2(per_prefix) : 0;
	double		nbits = table->prefix_bits - shared;
	double		pages = shbits_ball_size(nbits, radius);

	*ranges = shbits_ball_size(table->prefix_bits, radius);
	if (inner >= 0)
	{
		*ranges -= shbits_ball_size(table->prefix_bits, inner);
		pages -= shbits_ball_size(nbits, (int) floor(inner - shared));
	}

	/* a range of r leaves, laid anywhere, touches r + 1 */
	return Min(pages * (1 + per_prefix), leaves);
}

/*
 * What it costs to read pages in so many ranges, in units of a leaf that is
 * searched for.
 */
static double
reading_cost(double ranges, double pages)
{
	ranges = Min(ranges, pages);
	return ranges + (pages - ranges) * NEXT_PAGE_COST;
}

/*
 * What a table costs to probe, in units of a leaf that is searched for.
 */
static double
probe_cost(const ShBitsTable *table, int radius, double leaves)
{
	double		ranges;
	double		pages = probe_pages(table, -1, radius, leaves, &ranges);

	return reading_cost(ranges, pages);
}

/*
 * Set what a plan takes by its probes.  A probe of a ring that has nothing new reads nothing.
 */
static void
sum_up(ShBitsProbePlan *plan, const ShBitsScheme *scheme, double leaves)
{
	plan->ranges = 0;
	plan->pages = 0;
	for (int i = 0; i < plan->nprobes; i++)
	{
		const ShBitsProbe *probe = &plan->probes[i];
		double		ranges;

		if (probe->inner == probe->radius)
			continue;
		plan->pages += probe_pages(&scheme->tables[probe->table], probe->inner, probe->radius,
								   leaves, &ranges);
		plan->ranges += ranges;
	}
}

static void
add_probe(ShBitsProbePlan *plan, const ShBitsScheme *scheme, int table, int radius)
{
	ShBitsProbe *probe = &plan->probes[plan->nprobes++];

	probe->table = table;
	probe->radius = radius;
	probe->inner = -1;
	probe->nbits = scheme->tables[table].prefix_bits;
	probe->mask = scheme->tables[table].prefix_mask;
}

/*
 * Within the distance of the scheme, all probes are for equal prefixes.
 *
 * Of the first m-k+r blocks at most r differ, so m-k of them do not: the
 * tables whose prefix lies within them suffice.
 */
static void
plan_within_distance(const ShBitsScheme *scheme, int radius, ShBitsProbePlan *plan)
{
	int			last = scheme->blocks - scheme->distance + radius;

	for (int t = 0; t < scheme->ntables; t++)
	{
		const ShBitsTable *table = &scheme->tables[t];

		/* the blocks of a prefix ascend */
		if (table->order[scheme->blocks - scheme->distance - 1] < last)
			add_probe(plan, scheme, t, 0);
	}
}

/*
 * Prefixes of one block.  Choose any integers c >= 0, one for each table,
 * whose sum is r+1.  Then some block differs in at most c-1 bits; otherwise
 * r+1 bits would differ in all.  The units are assigned one at a time, each
 * where it costs least.
 */
static void
plan_single_blocks(const ShBitsScheme *scheme, int radius, double leaves,
				   ShBitsProbePlan *plan)
{
	int			share[SHBITS_MAX_BLOCKS] = {0}; /* there is a table a block */
	double		spent[SHBITS_MAX_BLOCKS] = {0};
	double		cost[SHBITS_MAX_BLOCKS];	/* with one more */

	for (int t = 0; t < scheme->ntables; t++)
		cost[t] = probe_cost(&scheme->tables[t], 0, leaves);
	for (int given = 0; given <= radius; given++)
	{
		int			best = 0;

		for (int t = 1; t < scheme->ntables; t++)
		{
			if (cost[t] - spent[t] < cost[best] - spent[best])
				best = t;
		}
		spent[best] = cost[best];
		cost[best] = probe_cost(&scheme->tables[best], ++share[best], leaves);
	}

	for (int t = 0; t < scheme->ntables; t++)
	{
		if (share[t] > 0)
			add_probe(plan, scheme, t, share[t] - 1);
	}
}

/*
 * Prefixes of several blocks, beyond the distance.
 *
 * With r = q*m + s, the m-k blocks that differ least have at most q(m-k) +
 * max(0, s-k) differing bits together: otherwise one of them, and hence each
 * of the other k blocks, would have more than q, and the total would exceed r.
 */
static void
plan_beyond_distance(const ShBitsScheme *scheme, int radius, ShBitsProbePlan *plan)
{
	int			m = scheme->blocks;
	int			k = scheme->distance;
	int			differing = (radius / m) * (m - k) + Max(0, radius % m - k);

	for (int t = 0; t < scheme->ntables; t++)
		add_probe(plan, scheme, t, differing);
}

/*
 * Have each probe of a plan for one group go from group to group.  In each it reads one leaf
 * more, which tells what the next group is.
 */
static void
skip_groups(ShBitsProbePlan *plan, double groups)
{
	plan->skips = true;
	plan->ranges = groups * (plan->ranges + plan->nprobes);
	plan->pages = groups * (plan->pages + plan->nprobes);
}

/*
 * Choose the probes that find every fingerprint within a radius of a query.
 *
 * The leaves are those of one group, if groups is 0.  Otherwise they are those of about
 * this many groups, all of which are searched.
 *
 * radius may be any number; a negative one needs no probe.  If probing would
 * cost more than reading one table from end to end, the plan is to read the
 * table.
 */
void
shbits_plan_probes(const ShBitsScheme *scheme, int radius, double leaves_per_table,
				   double groups, ShBitsProbePlan *plan)
{
	double		leaves = Max(leaves_per_table / Max(groups, 1), 1);
	double		cost = 0;

	memset(plan, 0, offsetof(ShBitsProbePlan, probes));
	if (radius < 0)
		return;

	if (radius < scheme->bits)
	{
		if (radius <= scheme->distance)
			plan_within_distance(scheme, radius, plan);
		else if (scheme->blocks == scheme->distance + 1)
			plan_single_blocks(scheme, radius, leaves, plan);
		else
			plan_beyond_distance(scheme, radius, plan);

		for (int i = 0; i < plan->nprobes; i++)
			cost += probe_cost(&scheme->tables[plan->probes[i].table],
							   plan->probes[i].radius, leaves);
		sum_up(plan, scheme, leaves);
		if (groups > 0)
		{
			skip_groups(plan, groups);
			cost = groups * (cost + plan->nprobes);
		}
		if (cost <= reading_cost(1, Max(leaves_per_table, 1)))
			return;
	}

	shbits_plan_table(leaves_per_table, plan);
}

/*
 * Choose the probes for a ring: they read what the ball of a radius needs in
 * addition to what the probes for a smaller radius, inner, have already read.
 * inner < 0 means that nothing has been read.
 *
 * Fingerprints farther away than radius belong to probes by the same rule.  A
 * sequence of rings, each of which starts where the last one ended, therefore
 * returns each of them at most once.
 *
 * Returns false if the ball is not searched by probes, or not by those of the smaller one
 * and others.  inner must be a radius for which this has returned true, and not below the
 * distance of the scheme.
 */
bool
shbits_plan_ring(const ShBitsScheme *scheme, int inner, int radius,
				 double leaves_per_table, ShBitsProbePlan *plan)
{
	ShBitsProbePlan read;
	int			nread = 0;

	Assert(inner < 0 || inner >= scheme->distance);
	shbits_plan_probes(scheme, radius, leaves_per_table, 0, plan);
	if (plan->nprobes == 0 || plan->probes[0].nbits == 0)
		return false;
	if (inner < 0)
		return true;
	shbits_plan_probes(scheme, inner, leaves_per_table, 0, &read);

	/*
	 * From the distance of a scheme on, larger balls only add to the probes,
	 * unless tables have hardly more leaves than there are tables.
	 */
	plan->ring = true;
	for (int i = 0; i < plan->nprobes; i++)
	{
		if (nread < read.nprobes && read.probes[nread].table == plan->probes[i].table)
			plan->probes[i].inner = read.probes[nread++].radius;
		Assert(plan->probes[i].inner <= plan->probes[i].radius);
	}
	if (nread < read.nprobes)
		return false;
	sum_up(plan, scheme, Max(leaves_per_table, 1));
	return true;
}

/*
 * Read one table from end to end, which works for any radius.
 */
void
shbits_plan_table(double leaves_per_table, ShBitsProbePlan *plan)
{
	memset(plan, 0, offsetof(ShBitsProbePlan, probes));
	plan->nprobes = 1;
	memset(&plan->probes[0], 0, sizeof(ShBitsProbe));
	plan->probes[0].inner = -1;
	plan->ranges = 1;
	plan->pages = Max(leaves_per_table, 1);
}

/*
 * Read the place of one prefix in a table of bands, of one group or of about so many, as
 * shbits_plan_probes does.  If these are too many, the table is read from end to end, for
 * nothing but that prefix.
 */
void
shbits_plan_band(double leaves_per_table, double groups, ShBitsProbePlan *plan)
{
	double		leaves = Max(leaves_per_table, 1);

	shbits_plan_table(leaves, plan);
	plan->probes[0].nbits = SHBITS_WIDTH - SHBITS_BAND_OTHER_BITS;
	plan->probes[0].mask = shbits_prefix_mask(plan->probes[0].nbits);
	plan->pages = 1 + leaves / Max(groups, 1) / ldexp(1, SHBITS_BAND_PREFIX_BITS);
	if (groups == 0)
		return;
	skip_groups(plan, groups);
	if (plan->pages <= reading_cost(1, leaves))
		return;
	plan->skips = false;
	plan->ranges = 1;
	plan->pages = leaves;
}

/*
 * Set what it takes to search the parts within their radii, and return its cost.
 */
static double
allotment_cost(const ShBitsScheme *scheme, int width, double leaves, double groups, double rows,
			   ShBitsAllotment *allotment)
{
	ShBitsProbePlan plan;
	int			planned = -1;	/* the radius of the plan */
	double		cost = 0;

	allotment->searched = 0;
	allotment->ranges = 0;
	allotment->pages = 0;
	allotment->share = 0;
	for (int i = 0; i < allotment->nparts; i++)
	{
		int			radius = allotment->radii[i];

		if (radius < 0)
			continue;
		if (radius != planned)
		{
			shbits_plan_probes(scheme, radius, leaves, groups, &plan);
			planned = radius;
		}
		allotment->searched++;
		allotment->ranges += plan.ranges;
		allotment->pages += plan.pages;
		allotment->share += shbits_ball_share(shbits_part_bits(width, i), radius);
		cost += reading_cost(plan.ranges, plan.pages);
	}
	allotment->share = Min(allotment->share, 1);
	return cost + allotment->share * rows * ROW_COST;
}

/*
 * Give all that there is to one part: it alone is searched, within the whole
 * radius.
 */
static void
allot_to_first(int radius, ShBitsAllotment *allotment)
{
	for (int i = 0; i < allotment->nparts; i++)
		allotment->radii[i] = -1;
	allotment->radii[0] = Min(radius, SHBITS_WIDTH);
}

/*
 * Give parts as much as each other: they cost the same, and the more a part has,
 * the more one more costs.
 */
static void
allot_evenly(int radius, ShBitsAllotment *allotment)
{
	int			nparts = allotment->nparts;
	int			left = radius + 1;

	for (int i = 0; i < nparts; i++)
	{
		/* the first ones get one more if it cannot be divided */
		int			given = (left + nparts - i - 1) / (nparts - i);

		allotment->radii[i] = Min(given - 1, SHBITS_WIDTH);
		left -= given;
	}
}

/*
 * Choose the radii in which to search the parts of wide fingerprints of so many bits
 * for everything within a radius >= 0, by the rule that plan_single_blocks has for
 * blocks.
 *
 * The parts have the same scheme, the tables so many leaves, and the index so many
 * rows.  For groups see shbits_plan_probes.
 */
void
shbits_allot(const ShBitsScheme *scheme, int width, int radius, double leaves_per_table,
			 double groups, double rows, ShBitsAllotment *allotment)
{
	ShBitsAllotment even;

	allotment->nparts = shbits_nparts(width);
	allot_to_first(radius, allotment);
	if (allotment->nparts == 1 || radius >= width)
	{
		allotment_cost(scheme, width, leaves_per_table, groups, rows, allotment);
		return;
	}
	even.nparts = allotment->nparts;
	allot_evenly(radius, &even);
	if (allotment_cost(scheme, width, leaves_per_table, groups, rows, &even) <=
		allotment_cost(scheme, width, leaves_per_table, groups, rows, allotment))
		*allotment = even;
}
