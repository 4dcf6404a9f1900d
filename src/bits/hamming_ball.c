/*-------------------------------------------------------------------------
 *
 * hamming_ball.c
 *	  Hamming balls: their fingerprints in ascending order, and their sizes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits/distance.h"
#include "bits/probe.h"

/*
 * Find the smallest value >= from whose first nbits bits differ from those of
 * the center in at most radius bits.  Its other bits are free.
 *
 * nbits is 0..64; first means most significant.  Returns false if there is
 * none.
 *
 * If from itself does not qualify, the result agrees with from down to some
 * bit that is 0 in from and 1 in the result.  To be smallest, that bit is the
 * least significant one that the radius allows.  Below it come the bits of the
 * center, of which the leading ones are set to 0 as far as the rest of the
 * radius allows.
 */
bool
shbits_next_in_ball(ShPermuted center, int radius, int nbits, ShPermuted from, ShPermuted *next)
{
	uint64		significant = shbits_prefix_mask(nbits);
	uint64		differ = (from ^ center) & significant;
	uint64		settable;
	uint64		bit;
	uint64		above;
	uint64		rest;
	int			last = 0;
	int			beyond;
	int			budget;

	if (radius <= 0)
	{
		/*
		 * most calls are for a single prefix, which needs no search
		 */
		if (radius < 0 || (from & significant) > (center & significant))
			return false;
		*next = differ == 0 ? from : center & significant;
		return true;
	}
	if (shbits_distance(differ, 0) <= radius)
	{
		*next = from;
		return true;
	}

	/* the bits of differ that use up the radius, and the first one beyond it */
	for (int i = 0; i < radius; i++)
	{
		last = pg_leftmost_one_pos64(differ);
		differ &= ~(UINT64CONST(1) << last);
	}
	beyond = pg_leftmost_one_pos64(differ);

	/*
	 * a bit of the center may be set from beyond on, any other one from last
	 * on
	 */
	settable = ~from & significant &
		((center & PG_UINT64_MAX << beyond) | (~center & PG_UINT64_MAX << last));
	if (settable == 0)
		return false;
	bit = settable & -settable;
	above = ~(bit | (bit - 1));
	budget = radius - shbits_distance((from ^ center) & significant & above, 0) -
		((center & bit) ? 0 : 1);
	rest = center & significant & (bit - 1);
	while (budget-- > 0 && rest != 0)
		rest &= ~(UINT64CONST(1) << pg_leftmost_one_pos64(rest));
	*next = (from & above) | bit | rest;
	return true;
}

/*
 * Number of values of nbits bits within radius bits of a given one.  nbits >=
 * 0 need not be an integer, for estimates.  If it is one, the result is exact
 * up to 2^53: the shells are integers, and so is each product before it is
 * divided.
 */
double
shbits_ball_size(double nbits, int radius)
{
	double		shell = 1;
	double		size = 0;

	for (int i = 0; i <= radius && i <= nbits; i++)
	{
		size += shell;
		shell = shell * (nbits - i) / (i + 1);
	}
	return size;
}

/*
 * The share of all values of nbits bits, of any number, that are within radius bits
 * of a given one: the binomial distribution.
 */
double
shbits_ball_share(int nbits, int radius)
{
	const int	step = 512;
	double		shell = 1;
	double		size = 0;
	int			exponent = -nbits;

	/* as in shbits_ball_size, but there may be more than a double can hold */
	for (int i = 0; i <= radius && i <= nbits; i++)
	{
		size += shell;
		shell = shell * (nbits - i) / (i + 1);
		if (shell > ldexp(1, step))
		{
			shell = ldexp(shell, -step);
			size = ldexp(size, -step);
			exponent += step;
		}
	}
	return ldexp(size, exponent);
}
