/*-------------------------------------------------------------------------
 *
 * hamming_ball.h
 *	  Enumerating the fingerprints of a Hamming ball in ascending order.
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
