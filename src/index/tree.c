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
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "utils/spccache.h"

#include "compat.h"
#include "index/cache.h"
#include "index/leaf.h"
#include "index/page.h"
#include "index/tree.h"

/* how many pages to the right of a remembered one are tried */
#define MAX_STEPS_RIGHT		2

/* give up after this many root changes in a row */
#define MAX_ROOT_CHANGES	64

/*
 * every so many reads, look a known buffer up anyway, to bump its usage count
 */
#define LOOKUP_INTERVAL		16

/*
 * The root of a tree, which is the last resort of a search.
 */
ShIdxPlace
shidx_place_of_root(Relation index, int tree)
{
	const ShIdxTreeCache *cached = &shidx_get_cache(index)->trees[tree];

	return shidx_make_place(cached->root.block, cached->root.level, cached->buffer);
}

/*
 * Where to begin a search for the leaf of a key: at the leaf itself, if this
 * backend remembers its place, otherwise at the lowest page on the way down
 * that it remembers.
 */
static ShIdxPlace
locate(Relation index, int tree, ShIdxKey key)
{
	ShIdxPlace	place = shidx_place_of_root(index, tree);

	while (place.level > 0 && shidx_map_child(index, tree, key, &place))
		;
	return place;
}

/*
 * Pin the page of a place.  Mostly it is still in the buffer where it was last
 * seen, and need not be looked up.
 *
 * Every now and then it is looked up anyway, since only that tells the buffer
 * manager that the page is in use and worth keeping.
 */
static Buffer
read_place(Relation index, const ShIdxPlace *place)
{
	ShIdxCache *cache = shidx_get_cache(index);

	/*
	 * A temporary index may have the file number of a permanent one, whose
	 * copies it then meets (map.c).  A shared buffer has no page of it,
	 * though the tag matches.
	 */
	if (place->buffer > 0 && !RelationUsesLocalBuffers(index) &&
		++cache->recent_reads % LOOKUP_INTERVAL != 0 &&
		ReadRecentBuffer(shcompat_locator(index), MAIN_FORKNUM, place->block, place->buffer))
	{
		/* as ReadBuffer does, for pg_statio_all_indexes */
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		return place->buffer;
	}
	return ReadBuffer(index, place->block);
}

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
static Buffer
visit(Relation index, int tree, ShIdxKey key, ShIdxPlace *place, bool linked, int lockmode)
{
	ShIdxTreeCache *cached = &shidx_get_cache(index)->trees[tree];
	Buffer		buffer = InvalidBuffer;
	bool		found;

	if (linked)
		shidx_check_link(index, place->block);
	found = linked || likely(shidx_is_block(index, place->block));
	if (found)
	{
		buffer = lock_page(index, read_place(index, place), tree, place->level, linked,
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
static void
go_to_child(Relation index, ShIdxKey key, ShIdxPlace *place, Buffer buffer, bool remember)
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
 * InvalidBuffer if a remembered place is wrong, see visit.
 */
static Buffer
go_down(Relation index, int tree, int level, ShIdxKey key, ShIdxPlace *place,
		bool linked, int lockmode)
{
	for (;;)
	{
		Buffer		buffer = visit(index, tree, key, place, linked,
								   place->level == level ? lockmode : BUFFER_LOCK_SHARE);

		if (!BufferIsValid(buffer) || place->level == level)
			return buffer;
		go_to_child(index, key, place, buffer, level == 0);
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
		ShIdxPlace	place = level == 0 ? locate(index, tree, key) :
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
 * it has been located, which may be out of date, or not known; NULL if nobody has located it.
 */
Buffer
shidx_leaf(Relation index, int tree, ShIdxKey key, ShIdxPlace *place, int lockmode)
{
	if (place != NULL && likely(BlockNumberIsValid(place->block)))
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
	Buffer		buffer = shidx_leaf(index, tree, key, NULL, BUFFER_LOCK_SHARE);
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
	Buffer		buffer = shidx_leaf(index, 0, key, NULL, BUFFER_LOCK_SHARE);
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

/*
 * Prefetching leaves before they are searched.
 *
 * A lookup reads a leaf of each of several tables, and an insert changes
 * them.  The pages depend only on the key, so all of them can be requested
 * before waiting for the first: cache lines of pages in memory, since waiting
 * for memory is most of what a lookup costs, and other pages from disk.  With
 * all pages in memory, lookups within 3 bits take 1.4 times as long without
 * this at 1e6 and 1e7 rows, and 1.2 times if the lines of the entries are not
 * requested, whose place is estimated by interpolation (November 2026).
 *
 * The places of the leaves are left in the aims for the searches, so these need not
 * locate them again (shidx_leaf).
 *
 * Read streams (since 17) suit blocks that are known beforehand and are read
 * one after the other.  Here there are few blocks, at most one for each table,
 * in trees whose inner pages may have to be read first.
 */

/*
 * the most cache lines of a leaf's entries to prefetch, and how many of them
 * beyond those where the entries should be
 */
#define MAX_LINES			32
#define SPARE_LINES			2
#define LINE				64

/*
 * Is the page of a place still in the buffer where it was last seen?  This
 * looks at the tag of the buffer without a lock, so the answer may be wrong.
 *
 * For local buffers it only matters whether the page has been read, since
 * pages of temporary indexes are not requested from disk.
 */
static inline bool
is_at_hand(Relation index, const ShIdxPlace *place)
{
	if (place->buffer > 0)
		return shcompat_tag_is(&GetBufferDescriptor(place->buffer - 1)->tag, index, place->block);
	return place->buffer < 0;
}

/*
 * Prefetch the cache lines of a page that will be read: the header, the
 * special area, and the entries from the aim's key on.
 */
static inline void
fetch_lines(const ShIdxAim *aim)
{
	char	   *page = (char *) BufferGetPage(aim->place.buffer);
	char	   *fps = PageGetContents(page);
	char	   *line = fps + shidx_map_expect(&aim->place, aim->key.fp) - SPARE_LINES * LINE;
	char	   *end = fps + shidx_map_expect(&aim->place, aim->last) + (SPARE_LINES + 1) * LINE;

	shcompat_prefetch(page);
	shcompat_prefetch(page + BLCKSZ - 1);
	for (int i = 0; i < MAX_LINES && line < end; i++, line += LINE)
		shcompat_prefetch(line);
}

/*
 * Request the page that has been located for an aim from disk, unless it is in
 * memory.
 */
static void
ask_for(Relation index, ShIdxAim *aim)
{
	ShIdxPlace *place = &aim->place;

	if (RelationUsesLocalBuffers(index) ||
		get_tablespace_io_concurrency(index->rd_rel->reltablespace) == 0 ||
		!shidx_is_block(index, place->block))
		return;
	place->buffer = PrefetchBuffer(index, MAIN_FORKNUM, place->block).recent_buffer;
	if (BufferIsValid(place->buffer))
		fetch_lines(aim);
}

/*
 * Descend from the inner page that has been located for an aim.  If it turns
 * out not to be the right page, leave it to the search to find that out.
 */
static void
go_to_leaves(Relation index, ShIdxAim *aim)
{
	Buffer		buffer = visit(index, aim->tree, aim->key, &aim->place, false,
							   BUFFER_LOCK_SHARE);

	if (BufferIsValid(buffer))
		go_to_child(index, aim->key, &aim->place, buffer, true);
	else
		aim->place = shidx_make_place(InvalidBlockNumber, 0, InvalidBuffer);
}

/*
 * Locate the leaves of all aims, and request them.  Inner pages that have to
 * be read for this are requested together as well, level by level.  If "all"
 * is true, they are always read; otherwise only if they can be added to the
 * map, where they serve other searches.
 */
static void
ask_for_all(Relation index, int naims, ShIdxAim *aims, bool all)
{
	bool		lower;

	for (int i = 0; i < naims; i++)
		aims[i].place = locate(index, aims[i].tree, aims[i].key);
	do
	{
		lower = false;
		for (int i = 0; i < naims; i++)
		{
			if (unlikely(!is_at_hand(index, &aims[i].place)))
				ask_for(index, &aims[i]);
			else if (aims[i].place.buffer > 0)
				fetch_lines(&aims[i]);
		}
		for (int i = 0; i < naims; i++)
		{
			if (unlikely(aims[i].place.level > 0) &&
				(all || shidx_map_has_room(index, aims[i].place.block)))
			{
				go_to_leaves(index, &aims[i]);
				lower = true;
			}
		}
	} while (unlikely(lower));
}

/*
 * Request the leaves that will probably be searched, and set the places of the aims.
 *
 * If they are known and in memory, this takes no lock and no pin.  May access
 * a catalog, see shidx_get_cache.
 */
void
shidx_look_ahead(Relation index, int naims, ShIdxAim *aims)
{
	ask_for_all(index, naims, aims, false);
}

/*
 * Read the leaves that will be locked, all at once, unless they are in memory, and set
 * the places of the aims.  Waiting for the disk with locks held would make others wait
 * for the locks.
 *
 * Holds no lock or pin on return.  May access a catalog, see shidx_get_cache.
 */
void
shidx_read_ahead(Relation index, int naims, ShIdxAim *aims)
{
	ask_for_all(index, naims, aims, true);
	for (int i = 0; i < naims; i++)
	{
		ShIdxPlace *place = &aims[i].place;

		if (likely(is_at_hand(index, place)) || !shidx_is_block(index, place->block))
			continue;
		place->buffer = ReadBuffer(index, place->block);
		ReleaseBuffer(place->buffer);
	}
}
