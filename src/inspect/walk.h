/*-------------------------------------------------------------------------
 *
 * walk.h
 *	  Walking over the pages of a level, from left to right.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSPECT_WALK_H
#define SIMHASH_INSPECT_WALK_H

#include "postgres.h"

#include "index/page.h"

typedef struct ShInspWalk
{
	Relation	index;
	int			tree;
	int			level;
	BlockNumber block;			/* of the current page */
	bool		started;
	PGAlignedBlock page;		/* copy of the current page */
} ShInspWalk;

extern void shinsp_walk_start(ShInspWalk *walk, Relation index, int tree, int level);
extern bool shinsp_walk_next(ShInspWalk *walk);

#endif							/* SIMHASH_INSPECT_WALK_H */
