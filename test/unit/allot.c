/*-------------------------------------------------------------------------
 *
 * allot.c
 *	  Tests of src/bits without a server: whether the parts of a wide fingerprint
 *	  are searched within radii that leave nothing out, for every width.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "bits/probe.h"
#include "bits/scheme.h"

/* the leaves of a table, and the rows, of a small index and a large one */
static const double sizes[][2] = {{1, 100}, {30, 10000}, {3000, 1e6}, {3e6, 1e9}};

/*
 * Can the difference lie outside of all parts' radii?  It needs one bit more than
 * each radius, and must fit into the parts.
 */
static bool
leaves_nothing_out(const ShBitsAllotment *allotment, int width, int radius)
{
	int			least = 0;

	for (int i = 0; i < allotment->nparts; i++)
	{
		if (allotment->radii[i] >= shbits_part_bits(width, i))
			return true;
		least += allotment->radii[i] + 1;
	}
	return least > radius;
}

/*
 * Is what is said of the radii possible?
 */
static bool
is_sensible(const ShBitsAllotment *allotment)
{
	int			searched = 0;

	for (int i = 0; i < allotment->nparts; i++)
	{
		if (allotment->radii[i] < -1 || allotment->radii[i] > SHBITS_WIDTH)
			return false;
		searched += allotment->radii[i] >= 0;
	}
	return searched == allotment->searched && searched > 0 && allotment->ranges >= searched &&
		allotment->pages > 0 && allotment->share > 0 && allotment->share <= 1;
}

/*
 * Are the parts as long as each other, or shorter than the first one by one bit?
 */
static bool
parts_are_even(int width)
{
	int			nparts = shbits_nparts(width);
	int			first = shbits_part_bits(width, 0);

	for (int i = 1; i < nparts; i++)
	{
		int			shorter = first - shbits_part_bits(width, i);

		if (shorter != 0 && shorter != 1)
			return false;
	}
	return shbits_part_start(width, 0) == 0 && shbits_part_start(width, nparts) == width &&
		first <= SHBITS_WIDTH && (nparts - 1) * SHBITS_WIDTH < width;
}

/*
 * The scheme is that of the blocks and the distance, for the parts of the width.
 */
static void
check_width(int blocks, int distance, int width, bool *complete, bool *sensible)
{
	ShBitsScheme *scheme = malloc(shbits_scheme_size(shbits_ntables(blocks, distance)));

	if (scheme == NULL)
		bail_out("out of memory");
	shbits_scheme_init(scheme, shbits_part_bits(width, 0), blocks, distance);
	for (int size = 0; size < lengthof(sizes); size++)
	{
		for (int groups = 0; groups < 5000; groups += 1 + groups * 10)
		{
			for (int radius = 0; radius <= width; radius += radius < 80 ? 1 : 1 + width / 60)
			{
				ShBitsAllotment allotment;

				shbits_allot(scheme, width, radius, sizes[size][0], groups, sizes[size][1],
							 &allotment);
				*complete = *complete && leaves_nothing_out(&allotment, width, radius);
				*sensible = *sensible && is_sensible(&allotment);
			}
		}
	}
	free(scheme);
}

int
main(void)
{
	static const int schemes[][2] = {{1, 0}, {4, 3}, {6, 2}, {16, 1}};
	bool		even = true;

	for (int width = 1; width <= 4096; width++)
		even &= parts_are_even(width);
	report(even, "parts", "are as long as each other");

	for (int i = 0; i < lengthof(schemes); i++)
	{
		int			blocks = schemes[i][0];
		int			distance = schemes[i][1];
		char		subject[64];
		bool		complete = true;
		bool		sensible = true;

		for (int width = 8; width <= 4096; width += width < 640 ? 8 : 432)
		{
			if (blocks <= width)
				check_width(blocks, distance, width, &complete, &sensible);
		}
		snprintf(subject, sizeof(subject), "%d blocks a part, distance %d", blocks, distance);
		report(complete, subject, "nothing within a radius is left out");
		report(sensible, subject, "what it takes to search is counted");
	}
	return finish();
}
