/*-------------------------------------------------------------------------
 *
 * merge.h
 *	  Merging the entries of several indexes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_MERGE_H
#define SIMHASH_PAIRS_MERGE_H

#include "pairs/leaf_reader.h"

typedef struct ShPairsMerge
{
	bool		grouped;		/* the entries have groups */
	int			nreaders;
	ShPairsLeafReader **readers;
	int			nreading;		/* readers that are not at their end, */
	ShPairsLeafReader **reading;	/* in the same order */

	/* entries that were merged */
	size_t		count;
	size_t		capacity;
	ShPermuted *keys;
	ShRowsNumber *rows;
	uint32	   *groups;			/* if grouped, else NULL */
	uint32	   *places;			/* see merge.c */
} ShPairsMerge;

extern ShPairsMerge *shpairs_merge_begin(ShPairsLeafReader **readers, int nreaders, bool grouped);
extern void shpairs_merge_start(ShPairsMerge *merge);
extern void shpairs_merge_seek(ShPairsMerge *merge, ShBtKey target);
extern void shpairs_merge_next(ShPairsMerge *merge);
extern void shpairs_merge_end(ShPairsMerge *merge);

#endif							/* SIMHASH_PAIRS_MERGE_H */
