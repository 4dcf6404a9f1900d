/*-------------------------------------------------------------------------
 *
 * dead.c
 *	  Marks of entries whose rows are dead.
 *
 * A scan that has found a row to be dead to everybody marks its entry, so that
 * later ones need not visit the row.  As in nbtree this is a hint: it is not
 * logged, and lost whenever that is convenient.
 *
 * The marks are bits in the hole of the leaf, in a place that even the arrays
 * of a full one leave free.  Whoever writes or compares pages leaves out the
 * hole: full-page images, the generic WAL API, and the check of
 * wal_consistency_checking.  So a mark never gets into WAL, and a page that is
 * replayed has none.  Anywhere else it would be taken for part of an entry.
 *
 * A mark belongs to a place in the arrays.  Places are only changed under an
 * exclusive lock, by those who then clear all marks: splits and VACUUM.  New
 * entries are appended, where no mark has been.
 *
 * Marked entries stay until VACUUM.  To remove them earlier, WAL would have to
 * tell standbys whose queries may still need them, and generic WAL cannot.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "btree/dead.h"

#define MARKS_FIT(pointer_width) \
	(SHBT_LEAF_CAPACITY_OF(pointer_width) * (sizeof(uint64) + (pointer_width)) + \
	 SHBT_DEAD_BYTES(SHBT_LEAF_CAPACITY_OF(pointer_width)) <= SHBT_PAGE_SPACE)

StaticAssertDecl(MARKS_FIT(sizeof(ItemPointerData)) &&
				 MARKS_FIT(sizeof(ItemPointerData) + sizeof(ShBtGroup)),
				 "the marks do not overlap the pointers");

/*
 * Mark entries of a leaf, given by their places.
 *
 * The caller has the leaf pinned and locked at least in share mode, and knows
 * that no TID has come to belong to another row since it was found dead.  An
 * entry that has since been moved by a split is left alone.
 */
void
shbt_mark_dead(Buffer leaf, const uint16 *positions, const ItemPointerData *tids, int count)
{
	Page		page = BufferGetPage(leaf);
	uint8	   *marks = shbt_dead_marks(page);
	bool		changed = false;

	for (int i = 0; i < count; i++)
	{
		int			position = positions[i];

		if (position >= shbt_page_count(page) || shbt_is_dead(page, position) ||
			memcmp(shbt_leaf_tid(page, position), &tids[i], sizeof(ItemPointerData)) != 0)
			continue;
		/* if two backends do this at a time, one mark may be lost */
		marks[position / BITS_PER_BYTE] |= 1 << (position % BITS_PER_BYTE);
		changed = true;
	}
	if (changed)
		MarkBufferDirtyHint(leaf, true);
}
