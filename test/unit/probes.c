/*-------------------------------------------------------------------------
 *
 * probes.c
 *	  Tests of src/bits without a server: which probe of a plan a difference
 *	  belongs to, of balls and of balls that grow by rings, for every scheme.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "bits/distance.h"
#include "bits/probe.h"
#include "bits/scheme.h"

/* differences tried for each radius and scheme */
#define DIFFERENCES		40

/* as far as rings are followed */
#define MAX_RADIUS		20

static ShBitsProbePlan rings[SHBITS_WIDTH + 1];

static int
count_owners(const ShBitsProbePlan *plan, uint64 difference)
{
	int			owners = 0;

	for (int i = 0; i < plan->nprobes; i++)
		owners += shbits_probe_owns(plan, i, difference);
	return owners;
}

/*
 * Does every difference within a radius belong to one probe of its ball?
 */
static bool
balls_are_right(const ShBitsScheme *scheme, double leaves)
{
	for (int radius = 0; radius <= SHBITS_WIDTH; radius++)
	{
		ShBitsProbePlan plan;

		shbits_plan_probes(scheme, radius, leaves, &plan);
		if (plan.pages > leaves && plan.nprobes == 1)
			return false;
		for (int i = 0; i < DIFFERENCES; i++)
		{
			if (count_owners(&plan, flip_bits(0, i % (radius + 1))) != 1)
				return false;
		}
	}
	return true;
}

/*
 * Does every difference belong to at most one probe of all rings, and to one of
 * those up to its own radius?
 */
static bool
rings_are_right(const ShBitsScheme *scheme, double leaves, int *nrings)
{
	int			first = scheme->distance + 1;
	int			last = scheme->distance;

	while (last < MAX_RADIUS &&
		   shbits_plan_ring(scheme, last < first ? -1 : last, last + 1, leaves, &rings[last + 1]))
	{
		const ShBitsProbePlan *ring = &rings[++last];
		ShBitsProbePlan ball;

		/* what is nothing new takes nothing, and a ring no more than its ball */
		shbits_plan_probes(scheme, last, leaves, &ball);
		if (ring->nprobes != ball.nprobes || ring->pages < 0 || ring->ranges < 0 ||
			ring->pages > ball.pages * 1.000001 || ring->ranges > ball.ranges)
			return false;
		(*nrings)++;
	}
	for (int weight = 0; weight <= Min(last + 8, SHBITS_WIDTH); weight++)
	{
		for (int i = 0; i < DIFFERENCES; i++)
		{
			uint64		difference = flip_bits(0, weight);
			int			owners = 0;

			for (int radius = first; radius <= last; radius++)
			{
				owners += count_owners(&rings[radius], difference);
				if (owners > 1 || (weight <= radius && owners == 0))
					return false;
			}
		}
	}
	return true;
}

static void
test_schemes(double leaves)
{
	bool		balls = true;
	bool		growing = true;
	int			nrings = 0;
	char		what[64];

	for (int blocks = 1; blocks <= SHBITS_MAX_BLOCKS; blocks++)
	{
		for (int distance = 0; distance < blocks; distance++)
		{
			int			ntables = shbits_ntables(blocks, distance);
			ShBitsScheme *scheme;

			if (ntables > SHBITS_MAX_TABLES)
				continue;
			scheme = malloc(shbits_scheme_size(ntables));
			if (scheme == NULL)
				bail_out("out of memory");
			shbits_scheme_init(scheme, blocks, distance);
			balls &= balls_are_right(scheme, leaves);
			growing &= rings_are_right(scheme, leaves, &nrings);
			free(scheme);
		}
	}
	snprintf(what, sizeof(what), "balls, %.0f leaves a table", leaves);
	report(balls, "one probe owns a difference", what);
	snprintf(what, sizeof(what), "rings, %.0f leaves a table", leaves);
	report(growing, "one probe owns a difference", what);
	if (leaves > 1e6)
		report(nrings > 300, "there are rings", "most schemes have some");
}

int
main(void)
{
	test_schemes(1);
	test_schemes(30);
	test_schemes(2000);
	test_schemes(1e5);
	test_schemes(1e9);
	return finish();
}
