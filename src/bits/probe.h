/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  Which parts of which tables hold all fingerprints within a radius.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_PROBE_H
#define SIMHASH_BITS_PROBE_H

#include "postgres.h"

#include "bits/distance.h"
#include "bits/scheme.h"

/*
 * A probe reads, of one table, the ranges whose prefix lies within a radius
 * of the prefix of the query.  nbits, the length of the prefix, is 0 if the
 * whole table is read.
 */
typedef struct ShBitsProbe
{
	int			table;
	int			nbits;
	int			radius;
	uint64		mask;			/* bits of the fingerprint in the prefix */
} ShBitsProbe;

typedef struct ShBitsProbePlan
{
	double		ranges;			/* how many ranges it reads */
	double		pages;			/* about how many leaves */
	int			nprobes;
	ShBitsProbe probes[SHBITS_MAX_TABLES];
} ShBitsProbePlan;

extern void shbits_plan_probes(const ShBitsScheme *scheme, int radius,
							   double leaves_per_table, ShBitsProbePlan *plan);
extern void shbits_plan_table(double leaves_per_table, ShBitsProbePlan *plan);

/*
 * Does a difference from the query belong to a probe of the plan?
 *
 * Each difference of at most the plan's radius does so to exactly one, the
 * first one that reads it, though others may come across it.
 */
static inline bool
shbits_probe_owns(const ShBitsProbePlan *plan, int probe, uint64 difference)
{
	for (int i = 0; i < probe; i++)
	{
		if (shbits_distance(difference & plan->probes[i].mask, 0) <= plan->probes[i].radius)
			return false;
	}
	return shbits_distance(difference & plan->probes[probe].mask, 0) <= plan->probes[probe].radius;
}

#endif							/* SIMHASH_BITS_PROBE_H */
