/*-------------------------------------------------------------------------
 *
 * allot.h
 *	  Within which radii the parts of a wide fingerprint are searched.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_ALLOT_H
#define SIMHASH_BITS_ALLOT_H

#include "bits/scheme.h"

/*
 * If each part is searched within its radius, everything is found that differs
 * in no more bits than the whole fingerprint may.
 */
typedef struct ShBitsAllotment
{
	int			nparts;
	int			searched;		/* how many of them have a radius >= 0 */
	int			radii[SHBITS_MAX_PARTS];	/* -1: the part is not searched */
	double		ranges;			/* how many ranges are read */
	double		pages;			/* about how many leaves */
	double		share;			/* of random fingerprints, how many are met */
} ShBitsAllotment;

/*
 * A last part of fewer bits finds too many fingerprints that are not near.
 */
#define SHBITS_LEAST_BITS	32

/* the number of bits of a part of a fingerprint of so many bits */
static inline int
shbits_part_bits(int width, int part)
{
	return Min(width - part * SHBITS_WIDTH, SHBITS_WIDTH);
}

extern void shbits_allot(const ShBitsScheme *scheme, int width, int radius, bool by_table,
						 double leaves_per_table, double rows, ShBitsAllotment *allotment);

#endif							/* SIMHASH_BITS_ALLOT_H */
