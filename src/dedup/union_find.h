/*-------------------------------------------------------------------------
 *
 * union_find.h
 *	  Connected components of fingerprints, or other numbers of 64 bits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_UNION_FIND_H
#define SIMHASH_DEDUP_UNION_FIND_H

#include "bits/distance.h"

/* a group, or another number, and 64 bits, in halves so that an entry of a hash table has 16 bytes */
typedef struct ShDupKey
{
	uint32		group;
	uint32		high;
	uint32		low;
} ShDupKey;

/* secrets of a hash table */
typedef struct ShDupSeed
{
	uint64		addend;
	uint64		factor;			/* odd */
} ShDupSeed;

/*
 * Like the finalizer of MurmurHash3, but with secrets: users choose the
 * fingerprints, and should not be able to construct collisions.
 */
static inline uint32
shdup_hash_key(const ShDupSeed *seed, ShDupKey key)
{
	uint64		hash = ((uint64) key.high << 32 | key.low) + seed->addend;

	hash ^= key.group * seed->factor;
	hash ^= hash >> 33;
	hash *= seed->factor;
	hash ^= hash >> 33;
	hash *= UINT64CONST(0xc4ceb9fe1a85ec53);
	hash ^= hash >> 33;
	return (uint32) hash;
}

static inline bool
shdup_same_key(ShDupKey a, ShDupKey b)
{
	return a.low == b.low && a.high == b.high && a.group == b.group;
}

extern ShDupSeed *shdup_make_seed(void);

typedef struct ShDupElement
{
	ShFingerprint fp;
	int64		size;			/* in rows; of a root, see union_find.c */
	uint32		parent;			/* itself for a root */
	uint32		number:31;		/* its class, if it has rows; then for the
								 * caller; 0 in a new element */
	uint32		has_near:1;		/* for the caller; 0 in a new element */
} ShDupElement;

/* in place of the number of an element: there is none */
#define SHDUP_NO_ELEMENT	PG_UINT32_MAX

/* what elements are, for the error message if there are too many */
typedef enum ShDupElements
{
	SHDUP_ROWS,					/* fingerprints of rows */
	SHDUP_VALUES,				/* fingerprints in an array */
	SHDUP_NUMBERS				/* of pairs */
} ShDupElements;

typedef struct ShDupUnionFind
{
	ShDupElements what;
	uint32		count;
	uint32		capacity;
	double		most;			/* number of possible elements */
	ShDupElement *elements;

	/*
	 * if fingerprints have several words: those of elements are only numbers
	 * of values, and these are here
	 */
	int			nwords;			/* else 0 */
	uint64	   *values;

	struct element_hash *hash;	/* numbers of elements, by group and fp */

	/*
	 * If rows have classes (row_class.c), the element of a fingerprint is
	 * that of its first class.  Each element leads to the next one of its
	 * fingerprint, or to SHDUP_NO_ELEMENT, and those of further classes are
	 * found by their class and their fingerprint's element.
	 */
	uint32	   *next;			/* or NULL */
	struct element_hash *by_class;
	Size		bytes_of_classes;	/* set by the caller */
} ShDupUnionFind;

/*
 * What a caller may allocate for each element after shdup_union_find_forget_keys: the
 * limit has counted two entries of 16 bytes or more for each.
 */
#define SHDUP_BYTES_TO_USE	32

/* the words of the fingerprint of an element */
static inline uint64 *
shdup_element_value(const ShDupUnionFind *components, uint32 element)
{
	if (components->nwords == 0)
		return &components->elements[element].fp;
	return components->values + (size_t) element * components->nwords;
}

extern double shdup_nearness(const ShDupUnionFind *components, uint32 a, uint32 b);
extern int	shdup_compare_elements(const ShDupUnionFind *components, uint32 a, uint32 b);
extern void shdup_union_find_begin(ShDupUnionFind *components, ShDupElements what,
								   double most, int nwords, bool has_classes);
extern uint32 shdup_union_find_add(ShDupUnionFind *components, uint32 group,
								   ShFingerprint fp, bool *is_new);
extern uint32 shdup_element_of_class(const ShDupUnionFind *components, uint32 element,
									 uint32 number);
extern uint32 shdup_union_find_add_row(ShDupUnionFind *components, uint32 element, uint32 number);
extern void shdup_union_find_forget_keys(ShDupUnionFind *components);
extern uint32 shdup_union_find_root(ShDupUnionFind *components, uint32 element);
extern void shdup_union_find_join(ShDupUnionFind *components, uint32 a, uint32 b);
extern void shdup_union_find_sum(ShDupUnionFind *components);

#endif							/* SIMHASH_DEDUP_UNION_FIND_H */
