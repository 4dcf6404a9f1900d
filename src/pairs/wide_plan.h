/*-------------------------------------------------------------------------
 *
 * wide_plan.h
 *	  Which parts of wide fingerprints are searched, and within which radii.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WIDE_PLAN_H
#define SIMHASH_PAIRS_WIDE_PLAN_H

#include "pairs/wide_bucket.h"

/* some keys of a bucket */
typedef struct ShPairsWideSet
{
	ShPairsWideBucket *wide;
	size_t		start;
	size_t		count;
} ShPairsWideSet;

/* wanted are the pairs of a key of a and one of b, or those among a */
typedef struct ShPairsWideSets
{
	int			width;			/* of the fingerprints, in bits */
	int			nwords;
	int			distance;
	bool		among;
	ShPairsWideSet a;
	ShPairsWideSet b;			/* the same as a, if among */
} ShPairsWideSets;

/*
 * Parts to search, each within a radius.  Without any, all pairs are compared.
 */
typedef struct ShPairsWidePlan
{
	int			nparts;
	int			parts[SHBITS_MAX_PARTS];
	int			radii[SHBITS_MAX_PARTS];
	double		cost;			/* in comparisons of 64 bits; 0: little */
	double		cost_of_sharing;	/* what must be left of a part for another
									 * process to help */
} ShPairsWidePlan;

extern void shpairs_wide_plan(ShPairsWidePlan *plan, const ShPairsWideSets *sets);

/* the number of keys in both sets, each counted once */
static inline size_t
shpairs_wide_count_keys(const ShPairsWideSets *sets)
{
	return sets->a.count + (sets->among ? 0 : sets->b.count);
}

static inline const uint64 *
shpairs_wide_value(const ShPairsWideSet *set, size_t i)
{
	return shpairs_bucket_value(&set->wide->bucket, i);
}

#endif							/* SIMHASH_PAIRS_WIDE_PLAN_H */
