/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  Finding pages of the trees of a simhash index.
 *
 * Pages are never deleted, and never change their tree, their level or their
 * low fence.  So a block number that was once right can be out of date in one
 * way only: the page has split since, and the key now lies further right.
 * What a backend remembers of roots and leaves is therefore safe to follow,
 * as the fences of the page tell whether it was right.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "index/page.h"
#include "index/tree.h"

#include "compat.h"

/* hints of all tables together take at most this many bytes a backend */
#define MAX_HINT_BYTES		(4 * 1024 * 1024)

/* how often a hint may miss before the number of hints is reconsidered */
#define HINT_MISSES			4096

/* how often a metapage may be out of date when it has just been read */
#define MAX_ROOT_CHANGES	64

/* how much of a page is fetched ahead, in cache lines */
#define PREFETCH_LINES		4

/* how often a leaf is looked up although its buffer is known */
#define LOOKUP_INTERVAL		16

/* how many pages right of a hinted page are tried before a full descent */
#define HINT_STEPS			2

/*
 * What is wrong with the metapage, in words; NULL if nothing is.  A page of
 * another format is not a problem here: see shidx_check_metapage.
 */
const char *
shidx_metapage_problem(Page page)
{
	ShIdxMetaPageData *meta = ShIdxPageGetMeta(page);
	int			ntables;

	if (PageIsNew(page))
		return "is empty";
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(ShIdxOpaqueData)) ||
		ShIdxPageGetOpaque(page)->page_id != SHIDX_PAGE_ID ||
		(ShIdxPageGetOpaque(page)->flags & SHIDX_META) == 0 ||
		meta->magic != SHIDX_MAGIC)
		return "is not the metapage of a simhash index";
	if (meta->version != SHIDX_VERSION)
		return NULL;
	ntables = shbits_ntables(meta->blocks, meta->distance);
	if (ntables < 1 || ntables > SHBITS_MAX_TABLES || meta->ntrees != ntables + 1)
		return "has an impossible scheme in the metapage";
	for (uint32 i = 0; i < meta->ntrees; i++)
	{
		if (!shidx_is_tree_block(meta->roots[i].block))
			return "lacks a root in the metapage";
	}
	return NULL;
}

/*
 * Check the metapage, which the caller has pinned and locked.
 */
void
shidx_check_metapage(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	const char *problem = shidx_metapage_problem(page);

	if (problem != NULL)
		shidx_report_corrupted(index, SHIDX_METAPAGE_BLOCK, problem);
	if (ShIdxPageGetMeta(page)->version != SHIDX_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has version %u of the format, this library reads version %u",
						RelationGetRelationName(index),
						ShIdxPageGetMeta(page)->version, SHIDX_VERSION),
				 errdetail("The version is stored in block %u.", SHIDX_METAPAGE_BLOCK),
				 errhint("Please REINDEX it.")));
}

/*
 * How many bits of a key choose its hint: about four hints a leaf, so that
 * most hints lead to the only leaf of their range.
 */
static int
choose_hint_bits(Relation index, int ntables)
{
	double		leaves = (double) RelationGetNumberOfBlocks(index) / ntables;
	int			bits = 4;

	while ((1 << bits) < 4 * leaves &&
		   ((Size) ntables << (bits + 1)) * sizeof(ShIdxHint) <= MAX_HINT_BYTES)
		bits++;
	return bits;
}

/*
 * What this backend remembers of the index, reading the metapage if need be.
 *
 * The result is good until the next relcache invalidation can come in, that
 * is, until the caller locks a relation or looks at a catalog.  Takes and
 * releases a share lock on the metapage, if it has to read it.
 */
ShIdxCache *
shidx_get_cache(Relation index)
{
	ShIdxCache *cache = (ShIdxCache *) index->rd_amcache;
	ShIdxMetaPageData *meta;
	Buffer		buffer;
	Size		roots_end;
	Size		scheme_end;
	Size		nhints;
	int			bits;
	int			ntrees;

	if (likely(cache != NULL))
		return cache;

	buffer = ReadBuffer(index, SHIDX_METAPAGE_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	shidx_check_metapage(index, buffer);
	meta = ShIdxPageGetMeta(BufferGetPage(buffer));
	ntrees = meta->ntrees;

	bits = choose_hint_bits(index, ntrees - 1);
	nhints = (Size) (ntrees - 1) << bits;
	roots_end = MAXALIGN(offsetof(ShIdxCache, roots) + ntrees * sizeof(ShIdxRoot));
	scheme_end = roots_end + MAXALIGN(shbits_scheme_size(ntrees - 1));

	/* one chunk: the relcache frees it with a plain pfree */
	cache = MemoryContextAlloc(index->rd_indexcxt, scheme_end + nhints * sizeof(ShIdxHint));
	cache->scheme = (ShBitsScheme *) ((char *) cache + roots_end);
	shbits_scheme_init(cache->scheme, meta->blocks, meta->distance);
	cache->ntrees = ntrees;
	cache->hint_bits = bits;
	cache->hint_misses = 0;
	cache->hints = (ShIdxHint *) ((char *) cache + scheme_end);
	memcpy(cache->roots, meta->roots, ntrees * sizeof(ShIdxRoot));
	for (Size i = 0; i < nhints; i++)
	{
		cache->hints[i].block = InvalidBlockNumber;
		cache->hints[i].buffer = InvalidBuffer;
	}

	UnlockReleaseBuffer(buffer);
	index->rd_amcache = cache;
	return cache;
}

/*
 * Have the metapage read again at the next use.
 */
void
shidx_forget_cache(Relation index)
{
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;
}

/*
 * A copy of the scheme of the index, in the current memory context, for those
 * who need it longer than shidx_get_cache() promises.
 */
ShBitsScheme *
shidx_get_scheme(Relation index)
{
	const ShIdxCache *cache = shidx_get_cache(index);
	Size		size = shbits_scheme_size(cache->ntrees - 1);

	return memcpy(palloc(size), cache->scheme, size);
}

/*
 * Read the page to the right of one whose right link and high fence the
 * caller has seen.
 *
 * buffer is that page, pinned but not locked, or InvalidBuffer; the pin is
 * released.  The result is pinned and locked in the given mode.
 */
Buffer
shidx_read_right(Relation index, Buffer buffer, BlockNumber right, ShIdxKey high,
				 int tree, int level, int lockmode)
{
	Page		page;

	if (unlikely(!shidx_is_tree_block(right)))
		shidx_report_corrupted(index, right, "is named as a right sibling");
	buffer = ReleaseAndReadBuffer(buffer, index, right);
	LockBuffer(buffer, lockmode);
	page = shidx_check_page(index, buffer, tree, level);

	/* Keys ascend from page to page: no loop, however broken the links. */
	if (unlikely(!shidx_key_equal(shidx_page_low(page), high)))
		shidx_report_corrupted(index, right, "does not start where its left sibling ends");
	return buffer;
}

/*
 * Replace a pinned and locked buffer by that of the page to its right, which
 * must exist.  The old page is unlocked before the new one is locked.
 */
Buffer
shidx_move_right(Relation index, Buffer buffer, int lockmode)
{
	Page		page = BufferGetPage(buffer);
	ShIdxOpaqueData old = *ShIdxPageGetOpaque(page);
	ShIdxKey	high = shidx_page_high(page);

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return shidx_read_right(index, buffer, old.right, high, old.tree, old.level, lockmode);
}

/* the hint for the leaf of a key */
static ShIdxHint *
hint_of(const ShIdxCache *cache, int tree, ShIdxKey key)
{
	return &cache->hints[((Size) tree << cache->hint_bits) |
						 (key.fp >> (64 - cache->hint_bits))];
}

static void
set_hint(ShIdxHint *hint, Buffer buffer)
{
	hint->block = BufferGetBlockNumber(buffer);
	hint->buffer = buffer;
}

/*
 * Have the CPU fetch the leaf that a search for the key will most likely
 * read first, if it is in shared memory.  Takes no lock and no pin.
 *
 * Look-ups of random keys spend most of their time waiting for memory: this
 * lets the waits for several tables overlap.
 */
void
shidx_prefetch(Relation index, int tree, ShIdxKey key)
{
	ShIdxHint  *hint = hint_of(shidx_get_cache(index), tree, key);

	if (hint->buffer > 0)
	{
		char	   *page = (char *) BufferGetPage(hint->buffer);

		shcompat_prefetch(page + BLCKSZ - 1);
		for (int i = 0; i < PREFETCH_LINES; i++)
			shcompat_prefetch(page + i * 64);
	}
}

/*
 * Pin the page of a hint.  It is mostly still in the buffer where it was, and
 * then need not be looked up.
 *
 * Every now and then it is, since only that tells the buffer manager that the
 * page is in use, and worth keeping.
 */
static Buffer
read_hinted(Relation index, const ShIdxHint *hint)
{
	static uint32 reads = 0;

	if (++reads % LOOKUP_INTERVAL != 0 &&
		hint->buffer > 0 &&
		ReadRecentBuffer(shcompat_locator(index), MAIN_FORKNUM, hint->block, hint->buffer))
		return hint->buffer;
	return ReadBuffer(index, hint->block);
}

/*
 * Try the leaf that was right the last time.  Returns InvalidBuffer, with
 * nothing locked or pinned, if there is none or it no longer is.  Else it
 * brings the hint up to date.
 */
static Buffer
search_hinted(Relation index, ShIdxHint *hint, int tree, ShIdxKey key, int lockmode)
{
	Buffer		buffer;
	Page		page;

	if (!BlockNumberIsValid(hint->block))
		return InvalidBuffer;

	buffer = read_hinted(index, hint);
	LockBuffer(buffer, lockmode);
	page = shidx_check_page(index, buffer, tree, 0);
	if (!shidx_key_less(key, shidx_page_low(page)))
	{
		for (int steps = 0;; steps++)
		{
			if (shidx_key_less(key, shidx_page_high(page)))
			{
				/*
				 * Where two leaves share a hint, it stays with the left one:
				 * from there the other is a step away, not a descent.
				 */
				if (steps != 1)
					set_hint(hint, buffer);
				return buffer;
			}
			if (steps == HINT_STEPS)
				break;
			buffer = shidx_move_right(index, buffer, lockmode);
			page = BufferGetPage(buffer);
		}
	}
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Descend from the remembered root.  Returns InvalidBuffer, with nothing
 * locked or pinned, if that is not the root any more.
 */
static Buffer
search_from_root(Relation index, ShIdxRoot root, int tree, int level,
				 ShIdxKey key, int lockmode)
{
	BlockNumber block = root.block;
	Buffer		buffer = InvalidBuffer;

	for (int current = root.level;; current--)
	{
		int			mode = current == level ? lockmode : BUFFER_LOCK_SHARE;
		Page		page;
		int			position;

		buffer = ReleaseAndReadBuffer(buffer, index, block);
		LockBuffer(buffer, mode);
		page = shidx_check_page(index, buffer, tree, current);

		if (current == root.level &&
			unlikely((ShIdxPageGetOpaque(page)->flags & SHIDX_ROOT) == 0))
		{
			UnlockReleaseBuffer(buffer);
			return InvalidBuffer;
		}
		if (unlikely(shidx_key_less(key, shidx_page_low(page))))
			shidx_report_corrupted(index, block, "lies right of the keys that its parent promises");
		while (!shidx_key_less(key, shidx_page_high(page)))
		{
			buffer = shidx_move_right(index, buffer, mode);
			page = BufferGetPage(buffer);
		}
		if (current == level)
			return buffer;

		position = shidx_find_downlink(page, key);
		if (unlikely(position < 0))
			shidx_report_corrupted(index, BufferGetBlockNumber(buffer),
								   "starts with a child right of its low fence");
		block = shidx_inner_child(page, position);
		shidx_check_child(index, BufferGetBlockNumber(buffer), block);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
}

/*
 * Find the page of a tree and level whose range holds the key.
 *
 * Returns its buffer, pinned and locked in the given mode.  On the way at
 * most one other page is locked at a time, in share mode, and none while the
 * result is waited for.  key must be below SHIDX_HIGHEST_KEY, and level not
 * above that of the root.
 */
Buffer
shidx_search(Relation index, int tree, int level, ShIdxKey key, int lockmode)
{
	ShIdxCache *cache = shidx_get_cache(index);
	bool		hinted = level == 0 && tree != shidx_null_tree(cache);
	Buffer		buffer;

	if (hinted)
	{
		ShIdxHint  *hint = hint_of(cache, tree, key);

		buffer = search_hinted(index, hint, tree, key, lockmode);
		if (likely(BufferIsValid(buffer)))
			return buffer;
		if (++cache->hint_misses > HINT_MISSES)
		{
			cache->hint_misses = 0;
			if (choose_hint_bits(index, cache->ntrees - 1) > cache->hint_bits)
				shidx_forget_cache(index);
		}
	}

	for (int changes = 0;; changes++)
	{
		cache = shidx_get_cache(index);
		if (cache->roots[tree].level >= level)
		{
			buffer = search_from_root(index, cache->roots[tree], tree, level, key, lockmode);
			if (BufferIsValid(buffer))
				break;
		}
		if (changes == MAX_ROOT_CHANGES)
			shidx_report_corrupted(index, SHIDX_METAPAGE_BLOCK, "names a page that is no root");
		shidx_forget_cache(index);
	}

	if (hinted)
		set_hint(hint_of(cache, tree, key), buffer);
	return buffer;
}

/*
 * Find the leaf that has an entry, and keep it pinned.
 *
 * Returns false, with nothing pinned, if there is no such entry.  No lock is
 * held on return.  Raises an error if the snapshot is too old to say; it may
 * be NULL.
 */
bool
shidx_pin_entry(Relation index, int tree, ShIdxKey key, Snapshot snapshot, Buffer *pin)
{
	Buffer		buffer = shidx_search(index, tree, 0, key, BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buffer);
	uint16		found[SHIDX_LEAF_CAPACITY];
	int			nfound;
	bool		result = false;

	if (snapshot != NULL)
		shcompat_test_old_snapshot(snapshot, index, page);
	nfound = shbits_filter(shidx_page_fps(page), shidx_page_count(page), key.fp, 0, found);
	for (int i = 0; i < nfound && !result; i++)
		result = shidx_key_equal(shidx_leaf_key(page, found[i]), key);

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (result)
		*pin = buffer;
	else
		ReleaseBuffer(buffer);
	return result;
}
