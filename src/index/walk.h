/*-------------------------------------------------------------------------
 *
 * walk.h
 *	  Walking over the pages of a level, from left to right.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_WALK_H
#define SIMHASH_INDEX_WALK_H

#include "postgres.h"

#include "index/page.h"

typedef struct ShIdxWalk
{
	Relation	index;
	int			tree;
	int			level;
	BlockNumber block;			/* of the current page */
	bool		started;
	PGAlignedBlock page;		/* copy of the current page */
} ShIdxWalk;

extern void shidx_walk_start(ShIdxWalk *walk, Relation index, int tree, int level);
extern bool shidx_walk_next(ShIdxWalk *walk);

#endif							/* SIMHASH_INDEX_WALK_H */
