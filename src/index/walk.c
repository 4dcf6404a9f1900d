/*-------------------------------------------------------------------------
 *
 * walk.c
 *	  The pages of a level, from left to right: walking over them, and listing them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/leaf.h"
#include "index/tree.h"

/*
 * Begin before the first page of a level of a tree.
 */
void
shidx_walk_start(ShIdxWalk *walk, Relation index, int tree, int level)
{
	walk->index = index;
	walk->tree = tree;
	walk->level = level;
	walk->block = InvalidBlockNumber;
	walk->start = SHIDX_LOWEST_KEY;
	walk->search = true;
}

/*
 * Skip to the page that holds a key, unless the walk has already passed that
 * page.
 */
void
shidx_walk_seek(ShIdxWalk *walk, ShIdxKey key)
{
	if (shidx_key_less(key, walk->search ? walk->start : shidx_page_high((Page) walk->page.data)))
		return;
	walk->start = key;
	walk->search = true;
}

/*
 * Copy the next page.  Returns false after the last.
 *
 * The walk checks that each page starts where the one before it ended.  Except
 * for skipped pages, the copies therefore cover the level without gap or
 * overlap, no matter what is inserted at the same time: the low fence of a
 * page never changes, so the page that holds a key beyond the end of a copy
 * begins there or later.  Holds no lock or pin on return.
 */
bool
shidx_walk_next(ShIdxWalk *walk)
{
	Page		copy = (Page) walk->page.data;
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	if (walk->search)
		buffer = shidx_search(walk->index, walk->tree, walk->level, walk->start,
							  BUFFER_LOCK_SHARE);
	else
	{
		BlockNumber right = shidx_page_right(copy);

		if (!BlockNumberIsValid(right))
			return false;
		buffer = shidx_read_right(walk->index, InvalidBuffer, right, shidx_page_high(copy),
								  walk->tree, walk->level, BUFFER_LOCK_SHARE);
	}
	walk->search = false;
	walk->block = BufferGetBlockNumber(buffer);
	memcpy(copy, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
	if (walk->level == 0)
		shidx_check_leaf_rows(walk->index, walk->block, copy);
	return true;
}

/*
 * Add a page at the end of a list.  Memory comes from the current context.
 */
void
shidx_list_add(ShIdxPageList *list, ShIdxKey low, BlockNumber block)
{
	if (list->count == list->capacity)
	{
		bool		empty = list->capacity == 0;

		list->capacity = empty ? 64 : 2 * list->capacity;
		list->lows = empty ? palloc(list->capacity * sizeof(ShIdxKey)) :
			repalloc_huge(list->lows, list->capacity * sizeof(ShIdxKey));
		list->blocks = empty ? palloc(list->capacity * sizeof(BlockNumber)) :
			repalloc_huge(list->blocks, list->capacity * sizeof(BlockNumber));
	}
	list->lows[list->count] = low;
	list->blocks[list->count++] = block;
}

/*
 * Free a list and make it empty.
 */
void
shidx_list_free(ShIdxPageList *list)
{
	if (list->capacity > 0)
	{
		pfree(list->lows);
		pfree(list->blocks);
	}
	memset(list, 0, sizeof(*list));
}
