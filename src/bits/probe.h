/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  Hamming balls: their fingerprints in ascending order, their sizes, and which parts of
 *	  which tables hold them, of 64 bits or of wide fingerprints.
 *
 * What this declares is defined in hamming_ball.c and probe.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_PROBE_H
#define SIMHASH_BITS_PROBE_H

#include "bits/distance.h"
#include "bits/scheme.h"

/*
 * A probe reads, of one table, the ranges whose prefix lies within a radius
 * of the prefix of the query, but not within an inner one, which has been read
 * before.  nbits, the length of the prefix, is 0 if the whole table is read.
 */
typedef struct ShBitsProbe
{
	int			table;
	int			nbits;
	int			radius;
	int			inner;			/* -1 if nothing has been read */
	uint64		mask;			/* bits of the fingerprint in the prefix */
} ShBitsProbe;

typedef struct ShBitsProbePlan
{
	double		ranges;			/* how many ranges it reads */
	double		pages;			/* about how many leaves */
	bool		skips;			/* each probe goes from group to group */
	bool		ring;			/* some probe has an inner radius */
	int			nprobes;
	ShBitsProbe probes[SHBITS_MAX_TABLES];
} ShBitsProbePlan;

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

/* hamming_ball.c */
extern bool shbits_next_in_ball(ShPermuted center, int radius, int nbits,
								ShPermuted from, ShPermuted *next);
extern double shbits_ball_size(double nbits, int radius);
extern double shbits_ball_share(int nbits, int radius);

/* probe.c */
extern void shbits_plan_probes(const ShBitsScheme *scheme, int radius, double leaves_per_table,
							   double groups, ShBitsProbePlan *plan);
extern bool shbits_plan_ring(const ShBitsScheme *scheme, int inner, int radius,
							 double leaves_per_table, ShBitsProbePlan *plan);
extern void shbits_plan_table(double leaves_per_table, ShBitsProbePlan *plan);
extern void shbits_plan_band(double leaves_per_table, double groups, ShBitsProbePlan *plan);
extern void shbits_allot(const ShBitsScheme *scheme, int width, int radius,
						 double leaves_per_table, double groups, double rows,
						 ShBitsAllotment *allotment);

/*
 * Does a difference from the query belong to a probe of the plan?
 *
 * Each difference within the plan's radius belongs to exactly one probe, the
 * first one that reads it, though others may meet it.  In a ring it belongs to
 * none if a smaller ball has already read it.
 */
static inline bool
shbits_probe_owns(const ShBitsProbePlan *plan, int probe, uint64 difference)
{
	const ShBitsProbe *probes = plan->probes;
	int			distance;

	for (int i = 0; i < probe; i++)
	{
		if (shbits_distance(difference & probes[i].mask, 0) <= probes[i].radius)
			return false;
	}
	distance = shbits_distance(difference & probes[probe].mask, 0);
	if (distance <= probes[probe].inner || distance > probes[probe].radius)
		return false;
	for (int i = probe + 1; plan->ring && i < plan->nprobes; i++)
	{
		if (shbits_distance(difference & probes[i].mask, 0) <= probes[i].inner)
			return false;
	}
	return true;
}

#endif							/* SIMHASH_BITS_PROBE_H */
