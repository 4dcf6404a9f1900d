/*-------------------------------------------------------------------------
 *
 * ahead.c
 *	  Prefetching leaves before they are searched.
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
 * locate them again (shidx_search_at).
 *
 * Read streams (since 17) suit blocks that are known beforehand and are read
 * one after the other.  Here there are few blocks, at most one for each table,
 * in trees whose inner pages may have to be read first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/buf_internals.h"
#include "utils/spccache.h"

#include "compat.h"
#include "index/tree.h"

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
	Buffer		buffer = shidx_visit(index, aim->tree, aim->key, &aim->place, false,
									 BUFFER_LOCK_SHARE);

	if (BufferIsValid(buffer))
		shidx_go_to_child(index, aim->key, &aim->place, buffer, true);
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
		aims[i].place = shidx_locate(index, aims[i].tree, aims[i].key);
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
