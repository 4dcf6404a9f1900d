/*-------------------------------------------------------------------------
 *
 * probes.c
 *	  Tests of src/bits without a server: which probe of a plan a difference
 *	  belongs to, of balls and of balls that grow by rings, for every scheme of 64
 *	  bits and many of fewer.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <math.h>

#include "bits/distance.h"
#include "bits/probe.h"
#include "bits/scheme.h"

/* numbers of bits, some of which no type has */
static const int widths[] = {64, 8, 9, 16, 31, 32, 47, 48, 63};

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
 * Does every difference within a radius belong to one probe of its ball, in one group or
 * all of so many?  These are read in no more pages than the table has.
 */
static bool
balls_are_right(const ShBitsScheme *scheme, double leaves, double groups)
{
	for (int radius = 0; radius <= scheme->bits; radius++)
	{
		ShBitsProbePlan plan;

		shbits_plan_probes(scheme, radius, leaves, groups, &plan);
		if (plan.pages > leaves && (plan.nprobes == 1 || groups > 0))
			return false;
		if (plan.skips != (groups > 0 && plan.probes[0].nbits > 0))
			return false;
		for (int i = 0; i < DIFFERENCES; i++)
		{
			if (count_owners(&plan, flip_low_bits(0, i % (radius + 1), scheme->bits)) != 1)
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
	int			first = scheme->distance;
	int			last = first - 1;

	while (last < MAX_RADIUS &&
		   shbits_plan_ring(scheme, last < first ? -1 : last, last + 1, leaves, &rings[last + 1]))
	{
		const ShBitsProbePlan *ring = &rings[++last];
		ShBitsProbePlan ball;
		ShBitsProbePlan nothing;

		/* what is nothing new takes nothing, and a ring no more than its ball */
		shbits_plan_probes(scheme, last, leaves, 0, &ball);
		if (!shbits_plan_ring(scheme, last, last, leaves, &nothing) ||
			nothing.pages != 0 || nothing.ranges != 0 ||
			ring->nprobes != ball.nprobes || ring->pages < 0 || ring->ranges < 0 ||
			ring->pages > ball.pages * 1.000001 || ring->ranges > ball.ranges)
			return false;
		(*nrings)++;
	}
	for (int weight = 0; weight <= Min(last + 8, scheme->bits); weight++)
	{
		for (int i = 0; i < DIFFERENCES; i++)
		{
			uint64		difference = flip_low_bits(0, weight, scheme->bits);
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

/*
 * Is the plan within the distance of a scheme made of the blocks that there are, and
 * not of bits that no fingerprint has?  With one leaf for each prefix of a block, each
 * table is read in two leaves at most.
 */
static bool
blocks_are_cut_from(int bits)
{
	int			blocks = Max(bits / 12, 1);
	double		leaves = ldexp(1, bits / blocks);
	ShBitsScheme *scheme = malloc(shbits_scheme_size(blocks));
	ShBitsProbePlan plan;
	int			prefixes = 0;

	if (scheme == NULL)
		bail_out("out of memory");
	shbits_scheme_init(scheme, bits, blocks, blocks - 1);
	for (int t = 0; t < blocks; t++)
		prefixes += scheme->tables[t].prefix_bits;
	shbits_plan_probes(scheme, blocks - 1, leaves, 0, &plan);
	free(scheme);
	return prefixes == bits && plan.nprobes == blocks && plan.pages <= 2 * blocks;
}

static void
test_schemes(int bits, double leaves)
{
	bool		balls = true;
	bool		growing = true;
	int			nrings = 0;
	char		what[64];

	for (int blocks = 1; blocks <= Min(bits, SHBITS_MAX_BLOCKS); blocks++)
	{
		for (int distance = 0; distance < blocks; distance++)
		{
			int			ntables = shbits_ntables(blocks, distance);
			ShBitsScheme *scheme;

			if (ntables > SHBITS_MAX_TABLES || (bits < SHBITS_WIDTH && ntables > 20))
				continue;
			scheme = malloc(shbits_scheme_size(ntables));
			if (scheme == NULL)
				bail_out("out of memory");
			shbits_scheme_init(scheme, bits, blocks, distance);
			for (double groups = 0; groups < leaves; groups = 1 + groups * 1000)
				balls &= balls_are_right(scheme, leaves, groups);
			growing &= rings_are_right(scheme, leaves, &nrings);
			free(scheme);
		}
	}
	snprintf(what, sizeof(what), "balls of %d bits, %.0f leaves a table", bits, leaves);
	report(balls, "one probe owns a difference", what);
	snprintf(what, sizeof(what), "rings of %d bits, %.0f leaves a table", bits, leaves);
	report(growing, "one probe owns a difference", what);
	if (leaves > 1e6 && bits == SHBITS_WIDTH)
		report(nrings > 300, "there are rings", "most schemes have some");
}

int
main(void)
{
	static const double sizes[] = {1, 30, 2000, 1e5, 1e9};
	bool		cut = true;

	for (int i = 0; i < lengthof(widths); i++)
	{
		for (int size = 0; size < lengthof(sizes); size++)
			test_schemes(widths[i], sizes[size]);
	}
	for (int bits = 1; bits <= SHBITS_WIDTH; bits++)
		cut &= blocks_are_cut_from(bits);
	report(cut, "blocks", "are cut from the bits that there are");
	return finish();
}
