/*-------------------------------------------------------------------------
 *
 * hash_sets.h
 *	  Sets of the hashes of features, to be compared.
 *
 * A set is an array with open addressing.  Each slot has a number that stands for a
 * hash, and whose last two bits say that there is one.  Numbers are thus equal here
 * if their first 62 bits are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_HASH_SETS_H
#define SIMHASH_TEXT_HASH_SETS_H

#include "text/document.h"

typedef struct ShTextSet
{
	int			slot_bits;		/* there are 2^slot_bits slots, */
	int			max_slot_bits;	/* and no more than this */
	bool		too_large;		/* for these */
	uint64		used;			/* slots */
	uint64	   *slots;			/* 0 if empty */
} ShTextSet;

extern uint64 shtext_set_number(uint64 hash);
extern bool shtext_set_read(ShTextSet *set, const ShTextFeatures *features);
extern void shtext_set_sort(ShTextSet *set);
extern bool shtext_set_meets(const ShTextSet *set, const ShTextFeatures *features);

extern Size shtext_count_common(const uint64 *a, Size na, const uint64 *b, Size nb);

#endif							/* SIMHASH_TEXT_HASH_SETS_H */
