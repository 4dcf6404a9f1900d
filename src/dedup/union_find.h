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

typedef struct ShDupElement
{
	ShFingerprint fp;
	int64		size;			/* in rows; of a root, see union_find.c */
	uint32		parent;			/* itself for a root */
	uint32		number:31;		/* for the caller; 0 in a new element */
	uint32		has_near:1;		/* the same */
} ShDupElement;

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

extern int	shdup_element_distance(const ShDupUnionFind *components, uint32 a, uint32 b);
extern int	shdup_compare_elements(const ShDupUnionFind *components, uint32 a, uint32 b);
extern void shdup_union_find_begin(ShDupUnionFind *components, ShDupElements what,
								   double most, int nwords);
extern uint32 shdup_union_find_add(ShDupUnionFind *components, uint32 group,
								   ShFingerprint fp, bool *is_new);
extern void shdup_union_find_forget_keys(ShDupUnionFind *components);
extern uint32 shdup_union_find_root(ShDupUnionFind *components, uint32 element);
extern void shdup_union_find_join(ShDupUnionFind *components, uint32 a, uint32 b);
extern void shdup_union_find_sum(ShDupUnionFind *components);

#endif							/* SIMHASH_DEDUP_UNION_FIND_H */
