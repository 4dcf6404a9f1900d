/*-------------------------------------------------------------------------
 *
 * hash_set.c
 *	  A set of 64-bit numbers within a range.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "text/hash_set.h"

/* of a new set, for texts of a line; 1 kB */
#define FIRST_SLOT_BITS		7

/* slots looked at between checks for interrupts */
#define SLOTS_AT_ONCE		65536

static void allocate(ShTextSet *set, int slot_bits);
static void move(ShTextSet *set, int slot_bits);

/*
 * Start with the empty set.
 */
void
shtext_set_init(ShTextSet *set, uint64 low, int fixed_bits)
{
	set->low = low;
	set->fixed_bits = fixed_bits;
	allocate(set, FIRST_SLOT_BITS);
}

/*
 * Make room for twice as many numbers.
 */
void
shtext_set_grow(ShTextSet *set)
{
	move(set, set->slot_bits + 1);
}

/*
 * Leave only the lower half of the range, and what is in it.
 */
void
shtext_set_narrow(ShTextSet *set)
{
	set->fixed_bits++;
	move(set, set->slot_bits);
}

/*
 * How many numbers are in the set?
 */
uint64
shtext_set_size(const ShTextSet *set)
{
	return set->count + set->zero;
}

/*
 * How many numbers are in both of two sets of the same range?
 */
uint64
shtext_set_common(const ShTextSet *a, const ShTextSet *b)
{
	uint64		nslots = UINT64CONST(1) << a->slot_bits;
	uint64		result = a->zero && b->zero;

	for (uint64 i = 0; i < nslots; i++)
	{
		if (i % SLOTS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (a->slots[i] != 0)
			result += (*shtext_set_slot(b, a->slots[i]) != 0);
	}
	return result;
}

void
shtext_set_free(ShTextSet *set)
{
	pfree(set->slots);
}

/*
 * Empty slots.
 */
static void
allocate(ShTextSet *set, int slot_bits)
{
	Size		size = sizeof(uint64) << slot_bits;

	set->slots = MemoryContextAllocHuge(CurrentMemoryContext, size);
	memset(set->slots, 0, size);
	set->slot_bits = slot_bits;
	set->count = 0;
	set->zero = false;
}

/*
 * Put what is in the range into new slots.
 */
static void
move(ShTextSet *set, int slot_bits)
{
	ShTextSet	old = *set;
	uint64		nslots = UINT64CONST(1) << old.slot_bits;

	allocate(set, slot_bits);
	set->zero = old.zero;		/* which is the lowest of any range it is in */
	for (uint64 i = 0; i < nslots; i++)
	{
		if (i % SLOTS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (old.slots[i] != 0 && shtext_set_covers(set, old.slots[i]))
			shtext_set_add(set, old.slots[i]);
	}
	shtext_set_free(&old);
}
