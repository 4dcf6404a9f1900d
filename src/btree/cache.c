/*-------------------------------------------------------------------------
 *
 * cache.c
 *	  What a backend remembers of a simhash index, in rd_amcache.
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

#include "btree/cache.h"
#include "btree/page.h"
#include "compat.h"

/* hints of all tables together take at most this many bytes a backend */
#define MAX_HINT_BYTES		(4 * 1024 * 1024)

/* how often a hint may miss before the number of hints is reconsidered */
#define HINT_MISSES			4096

/* how much of a page is fetched ahead, in cache lines */
#define PREFETCH_LINES		4

/* how often a leaf is looked up although its buffer is known */
#define LOOKUP_INTERVAL		16

/*
 * What is wrong with the metapage, as a message for shbt_report_corrupted;
 * NULL if nothing is.  A page of another format is not a problem here: see
 * shbt_check_metapage.
 */
static const char *
metapage_problem(Page page, int columns)
{
	ShBtMetaPageData *meta = ShBtPageGetMeta(page);
	int			ntables;

	if (PageIsNew(page))
		return gettext_noop("index \"%s\" has an empty metapage at block %u");
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(ShBtOpaqueData)) ||
		ShBtPageGetOpaque(page)->page_id != SHBT_PAGE_ID ||
		(ShBtPageGetOpaque(page)->flags & SHBT_META) == 0 ||
		meta->magic != SHBT_MAGIC)
		return gettext_noop("index \"%s\" has no metapage of a simhash index at block %u");
	if (meta->version != SHBT_VERSION)
		return NULL;
	if (meta->columns != columns)
		return gettext_noop("index \"%s\" has another number of columns in the metapage, block %u");
	ntables = shbits_ntables(meta->blocks, meta->distance);
	if (ntables < 1 || ntables > SHBITS_MAX_TABLES || meta->ntrees != ntables + 1)
		return gettext_noop("index \"%s\" has an impossible scheme in the metapage, block %u");
	for (int i = 0; i < meta->ntrees; i++)
	{
		if (!BlockNumberIsValid(meta->roots[i].block) ||
			meta->roots[i].block == SHBT_METAPAGE_BLOCK)
			return gettext_noop("index \"%s\" lacks a root in the metapage, block %u");
	}
	return NULL;
}

/*
 * Check the metapage, which the caller has pinned and locked.  Reports
 * ERRCODE_INDEX_CORRUPTED.
 */
void
shbt_check_metapage(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	const char *problem = metapage_problem(page, IndexRelationGetNumberOfAttributes(index));

	if (problem != NULL)
		shbt_report_corrupted(index, SHBT_METAPAGE_BLOCK, problem);
	if (ShBtPageGetMeta(page)->version != SHBT_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has version %u of the format, this library reads version %u",
						RelationGetRelationName(index),
						ShBtPageGetMeta(page)->version, SHBT_VERSION),
				 errdetail("The version is stored in block %u.", SHBT_METAPAGE_BLOCK),
				 errhint("Please REINDEX it.")));
}

/*
 * How many bits of a key choose its hint: about four hints a leaf, so that
 * most hints lead to the only leaf of their range.
 */
static int
choose_hint_bits(BlockNumber nblocks, int ntables)
{
	double		leaves = (double) nblocks / ntables;
	int			bits = 4;

	while ((1 << bits) < 4 * leaves &&
		   ((Size) ntables << (bits + 1)) * sizeof(ShBtHint) <= MAX_HINT_BYTES)
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
ShBtCache *
shbt_get_cache(Relation index)
{
	ShBtCache  *cache = (ShBtCache *) index->rd_amcache;
	ShBtMetaPageData *meta;
	Buffer		buffer;
	BlockNumber nblocks;
	Size		roots_end;
	Size		scheme_end;
	Size		nhints;
	int			bits;
	int			ntrees;

	if (likely(cache != NULL))
		return cache;

	buffer = ReadBuffer(index, SHBT_METAPAGE_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	shbt_check_metapage(index, buffer);
	meta = ShBtPageGetMeta(BufferGetPage(buffer));
	ntrees = meta->ntrees;

	nblocks = RelationGetNumberOfBlocks(index);
	bits = choose_hint_bits(nblocks, ntrees - 1);
	nhints = (Size) (ntrees - 1) << bits;
	roots_end = MAXALIGN(offsetof(ShBtCache, roots) + ntrees * sizeof(ShBtRoot));
	scheme_end = roots_end + MAXALIGN(shbits_scheme_size(ntrees - 1));

	/* one chunk: the relcache frees it with a plain pfree */
	cache = MemoryContextAlloc(index->rd_indexcxt, scheme_end + nhints * sizeof(ShBtHint));
	cache->scheme = (ShBitsScheme *) ((char *) cache + roots_end);
	shbits_scheme_init(cache->scheme, meta->blocks, meta->distance);
	cache->ntrees = ntrees;
	cache->nblocks = nblocks;
	cache->hinted_reads = 0;
	cache->hint_bits = bits;
	cache->hint_misses = 0;
	cache->hints = (ShBtHint *) ((char *) cache + scheme_end);
	memcpy(cache->roots, meta->roots, ntrees * sizeof(ShBtRoot));
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
shbt_forget_cache(Relation index)
{
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;
}

/*
 * Check that there is a page to which a link leads, before the link is
 * followed: to read an invalid block would even extend the index.  Reports
 * ERRCODE_INDEX_CORRUPTED.
 *
 * The size is asked for only where the link leads behind what was known of it,
 * as an index does not shrink.  May read the metapage, as shbt_get_cache does.
 */
void
shbt_check_link(Relation index, BlockNumber block)
{
	ShBtCache  *cache = shbt_get_cache(index);

	if (unlikely(block >= cache->nblocks))
		cache->nblocks = RelationGetNumberOfBlocks(index);
	if (unlikely(block >= cache->nblocks || block == SHBT_METAPAGE_BLOCK))
		shbt_report_corrupted(index, block,
							  "index \"%s\" has a link to block %u, where no page of a tree is");
}

/*
 * A copy of the scheme of the index, in the current memory context, for those
 * who need it longer than shbt_get_cache() promises.
 */
ShBitsScheme *
shbt_get_scheme(Relation index)
{
	const ShBtCache *cache = shbt_get_cache(index);
	Size		size = shbits_scheme_size(cache->ntrees - 1);

	return memcpy(palloc(size), cache->scheme, size);
}

/* the hint for the leaf of a key */
ShBtHint *
shbt_hint(const ShBtCache *cache, int tree, ShBtKey key)
{
	return &cache->hints[((Size) tree << cache->hint_bits) |
						 (key.fp >> (64 - cache->hint_bits))];
}

void
shbt_set_hint(ShBtHint *hint, Buffer buffer)
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
shbt_prefetch(Relation index, int tree, ShBtKey key)
{
	ShBtHint   *hint = shbt_hint(shbt_get_cache(index), tree, key);

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
Buffer
shbt_read_hinted(Relation index, ShBtCache *cache, const ShBtHint *hint)
{
	if (++cache->hinted_reads % LOOKUP_INTERVAL != 0 &&
		hint->buffer > 0 &&
		ReadRecentBuffer(shcompat_locator(index), MAIN_FORKNUM, hint->block, hint->buffer))
		return hint->buffer;
	return ReadBuffer(index, hint->block);
}

/*
 * Count a search that no hint served.  After many of them, the number of
 * hints is chosen anew if the index has grown.
 */
void
shbt_count_hint_miss(Relation index)
{
	ShBtCache  *cache = shbt_get_cache(index);

	if (++cache->hint_misses <= HINT_MISSES)
		return;
	cache->hint_misses = 0;
	cache->nblocks = RelationGetNumberOfBlocks(index);
	if (choose_hint_bits(cache->nblocks, cache->ntrees - 1) > cache->hint_bits)
		shbt_forget_cache(index);
}
