/*-------------------------------------------------------------------------
 *
 * level.h
 *	  The pages of a level of a tree, in order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_LEVEL_H
#define SIMHASH_INDEX_LEVEL_H

#include "postgres.h"

#include "index/page.h"

/* all zeros is the empty list */
typedef struct ShIdxLevel
{
	ShIdxKey   *lows;			/* low fences */
	BlockNumber *blocks;
	size_t		count;
	size_t		capacity;
} ShIdxLevel;

extern void shidx_level_add(ShIdxLevel *level, ShIdxKey low, BlockNumber block);
extern void shidx_level_free(ShIdxLevel *level);

#endif							/* SIMHASH_INDEX_LEVEL_H */
