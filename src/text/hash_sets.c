/*-------------------------------------------------------------------------
 *
 * hash_sets.c
 *	  Two sets of hashes, to be compared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "text/hash_sets.h"

/* slots looked at between checks for interrupts */
#define SLOTS_AT_ONCE		65536

static void
allocate_slots(ShTextSets *sets, int slot_bits)
{
	Size		size = sizeof(uint64) << slot_bits;

	sets->slots = MemoryContextAllocHuge(CurrentMemoryContext, size);
	memset(sets->slots, 0, size);
	sets->slot_bits = slot_bits;
	sets->used = 0;
}

/*
 * Start with empty sets and 2^slot_bits slots, 1..62.  The range is the
 * largest one that begins at low and is aligned to its size; low is 0 or a
 * result of shtext_sets_end.
 */
void
shtext_sets_init(ShTextSets *sets, uint64 low, int slot_bits)
{
	sets->low = low;
	sets->fixed_bits = low == 0 ? 0 : 64 - pg_rightmost_one_pos64(low);
	Assert(sets->fixed_bits < 64);
	allocate_slots(sets, slot_bits);
}

/*
 * Move the numbers in the range to a new array of slots.
 */
static void
move(ShTextSets *sets, int slot_bits)
{
	ShTextSets	old = *sets;
	uint64		nslots = UINT64CONST(1) << old.slot_bits;

	allocate_slots(sets, slot_bits);
	for (uint64 i = 0; i < nslots; i++)
	{
		uint64		slot = old.slots[i];

		if (i % SLOTS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (slot != 0 && shtext_sets_cover(sets, slot))
			shtext_sets_add(sets, slot, slot & SHTEXT_IN_BOTH);
	}
	shtext_sets_free(&old);
}

/*
 * Make room for twice as many numbers.
 */
void
shtext_sets_grow(ShTextSets *sets)
{
	move(sets, sets->slot_bits + 1);
}

/*
 * Keep only the lower half of the range, and the numbers in it.
 */
void
shtext_sets_narrow(ShTextSets *sets)
{
	sets->fixed_bits++;
	move(sets, sets->slot_bits);
}

/*
 * Count the numbers in each set, and those in both.
 */
void
shtext_sets_count(const ShTextSets *sets, uint64 *in_a, uint64 *in_b,
				  uint64 *in_both)
{
	uint64		nslots = UINT64CONST(1) << sets->slot_bits;

	uint64		n_a = 0;
	uint64		n_b = 0;
	uint64		n_both = 0;

	for (uint64 i = 0; i < nslots; i++)
	{
		uint64		a = sets->slots[i] & 1;
		uint64		b = sets->slots[i] >> 1 & 1;

		n_a += a;
		n_b += b;
		n_both += a & b;
	}
	*in_a = n_a;
	*in_b = n_b;
	*in_both = n_both;
}

/*
 * Write the numbers of a single set that fits into the array, without the sets that
 * they are in, in ascending order.  There must be room for as many as are used.
 *
 * They are almost in this order: each one is near its place.
 */
void
shtext_sets_sort(const ShTextSets *sets, uint64 *numbers)
{
	uint64		nslots = UINT64CONST(1) << sets->slot_bits;
	uint64		count = 0;

	for (uint64 i = 0; i < nslots; i++)
	{
		uint64		number = sets->slots[i] & ~(uint64) SHTEXT_IN_BOTH;
		uint64		place = count;

		if (sets->slots[i] == 0)
			continue;
		for (; place > 0 && numbers[place - 1] > number; place--)
			numbers[place] = numbers[place - 1];
		numbers[place] = number;
		count++;
	}
}

/*
 * The start of the next range; 0 after the last.
 */
uint64
shtext_sets_end(const ShTextSets *sets)
{
	return sets->low + (PG_UINT64_MAX >> sets->fixed_bits) + 1;
}

/*
 * Free the slots.
 */
void
shtext_sets_free(ShTextSets *sets)
{
	pfree(sets->slots);
}
