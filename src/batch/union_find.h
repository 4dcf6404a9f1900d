/*-------------------------------------------------------------------------
 *
 * union_find.h
 *	  Connected components of fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_UNION_FIND_H
#define SIMHASH_BATCH_UNION_FIND_H

#include "postgres.h"

typedef struct ShBatchElement
{
	uint64		fp;
	int64		size;			/* rows; of a root, see union_find.c */
	uint32		parent;			/* itself for a root */
} ShBatchElement;

typedef struct ShBatchUnionFind
{
	uint32		count;
	uint32		capacity;
	double		most;			/* elements that there can be */
	ShBatchElement *elements;
	struct element_hash *hash;	/* number of an element by fingerprint */
} ShBatchUnionFind;

extern void shbatch_union_find_begin(ShBatchUnionFind *components, double most);
extern uint32 shbatch_union_find_add(ShBatchUnionFind *components, uint64 fp, bool *is_new);
extern uint32 shbatch_union_find_root(ShBatchUnionFind *components, uint32 element);
extern void shbatch_union_find_join(ShBatchUnionFind *components, uint32 a, uint32 b);
extern void shbatch_union_find_sum(ShBatchUnionFind *components);

#endif							/* SIMHASH_BATCH_UNION_FIND_H */
