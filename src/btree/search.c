/*-------------------------------------------------------------------------
 *
 * search.c
 *	  Finding pages of the trees of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "btree/cache.h"
#include "btree/dead.h"
#include "btree/descent.h"
#include "btree/leaf.h"
#include "btree/page.h"
#include "btree/search.h"
#include "compat.h"

/* give up after this many root changes in a row */
#define MAX_ROOT_CHANGES	64

/*
 * Descend from a place to the page of a level that holds the key.  Returns
 * InvalidBuffer if a remembered place is wrong, see shbt_visit.
 */
static Buffer
go_down(Relation index, int tree, int level, ShBtKey key, ShBtPlace *place,
		bool linked, int lockmode)
{
	for (;;)
	{
		Buffer		buffer = shbt_visit(index, tree, key, place, linked,
										place->level == level ? lockmode : BUFFER_LOCK_SHARE);

		if (!BufferIsValid(buffer) || place->level == level)
			return buffer;
		shbt_go_to_child(index, key, place, buffer, level == 0);
		linked = true;
	}
}

/*
 * Find the page of a tree and level whose range holds the key.
 *
 * Returns its buffer, pinned and locked in the given mode.  On the way at most
 * one other page is locked at a time, in share mode, and none while waiting
 * for the lock on the result.  key must be below SHBT_HIGHEST_KEY, and level
 * not above that of the root.
 */
Buffer
shbt_search(Relation index, int tree, int level, ShBtKey key, int lockmode)
{
	bool		reread = false;

	for (int changes = 0; changes <= MAX_ROOT_CHANGES;)
	{
		ShBtTreeCache *cached = &shbt_get_cache(index)->trees[tree];
		ShBtPlace	place;
		bool		at_root;

		if (level == 0)
			shbt_locate(index, tree, key, &place);
		else
		{
			place.block = cached->root.block;
			place.level = cached->root.level;
			place.buffer = &cached->buffer;
			place.parent = NULL;
		}
		at_root = place.block == cached->root.block;
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
			shbt_forget_metapage(index);
			reread = true;
			changes++;
		}
	}
	shbt_report_corrupted(index, SHBT_METAPAGE_BLOCK,
						  "index \"%s\" has an invalid root in the metapage, block %u");
}

/* Position of an entry of a leaf; -1 if it is not there. */
static int
find_entry(Page leaf, ShBtKey key)
{
	uint16		found[SHBT_MAX_ENTRIES];
	int			nfound;

	nfound = shbt_filter_leaf(leaf, 0, shbt_page_count(leaf), key.fp, 0, found);
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
