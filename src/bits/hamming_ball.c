/*-------------------------------------------------------------------------
 *
 * hamming_ball.c
 *	  Hamming balls: their fingerprints in ascending order, their sizes, and the ball
 *	  that holds the fingerprints of similar sets.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "bits/distance.h"
#include "bits/hamming_ball.h"

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

/*
 * The share that is meant.  One that came from a real is the decimal that was written, of
 * at most four digits: 0.8::real is .8, and not .800000012, which a share of .8 would miss.
 * With more digits, it could be that of a quotient that is exact as a real.
 */
double
shbits_similar_share(double share)
{
	for (double scale = 10; scale <= 1e4 && share == (float) share; scale *= 10)
	{
		double		decimal = rint(share * scale) / scale;

		if ((float) decimal == (float) share)
			return decimal;
	}
	return share;
}

/*
 * The smallest radius that holds the fingerprints of at least .945 (.95, in two digits)
 * of all pairs of sets which share so much: each of the 64 bits of a MinHash fingerprint
 * differs with probability (1 - share) / 2.  64 if the share is not positive.
 *
 * Conditions and what is stored by them rest on these radii, so they are constants, and
 * nothing is computed that could be rounded in another way: each is the least double
 * for which the binomial distribution, in exact arithmetic, gives that radius.
 */
int
shbits_similar_radius(double share)
{
	static const double least[] = {
		0.9982329575858062, 0.9882206087063192, 0.9731697925485537, 0.9553375655290296,
		0.9356893075917261, 0.9147272090736671, 0.8927501264462527, 0.8699526279757397,
		0.8464696730463191, 0.8223993624214647, 0.7978156075692553, 0.7727756869617989,
		0.7473250035955489, 0.7215002144597816, 0.6953313647688458, 0.6688433881378836,
		0.6420571884335465, 0.614990437220953, 0.5876581727400851, 0.560073257157676,
		0.5322467305181453, 0.5041880879897539, 0.47590549917539443, 0.4474059829609756,
		0.41869554771636003, 0.38977930408928296, 0.3606615557880161, 0.33134587240357816,
		0.3018351473241234, 0.27213164303914716, 0.24223702554769075, 0.21215238912216003,
		0.18187827230088885, 0.15141466566052708, 0.12076101163187361, 0.0899161963515528,
		0.0588785332701674, 0.027645737948418538, 0.0
	};

	/* not true of NaN */
	if (!(share > 0))
		return SHBITS_WIDTH;
	share = shbits_similar_share(share);
	for (int radius = 0; radius < lengthof(least); radius++)
	{
		if (share >= least[radius])
			return radius;
	}
	pg_unreachable();
}
