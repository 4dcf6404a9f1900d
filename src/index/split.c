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
#include "utils/memutils.h"

#include "index/am.h"
#include "index/split.h"
#include "index/page.h"
#include "index/tree.h"

/* an entry of a leaf or of an inner page */
typedef struct SplitEntry
{
	ShIdxKey	key;
	BlockNumber child;			/* of an inner page */
} SplitEntry;

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE SplitEntry
#define ST_COMPARE(a, b) \
	(shidx_key_less((a)->key, (b)->key) ? -1 : shidx_key_less((b)->key, (a)->key))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Read the entries of a page, ascending.  Returns how many there are.
 */
static int
read_entries(Page page, SplitEntry *entries)
{
	int			count = shidx_page_count(page);

	if (shidx_page_is_leaf(page))
	{
		for (int i = 0; i < count; i++)
			entries[i].key = shidx_leaf_key(page, i);
		sort_entries(entries, count);
	}
	else
	{
		for (int i = 0; i < count; i++)
		{
			entries[i].key = shidx_inner_key(page, i);
			entries[i].child = shidx_inner_child(page, i);
		}
	}
	return count;
}

/*
 * Make the entries the contents of a page whose special area is set up.
 */
static void
write_entries(Page page, const SplitEntry *entries, int count)
{
	shidx_set_count(page, count);
	for (int i = 0; i < count; i++)
	{
		if (shidx_page_is_leaf(page))
			shidx_set_entry(page, i, entries[i].key);
		else
			shidx_set_downlink(page, i, entries[i].key, entries[i].child);
	}
}

/*
 * Number of entries that stay on the left page.
 *
 * The middle, but not inside a run of equal fingerprints if the run ends
 * near: ranges of equal prefixes should lie on one page.  A page of nothing
 * but one fingerprint gets its new entries mostly at its end, as TIDs tend to
 * ascend, so there the left page is left as full as a build would.
 */
static int
choose_split(Relation index, const SplitEntry *entries, int count)
{
	int			middle = count / 2;

	if (entries[0].key.fp == entries[count - 1].key.fp)
	{
		int			left = count * shidx_get_options(index).fillfactor / 100;

		return Min(Max(left, 1), count - 1);
	}
	for (int away = 0; away < count / 4; away++)
	{
		if (entries[middle - away - 1].key.fp != entries[middle - away].key.fp)
			return middle - away;
		if (entries[middle + away - 1].key.fp != entries[middle + away].key.fp)
			return middle + away;
	}
	return middle;
}

/*
 * Split a page that is full.
 *
 * The caller has left, and its parent if it has one, pinned and exclusively
 * locked; both are unlocked and released here.  parent is InvalidBuffer for
 * the root, which gets a new parent; else it has room and holds the downlink
 * of left at position.
 */
static void
split_page(Relation index, Buffer left, Buffer parent, int position)
{
	ShIdxOpaqueData old = *ShIdxPageGetOpaque(BufferGetPage(left));
	ShIdxKey	low = shidx_page_low(BufferGetPage(left));
	ShIdxKey	high = shidx_page_high(BufferGetPage(left));
	uint16		flags = old.flags & ~SHIDX_ROOT;
	SplitEntry *entries = palloc(SHIDX_LEAF_CAPACITY * sizeof(SplitEntry));
	int			count = read_entries(BufferGetPage(left), entries);
	int			stay = choose_split(index, entries, count);
	ShIdxKey	separator;
	Buffer		right = shidx_new_buffer(index, MAIN_FORKNUM);
	Buffer		root = InvalidBuffer;
	Buffer		metabuffer = InvalidBuffer;
	GenericXLogState *state;
	Page		page;

	/* a separator of an inner page is already as short as it can be */
	separator = old.level > 0 ? entries[stay].key :
		shidx_separator(entries[stay - 1].key, entries[stay].key);

	if (!BufferIsValid(parent))
	{
		root = shidx_new_buffer(index, MAIN_FORKNUM);
		metabuffer = ReadBuffer(index, SHIDX_METAPAGE_BLOCK);
		LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
		shidx_check_metapage(index, metabuffer);
	}

	state = GenericXLogStart(index);

	page = GenericXLogRegisterBuffer(state, left, 0);
	shidx_init_page(page, old.tree, old.level, flags, low, separator,
					BufferGetBlockNumber(right));
	write_entries(page, entries, stay);

	page = GenericXLogRegisterBuffer(state, right, GENERIC_XLOG_FULL_IMAGE);
	shidx_init_page(page, old.tree, old.level, flags, separator, high, old.right);
	write_entries(page, entries + stay, count - stay);

	if (BufferIsValid(parent))
	{
		page = GenericXLogRegisterBuffer(state, parent, 0);
		shidx_insert_downlink(page, position + 1, separator, BufferGetBlockNumber(right));
	}
	else
	{
		ShIdxRoot  *entry;

		page = GenericXLogRegisterBuffer(state, root, GENERIC_XLOG_FULL_IMAGE);
		shidx_init_page(page, old.tree, old.level + 1, SHIDX_ROOT,
						SHIDX_LOWEST_KEY, SHIDX_HIGHEST_KEY, InvalidBlockNumber);
		shidx_insert_downlink(page, 0, low, BufferGetBlockNumber(left));
		shidx_insert_downlink(page, 1, separator, BufferGetBlockNumber(right));

		page = GenericXLogRegisterBuffer(state, metabuffer, 0);
		entry = &ShIdxPageGetMeta(page)->roots[old.tree];
		entry->block = BufferGetBlockNumber(root);
		entry->level = old.level + 1;
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
			split_page(index, page, InvalidBuffer, 0);
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
			split_page(index, page, parent, position);
			return;
		}

		UnlockReleaseBuffer(parent);
		UnlockReleaseBuffer(page);
		shidx_split(index, tree, level + 1, low);
	}
}
