/*-------------------------------------------------------------------------
 *
 * hamming_ball.h
 *	  Hamming balls: their fingerprints in ascending order, and their sizes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_HAMMING_BALL_H
#define SIMHASH_BITS_HAMMING_BALL_H

#include "bits/distance.h"

extern bool shbits_next_in_ball(ShPermuted center, int radius, int nbits,
								ShPermuted from, ShPermuted *next);
extern double shbits_ball_size(double nbits, int radius);
extern double shbits_ball_share(int nbits, int radius);

#endif							/* SIMHASH_BITS_HAMMING_BALL_H */
