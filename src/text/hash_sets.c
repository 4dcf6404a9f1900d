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

#include "compat.h"
#include "text/hash_sets.h"

/* elements looked at between checks for interrupts */
#define ELEMENTS_AT_ONCE	65536

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

		shcompat_check_at(i);
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

		shcompat_check_at(i);
		n_a += a;
		n_b += b;
		n_both += a & b;
	}
	*in_a = n_a;
	*in_b = n_b;
	*in_both = n_both;
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

/*
 * Write the numbers of a single set, which has the whole range, without the sets that
 * they are in, in ascending order.
 *
 * The order is nearly that of the slots: each number is near its slot.
 */
static void
sort_numbers(const ShTextSets *sets, uint64 *numbers)
{
	uint64		nslots = UINT64CONST(1) << sets->slot_bits;
	uint64		count = 0;

	for (uint64 i = 0; i < nslots; i++)
	{
		uint64		number = sets->slots[i] & ~(uint64) SHTEXT_IN_BOTH;
		uint64		place = count;

		shcompat_check_at(i);
		if (sets->slots[i] == 0)
			continue;
		for (; place > 0 && numbers[place - 1] > number; place--)
			numbers[place] = numbers[place - 1];
		numbers[place] = number;
		count++;
	}
}

/*
 * Replace hashes by the numbers that stand for them, each once, in ascending order.
 * Returns how many there are.
 */
Size
shtext_distinct_numbers(uint64 *hashes, Size nhashes, uint64 key)
{
	ShTextSets	set;

	/* half of the slots remain free */
	shtext_sets_init(&set, 0, pg_leftmost_one_pos64(nhashes + 1) + 2);
	for (Size i = 0; i < nhashes; i++)
	{
		shcompat_check_at(i);
		shtext_sets_add(&set, shtext_sets_number(hashes[i], key), SHTEXT_IN_A);
	}
	sort_numbers(&set, hashes);
	shtext_sets_free(&set);
	return set.used;
}

/*
 * How many numbers two arrays share that have each number once, in ascending order?
 */
Size
shtext_count_common(const uint64 *a, Size na, const uint64 *b, Size nb)
{
	Size		result = 0;
	Size		i = 0;
	Size		j = 0;

	while (i < na && j < nb)
	{
		CHECK_FOR_INTERRUPTS();
		for (int step = 0; step < ELEMENTS_AT_ONCE && i < na && j < nb; step++)
		{
			uint64		x = a[i];
			uint64		y = b[j];

			/* without branches, which could not be predicted */
			result += x == y;
			i += x <= y;
			j += y <= x;
		}
	}
	return result;
}
