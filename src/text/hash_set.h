/*-------------------------------------------------------------------------
 *
 * hash_set.h
 *	  A set of 64-bit numbers within a range.
 *
 * An array with open addressing, less than half full.  The numbers must be
 * spread over the range as hashes are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_HASH_SET_H
#define SIMHASH_TEXT_HASH_SET_H

#include "postgres.h"

/*
 * The range begins at low, and has the numbers whose first fixed_bits bits are
 * those of low.
 */
typedef struct ShTextSet
{
	uint64		low;
	int			fixed_bits;		/* 0..63; the other bits of low are 0 */
	int			slot_bits;		/* there are 2^slot_bits slots */
	uint64		count;			/* slots that are in use */
	bool		zero;			/* is 0 in the set? */
	uint64	   *slots;			/* 0 where there is no number */
} ShTextSet;

extern void shtext_set_init(ShTextSet *set, uint64 low, int fixed_bits);
extern void shtext_set_grow(ShTextSet *set);
extern void shtext_set_narrow(ShTextSet *set);
extern uint64 shtext_set_size(const ShTextSet *set);
extern uint64 shtext_set_common(const ShTextSet *a, const ShTextSet *b);
extern void shtext_set_free(ShTextSet *set);

/*
 * Is the number in the range?
 */
static inline bool
shtext_set_covers(const ShTextSet *set, uint64 number)
{
	return number - set->low <= PG_UINT64_MAX >> set->fixed_bits;
}

/*
 * Must the set grow, or its range, before a number is added?
 */
static inline bool
shtext_set_is_full(const ShTextSet *set)
{
	return set->count >= UINT64CONST(1) << (set->slot_bits - 1);
}

/*
 * The slot where a number of the range is, or else the free one where it is
 * to be.
 */
static inline uint64 *
shtext_set_slot(const ShTextSet *set, uint64 number)
{
	uint64		last = (UINT64CONST(1) << set->slot_bits) - 1;
	uint64		slot = number << set->fixed_bits >> (64 - set->slot_bits);

	while (set->slots[slot] != number && set->slots[slot] != 0)
		slot = (slot + 1) & last;
	return &set->slots[slot];
}

/*
 * Add a number of the range, unless the set has it.  The set must not be full.
 */
static inline void
shtext_set_add(ShTextSet *set, uint64 number)
{
	uint64	   *slot;

	if (unlikely(number == 0))
	{
		set->zero = true;
		return;
	}
	slot = shtext_set_slot(set, number);
	set->count += (*slot == 0);
	*slot = number;
}

#endif							/* SIMHASH_TEXT_HASH_SET_H */
