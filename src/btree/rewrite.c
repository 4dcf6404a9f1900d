/*-------------------------------------------------------------------------
 *
 * rewrite.c
 *	  Rewriting a leaf: with wider entries, or without some of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"

#include "btree/dead.h"
#include "btree/rewrite.h"

/*
 * Replace the entries of a leaf by the same in other widths.  They keep their
 * positions.
 */
static void
change_widths(Page leaf, int row_width)
{
	ShBtKey		keys[SHBT_MAX_ENTRIES];
	int			count = shbt_page_count(leaf);

	for (int i = 0; i < count; i++)
		keys[i] = shbt_leaf_key(leaf, i);
	shbt_write_leaf(leaf, keys, count, row_width);
	shbt_clear_dead(leaf);
}

/*
 * Make a leaf store its rows in as many bytes as are given.  Returns false, with
 * nothing changed, if there would be no room for another entry then.
 *
 * The caller has the leaf pinned and exclusively locked; it stays so.
 */
bool
shbt_widen(Relation index, Buffer leaf, int row_width)
{
	Page		page = BufferGetPage(leaf);
	GenericXLogState *wal;

	if (row_width <= shbt_row_width(page) ||
		shbt_page_count(page) >= shbt_leaf_capacity(shbt_page_low(page), shbt_page_high(page),
													row_width, shbt_page_is_grouped(page)))
		return false;
	wal = GenericXLogStart(index);
	change_widths(GenericXLogRegisterBuffer(wal, leaf, 0), row_width);
	GenericXLogFinish(wal);
	return true;
}

/*
 * Remove entries from a leaf, given by their positions, ascending.  The last
 * entries fill the gaps.  If the rows that remain need fewer bytes, the leaf
 * gets narrower.
 *
 * The caller has a cleanup lock on the leaf, which it keeps.
 */
void
shbt_remove(Relation index, Buffer leaf, const uint16 *positions, int count)
{
	GenericXLogState *wal = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(wal, leaf, 0);
	int			remaining = shbt_page_count(page);
	int			row_width = SHBT_MIN_ROW_WIDTH;

	for (int i = count - 1; i >= 0; i--)
	{
		remaining--;
		if (positions[i] != remaining)
			shbt_copy_entry(page, positions[i], page, remaining);
	}
	shbt_set_count(page, remaining);
	shbt_clear_dead(page);
	shbt_set_sorted(page, Min(shbt_leaf_sorted(page), positions[0]));

	for (int i = 0; i < remaining; i++)
		row_width = Max(row_width, shbt_row_width_of(shbt_leaf_row(page, i)));
	if (row_width < shbt_row_width(page))
		change_widths(page, row_width);
	GenericXLogFinish(wal);
}
