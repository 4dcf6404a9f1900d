/*-------------------------------------------------------------------------
 *
 * parts.h
 *	  Parts of keys in one of which the keys of a pair nearly agree.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_PARTS_H
#define SIMHASH_BATCH_PARTS_H

#include "postgres.h"

#include "bits/distance.h"

/* most bits of a part, so that there is an array with a place for each value */
#define SHBATCH_MAX_PART_BITS	24

/*
 * Some bits of the keys, and in how many of these the keys of a pair may differ
 * to be looked for by this part.
 */
typedef struct ShBatchPart
{
	uint64		mask;
	int			nbits;			/* of mask, 1..SHBATCH_MAX_PART_BITS */
	int			radius;
	double		cost;			/* estimated, in comparisons */
} ShBatchPart;

/*
 * What is to be searched for pairs: keys among each other, or with those of
 * another set.
 */
typedef struct ShBatchKeySets
{
	const uint64 *a;
	size_t		na;
	const uint64 *b;
	size_t		nb;
	bool		among;			/* b is a, and each pair counts once */
} ShBatchKeySets;

/*
 * Any two keys that differ in at most the distance differ in at most radius bits
 * of one of the parts.  Without parts the cost is that of comparing each key with
 * each.
 */
typedef struct ShBatchParts
{
	int			nparts;
	double		cost;			/* of all */
	ShBatchPart parts[SHBITS_WIDTH];
} ShBatchParts;

/* a list of numbers of so many bits, few of which are set */
typedef struct ShBatchBall
{
	size_t		count;
	size_t		by_top[SHBATCH_MAX_PART_BITS + 1];	/* where those >= 1 << i
													 * begin */
	uint32	   *numbers;		/* ascending, the first is 0 */
} ShBatchBall;

extern double shbatch_ball_size(int nbits, int radius);
extern void shbatch_make_ball(ShBatchBall *ball, int nbits, int radius);
extern double shbatch_comparisons(const ShBatchKeySets *sets);
extern void shbatch_plan_parts(ShBatchParts *plan, const ShBatchKeySets *sets,
							   uint64 varying, int distance);

#endif							/* SIMHASH_BATCH_PARTS_H */
