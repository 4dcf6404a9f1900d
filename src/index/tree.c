/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  Going from page to page of a simhash index, to what is searched for.
 *
 * A page is reached in one of two ways.  A link that was just read from
 * another page, or from the metapage, must be right; if it is not, that is an
 * error.  A place that this backend remembers may be wrong; if the page found
 * there is not the expected one, the search begins again elsewhere.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"

#include "compat.h"
#include "index/leaf.h"
#include "index/page.h"
#include "index/tree.h"

/* how many pages to the right of a remembered one are tried */
#define MAX_STEPS_RIGHT		2

/* give up after this many root changes in a row */
#define MAX_ROOT_CHANGES	64

/*
 * Lock a page that has been reached in the tree and on the level where it should be.
 *
 * An insert holds leaves of other trees, and a split a page of the level below.  A
 * damaged link could lead to one of these, or to one that is held by somebody who
 * waits for us, and nothing ends a wait for a page.  So a page that says that it
 * belongs elsewhere is not waited for: if a link led to it, reports
 * ERRCODE_INDEX_CORRUPTED, otherwise releases it and returns InvalidBuffer.
 *
 * What a page says of its tree and level never changes, so it can be read without
 * a lock.  Only replay may write the whole page anew, but during recovery nobody
 * holds a lock here.
 */
static Buffer
lock_page(Relation index, Buffer buffer, int tree, int level, bool linked, int lockmode)
{
	Page		page = BufferGetPage(buffer);

	if (unlikely(shidx_page_tree(page) != tree || shidx_page_level(page) != level) &&
		!RecoveryInProgress())
	{
		if (!linked)
		{
			ReleaseBuffer(buffer);
			return InvalidBuffer;
		}
		shidx_check_page(index, buffer, tree, level);
		/* right by now: another backend has just made it what it should be */
	}
	LockBuffer(buffer, lockmode);
	return buffer;
}

/*
 * Read the page to the right of one whose right link and high fence the
 * caller has seen.  No lock is held meanwhile.
 *
 * buffer is that page, pinned but not locked, or InvalidBuffer; the pin is
 * released.  The result is pinned and locked in the given mode.
 */
Buffer
shidx_read_right(Relation index, Buffer buffer, BlockNumber right, ShIdxKey high,
				 int tree, int level, int lockmode)
{
	Page		page;

	shidx_check_link(index, right);
	buffer = lock_page(index, ReleaseAndReadBuffer(buffer, index, right), tree, level, true,
					   lockmode);
	page = shidx_check_page(index, buffer, tree, level);

	/*
	 * Keys ascend from page to page, so even broken links cannot make a loop.
	 */
	if (unlikely(!shidx_key_equal(shidx_page_low(page), high)))
		shidx_report_corrupted(index, right,
							   "index \"%s\" has a page that does not start where its left sibling ends, at block %u");
	return buffer;
}

/*
 * Replace a pinned and locked buffer by that of the page to its right, which
 * must exist.  The old page is unlocked before the new one is locked.
 */
static Buffer
move_right(Relation index, Buffer buffer, int lockmode)
{
	Page		page = BufferGetPage(buffer);
	ShIdxOpaqueData old = *ShIdxPageGetOpaque(page);
	ShIdxKey	high = shidx_page_high(page);

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return shidx_read_right(index, buffer, old.right, high, old.tree, old.level, lockmode);
}

/*
 * Is the page of a place, which the caller has pinned and locked, the expected
 * one?  If not, and a link led there, reports ERRCODE_INDEX_CORRUPTED.
 */
static bool
is_place(Relation index, Buffer buffer, int tree, ShIdxKey key, const ShIdxPlace *place,
		 bool linked)
{
	Page		page = BufferGetPage(buffer);
	const char *problem = shidx_page_problem_in(index, page, tree, place->level);

	if (unlikely(problem == NULL && shidx_key_less(key, shidx_page_low(page))))
		problem = gettext_noop("index \"%s\" has a page with a low fence above its downlink, at block %u");
	if (unlikely(problem != NULL && linked))
		shidx_report_corrupted(index, place->block, problem);
	return likely(problem == NULL);
}

/*
 * Pin and lock the page of a place.  If a split has moved the key to the
 * right, follow it there and update the place.
 *
 * linked is true if a link led to the place, and false if it was remembered.
 * If a remembered place proves wrong, InvalidBuffer is returned, with nothing
 * locked or pinned, and what led there has been forgotten, unless it is the
 * metapage.
 */
Buffer
shidx_visit(Relation index, int tree, ShIdxKey key, ShIdxPlace *place, bool linked,
			int lockmode)
{
	ShIdxTreeCache *cached = &shidx_get_cache(index)->trees[tree];
	Buffer		buffer = InvalidBuffer;
	bool		found;

	if (linked)
		shidx_check_link(index, place->block);
	found = linked || likely(shidx_is_block(index, place->block));
	if (found)
	{
		buffer = lock_page(index, shidx_read_place(index, place), tree, place->level, linked,
						   lockmode);
		found = likely(BufferIsValid(buffer)) &&
			is_place(index, buffer, tree, key, place, linked);
	}
	if (unlikely(!found))
		shidx_map_forget(index);
	else if (place->block == cached->root.block)
	{
		found = shidx_page_is_root(BufferGetPage(buffer));
		cached->buffer = buffer;
	}

	for (int steps = 0; found; steps++)
	{
		if (likely(shidx_key_less(key, shidx_page_high(BufferGetPage(buffer)))))
		{
			shidx_map_note(place, buffer);
			return buffer;
		}
		if (steps < MAX_STEPS_RIGHT || linked)
		{
			buffer = move_right(index, buffer, lockmode);
			shidx_map_learn(place, buffer);
		}
		else
		{
			/* its parent has been split many times since it was copied */
			shidx_map_remove(place);
			found = false;
		}
	}
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Move a place from an inner page, which the caller has pinned and locked in
 * share mode, to its child that holds the key.  Unlocks and releases the page.
 *
 * If there is room in the map, and remember is true, the page is added to it.
 */
void
shidx_go_to_child(Relation index, ShIdxKey key, ShIdxPlace *place, Buffer buffer,
				  bool remember)
{
	Page		page = BufferGetPage(buffer);
	int			position = shidx_find_downlink(page, key);
	BlockNumber block = place->block;
	PGAlignedBlock copy;

	if (unlikely(position < 0))
		shidx_report_corrupted(index, BufferGetBlockNumber(buffer),
							   "index \"%s\" has no downlink for the low fence of block %u");

	*place = shidx_make_place(shidx_inner_child(page, position), place->level - 1, InvalidBuffer);
	remember = remember && (shidx_map_has_room(index, block) || shidx_map_may_replace());
	if (remember)
		memcpy(copy.data, page, BLCKSZ);
	UnlockReleaseBuffer(buffer);
	if (remember)
		shidx_map_add(index, block, copy.data, key, place);
}

/*
 * Descend from a place to the page of a level that holds the key.  Returns
 * InvalidBuffer if a remembered place is wrong, see shidx_visit.
 */
static Buffer
go_down(Relation index, int tree, int level, ShIdxKey key, ShIdxPlace *place,
		bool linked, int lockmode)
{
	for (;;)
	{
		Buffer		buffer = shidx_visit(index, tree, key, place, linked,
										 place->level == level ? lockmode : BUFFER_LOCK_SHARE);

		if (!BufferIsValid(buffer) || place->level == level)
			return buffer;
		shidx_go_to_child(index, key, place, buffer, level == 0);
		linked = true;
	}
}

/*
 * Find the page of a tree and level whose range holds the key.
 *
 * Returns its buffer, pinned and locked in the given mode.  On the way at most
 * one other page is locked at a time, in share mode, and none while waiting
 * for the lock on the result.  key must be below SHIDX_HIGHEST_KEY, and level
 * not above that of the root.
 */
Buffer
shidx_search(Relation index, int tree, int level, ShIdxKey key, int lockmode)
{
	bool		reread = false;

	for (int changes = 0; changes <= MAX_ROOT_CHANGES;)
	{
		ShIdxPlace	place = level == 0 ? shidx_locate(index, tree, key) :
			shidx_place_of_root(index, tree);
		bool		at_root = place.block == shidx_get_cache(index)->trees[tree].root.block;

		CHECK_FOR_INTERRUPTS();
		if (place.level >= level)
		{
			Buffer		buffer = go_down(index, tree, level, key, &place,
										 at_root && reread, lockmode);

			if (likely(BufferIsValid(buffer)))
				return buffer;
		}

		/* each time, less remains in the map that can be wrong */
		if (at_root)
		{
			shidx_forget_metapage(index);
			reread = true;
			changes++;
		}
	}
	shidx_report_corrupted(index, SHIDX_METAPAGE_BLOCK,
						   "index \"%s\" has an invalid root in the metapage, block %u");
}

/*
 * Find the leaf that holds the key, as shidx_search does, beginning at the place where
 * it has been located.  The place may be out of date, or not known.
 */
Buffer
shidx_search_at(Relation index, int tree, ShIdxKey key, ShIdxPlace *place, int lockmode)
{
	if (likely(BlockNumberIsValid(place->block)))
	{
		Buffer		buffer = go_down(index, tree, 0, key, place, false, lockmode);

		if (likely(BufferIsValid(buffer)))
			return buffer;
		place->block = InvalidBlockNumber;
	}
	return shidx_search(index, tree, 0, key, lockmode);
}

/* Position of an entry of a leaf; -1 if it is not there. */
static int
find_entry(Page leaf, ShIdxKey key)
{
	uint16		found[SHIDX_MAX_ENTRIES];
	int			nfound;

	nfound = shidx_filter_leaf(leaf, 0, shidx_page_count(leaf), key.fp, 0, found);
	for (int i = 0; i < nfound; i++)
	{
		if (shidx_key_equal(shidx_leaf_key(leaf, found[i]), key))
			return found[i];
	}
	return -1;
}

/*
 * Is there an entry?  Sets *dead to whether it is marked as dead.
 *
 * Locks as shidx_search does; holds no lock or pin on return.
 */
bool
shidx_has_entry(Relation index, int tree, ShIdxKey key, bool *dead)
{
	Buffer		buffer = shidx_search(index, tree, 0, key, BUFFER_LOCK_SHARE);
	int			position = find_entry(BufferGetPage(buffer), key);

	*dead = position >= 0 && shidx_is_dead(BufferGetPage(buffer), position);
	UnlockReleaseBuffer(buffer);
	return position >= 0;
}

/*
 * Find the leaf of the first tree that has an entry, and keep it pinned.
 *
 * Returns false, with nothing pinned, if there is no such entry.  No lock is
 * held on return.  Raises an error if the snapshot is too old to say.
 */
bool
shidx_pin_entry(Relation index, ShIdxKey key, Snapshot snapshot, Buffer *pin)
{
	Buffer		buffer = shidx_search(index, 0, 0, key, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buffer);
	bool		found;

	shcompat_test_old_snapshot(snapshot, index, page);
	found = find_entry(page, key) >= 0;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (found)
		*pin = buffer;
	else
		ReleaseBuffer(buffer);
	return found;
}
