/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Splitting full pages.
 *
 * After Lehman and Yao (1981), with one difference to nbtree: a page is split
 * and its new sibling is made known to the parent in one WAL record.  If the
 * parent has no room, it is split first, on its own.  So there is no state in
 * which a split is half done, and nobody has to look for one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

#include "index/am.h"
#include "index/split.h"
#include "index/page.h"
#include "index/tree.h"

/*
 * Number of entries that stay on the left page.
 *
 * Three fifths: the entries that move are logged with their new page, those
 * that stay are not, so this saves a fifth of the WAL of a split, and leaves
 * pages hardly less full on average than halves would.  Not inside a run of
 * equal fingerprints if the run ends near: ranges of equal prefixes should lie
 * on one page.
 *
 * A page of nothing but one fingerprint gets its new entries mostly at its
 * end, as TIDs tend to ascend, so there the left page is left as full as a
 * build would.
 */
static int
choose_split(Relation index, const ShIdxSortedEntry *entries, int count)
{
	int			usual = count * 3 / 5;

	if (entries[0].key.fp == entries[count - 1].key.fp)
	{
		int			left = count * shidx_get_options(index).fillfactor / 100;

		return Min(Max(left, 1), count - 1);
	}
	for (int away = 0; away < count / 4; away++)
	{
		if (entries[usual - away - 1].key.fp != entries[usual - away].key.fp)
			return usual - away;
		if (entries[usual + away - 1].key.fp != entries[usual + away].key.fp)
			return usual + away;
	}
	return usual;
}

/*
 * Remove all but the first stay entries of the order from a page.
 *
 * The entries that stay keep their places as far as they can, so that little
 * of the page changes and little is logged.
 */
static void
keep_entries(Page page, const ShIdxSortedEntry *entries, int count, int stay)
{
	ShIdxOpaque opaque = ShIdxPageGetOpaque(page);
	bool		stays[SHIDX_LEAF_CAPACITY] = {0};
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
	opaque->sorted = Min(opaque->sorted, unchanged);
}

/*
 * Split a page that is full.
 *
 * The caller has left, and its parent if it has one, pinned and exclusively
 * locked; both are unlocked and released here.  parent is InvalidBuffer for
 * the root, which gets a new parent; else it has room.
 */
static void
split_page(Relation index, Buffer left, Buffer parent)
{
	Page		old = BufferGetPage(left);
	int			tree = ShIdxPageGetOpaque(old)->tree;
	int			level = ShIdxPageGetOpaque(old)->level;
	ShIdxKey	low = shidx_page_low(old);
	ShIdxSortedEntry *entries = palloc(SHIDX_LEAF_CAPACITY * sizeof(ShIdxSortedEntry));
	int			count = shidx_sort_entries(old, entries);
	int			stay = choose_split(index, entries, count);
	ShIdxKey	separator;
	Buffer		right;
	Buffer		root = InvalidBuffer;
	Buffer		metabuffer = InvalidBuffer;
	GenericXLogState *state;
	Page		page;

	/* a separator of an inner page is already as short as it can be */
	separator = level > 0 ? entries[stay].key :
		shidx_separator(entries[stay - 1].key, entries[stay].key);

	right = shidx_new_buffer(index, MAIN_FORKNUM);
	if (!BufferIsValid(parent))
	{
		root = shidx_new_buffer(index, MAIN_FORKNUM);
		metabuffer = ReadBuffer(index, SHIDX_METAPAGE_BLOCK);
		LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
		shidx_check_metapage(index, metabuffer);
	}

	PredicateLockPageSplit(index, BufferGetBlockNumber(left), BufferGetBlockNumber(right));

	state = GenericXLogStart(index);

	page = GenericXLogRegisterBuffer(state, right, GENERIC_XLOG_FULL_IMAGE);
	shidx_init_page(page, tree, level, 0, separator, shidx_page_high(old),
					ShIdxPageGetOpaque(old)->right);
	shidx_set_count(page, count - stay);
	for (int i = stay; i < count; i++)
		shidx_copy_entry(page, i - stay, old, entries[i].position);
	if (level == 0)
		ShIdxPageGetOpaque(page)->sorted = count - stay;

	page = GenericXLogRegisterBuffer(state, left, 0);
	keep_entries(page, entries, count, stay);
	shidx_set_fences(page, low, separator);
	ShIdxPageGetOpaque(page)->right = BufferGetBlockNumber(right);
	ShIdxPageGetOpaque(page)->flags &= ~SHIDX_ROOT;

	if (BufferIsValid(parent))
	{
		page = GenericXLogRegisterBuffer(state, parent, 0);
		shidx_add_downlink(page, separator, BufferGetBlockNumber(right));
	}
	else
	{
		page = GenericXLogRegisterBuffer(state, root, GENERIC_XLOG_FULL_IMAGE);
		shidx_init_page(page, tree, level + 1, SHIDX_ROOT,
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
		shidx_forget_cache(index);
	}
	UnlockReleaseBuffer(right);
	UnlockReleaseBuffer(left);
	pfree(entries);
}

/*
 * See to it that the page of a tree and level that holds the key has room.
 *
 * The caller holds no lock on any page of the index, and none is held on
 * return.  Locks are taken from the leaf upwards, then on new pages, which
 * nobody else can know, then on the metapage.
 */
void
shidx_split(Relation index, int tree, int level, ShIdxKey key)
{
	for (;;)
	{
		Buffer		page = shidx_search(index, tree, level, key, BUFFER_LOCK_EXCLUSIVE);
		Buffer		parent;
		ShIdxKey	low = shidx_page_low(BufferGetPage(page));

		if (!shidx_page_is_full(BufferGetPage(page)))
		{
			UnlockReleaseBuffer(page);
			return;				/* somebody else was faster */
		}
		if (ShIdxPageGetOpaque(BufferGetPage(page))->flags & SHIDX_ROOT)
		{
			split_page(index, page, InvalidBuffer);
			return;
		}

		parent = shidx_search(index, tree, level + 1, low, BUFFER_LOCK_EXCLUSIVE);
		if (!shidx_page_is_full(BufferGetPage(parent)))
		{
			int			position = shidx_find_downlink(BufferGetPage(parent), low);

			if (position < 0 ||
				shidx_inner_child(BufferGetPage(parent), position) != BufferGetBlockNumber(page))
				shidx_report_corrupted(index, BufferGetBlockNumber(parent),
									   "lacks the downlink of a page below it");
			split_page(index, page, parent);
			return;
		}

		UnlockReleaseBuffer(parent);
		UnlockReleaseBuffer(page);
		shidx_split(index, tree, level + 1, low);
	}
}
