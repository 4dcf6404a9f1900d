/*-------------------------------------------------------------------------
 *
 * hash_sets.c
 *	  Sets of the hashes of features, to be compared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "compat.h"
#include "text/hash_sets.h"

/* elements looked at between checks for interrupts */
#define ELEMENTS_AT_ONCE	65536

/* arrays of slots that exist while the number of slots changes */
#define ARRAYS_AT_ONCE		2

/*
 * The first array is sized for the expected number of features, which is only
 * a guess.
 */
#define LEAST_SLOT_BITS		6
#define MOST_SLOT_BITS		16
#define BYTES_OF_WORD		3	/* low, so that half of the slots are free */

/* the bits of a hash that do not count, which a number in a slot has set */
#define IGNORED				UINT64CONST(3)

/*
 * A factor of hashes, which determines which of them share a part of an array.  It is
 * random: otherwise the authors of documents could make comparisons slow.  It is odd, so
 * that different numbers stay different; equality must not depend on it, so the bits
 * that do not count are removed first.  0 until it is needed.
 */
static uint64 key = 0;

static inline uint64
number_of(uint64 hash, uint64 factor)
{
	return (hash & ~IGNORED) * factor;
}

/*
 * The number that stands for a hash in this session.
 */
uint64
shtext_set_number(uint64 hash)
{
	if (unlikely(key == 0))
		key = pg_prng_uint64(&pg_global_prng_state) | 1;
	return number_of(hash, key);
}

static void
allocate_slots(ShTextSet *set, int slot_bits)
{
	Size		size = sizeof(uint64) << slot_bits;

	set->slots = MemoryContextAllocHuge(CurrentMemoryContext, size);
	memset(set->slots, 0, size);
	set->slot_bits = slot_bits;
	set->used = 0;
}

/*
 * The slot of a number, which is empty if the number is not in the set.
 */
static inline uint64 *
find_slot_of(const ShTextSet *set, uint64 number)
{
	uint64		last = (UINT64CONST(1) << set->slot_bits) - 1;
	uint64		slot = number >> (64 - set->slot_bits);

	while (set->slots[slot] != 0 && set->slots[slot] != (number | IGNORED))
		slot = (slot + 1) & last;
	return &set->slots[slot];
}

static inline void
put_number(ShTextSet *set, uint64 number)
{
	uint64	   *slot = find_slot_of(set, number);

	set->used += *slot == 0;
	*slot = number | IGNORED;
}

/*
 * Make room for twice as many numbers, unless the set is as large as it may be.
 */
static void
grow_set(ShTextSet *set)
{
	ShTextSet	old = *set;
	uint64		nslots = UINT64CONST(1) << old.slot_bits;

	set->too_large = old.slot_bits >= old.max_slot_bits;
	if (set->too_large)
		return;
	allocate_slots(set, old.slot_bits + 1);
	for (uint64 i = 0; i < nslots; i++)
	{
		shcompat_check_at(i);
		if (old.slots[i] != 0)
			put_number(set, old.slots[i]);
	}
	pfree(old.slots);
}

/*
 * A consumer of hashes: adds them to a set, unless it has become too large.
 */
static void
collect(void *state, const uint64 *hashes, int nhashes)
{
	ShTextSet	set = *(ShTextSet *) state; /* a copy can stay in registers */
	uint64		factor = key;

	for (int i = 0; i < nhashes; i++)
	{
		/* half of the slots remain free, so that numbers are near their slots */
		if (unlikely(set.used >= UINT64CONST(1) << (set.slot_bits - 1)))
			grow_set(&set);
		if (unlikely(set.too_large))
			break;
		put_number(&set, number_of(hashes[i], factor));
	}
	*(ShTextSet *) state = set;
}

static uint64
expected_features(const ShTextFeatures *features)
{
	Size		length;

	if (features->document == NULL)
		return features->nelements;
	length = VARSIZE_ANY_EXHDR(features->document);
	return features->unit == SHTEXT_WORD ? length / BYTES_OF_WORD : length;
}

/*
 * Make the set of the features of a document, whose slots are to be freed.  Returns
 * false, without a set, if they take more memory than a hash table may.
 */
bool
shtext_set_read(ShTextSet *set, const ShTextFeatures *features)
{
	ShTextFeatures until_full = *features;
	int			slot_bits = pg_leftmost_one_pos64(expected_features(features) + 1) + 1;

	(void) shtext_set_number(0);	/* there is a key */
	set->max_slot_bits = pg_leftmost_one_pos64(get_hash_memory_limit() / (ARRAYS_AT_ONCE * sizeof(uint64)));
	set->too_large = false;
	slot_bits = Min(Max(slot_bits, LEAST_SLOT_BITS), MOST_SLOT_BITS);
	allocate_slots(set, Min(slot_bits, set->max_slot_bits));
	until_full.enough = &set->too_large;
	until_full.read(&until_full, collect, set);
	if (set->too_large)
		pfree(set->slots);
	return !set->too_large;
}

/*
 * Move the numbers of a set to its first slots, in ascending order.  There are set->used,
 * and the set cannot be asked any more.
 *
 * The order is nearly that of the slots: each number is near its slot.
 */
void
shtext_set_sort(ShTextSet *set)
{
	uint64		nslots = UINT64CONST(1) << set->slot_bits;
	uint64	   *numbers = set->slots;
	uint64		count = 0;

	for (uint64 i = 0; i < nslots; i++)
	{
		uint64		number = numbers[i];
		uint64		place = count;

		shcompat_check_at(i);
		if (number == 0)
			continue;
		for (; place > 0 && numbers[place - 1] > number; place--)
			numbers[place] = numbers[place - 1];
		numbers[place] = number;
		count++;
	}
}

/* a set, and whether one of its features was found in another document */
typedef struct Meeting
{
	ShTextSet	set;
	bool		met;
} Meeting;

/*
 * A consumer of hashes: looks for one that is in the set.
 */
static void
look_for(void *state, const uint64 *hashes, int nhashes)
{
	Meeting    *meeting = state;

	for (int i = 0; i < nhashes && !meeting->met; i++)
		meeting->met = *find_slot_of(&meeting->set, number_of(hashes[i], key)) != 0;
}

/*
 * Is a feature of a document in the set?  Reads no further than to the first one.
 */
bool
shtext_set_meets(const ShTextSet *set, const ShTextFeatures *features)
{
	ShTextFeatures until_met = *features;
	Meeting		meeting = {*set, false};

	until_met.enough = &meeting.met;
	until_met.read(&until_met, look_for, &meeting);
	return meeting.met;
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
