/*-------------------------------------------------------------------------
 *
 * ahead.c
 *	  Prefetching leaves before they are searched.
 *
 * A look-up reads a leaf of each of several tables, and an insert changes
 * them.  The pages depend only on the key, so all of them can be requested
 * before waiting for the first: cache lines of pages in memory, since waiting
 * for memory is most of what a look-up costs, and other pages from disk.  With
 * all pages in memory, look-ups within 3 bits take 1.4 times as long without
 * this at 1e6 and 1e7 rows, and 1.2 times if the lines of the entries are not
 * requested, whose place is estimated by interpolation (November 2026).
 *
 * The places of the leaves are kept for the searches, so these need not locate
 * them again (shbt_locate).
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

#include "btree/ahead.h"
#include "btree/cache.h"
#include "btree/map.h"
#include "btree/search.h"
#include "compat.h"

/*
 * the most cache lines of a leaf's entries to prefetch, and how many of them
 * beyond those where the entries should be
 */
#define MAX_LINES			32
#define SPARE_LINES			2
#define LINE				64

/* more than a tree has levels; only a wrong map could lead on without end */
#define MAX_ROUNDS			16

/*
 * Is the page of a place still in the buffer where it was last seen?  This
 * looks at the tag of the buffer without a lock, so the answer may be wrong.
 *
 * For local buffers it only matters whether the page has been read, since
 * pages of temporary indexes are not requested from disk.
 */
static inline bool
is_at_hand(Relation index, const ShBtPlace *place)
{
	Buffer		buffer = place->buffer == NULL ? InvalidBuffer : *place->buffer;

	if (buffer > 0)
		return shcompat_tag_is(&GetBufferDescriptor(buffer - 1)->tag, index, place->block);
	return buffer < 0;
}

/*
 * Prefetch the cache lines of a page that will be read: the header, the
 * special area, and the entries from the aim's key on.
 */
static inline void
fetch_lines(const ShBtPlace *place, const ShBtAim *aim)
{
	char	   *page = (char *) BufferGetPage(*place->buffer);
	char	   *fps = PageGetContents(page);
	char	   *line = fps + shbt_map_expect(place, aim->key.fp) - SPARE_LINES * LINE;
	char	   *end = fps + shbt_map_expect(place, aim->last) + (SPARE_LINES + 1) * LINE;

	shcompat_prefetch(page);
	shcompat_prefetch(page + BLCKSZ - 1);
	for (int i = 0; i < MAX_LINES && line < end; i++, line += LINE)
		shcompat_prefetch(line);
}

/*
 * Locate the leaf of an aim, for the search as well.
 */
static inline ShBtTreeCache *
locate(Relation index, const ShBtAim *aim)
{
	ShBtTreeCache *cached = &shbt_get_cache(index)->trees[aim->tree];

	shbt_locate(index, aim->tree, aim->key, &cached->place);
	cached->key = aim->key;
	cached->changes = shbt_map_changes;
	return cached;
}

/*
 * Request the page that has been located for an aim from disk, unless it is in
 * memory.
 */
static void
ask_for(Relation index, const ShBtAim *aim)
{
	ShBtTreeCache *cached;
	ShBtPlace  *place;

	/* this may access a catalog, so it comes first */
	if (RelationUsesLocalBuffers(index) ||
		get_tablespace_io_concurrency(index->rd_rel->reltablespace) == 0)
		return;
	cached = locate(index, aim);
	place = &cached->place;
	if (!shbt_is_block(index, place->block))
		return;
	if (place->buffer == NULL)
		place->buffer = &cached->place_buffer;
	*place->buffer = PrefetchBuffer(index, MAIN_FORKNUM, place->block).recent_buffer;
	if (BufferIsValid(*place->buffer))
		fetch_lines(place, aim);
}

/*
 * Descend from the inner page that has been located for an aim.  If it turns
 * out not to be the right page, leave it to the search to find that out.
 */
static void
go_down(Relation index, const ShBtAim *aim)
{
	ShBtTreeCache *cached = locate(index, aim);
	ShBtPlace	place = cached->place;
	Buffer		buffer = shbt_visit(index, aim->tree, aim->key, &place, false,
									BUFFER_LOCK_SHARE);

	if (!BufferIsValid(buffer))
		return;
	shbt_go_to_child(index, aim->key, &place, buffer, true);
	cached->place = place;
	cached->key = aim->key;
	cached->changes = shbt_map_changes;
}

/*
 * Locate the leaves of all aims, and request them.  Inner pages that have to
 * be read for this are requested together as well, level by level.  If "all"
 * is true, they are always read; otherwise only if they can be added to the
 * map, where they serve other searches.
 */
static void
ask_for_all(Relation index, int naims, const ShBtAim *aims, bool all)
{
	for (int round = 0; round < MAX_ROUNDS; round++)
	{
		bool		lower = false;

		for (int i = 0; i < naims; i++)
		{
			ShBtPlace  *place = &locate(index, &aims[i])->place;

			lower |= place->level > 0;
			if (unlikely(!is_at_hand(index, place)))
				ask_for(index, &aims[i]);
			else if (*place->buffer > 0)
				fetch_lines(place, &aims[i]);
		}
		if (likely(!lower) || !(all || !shbt_map_is_full()))
			return;
		for (int i = 0; i < naims; i++)
		{
			if (locate(index, &aims[i])->place.level > 0)
				go_down(index, &aims[i]);
		}
	}
}

/*
 * Request the leaves that will probably be searched.
 *
 * If they are known and in memory, this takes no lock and no pin.  May access
 * a catalog, see shbt_get_cache.
 */
void
shbt_look_ahead(Relation index, int naims, const ShBtAim *aims)
{
	ask_for_all(index, naims, aims, false);
}

/*
 * Read the leaves that will be locked, all at once, unless they are in memory.
 * Waiting for the disk with locks held would make others wait for the locks.
 *
 * Holds no lock or pin on return.  May access a catalog, see shbt_get_cache.
 */
void
shbt_read_ahead(Relation index, int naims, const ShBtAim *aims)
{
	ask_for_all(index, naims, aims, true);
	for (int i = 0; i < naims; i++)
	{
		ShBtTreeCache *cached = locate(index, &aims[i]);
		ShBtPlace  *place = &cached->place;

		if (likely(is_at_hand(index, place)) || !shbt_is_block(index, place->block))
			continue;
		if (place->buffer == NULL)
			place->buffer = &cached->place_buffer;
		*place->buffer = ReadBuffer(index, place->block);
		ReleaseBuffer(*place->buffer);
	}
}
