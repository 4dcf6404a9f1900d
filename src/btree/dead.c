/*-------------------------------------------------------------------------
 *
 * dead.c
 *	  Marks of entries whose rows are dead.
 *
 * A scan that has found a row to be dead to all transactions marks its entry,
 * so that later scans need not visit the row.  As in nbtree this is a hint: it
 * is not logged, and lost whenever that is convenient.
 *
 * The marks are bits in the hole of the leaf, in bytes that even the arrays of
 * a full leaf leave free.  Everything that logs or compares pages leaves out
 * the hole: full-page images, the generic WAL API, and
 * wal_consistency_checking.  So a mark never gets into WAL, and a replayed
 * page has none.  Stored anywhere else, marks would make replayed pages differ
 * from the original.
 *
 * A mark belongs to a position in the arrays.  Only splits, VACUUM and a change
 * of widths move entries, under an exclusive lock, and they clear all marks.  New entries
 * are appended, at a position without a mark.
 *
 * Marked entries stay until VACUUM.  To remove them earlier, WAL would have to
 * cancel queries on standbys that may still need them, which generic WAL
 * cannot do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "btree/dead.h"
#include "compat.h"

#define MARKS_FIT(width) \
	(SHBT_LEAF_CAPACITY_OF(width, 0) * (width) + \
	 SHBT_DEAD_BYTES(SHBT_LEAF_CAPACITY_OF(width, 0)) <= SHBT_PAGE_SPACE)

StaticAssertDecl(MARKS_FIT(8) && MARKS_FIT(9) && MARKS_FIT(10) && MARKS_FIT(11) &&
				 MARKS_FIT(12) && MARKS_FIT(13) && MARKS_FIT(14) && MARKS_FIT(15) &&
				 MARKS_FIT(16) && MARKS_FIT(17) && MARKS_FIT(18),
				 "the marks do not overlap the pointers");

/*
 * Mark entries of a leaf, given by their positions.
 *
 * The caller has the leaf pinned and locked at least in share mode, and knows
 * that no TID has been reused since its row was found dead.  An entry that has
 * since been moved by a split is left alone.
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
			shbt_leaf_row(page, position) != shbt_tid_to_int(&tids[i]))
			continue;
		if (!changed && !shcompat_begin_hints(leaf))
			return;

		/*
		 * before 19, two backends can do this at the same time, and one mark
		 * may be lost
		 */
		marks[position / BITS_PER_BYTE] |= 1 << (position % BITS_PER_BYTE);
		changed = true;
	}
	if (changed)
		shcompat_finish_hints(leaf);
}
