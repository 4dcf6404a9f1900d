/*-------------------------------------------------------------------------
 *
 * neighbors.h
 *	  Pairs of elements, as lists of the neighbors of each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_NEIGHBORS_H
#define SIMHASH_BATCH_NEIGHBORS_H

#include "storage/buffile.h"

#include "compat.h"

typedef struct ShBatchNeighbors
{
	/* pairs of elements, in the order in which they were found */
	BufFile    *pairs;
	double		npairs;

	/* list i: from starts[i] to the next start */
	uint64	   *starts;
	uint32	   *lists;

	/*
	 * or, if memory does not suffice, in a file; places has the number of the
	 * list of each element, and the last list that was read is here
	 */
	BufFile    *file;
	uint32	   *places;
	uint32	   *list;
	size_t		capacity;
} ShBatchNeighbors;

/* the list of an element will be needed soon */
static inline void
shbatch_neighbors_prefetch(const ShBatchNeighbors *neighbors, uint32 element)
{
	if (neighbors->places == NULL)
		shcompat_prefetch(&neighbors->starts[element]);
}

extern void shbatch_neighbors_begin(ShBatchNeighbors *neighbors);
extern void shbatch_neighbors_add(ShBatchNeighbors *neighbors, uint32 a, uint32 b);
extern bool shbatch_neighbors_fit(const ShBatchNeighbors *neighbors, uint32 nelements);
extern void shbatch_neighbors_load(ShBatchNeighbors *neighbors, uint32 nelements);
extern void shbatch_neighbors_sort(ShBatchNeighbors *neighbors, uint32 *places,
								   uint32 nplaces);
extern size_t shbatch_neighbors_of(ShBatchNeighbors *neighbors, uint32 element,
								   const uint32 **list);
extern void shbatch_neighbors_end(ShBatchNeighbors *neighbors);

#endif							/* SIMHASH_BATCH_NEIGHBORS_H */
