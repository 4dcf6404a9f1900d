/*-------------------------------------------------------------------------
 *
 * union_find.h
 *	  Connected components of fingerprints, or other numbers of 64 bits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_UNION_FIND_H
#define SIMHASH_BATCH_UNION_FIND_H

#include "bits/distance.h"

typedef struct ShBatchElement
{
	ShFingerprint fp;
	int64		size;			/* in rows; of a root, see union_find.c */
	uint32		parent;			/* itself for a root */
	uint32		number:31;		/* for the caller; 0 in a new element */
	uint32		has_near:1;		/* the same */
} ShBatchElement;

/*
 * The key of an element: a fingerprint and, in an index of several columns, a
 * group and kind of rows.
 */
typedef struct ShBatchElementKey
{
	ShFingerprint fp;
	uint32		group;
	uint32		kind;
} ShBatchElementKey;

/* what elements are, for the error message if there are too many */
typedef enum ShBatchElements
{
	SHBATCH_ROWS,				/* fingerprints of rows */
	SHBATCH_VALUES,				/* fingerprints in an array */
	SHBATCH_NUMBERS				/* of pairs */
} ShBatchElements;

typedef struct ShBatchUnionFind
{
	ShBatchElements what;
	uint32		count;
	uint32		capacity;
	double		most;			/* number of possible elements */
	ShBatchElement *elements;

	/*
	 * if fingerprints have several words: those of elements are only numbers
	 * of values, and these are here
	 */
	int			nwords;			/* else 0 */
	uint64	   *values;

	/* numbers of elements, by fingerprint, if groups and kinds are all 0 */
	struct element_hash *hash;
	struct kind_hash *kinds;	/* or by the whole key */
} ShBatchUnionFind;

/*
 * What a caller may allocate for each element after shbatch_union_find_forget_keys: the
 * limit has counted two entries of 16 bytes or more for each.
 */
#define SHBATCH_BYTES_TO_USE	32

/* what members.c keeps of an element of another kind; counted if there may be some */
#define SHBATCH_BYTES_OF_KIND	16

/* in place of the number of an element: there is none */
#define SHBATCH_NO_ELEMENT	PG_UINT32_MAX

static inline ShBatchElementKey
shbatch_element_key(uint32 group, uint32 kind, ShFingerprint fp)
{
	ShBatchElementKey key;

	key.fp = fp;
	key.group = group;
	key.kind = kind;
	return key;
}

/* the words of the fingerprint of an element */
static inline uint64 *
shbatch_element_value(const ShBatchUnionFind *components, uint32 element)
{
	if (components->nwords == 0)
		return &components->elements[element].fp;
	return components->values + (size_t) element * components->nwords;
}

extern int	shbatch_element_distance(const ShBatchUnionFind *components, uint32 a, uint32 b);
extern int	shbatch_compare_elements(const ShBatchUnionFind *components, uint32 a, uint32 b);
extern void shbatch_union_find_begin(ShBatchUnionFind *components, ShBatchElements what,
									 double most, bool kinds);
extern void shbatch_union_find_keep_values(ShBatchUnionFind *components, int nwords);
extern uint32 shbatch_union_find_add(ShBatchUnionFind *components, ShBatchElementKey key,
									 bool *is_new);
extern uint32 shbatch_union_find_lookup(ShBatchUnionFind *components, ShBatchElementKey key);
extern void shbatch_union_find_forget_keys(ShBatchUnionFind *components);
extern uint32 shbatch_union_find_root(ShBatchUnionFind *components, uint32 element);
extern void shbatch_union_find_join(ShBatchUnionFind *components, uint32 a, uint32 b);
extern void shbatch_union_find_sum(ShBatchUnionFind *components);

#endif							/* SIMHASH_BATCH_UNION_FIND_H */
