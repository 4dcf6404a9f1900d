/*-------------------------------------------------------------------------
 *
 * hamming_ball.h
 *	  Hamming balls: their fingerprints in ascending order, their sizes, and the ball
 *	  that holds the fingerprints of similar sets.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_HAMMING_BALL_H
#define SIMHASH_BITS_HAMMING_BALL_H

#include "bits/distance.h"

/* the share of =~=, and where nothing says another one */
#define SHBITS_SIMILAR_SHARE	0.8

extern bool shbits_next_in_ball(ShPermuted center, int radius, int nbits,
								ShPermuted from, ShPermuted *next);
extern double shbits_ball_size(double nbits, int radius);
extern double shbits_ball_share(int nbits, int radius);
extern double shbits_similar_share(double share);
extern int	shbits_similar_radius(double share);

#endif							/* SIMHASH_BITS_HAMMING_BALL_H */
