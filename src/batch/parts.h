/*-------------------------------------------------------------------------
 *
 * parts.h
 *	  Parts of keys, such that the keys of a pair nearly agree in one of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_PARTS_H
#define SIMHASH_BATCH_PARTS_H

#include "postgres.h"

#include "bits/distance.h"

/*
 * the most bits of a part, since there is an array with an element for each
 * value
 */
#define SHBATCH_MAX_PART_BITS	24

/*
 * Some bits of the keys, and the radius: the number of these bits in which the
 * pairs that are searched for by this part may differ.
 */
typedef struct ShBatchPart
{
	uint64		mask;
	int			nbits;			/* of mask, 1..SHBATCH_MAX_PART_BITS */
	int			radius;
	double		cost;			/* estimated, in comparisons */
} ShBatchPart;

/*
 * The keys to search for pairs: among each other, or between two sets.
 */
typedef struct ShBatchKeySets
{
	const uint64 *a;
	size_t		na;
	const uint64 *b;
	size_t		nb;
	bool		among;			/* b is the same as a, and each pair counts
								 * once */
} ShBatchKeySets;

/*
 * Any two keys that differ in at most the distance differ in at most radius
 * bits of one of the parts.  Without parts, the cost is that of comparing all
 * pairs.
 */
typedef struct ShBatchParts
{
	int			nparts;
	double		cost;			/* of all */
	ShBatchPart parts[SHBITS_WIDTH];
} ShBatchParts;

/* a list of the numbers that have few bits set */
typedef struct ShBatchBall
{
	size_t		count;
	size_t		by_top[SHBATCH_MAX_PART_BITS + 1];	/* index of the first one
													 * >= 1 << i */
	uint32	   *numbers;		/* ascending, the first is 0 */
} ShBatchBall;

extern double shbatch_ball_size(int nbits, int radius);
extern void shbatch_make_ball(ShBatchBall *ball, int nbits, int radius);
extern double shbatch_comparisons(const ShBatchKeySets *sets);
extern void shbatch_plan_parts(ShBatchParts *plan, const ShBatchKeySets *sets,
							   uint64 varying, int distance);

#endif							/* SIMHASH_BATCH_PARTS_H */
