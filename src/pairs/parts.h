/*-------------------------------------------------------------------------
 *
 * parts.h
 *	  Parts of keys, such that the keys of a pair nearly agree in one of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_PARTS_H
#define SIMHASH_PAIRS_PARTS_H

#include "bits/distance.h"

/*
 * the most bits of a part, since there is an array with an element for each
 * value
 */
#define SHPAIRS_MAX_PART_BITS	24

/* the cost of dividing a key by a part, in comparisons */
#define SHPAIRS_COST_OF_KEY		300

/*
 * Some bits of the keys, and the radius: the number of these bits in which the
 * pairs that are searched for by this part may differ.
 */
typedef struct ShPairsPart
{
	uint64		mask;
	int			nbits;			/* of mask, 1..SHPAIRS_MAX_PART_BITS */
	int			radius;
	double		cost;			/* estimated, in comparisons */
	bool		left;			/* for the comparison of all pairs */
} ShPairsPart;

/*
 * The keys to search for pairs: among each other, or between two sets.
 */
typedef struct ShPairsKeySets
{
	const ShPermuted *a;
	size_t		na;
	const ShPermuted *b;
	size_t		nb;
	bool		among;			/* b is the same as a, and each pair counts
								 * once */
} ShPairsKeySets;

/*
 * Any two keys that differ in at most the distance differ in at most radius
 * bits of one of the parts.  Without parts, the cost is that of comparing all
 * pairs.
 */
typedef struct ShPairsParts
{
	int			nparts;
	double		cost;			/* of all */
	ShPairsPart parts[SHBITS_WIDTH];
} ShPairsParts;

/*
 * for each byte of a key, the bits of a part that come from it, by its value
 */
typedef struct ShPairsPartBits
{
	uint32		of_byte[sizeof(uint64)][256];
} ShPairsPartBits;

/* a list of the numbers that have few bits set */
typedef struct ShPairsBall
{
	size_t		count;
	size_t		by_top[SHPAIRS_MAX_PART_BITS + 1];	/* index of the first one
													 * >= 1 << i */
	uint32	   *numbers;		/* ascending, the first is 0 */
} ShPairsBall;

extern void shpairs_prepare_values(ShPairsPartBits *bits, uint64 mask);
extern void shpairs_make_ball(ShPairsBall *ball, int nbits, int radius);
extern double shpairs_comparisons(const ShPairsKeySets *sets);
extern double shpairs_even_cost(const ShPairsKeySets *sets, int nbits, int distance);
extern void shpairs_plan_parts(ShPairsParts *plan, const ShPairsKeySets *sets,
							   uint64 varying, int distance);

/* the value of a part of a key */
static inline uint32
shpairs_value_of_part(const ShPairsPartBits *bits, ShPermuted key)
{
	return bits->of_byte[0][key & 0xff] |
		bits->of_byte[1][(key >> 8) & 0xff] |
		bits->of_byte[2][(key >> 16) & 0xff] |
		bits->of_byte[3][(key >> 24) & 0xff] |
		bits->of_byte[4][(key >> 32) & 0xff] |
		bits->of_byte[5][(key >> 40) & 0xff] |
		bits->of_byte[6][(key >> 48) & 0xff] |
		bits->of_byte[7][key >> 56];
}

#endif							/* SIMHASH_PAIRS_PARTS_H */
