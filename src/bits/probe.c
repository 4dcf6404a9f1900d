/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  Which parts of which tables hold all fingerprints within a radius.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits/hamming_ball.h"
#include "bits/probe.h"

/*
 * Reading the next page of a range costs less than finding the first one of
 * another: it takes no search, and the page is likely to follow on disk.
 */
#define NEXT_PAGE_COST		0.5

/*
 * About how many leaves a table reads for all prefixes within a radius, and
 * the number of these prefixes.
 */
static double
probe_pages(const ShBitsTable *table, int radius, double leaves, double *ranges)
{
	*ranges = shbits_ball_size(table->prefix_bits, radius);

	/* a range of r leaves, laid anywhere, touches r + 1 */
	return Min(*ranges * (1 + leaves / ldexp(1, table->prefix_bits)), leaves);
}

/*
 * What a table costs to probe, in units of a leaf that is searched for.
 */
static double
probe_cost(const ShBitsTable *table, int radius, double leaves)
{
	double		ranges;
	double		pages = probe_pages(table, radius, leaves, &ranges);

	ranges = Min(ranges, pages);
	return ranges + (pages - ranges) * NEXT_PAGE_COST;
}

static void
add_probe(ShBitsProbePlan *plan, const ShBitsScheme *scheme, int table, int radius,
		  double leaves)
{
	ShBitsProbe *probe = &plan->probes[plan->nprobes++];
	double		ranges;

	probe->table = table;
	probe->radius = radius;
	probe->nbits = scheme->tables[table].prefix_bits;
	probe->mask = scheme->tables[table].prefix_mask;
	plan->pages += probe_pages(&scheme->tables[table], radius, leaves, &ranges);
	plan->ranges += ranges;
}

/*
 * Within the distance of the scheme, all probes are for equal prefixes.
 *
 * Of the first m-k+r blocks at most r differ, so m-k of them do not: the
 * tables whose prefix lies within them suffice.
 */
static void
plan_within_distance(const ShBitsScheme *scheme, int radius, double leaves,
					 ShBitsProbePlan *plan)
{
	int			last = scheme->blocks - scheme->distance + radius;

	for (int t = 0; t < scheme->ntables; t++)
	{
		const ShBitsTable *table = &scheme->tables[t];

		/* the blocks of a prefix ascend */
		if (table->order[scheme->blocks - scheme->distance - 1] < last)
			add_probe(plan, scheme, t, 0, leaves);
	}
}

/*
 * Prefixes of one block: for any integers c >= 0, one a table, whose sum is
 * r+1, some block differs in at most c-1 bits, for else r+1 bits would.  They
 * are given out one at a time, where that costs least.
 */
static void
plan_single_blocks(const ShBitsScheme *scheme, int radius, double leaves,
				   ShBitsProbePlan *plan)
{
	int			share[SHBITS_MAX_TABLES] = {0};

	for (int given = 0; given <= radius; given++)
	{
		int			best = 0;
		double		best_cost = -1;

		for (int t = 0; t < scheme->ntables; t++)
		{
			double		cost = probe_cost(&scheme->tables[t], share[t], leaves);

			if (share[t] > 0)
				cost -= probe_cost(&scheme->tables[t], share[t] - 1, leaves);
			if (best_cost < 0 || cost < best_cost)
			{
				best = t;
				best_cost = cost;
			}
		}
		share[best]++;
	}

	for (int t = 0; t < scheme->ntables; t++)
	{
		if (share[t] > 0)
			add_probe(plan, scheme, t, share[t] - 1, leaves);
	}
}

/*
 * Prefixes of several blocks, beyond the distance.
 *
 * With r = q*m + s, the m-k blocks that differ least have at most
 * q(m-k) + max(0, s-k) differing bits together: with one more, one of them
 * had more than q, so had each of the other k blocks, and all had more than r.
 */
static void
plan_beyond_distance(const ShBitsScheme *scheme, int radius, double leaves,
					 ShBitsProbePlan *plan)
{
	int			m = scheme->blocks;
	int			k = scheme->distance;
	int			differing = (radius / m) * (m - k) + Max(0, radius % m - k);

	for (int t = 0; t < scheme->ntables; t++)
		add_probe(plan, scheme, t, differing, leaves);
}

/*
 * Choose the probes that find every fingerprint within a radius of a query.
 *
 * radius may be any number; a negative one needs no probe.  Where probing
 * would cost more than reading one table from end to end, the plan is that.
 */
void
shbits_plan_probes(const ShBitsScheme *scheme, int radius, double leaves_per_table,
				   ShBitsProbePlan *plan)
{
	double		leaves = Max(leaves_per_table, 1);
	double		cost = 0;

	plan->nprobes = 0;
	plan->ranges = 0;
	plan->pages = 0;
	if (radius < 0)
		return;

	if (radius < 64)
	{
		if (radius <= scheme->distance)
			plan_within_distance(scheme, radius, leaves, plan);
		else if (scheme->blocks == scheme->distance + 1)
			plan_single_blocks(scheme, radius, leaves, plan);
		else
			plan_beyond_distance(scheme, radius, leaves, plan);

		for (int i = 0; i < plan->nprobes; i++)
			cost += probe_cost(&scheme->tables[plan->probes[i].table],
							   plan->probes[i].radius, leaves);
		if (cost <= 1 + (leaves - 1) * NEXT_PAGE_COST)
			return;
	}

	shbits_plan_table(leaves_per_table, plan);
}

/*
 * Read one table from end to end, which is good for any radius.
 */
void
shbits_plan_table(double leaves_per_table, ShBitsProbePlan *plan)
{
	plan->nprobes = 1;
	memset(&plan->probes[0], 0, sizeof(ShBitsProbe));
	plan->ranges = 1;
	plan->pages = Max(leaves_per_table, 1);
}
