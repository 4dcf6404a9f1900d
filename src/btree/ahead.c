/*-------------------------------------------------------------------------
 *
 * ahead.c
 *	  Having leaves at hand before they are searched.
 *
 * A look-up reads a leaf of each of several tables, and an insert changes
 * them.  The pages depend on nothing but the key, so all can be asked for before
 * the first is waited for: those in memory from the CPU, whose waits for memory
 * are most of what a look-up costs, and others from the disk.
 *
 * Where this finds the leaves is kept for the searches, which so do not repeat
 * it (shbt_locate).
 *
 * Read streams (since 17) are for blocks that are known beforehand and read one
 * after the other.  Here are few, at most one a table, in trees whose inner
 * pages may have to be read first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/buf_internals.h"
#include "utils/spccache.h"

#include "btree/ahead.h"
#include "btree/cache.h"
#include "btree/descent.h"
#include "btree/map.h"
#include "compat.h"

/* how many lines of a leaf's entries the CPU fetches at most, and beyond those
 * where the entries should be */
#define MAX_LINES			32
#define SPARE_LINES			2
#define LINE				64

/* more than a tree has levels; only what is remembered can be without end */
#define MAX_ROUNDS			16

/*
 * Is the page of a place in the buffer where it was last?  A look at the
 * buffer's tag without a lock, so the answer may be wrong.
 *
 * Of local buffers no more is asked than whether the page has been read: the
 * disk is not asked for what a temporary index needs.
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
 * Have the CPU fetch the lines of a page that will be looked at: the header, the
 * special area, and the entries from the aim's key on.
 */
static inline void
fetch_lines(const ShBtPlace *place, const ShBtAim *aim)
{
	char	   *page = (char *) BufferGetPage(*place->buffer);
	uint64	   *fps = shbt_page_fps(page);
	char	   *line = (char *) &fps[shbt_map_expect(place, aim->key.fp)] - SPARE_LINES * LINE;
	char	   *end = (char *) &fps[shbt_map_expect(place, aim->last)] + (SPARE_LINES + 1) * LINE;

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
 * Ask the disk for the page that has been located for an aim, unless it is in
 * memory after all.
 */
static void
ask_for(Relation index, const ShBtAim *aim)
{
	ShBtTreeCache *cached;
	ShBtPlace  *place;

	/* this may look at a catalog, so it comes first */
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
 * Go on from the inner page that has been located for an aim.  If it turns out
 * not to be the right one, it is left to the search to find that.
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
 * Locate the leaves of all aims, and ask for them.  Inner pages that have to be
 * read for this are asked for together, too, level by level; with all they are
 * read in any case, else if they can be remembered, and serve other searches.
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
 * Ask for the leaves that will probably be searched.
 *
 * Where they are known and in memory this takes no lock and no pin.  May look at
 * a catalog, see shbt_get_cache.
 */
void
shbt_look_ahead(Relation index, int naims, const ShBtAim *aims)
{
	ask_for_all(index, naims, aims, false);
}

/*
 * Read the leaves that will be locked, all at a time, unless they are in memory:
 * to wait for the disk then would keep others waiting for the locks.
 *
 * Holds no lock or pin on return.  May look at a catalog, see shbt_get_cache.
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
