/*-------------------------------------------------------------------------
 *
 * word_plan.h
 *	  Which words of fingerprints are searched, and within which radii.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WORD_PLAN_H
#define SIMHASH_PAIRS_WORD_PLAN_H

#include "pairs/keys.h"
#include "pairs/parts.h"

#define SHPAIRS_MAX_WORDS	SHBITS_MAX_PARTS

/* wanted are the pairs of a key of a and one of b or, if they are the same, those among a */
typedef struct ShPairsSets
{
	int			width;			/* of the fingerprints, in bits */
	int			nwords;
	int			distance;
	const ShPairsBucket *a;
	const ShPairsBucket *b;
} ShPairsSets;

/*
 * Words to search, each within a radius.  Without any, all pairs are compared.
 */
typedef struct ShPairsWordPlan
{
	int			nwords;
	int			words[SHPAIRS_MAX_WORDS];
	int			radii[SHPAIRS_MAX_WORDS];
	double		cost;			/* in comparisons of 64 bits; 0: little */
	double		cost_of_helping;	/* what must be left of a task for another
									 * process to help */
} ShPairsWordPlan;

extern void shpairs_plan_words(ShPairsWordPlan *plan, const ShPairsSets *sets);

/* the number of keys in both sets, each counted once */
static inline size_t
shpairs_count_keys(const ShPairsSets *sets)
{
	return sets->a->nkeys + (sets->a == sets->b ? 0 : sets->b->nkeys);
}

#endif							/* SIMHASH_PAIRS_WORD_PLAN_H */
