/*-------------------------------------------------------------------------
 *
 * bucket_search.h
 *	  Finding all pairs within a distance in a bucket, or between two buckets, and which
 *	  words of fingerprints are searched for that.
 *
 * What this declares is defined in bucket_search.c and together.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_BUCKET_SEARCH_H
#define SIMHASH_PAIRS_BUCKET_SEARCH_H

#include "pairs/keys.h"
#include "pairs/pairs.h"
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
} ShPairsWordPlan;

extern void shpairs_plan_words(ShPairsWordPlan *plan, const ShPairsSets *sets);

/* the number of keys in both sets, each counted once */
static inline size_t
shpairs_count_keys(const ShPairsSets *sets)
{
	return sets->a->nkeys + (sets->a == sets->b ? 0 : sets->b->nkeys);
}

/* the keys of a bucket, sorted by a word, and its different values */
typedef struct ShPairsSorted
{
	const ShPairsBucket *bucket;
	ShIdxSortItem *items;		/* a value and a number of a key */
	size_t		count;			/* of different values */
	ShPermuted *values;			/* ascending */
	uint32	   *starts;			/* of each among the items */
} ShPairsSorted;

typedef struct ShPairsSearch
{
	ShPairsHits hits;			/* numbers of keys of a and b */
	ShPairsHits value_hits;		/* with several words: numbers of values */
	ShPairsDeal *deals;			/* with other processes: of each word; or NULL */
	ShPairsSets sets;
	ShPairsWordPlan plan;

	int			word;			/* the current one of the plan */
	ShPairsSorted sorted[2];	/* of each set, with several words */
	ShPairsSorted *sorted_b;	/* one of them */
	uint32		checked;		/* candidates since hits were passed on */
	MemoryContext context;		/* with several words: for the current one */
	ShPairs		pairs;
} ShPairsSearch;

extern void shpairs_search_init(ShPairsSearch *search, int width, int distance,
								ShPairsHitsFunction pass, void *arg);
extern void shpairs_search_planned(ShPairsSearch *search);

/* together.c */
extern void shpairs_search(ShPairsSearch *search, const ShPairsBucket *a,
						   const ShPairsBucket *b, int *workers);

#endif							/* SIMHASH_PAIRS_BUCKET_SEARCH_H */
