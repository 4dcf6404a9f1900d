/*-------------------------------------------------------------------------
 *
 * hamming_ball.h
 *	  Enumerating the fingerprints of a Hamming ball in ascending order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_HAMMING_BALL_H
#define SIMHASH_BITS_HAMMING_BALL_H

#include "postgres.h"

extern bool shbits_next_in_ball(uint64 centre, int radius, int nbits,
								uint64 from, uint64 *next);
extern double shbits_ball_size(double nbits, int radius);

#endif							/* SIMHASH_BITS_HAMMING_BALL_H */
