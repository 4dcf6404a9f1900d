/*-------------------------------------------------------------------------
 *
 * search.c
 *	  Finding pages of the trees of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "bits/distance.h"
#include "btree/cache.h"
#include "btree/dead.h"
#include "btree/page.h"
#include "btree/search.h"
#include "compat.h"

/* how often a metapage may be out of date when it has just been read */
#define MAX_ROOT_CHANGES	64

/* how many pages right of a hinted page are tried before a full descent */
#define HINT_STEPS			2

/*
 * Read the page to the right of one whose right link and high fence the
 * caller has seen.  No lock is held meanwhile.
 *
 * buffer is that page, pinned but not locked, or InvalidBuffer; the pin is
 * released.  The result is pinned and locked in the given mode.
 */
Buffer
shbt_read_right(Relation index, Buffer buffer, BlockNumber right, ShBtKey high,
				int tree, int level, int lockmode)
{
	Page		page;

	shbt_check_link(index, right);
	buffer = ReleaseAndReadBuffer(buffer, index, right);
	LockBuffer(buffer, lockmode);
	page = shbt_check_page(index, buffer, tree, level);

	/* Keys ascend from page to page: no loop, however broken the links. */
	if (unlikely(!shbt_key_equal(shbt_page_low(page), high)))
		shbt_report_corrupted(index, right,
							  "index \"%s\" has a page that does not start where its left sibling ends, at block %u");
	return buffer;
}

/*
 * Replace a pinned and locked buffer by that of the page to its right, which
 * must exist.  The old page is unlocked before the new one is locked.
 */
Buffer
shbt_move_right(Relation index, Buffer buffer, int lockmode)
{
	Page		page = BufferGetPage(buffer);
	ShBtOpaqueData old = *ShBtPageGetOpaque(page);
	ShBtKey		high = shbt_page_high(page);

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return shbt_read_right(index, buffer, old.right, high, old.tree, old.level, lockmode);
}

/*
 * Try the leaf that was right the last time.  Returns InvalidBuffer, with
 * nothing locked or pinned, if there is none or it no longer is.  Else it
 * brings the hint up to date.
 */
static Buffer
search_hinted(Relation index, ShBtCache *cache, int tree, ShBtKey key, int lockmode)
{
	ShBtHint   *hint = shbt_hint(cache, tree, key);
	Buffer		buffer;
	Page		page;

	if (!BlockNumberIsValid(hint->block))
		return InvalidBuffer;

	buffer = shbt_read_hinted(index, cache, hint);
	LockBuffer(buffer, lockmode);
	page = shbt_check_page(index, buffer, tree, 0);
	if (!shbt_key_less(key, shbt_page_low(page)))
	{
		for (int steps = 0;; steps++)
		{
			if (shbt_key_less(key, shbt_page_high(page)))
			{
				/*
				 * Where two leaves share a hint, it stays with the left one:
				 * from there the other is a step away, not a descent.
				 */
				if (steps != 1)
					shbt_set_hint(hint, buffer);
				return buffer;
			}
			if (steps == HINT_STEPS)
				break;
			buffer = shbt_move_right(index, buffer, lockmode);
			page = BufferGetPage(buffer);
		}
	}
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Descend from the remembered root.  Returns InvalidBuffer, with nothing
 * locked or pinned, if that is not the root any more.
 */
static Buffer
search_from_root(Relation index, ShBtRoot root, int tree, int level,
				 ShBtKey key, int lockmode)
{
	BlockNumber block = root.block;
	Buffer		buffer = InvalidBuffer;

	for (int current = root.level;; current--)
	{
		int			mode = current == level ? lockmode : BUFFER_LOCK_SHARE;
		Page		page;
		int			position;

		shbt_check_link(index, block);
		buffer = ReleaseAndReadBuffer(buffer, index, block);
		LockBuffer(buffer, mode);
		page = shbt_check_page(index, buffer, tree, current);

		if (current == root.level &&
			unlikely((ShBtPageGetOpaque(page)->flags & SHBT_ROOT) == 0))
		{
			UnlockReleaseBuffer(buffer);
			return InvalidBuffer;
		}
		if (unlikely(shbt_key_less(key, shbt_page_low(page))))
			shbt_report_corrupted(index, block,
								  "index \"%s\" has a page with a low fence above its downlink, at block %u");
		while (!shbt_key_less(key, shbt_page_high(page)))
		{
			buffer = shbt_move_right(index, buffer, mode);
			page = BufferGetPage(buffer);
		}
		if (current == level)
			return buffer;

		position = shbt_find_downlink(page, key);
		if (unlikely(position < 0))
			shbt_report_corrupted(index, BufferGetBlockNumber(buffer),
								  "index \"%s\" has no downlink for the low fence of block %u");
		block = shbt_inner_child(page, position);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
}

/*
 * Find the page of a tree and level whose range holds the key.
 *
 * Returns its buffer, pinned and locked in the given mode.  On the way at
 * most one other page is locked at a time, in share mode, and none while the
 * result is waited for.  key must be below SHBT_HIGHEST_KEY, and level not
 * above that of the root.
 */
Buffer
shbt_search(Relation index, int tree, int level, ShBtKey key, int lockmode)
{
	ShBtCache  *cache = shbt_get_cache(index);
	bool		hinted = level == 0 && tree != shbt_null_tree(cache) && !shbt_is_grouped(index);
	Buffer		buffer;

	if (hinted)
	{
		buffer = search_hinted(index, cache, tree, key, lockmode);
		if (likely(BufferIsValid(buffer)))
			return buffer;
		shbt_count_hint_miss(index);
	}

	for (int changes = 0;; changes++)
	{
		cache = shbt_get_cache(index);
		if (cache->roots[tree].level >= level)
		{
			buffer = search_from_root(index, cache->roots[tree], tree, level, key, lockmode);
			if (BufferIsValid(buffer))
				break;
		}
		if (changes == MAX_ROOT_CHANGES)
			shbt_report_corrupted(index, SHBT_METAPAGE_BLOCK,
								  "index \"%s\" has a root that is none in the metapage, block %u");
		shbt_forget_cache(index);
	}

	if (hinted)
		shbt_set_hint(shbt_hint(cache, tree, key), buffer);
	return buffer;
}

/* Place of an entry of a leaf; -1 if it is not there. */
static int
find_entry(Page leaf, ShBtKey key)
{
	uint16		found[SHBT_MAX_ENTRIES];
	int			nfound;

	nfound = shbits_filter(shbt_page_fps(leaf), shbt_page_count(leaf), key.fp, 0, found);
	for (int i = 0; i < nfound; i++)
	{
		if (shbt_key_equal(shbt_leaf_key(leaf, found[i]), key))
			return found[i];
	}
	return -1;
}

/*
 * Is there an entry?  Sets *dead to whether it is marked as dead.
 *
 * Locks as shbt_search does; holds no lock or pin on return.
 */
bool
shbt_has_entry(Relation index, int tree, ShBtKey key, bool *dead)
{
	Buffer		buffer = shbt_search(index, tree, 0, key, BUFFER_LOCK_SHARE);
	int			position = find_entry(BufferGetPage(buffer), key);

	*dead = position >= 0 && shbt_is_dead(BufferGetPage(buffer), position);
	UnlockReleaseBuffer(buffer);
	return position >= 0;
}

/*
 * Find the leaf that has an entry, and keep it pinned.
 *
 * Returns false, with nothing pinned, if there is no such entry.  No lock is
 * held on return.  Raises an error if the snapshot is too old to say.
 */
bool
shbt_pin_entry(Relation index, int tree, ShBtKey key, Snapshot snapshot, Buffer *pin)
{
	Buffer		buffer = shbt_search(index, tree, 0, key, BUFFER_LOCK_SHARE);
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
