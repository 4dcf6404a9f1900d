/*-------------------------------------------------------------------------
 *
 * components.h
 *	  Connected components of fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_COMPONENTS_H
#define SIMHASH_BATCH_COMPONENTS_H

#include "postgres.h"

typedef struct ShBatchElement
{
	uint64		fp;
	int64		size;			/* rows; of a root, see components.c */
	uint32		parent;			/* itself for a root */
} ShBatchElement;

typedef struct ShBatchComponents
{
	uint32		count;
	uint32		capacity;
	ShBatchElement *elements;
	struct element_hash *hash;	/* number of an element by fingerprint */
} ShBatchComponents;

extern void shbatch_components_begin(ShBatchComponents *components);
extern uint32 shbatch_components_add(ShBatchComponents *components, uint64 fp, bool *is_new);
extern uint32 shbatch_components_root(ShBatchComponents *components, uint32 element);
extern void shbatch_components_join(ShBatchComponents *components, uint32 a, uint32 b);
extern void shbatch_components_sum(ShBatchComponents *components);

#endif							/* SIMHASH_BATCH_COMPONENTS_H */
