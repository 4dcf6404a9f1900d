/*-------------------------------------------------------------------------
 *
 * allot.c
 *	  Within which radii the parts of a wide fingerprint are searched.
 *
 * Choose any integers c >= 0, one for each part, whose sum is r + 1.  If two
 * fingerprints differ in at most r bits, then some part differs in at most c - 1
 * bits; otherwise r + 1 bits would differ in all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits/allot.h"
#include "bits/hamming_ball.h"
#include "bits/probe.h"

/*
 * The cost of looking at a row that may be near, in units of a leaf that is
 * searched for.
 */
#define ROW_COST		1.0

/*
 * Set what it takes to search the parts within their radii, and return its cost.
 */
static double
sum_up(const ShBitsScheme *scheme, int width, bool by_table, double leaves, double rows,
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
		int			nbits = shbits_part_bits(width, i);

		if (radius < 0)
			continue;
		if (radius != planned)
		{
			if (by_table)
				shbits_plan_table(leaves, &plan);
			else
				shbits_plan_probes(scheme, radius, leaves, &plan);
			planned = radius;
		}
		allotment->searched++;
		allotment->ranges += plan.ranges;
		allotment->pages += plan.pages;
		allotment->share += shbits_ball_share(nbits, radius);
		cost += shbits_probing_cost(&plan);
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
 * Give parts of 64 bits as much as each other: they cost the same, and the more
 * a part has, the more one more costs.  A last part of fewer bits gets no more
 * than it can be searched for by blocks without a constant bit.
 */
static void
allot_evenly(const ShBitsScheme *scheme, int width, int radius, ShBitsAllotment *allotment)
{
	int			nparts = allotment->nparts;
	int			last_bits = shbits_part_bits(width, nparts - 1);
	int			left = radius + 1;

	if (last_bits < SHBITS_WIDTH)
	{
		int			most = last_bits >= SHBITS_LEAST_BITS ? scheme->blocks * last_bits / SHBITS_WIDTH : 0;
		int			given = Min(left / nparts, most);

		allotment->radii[--nparts] = given - 1;
		left -= given;
	}
	for (int i = 0; i < nparts; i++)
	{
		/* the first ones get one more if it cannot be divided */
		int			given = (left + nparts - i - 1) / (nparts - i);

		allotment->radii[i] = Min(given - 1, SHBITS_WIDTH);
		left -= given;
	}
}

/*
 * Choose the radii in which to search the parts of fingerprints of so many bits
 * for everything within a radius >= 0.
 *
 * The parts have the same scheme, the tables so many leaves and the index so many
 * rows.  by_table says that a part is searched by reading one of its tables from
 * end to end.
 */
void
shbits_allot(const ShBitsScheme *scheme, int width, int radius, bool by_table,
			 double leaves_per_table, double rows, ShBitsAllotment *allotment)
{
	ShBitsAllotment even;

	allotment->nparts = shbits_nparts(width);
	allot_to_first(radius, allotment);
	if (allotment->nparts == 1 || radius >= width)
	{
		sum_up(scheme, width, by_table, leaves_per_table, rows, allotment);
		return;
	}
	even.nparts = allotment->nparts;
	allot_evenly(scheme, width, radius, &even);
	if (sum_up(scheme, width, by_table, leaves_per_table, rows, &even) <=
		sum_up(scheme, width, by_table, leaves_per_table, rows, allotment))
		*allotment = even;
}
