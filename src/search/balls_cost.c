/*-------------------------------------------------------------------------
 *
 * balls_cost.c
 *	  What it takes to find everything that lies in some balls.
 *
 * A scan chooses by it what to search for, and the planner's estimate follows
 * the scan.  The planner knows the radii only, the scan also the centers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "btree/leaf.h"
#include "search/balls_cost.h"

/*
 * What it takes to find what lies in counts[r] balls of each radius r of a part.  They
 * are read one after the other or, if there are so many that this would cost more, or
 * if by_table says so, by reading a table from end to end.  Then each entry is
 * compared with all balls, unless there is only one, which costs "work" pages.
 */
static void
cost_of_part(const int *counts, double work, const ShBitsScheme *scheme, bool by_table,
			 double leaves, ShFndCost *cost)
{
	ShFndCost	table = {.ranges = 1,.pages = leaves};
	double		nballs = 0;

	memset(cost, 0, sizeof(*cost));
	for (int r = 0; r <= SHBITS_WIDTH; r++)
	{
		ShBitsProbePlan probes;

		if (counts[r] == 0)
			continue;
		nballs += counts[r];
		if (by_table)
			continue;
		shbits_plan_probes(scheme, r, leaves, &probes);
		cost->ranges += counts[r] * probes.ranges;
		cost->pages += counts[r] * probes.pages;
	}
	if (nballs > 1)
	{
		table.table = true;
		table.comparing = leaves * SHBT_USUAL_ENTRIES * work;
	}
	if (by_table || (table.table && table.pages + table.comparing < cost->pages))
		*cost = table;
}

/*
 * What it takes to find everything that lies in the balls of a set.  A table has so
 * many leaves for one of the groups, or for all if by_table says that tables are
 * read from end to end.
 */
void
shfnd_cost_of_set(const ShFndBallSet *set, const ShBitsScheme *scheme, bool by_table,
				  double leaves_per_table, ShFndCost *cost)
{
	int			counts[SHBITS_WIDTH + 1];

	shfnd_count_radii(set, counts);
	cost_of_part(counts, shfnd_comparing_work(set), scheme, by_table, Max(leaves_per_table, 1),
				 cost);
}

/*
 * Add up what it takes to search the parts of wide fingerprints.
 */
static void
cost_of_parts(const int *counts, int width, const ShBitsScheme *scheme, bool by_table,
			  double leaves, ShFndCost *cost)
{
	int			nparts = shbits_nparts(width);
	int			(*parts)[SHBITS_WIDTH + 1] = palloc0(nparts * sizeof(*parts));
	bool		searched[SHBITS_MAX_PARTS] = {false};

	memset(cost, 0, sizeof(*cost));
	for (int r = 0; r <= width; r++)
	{
		ShBitsAllotment allotment;

		if (counts[r] == 0)
			continue;
		shbits_allot(scheme, width, r, by_table, leaves, leaves * SHBT_USUAL_ENTRIES, &allotment);
		cost->share += allotment.share * counts[r];
		for (int i = 0; i < nparts; i++)
		{
			int			radius = allotment.radii[i];

			if (radius < 0)
				continue;
			searched[i] = true;
			parts[i][radius] = Min((int64) parts[i][radius] + counts[r], INT_MAX);
		}
	}
	cost->share = Min(cost->share, 1);

	for (int i = 0; i < nparts; i++)
	{
		ShFndCost	part;

		if (!searched[i])
			continue;
		cost_of_part(parts[i], shfnd_expected_work(parts[i]), scheme, by_table, leaves, &part);
		cost->table |= part.table;
		cost->ranges += part.ranges;
		cost->pages += part.pages;
		cost->comparing += part.comparing;
	}
	pfree(parts);
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

	if (shbits_nparts(width) == 1)
		cost_of_part(counts, shfnd_expected_work(counts), scheme, by_table, leaves, cost);
	else
		cost_of_parts(counts, width, scheme, by_table, leaves, cost);
}

/*
 * All of it, in pages.
 */
double
shfnd_cost_in_pages(const ShFndCost *cost, double leaves_per_table)
{
	return cost->pages + cost->comparing +
		cost->share * Max(leaves_per_table, 1) * SHBT_USUAL_ENTRIES;
}
