/*-------------------------------------------------------------------------
 *
 * balls_cost.c
 *	  What it takes to find everything that lies in some balls.
 *
 * A scan chooses by it what to search for, and the planner's estimate follows
 * the scan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "btree/leaf.h"
#include "search/balls_cost.h"

/*
 * Add what it takes to find what lies in some balls of a radius, by fingerprints of one
 * part, each by probes or, if by_table says so, by reading a table from end to end.
 */
static void
add_balls(ShFndCost *cost, int radius, double balls, const ShBitsScheme *scheme, bool by_table,
		  double leaves)
{
	ShBitsProbePlan probes = {.ranges = 1,.pages = leaves};

	if (!by_table)
		shbits_plan_probes(scheme, radius, leaves, &probes);
	cost->balls += balls;
	cost->ranges += balls * probes.ranges;
	cost->pages += balls * probes.pages;
}

/*
 * What it takes to find everything that lies in counts[r] balls of fingerprints of a
 * width, for each radius r up to the width, or up to SHBITS_WIDTH if that is more.
 */
void
shfnd_cost_of_counts(const int *counts, int width, const ShBitsScheme *scheme, bool by_table,
					 double leaves_per_table, ShFndCost *cost)
{
	double		leaves = Max(leaves_per_table, 1);
	int			nparts = shbits_nparts(width);

	memset(cost, 0, sizeof(*cost));
	for (int r = 0; r <= Max(width, SHBITS_WIDTH); r++)
	{
		ShBitsAllotment allotment;

		if (counts[r] == 0)
			continue;
		if (nparts == 1)
		{
			add_balls(cost, r, counts[r], scheme, by_table, leaves);
			continue;
		}
		shbits_allot(scheme, width, r, by_table, leaves, leaves * SHBT_USUAL_ENTRIES, &allotment);
		cost->share += allotment.share * counts[r];
		for (int i = 0; i < nparts; i++)
		{
			if (allotment.radii[i] >= 0)
				add_balls(cost, allotment.radii[i], counts[r], scheme, by_table, leaves);
		}
	}
	cost->share = Min(cost->share, 1);
}

/*
 * All of it, in pages.
 */
double
shfnd_cost_in_pages(const ShFndCost *cost, double leaves_per_table)
{
	return cost->pages + cost->share * Max(leaves_per_table, 1) * SHBT_USUAL_ENTRIES;
}
