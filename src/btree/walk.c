/*-------------------------------------------------------------------------
 *
 * walk.c
 *	  Walking over the pages of a level, from left to right.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "btree/descent.h"
#include "btree/search.h"
#include "btree/walk.h"

/*
 * Begin before the first page of a level of a tree.
 */
void
shbt_walk_start(ShBtWalk *walk, Relation index, int tree, int level)
{
	walk->index = index;
	walk->tree = tree;
	walk->level = level;
	walk->block = InvalidBlockNumber;
	walk->started = false;
}

/*
 * Copy the next page.  Returns false after the last.
 *
 * That a page starts where the one before it ended is checked on the way, so
 * the keys of the copies cover the level without gap or overlap, whatever is
 * inserted meanwhile.  Holds no lock or pin on return.
 */
bool
shbt_walk_next(ShBtWalk *walk)
{
	Page		copy = (Page) walk->page.data;
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	if (!walk->started)
		buffer = shbt_search(walk->index, walk->tree, walk->level, SHBT_LOWEST_KEY,
							 BUFFER_LOCK_SHARE);
	else
	{
		BlockNumber right = ShBtPageGetOpaque(copy)->right;

		if (!BlockNumberIsValid(right))
			return false;
		buffer = shbt_read_right(walk->index, InvalidBuffer, right, shbt_page_high(copy),
								 walk->tree, walk->level, BUFFER_LOCK_SHARE);
	}
	walk->started = true;
	walk->block = BufferGetBlockNumber(buffer);
	memcpy(copy, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
	if (walk->level == 0)
		shbt_check_leaf_tids(walk->index, walk->block, copy);
	return true;
}
