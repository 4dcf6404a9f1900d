/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Changing pages of trees: adding entries, splitting, rewriting leaves.
 *
 * All changes are generic WAL records, so that they replay without this library.
 * Inserts are too frequent for the API that makes these (src/README.md, section 6):
 * theirs are assembled here, in the format of generic_xlog.c.  Server versions whose
 * format is not known to be the same get the API.
 *
 * Splits follow Lehman and Yao (1981), with one difference from nbtree: a page
 * is split and the downlink to its new sibling is added to the parent in one
 * record.  If the parent has no room, it is split first, on its own.  Hence
 * there are no incomplete splits, and no code to look for them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

#include "compat.h"
#include "index/leaf.h"
#include "index/page.h"
#include "index/tree.h"

/*
 * Add an entry to a leaf that is not full, without logging.
 */
static void
append_to_page(Page page, ShIdxKey key)
{
	int			count = shidx_page_count(page);

	Assert(shidx_page_is_leaf(page) && shidx_leaf_takes(page, key));
	shidx_set_count(page, count + 1);
	shidx_set_entry(page, count, key);

	/* only corruption can have left a mark here, but it would hide the row */
	shidx_unmark_dead(page, count);
}

#if defined(SHCOMPAT_GENERIC_WAL_FORMAT_KNOWN) && !defined(SHIDX_GENERIC_WAL_API)

#define FRAGMENT_HEADER		(2 * sizeof(OffsetNumber))

/* at most: the bounds of the free space, the fingerprint, the pointer */
#define APPEND_DELTA \
	(3 * FRAGMENT_HEADER + 2 * sizeof(LocationIndex) + SHIDX_MAX_KEY_WIDTH + \
	 SHIDX_MAX_ROW_WIDTH + sizeof(uint32))

StaticAssertDecl(offsetof(PageHeaderData, pd_upper) ==
				 offsetof(PageHeaderData, pd_lower) + sizeof(LocationIndex),
				 "the bounds of the free space are one fragment");

/*
 * Write bytes [offset, offset + length) of the page as a fragment.  Returns
 * the position after it.
 */
static char *
write_fragment(char *to, Page page, Size offset, Size length)
{
	OffsetNumber header[2] = {(OffsetNumber) offset, (OffsetNumber) length};

	memcpy(to, header, sizeof(header));
	memcpy(to + sizeof(header), page + offset, length);
	return to + sizeof(header) + length;
}

/*
 * Write the fragments for the last entry of a leaf.  Returns their length.
 */
static int
write_append_delta(char *delta, Page page)
{
	int			last = shidx_page_count(page) - 1;
	int			key_width = shidx_key_width(page);
	char	   *end;

	end = write_fragment(delta, page, offsetof(PageHeaderData, pd_lower),
						 2 * sizeof(LocationIndex));
	end = write_fragment(end, page, PageGetContents(page) + last * key_width - (char *) page,
						 key_width);
	end = write_fragment(end, page, shidx_page_pointer(page, last) - (char *) page,
						 shidx_pointer_width(page));
	Assert(end - delta <= APPEND_DELTA);
	return end - delta;
}

/*
 * Add keys[i] to leaves[i], all in one atomic change.
 *
 * The leaves are different, take the keys, and the caller has them pinned and
 * exclusively locked; they stay so.  nleaves is at most SHIDX_MAX_APPEND.
 */
void
shidx_append(Relation index, int nleaves, const Buffer *leaves, const ShIdxKey *keys)
{
	char		deltas[SHIDX_MAX_APPEND][APPEND_DELTA];
	XLogRecPtr	lsn;

	Assert(nleaves >= 1 && nleaves <= SHIDX_MAX_APPEND);

	START_CRIT_SECTION();
	for (int i = 0; i < nleaves; i++)
	{
		append_to_page(BufferGetPage(leaves[i]), keys[i]);
		MarkBufferDirty(leaves[i]);
	}
	if (RelationNeedsWAL(index))
	{
		XLogBeginInsert();
		for (int i = 0; i < nleaves; i++)
		{
			int			length = write_append_delta(deltas[i], BufferGetPage(leaves[i]));

			XLogRegisterBuffer(i, leaves[i], REGBUF_STANDARD);
			XLogRegisterBufData(i, deltas[i], length);
		}
		lsn = XLogInsert(RM_GENERIC_ID, 0);
		for (int i = 0; i < nleaves; i++)
			PageSetLSN(BufferGetPage(leaves[i]), lsn);
	}
	END_CRIT_SECTION();
}

#else

void
shidx_append(Relation index, int nleaves, const Buffer *leaves, const ShIdxKey *keys)
{
	GenericXLogState *state = GenericXLogStart(index);

	for (int i = 0; i < nleaves; i++)
		append_to_page(GenericXLogRegisterBuffer(state, leaves[i], 0), keys[i]);
	GenericXLogFinish(state);
}

#endif

/*
 * Replace the entries of a leaf by the same in other widths.  They keep their
 * positions.
 */
static void
change_widths(Page leaf, int row_width)
{
	ShIdxKey	keys[SHIDX_MAX_ENTRIES];
	int			count = shidx_page_count(leaf);

	for (int i = 0; i < count; i++)
		keys[i] = shidx_leaf_key(leaf, i);
	shidx_write_leaf(leaf, keys, count, row_width);
	shidx_clear_dead(leaf);
}

/*
 * Make a leaf store its rows in as many bytes as are given.  Returns false, with
 * nothing changed, if there would be no room for another entry then.
 *
 * The caller has the leaf pinned and exclusively locked; it stays so.
 */
static bool
widen(Relation index, Buffer leaf, int row_width)
{
	Page		page = BufferGetPage(leaf);
	GenericXLogState *wal;

	if (row_width <= shidx_row_width(page) ||
		shidx_page_count(page) >= shidx_leaf_capacity(shidx_page_low(page), shidx_page_high(page),
													  row_width, shidx_page_contents(page)))
		return false;
	wal = GenericXLogStart(index);
	change_widths(GenericXLogRegisterBuffer(wal, leaf, 0), row_width);
	GenericXLogFinish(wal);
	return true;
}

/*
 * Remove entries from a leaf, given by their positions, ascending.  The last
 * entries fill the gaps.  If the rows that remain would need fewer bytes in a table
 * of twice the length, the leaf gets narrower.
 *
 * The caller has a cleanup lock on the leaf, which it keeps.
 */
void
shidx_remove(Relation index, Buffer leaf, const uint16 *positions, int count)
{
	GenericXLogState *wal = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(wal, leaf, 0);
	int			remaining = shidx_page_count(page);
	int			row_width = SHIDX_MIN_ROW_WIDTH;

	for (int i = count - 1; i >= 0; i--)
	{
		remaining--;
		if (positions[i] != remaining)
			shidx_copy_entry(page, positions[i], page, remaining);
	}
	shidx_set_count(page, remaining);
	shidx_clear_dead(page);
	shidx_set_sorted(page, Min(shidx_leaf_sorted(page), positions[0]));

	for (int i = 0; i < remaining; i++)
		row_width = Max(row_width, shidx_roomy_row_width_of(shidx_leaf_row(page, i)));
	if (row_width < shidx_row_width(page))
		change_widths(page, row_width);
	GenericXLogFinish(wal);
}

/*
 * This many leaves of one fingerprint, which are less full than they could be, waste
 * about as much as an empty leaf after them takes.
 */
#define LEAVES_OF_RUN	3

static inline bool
same_fingerprint(ShIdxKey a, ShIdxKey b)
{
	return a.fp == b.fp && a.group == b.group;
}

/*
 * Number of entries that stay on the left page.
 *
 * Three fifths: the entries that move are logged with their new page, and
 * those that stay are not, so this saves a fifth of the WAL of a split, and
 * leaves pages hardly less full on average than halves would.  A run of equal
 * fingerprints is not divided if it ends nearby, since ranges of equal
 * prefixes should be on one page.
 *
 * If all entries of a page have the same fingerprint, and the next page has
 * others, new entries mostly arrive at its end, since TIDs tend to ascend.  In
 * that case the left page keeps as many entries as a build would put there, at
 * most all but one: it may have room for more than the page had.
 */
static int
choose_split(Page page, const ShIdxSortedEntry *entries, int count, int row_width, int fillfactor)
{
	int			usual = count * 3 / 5;
	ShIdxKey	last = entries[count - 1].key;

	if (same_fingerprint(entries[0].key, last) && !same_fingerprint(last, shidx_page_high(page)))
	{
		int			room = !shidx_page_is_leaf(page) ? count :
			shidx_leaf_capacity(shidx_page_low(page), last, row_width, shidx_page_contents(page));

		return Min(Max(room * fillfactor / 100, 1), count - 1);
	}
	for (int away = 0; away < count / 4; away++)
	{
		if (!same_fingerprint(entries[usual - away - 1].key, entries[usual - away].key))
			return usual - away;
		if (!same_fingerprint(entries[usual + away - 1].key, entries[usual + away].key))
			return usual + away;
	}
	return usual;
}

/*
 * Does a leaf that is to be split have the fingerprint with which it begins only, as
 * several leaves before it have, and less room than these since its high fence is far
 * away?  Then finds where it should end, with all entries, before an empty page.
 */
static bool
find_end_of_run(Page leaf, Page parent, const ShIdxSortedEntry *entries, int count, ShIdxKey *end)
{
	ShIdxKey	low = shidx_page_low(leaf);
	int			leaves = 0;

	if (!same_fingerprint(low, entries[0].key) || !same_fingerprint(low, entries[count - 1].key))
		return false;
	for (int i = 0; i < shidx_page_count(parent); i++)
		leaves += same_fingerprint(low, shidx_inner_key(parent, i));
	*end = shidx_end_as_wide(low, shidx_key_after(low.group, low.fp), shidx_page_contents(leaf));
	return leaves >= LEAVES_OF_RUN && shidx_key_less(*end, shidx_page_high(leaf));
}

/*
 * Remove all entries from a page except the first "stay" ones of the given
 * order.
 *
 * The entries that stay keep their positions as far as possible, so that
 * little of the page changes and little is logged.
 */
static void
keep_entries(Page page, const ShIdxSortedEntry *entries, int count, int stay)
{
	bool		stays[SHIDX_MAX_ENTRIES] = {0};
	int			last = count;
	int			unchanged = stay;

	for (int i = 0; i < stay; i++)
		stays[entries[i].position] = true;
	for (int i = 0; i < stay; i++)
	{
		if (stays[i])
			continue;
		do
			last--;
		while (!stays[last]);
		shidx_copy_entry(page, i, page, last);
		unchanged = Min(unchanged, i);
	}
	shidx_set_count(page, stay);
	if (shidx_page_is_leaf(page))
		shidx_clear_dead(page);
	shidx_set_sorted(page, Min(shidx_leaf_sorted(page), unchanged));
}

/*
 * Bytes for the rows of some entries, and of one that will be added.
 */
static int
row_width_of(const ShIdxSortedEntry *entries, int count, ShIdxRow added)
{
	int			width = shidx_roomy_row_width_of(added);

	for (int i = 0; i < count; i++)
		width = Max(width, shidx_roomy_row_width_of(entries[i].key.tid));
	return width;
}

/*
 * Replace the entries of a leaf by sorted ones.
 */
static void
fill_leaf(Page leaf, const ShIdxSortedEntry *entries, int count, int row_width)
{
	ShIdxKey	keys[SHIDX_MAX_ENTRIES];

	for (int i = 0; i < count; i++)
		keys[i] = entries[i].key;
	shidx_write_leaf(leaf, keys, count, row_width);
	shidx_set_sorted(leaf, count);
}

/*
 * Fill the new page of a split.
 */
static void
fill_right(Page page, Page old, const ShIdxSortedEntry *entries, int count, ShIdxRow added)
{
	if (shidx_page_is_leaf(page))
	{
		fill_leaf(page, entries, count, row_width_of(entries, count, added));
		return;
	}
	shidx_set_count(page, count);
	for (int i = 0; i < count; i++)
		shidx_copy_entry(page, i, old, entries[i].position);
}

/*
 * Reduce the old page of a split to its first entries, and to the keys below
 * the separator.
 *
 * If other widths suit what stays, it is written anew.
 */
static void
reduce_left(Page page, const ShIdxSortedEntry *entries, int count, int stay,
			ShIdxKey separator, ShIdxRow added)
{
	int			row_width;

	shidx_set_fences(page, shidx_page_low(page), separator);
	if (shidx_page_is_leaf(page))
	{
		row_width = row_width_of(entries, stay, added);
		if (!shidx_has_widths(page, row_width))
		{
			fill_leaf(page, entries, stay, row_width);
			shidx_clear_dead(page);
			return;
		}
	}
	keep_entries(page, entries, count, stay);
}

/*
 * Split a page that has no room for a key.
 *
 * The caller has "left", and its parent if it has one, pinned and exclusively
 * locked; both are unlocked and released here.  parent is InvalidBuffer for
 * the root, which gets a new parent; otherwise the parent has room.
 */
static void
split_page(Relation index, Buffer left, Buffer parent, ShIdxKey key, int fillfactor)
{
	Page		old = BufferGetPage(left);
	int			tree = shidx_page_tree(old);
	int			level = shidx_page_level(old);
	uint8		kind = shidx_page_contents(old);
	ShIdxKey	low = shidx_page_low(old);
	ShIdxSortedEntry *entries = palloc(SHIDX_MAX_ENTRIES * sizeof(ShIdxSortedEntry));
	int			count = shidx_sort_entries(old, entries);
	int			stay = count;
	ShIdxKey	separator;
	Buffer		right;
	Buffer		root = InvalidBuffer;
	Buffer		metabuffer = InvalidBuffer;
	GenericXLogState *state;
	Page		page;

	if (level > 0 || !BufferIsValid(parent) ||
		!find_end_of_run(old, BufferGetPage(parent), entries, count, &separator))
	{
		int			row_width = row_width_of(entries, count, key.tid);
		int			most = shidx_leaf_capacity(low, shidx_page_high(old), row_width, kind) - 1;

		/* both leaves must have room for the key, with rows as wide as it needs */
		stay = choose_split(old, entries, count, row_width, fillfactor);
		if (level == 0)
			stay = Max(Min(stay, most), count - most);

		/* a separator of an inner page is already as short as it can be */
		separator = level > 0 ? entries[stay].key :
			shidx_separator(entries[stay - 1].key, entries[stay].key);
	}

	right = shcompat_extend(index, MAIN_FORKNUM);
	if (!BufferIsValid(parent))
	{
		root = shcompat_extend(index, MAIN_FORKNUM);
		metabuffer = ReadBuffer(index, SHIDX_METAPAGE_BLOCK);
		LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
		shidx_check_metapage(index, metabuffer);
	}

	PredicateLockPageSplit(index, BufferGetBlockNumber(left), BufferGetBlockNumber(right));

	state = GenericXLogStart(index);

	page = GenericXLogRegisterBuffer(state, right, GENERIC_XLOG_FULL_IMAGE);
	shidx_init_page(page, tree, level, kind, separator, shidx_page_high(old),
					shidx_page_right(old));
	fill_right(page, old, &entries[stay], count - stay,
			   shidx_key_less(key, separator) ? 0 : key.tid);

	page = GenericXLogRegisterBuffer(state, left, 0);
	reduce_left(page, entries, count, stay, separator,
				shidx_key_less(key, separator) && stay < count ? key.tid : 0);
	shidx_set_right(page, BufferGetBlockNumber(right));
	ShIdxPageGetOpaque(page)->flags &= ~SHIDX_ROOT;

	if (BufferIsValid(parent))
	{
		page = GenericXLogRegisterBuffer(state, parent, 0);
		shidx_add_downlink(page, separator, BufferGetBlockNumber(right));
	}
	else
	{
		page = GenericXLogRegisterBuffer(state, root, GENERIC_XLOG_FULL_IMAGE);
		shidx_init_page(page, tree, level + 1, kind | SHIDX_ROOT,
						SHIDX_LOWEST_KEY, SHIDX_HIGHEST_KEY, InvalidBlockNumber);
		shidx_add_downlink(page, low, BufferGetBlockNumber(left));
		shidx_add_downlink(page, separator, BufferGetBlockNumber(right));

		page = GenericXLogRegisterBuffer(state, metabuffer, 0);
		shidx_set_root(page, tree, BufferGetBlockNumber(root), level + 1);
	}

	GenericXLogFinish(state);

	if (BufferIsValid(parent))
		UnlockReleaseBuffer(parent);
	else
	{
		UnlockReleaseBuffer(metabuffer);
		UnlockReleaseBuffer(root);
		shidx_forget_metapage(index);
	}
	UnlockReleaseBuffer(right);
	UnlockReleaseBuffer(left);
	pfree(entries);
}

/*
 * Make room on the page of a tree and level that holds the key: on a leaf, for
 * the key itself, though another split may be needed before there is any.
 *
 * A leaf whose rows are too narrow is rewritten, if there is still room then.
 * Otherwise the page is split.
 *
 * fillfactor, in percent, is how full a page of equal fingerprints is left.
 * The caller holds no lock on any page of the index, and none is held on
 * return.  Locks are taken from the leaf upwards, then on new pages, which no
 * other backend can know, then on the metapage.
 */
void
shidx_make_room(Relation index, int tree, int level, ShIdxKey key, int fillfactor)
{
	for (;;)
	{
		Buffer		page;
		Buffer		parent;
		ShIdxKey	low;

		CHECK_FOR_INTERRUPTS();
		page = shidx_search(index, tree, level, key, BUFFER_LOCK_EXCLUSIVE);
		low = shidx_page_low(BufferGetPage(page));
		if (level == 0 ? shidx_leaf_takes(BufferGetPage(page), key) :
			!shidx_page_is_full(BufferGetPage(page)))
		{
			UnlockReleaseBuffer(page);
			return;				/* another backend has already made some */
		}
		if (level == 0 && widen(index, page, shidx_row_width_of(key.tid)))
		{
			UnlockReleaseBuffer(page);
			return;
		}
		if (shidx_page_is_root(BufferGetPage(page)))
		{
			split_page(index, page, InvalidBuffer, key, fillfactor);
			return;
		}

		parent = shidx_search(index, tree, level + 1, low, BUFFER_LOCK_EXCLUSIVE);
		if (!shidx_page_is_full(BufferGetPage(parent)))
		{
			int			position = shidx_find_downlink(BufferGetPage(parent), low);

			if (position < 0 ||
				shidx_inner_child(BufferGetPage(parent), position) != BufferGetBlockNumber(page))
				shidx_report_corrupted(index, BufferGetBlockNumber(parent),
									   "index \"%s\" lacks a downlink to a page below block %u");
			split_page(index, page, parent, key, fillfactor);
			return;
		}

		UnlockReleaseBuffer(parent);
		UnlockReleaseBuffer(page);
		shidx_make_room(index, tree, level + 1, low, fillfactor);
	}
}
