/*-------------------------------------------------------------------------
 *
 * hash_sets.h
 *	  Two sets of hashes, to be compared.
 *
 * Both sets are in one array with open addressing.  Each slot has a number,
 * whose last two bits are replaced by the sets that it is in.  Numbers are
 * thus equal here if their first 62 bits are.  The array only has the numbers
 * of a range, so that it can be made to fit in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_HASH_SETS_H
#define SIMHASH_TEXT_HASH_SETS_H

/* which set: bits of a slot */
#define SHTEXT_IN_A		1
#define SHTEXT_IN_B		2
#define SHTEXT_IN_BOTH	(SHTEXT_IN_A | SHTEXT_IN_B)

/*
 * The range begins at low, and has the numbers whose first fixed_bits bits are
 * those of low.  The numbers must be uniformly distributed over it.
 */
typedef struct ShTextSets
{
	uint64		low;
	int			fixed_bits;		/* the other bits of low are 0 */
	int			slot_bits;		/* there are 2^slot_bits slots */
	uint64		used;			/* of these */
	uint64	   *slots;			/* 0 if empty */
} ShTextSets;

extern void shtext_sets_init(ShTextSets *sets, uint64 low, int slot_bits);
extern void shtext_sets_grow(ShTextSets *sets);
extern void shtext_sets_narrow(ShTextSets *sets);
extern void shtext_sets_count(const ShTextSets *sets, uint64 *in_a,
							  uint64 *in_b, uint64 *in_both);
extern uint64 shtext_sets_end(const ShTextSets *sets);
extern void shtext_sets_free(ShTextSets *sets);

extern Size shtext_distinct_numbers(uint64 *hashes, Size nhashes, uint64 key);
extern Size shtext_count_common(const uint64 *a, Size na, const uint64 *b, Size nb);

/*
 * The number that stands for a hash.  The key is odd, so that different numbers stay
 * different; equality must not depend on it, so the last two bits are removed first.
 */
static inline uint64
shtext_sets_number(uint64 hash, uint64 key)
{
	return (hash & ~(uint64) SHTEXT_IN_BOTH) * key;
}

/*
 * Is the number in the range?
 */
static inline bool
shtext_sets_cover(const ShTextSets *sets, uint64 number)
{
	return number - sets->low <= PG_UINT64_MAX >> sets->fixed_bits;
}

/*
 * Must the array grow, or its range shrink, before a number is added?  That is
 * so when it is half full, so that numbers are found near their slots.
 */
static inline bool
shtext_sets_full(const ShTextSets *sets)
{
	return sets->used >= UINT64CONST(1) << (sets->slot_bits - 1);
}

/*
 * The slot of a number of the range, which is empty if the number is in no set.
 */
static inline uint64 *
shtext_sets_slot(const ShTextSets *sets, uint64 number)
{
	uint64		last = (UINT64CONST(1) << sets->slot_bits) - 1;
	uint64		slot = number << sets->fixed_bits >> (64 - sets->slot_bits);
	uint64		found;

	number &= ~(uint64) SHTEXT_IN_BOTH;
	while ((found = sets->slots[slot]) != 0 &&
		   (found & ~(uint64) SHTEXT_IN_BOTH) != number)
		slot = (slot + 1) & last;
	return &sets->slots[slot];
}

/*
 * Add a number of the range to a set, or to both, unless it is there already.
 * The array must not be full.
 */
static inline void
shtext_sets_add(ShTextSets *sets, uint64 number, int which)
{
	uint64	   *slot = shtext_sets_slot(sets, number);

	sets->used += (*slot == 0);
	*slot |= (number & ~(uint64) SHTEXT_IN_BOTH) | which;
}

#endif							/* SIMHASH_TEXT_HASH_SETS_H */
