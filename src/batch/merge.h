/*-------------------------------------------------------------------------
 *
 * merge.h
 *	  Merging the entries of several indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_MERGE_H
#define SIMHASH_BATCH_MERGE_H

#include "postgres.h"

#include "batch/leaf_reader.h"

typedef struct ShBatchMerge
{
	bool		grouped;		/* the entries have groups */
	int			nreaders;
	ShBatchReader **readers;
	int			nreading;		/* readers that are not at their end, */
	ShBatchReader **reading;	/* in the same order */

	/* entries that were merged */
	size_t		count;
	size_t		capacity;
	uint64	   *keys;
	uint64	   *rows;
	uint32	   *groups;			/* if grouped, else NULL */
	uint32	   *places;			/* see merge.c */
} ShBatchMerge;

extern ShBatchMerge *shbatch_merge_begin(ShBatchReader **readers, int nreaders, bool grouped);
extern void shbatch_merge_start(ShBatchMerge *merge);
extern void shbatch_merge_seek(ShBatchMerge *merge, ShBtKey target);
extern void shbatch_merge_next(ShBatchMerge *merge);
extern void shbatch_merge_end(ShBatchMerge *merge);

#endif							/* SIMHASH_BATCH_MERGE_H */
