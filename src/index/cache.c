/*-------------------------------------------------------------------------
 *
 * cache.c
 *	  What a backend remembers of a simhash index.
 *
 * The metapage is copied into rd_amcache, which the server frees with each
 * invalidation of the relation's descriptor.  It is therefore read again
 * whenever the contents of the index may have been replaced, and nothing that
 * depends on the scheme is remembered for longer.  A root can be out of date
 * in only one way: it has been split, and then it no longer has the root flag.
 *
 * The places of the other pages are remembered in a map (map.c), which
 * survives invalidations.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "index/cache.h"
#include "index/page.h"
#include "type/simhash.h"
#include "type/wide.h"

/* has the operator class of the last column of an index a support function? */
static bool
has_function(Relation index, int number)
{
	return OidIsValid(index_getprocid(index, IndexRelationGetNumberOfAttributes(index), number));
}

/*
 * The width that the last column of an index says its fingerprints have; 0 if
 * it does not say that, or the catalogs have to be read for it.  A type modifier can
 * be removed without a new index.
 */
static int
column_width(Relation index)
{
	int			column = IndexRelationGetNumberOfAttributes(index);
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), column - 1);

	if (has_function(index, SIMHASH_FINGERPRINT_PROC) || has_function(index, SIMHASH_BANDS_PROC))
		return 0;
	return attribute->attbyval ? SHBITS_WIDTH : Max(attribute->atttypmod, 0);
}

/*
 * What is wrong with the metapage, as a message for shidx_report_corrupted;
 * NULL if nothing is.  A page of another format is not a problem here: see
 * shidx_check_metapage.
 */
static const char *
metapage_problem(Relation index, Page page)
{
	ShIdxMetaPageData *meta = ShIdxPageGetMeta(page);
	int			width = column_width(index);
	bool		bands = has_function(index, SIMHASH_BANDS_PROC) &&
		!has_function(index, SIMHASH_FINGERPRINT_PROC);
	int			ntables;

	if (PageIsNew(page))
		return gettext_noop("index \"%s\" has an empty metapage at block %u");
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(ShIdxOpaqueData)) ||
		ShIdxPageGetOpaque(page)->page_id != SHIDX_PAGE_ID ||
		(ShIdxPageGetOpaque(page)->flags & SHIDX_META) == 0 ||
		meta->magic != SHIDX_MAGIC)
		return gettext_noop("index \"%s\" has no metapage of a simhash index at block %u");
	if (meta->version != SHIDX_VERSION)
		return NULL;
	if (meta->columns != IndexRelationGetNumberOfAttributes(index))
		return gettext_noop("index \"%s\" has the wrong number of columns in the metapage, block %u");
	if (!shtype_is_width(meta->width) || (width > 0 && meta->width != width))
		return gettext_noop("index \"%s\" has fingerprints of the wrong width in the metapage, block %u");
	ntables = shbits_ntables(meta->blocks, meta->distance);
	if (meta->blocks > shbits_part_bits(meta->width, 0) || ntables < 1 ||
		ntables > SHBITS_MAX_TABLES || meta->ntables != ntables ||
		meta->nparts != shbits_nparts(meta->width) || meta->kind != bands ||
		meta->prefix_bits != (bands ? SHBITS_BAND_PREFIX_BITS : 0) ||
		(bands && (meta->width % SHBITS_WIDTH != 0 || meta->blocks != 1)) ||
		meta->nparts * ntables >= SHIDX_MAX_TREES)
		return gettext_noop("index \"%s\" has an impossible scheme in the metapage, block %u");
	for (int i = 0; i <= meta->nparts * ntables; i++)
	{
		if (!BlockNumberIsValid(meta->roots[i].block) ||
			meta->roots[i].block == SHIDX_METAPAGE_BLOCK)
			return gettext_noop("index \"%s\" lacks a root in the metapage, block %u");
	}
	return NULL;
}

/*
 * Check the metapage, which the caller has pinned and locked.  Reports
 * ERRCODE_INDEX_CORRUPTED.
 */
void
shidx_check_metapage(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	const char *problem = metapage_problem(index, page);

	if (problem != NULL)
		shidx_report_corrupted(index, SHIDX_METAPAGE_BLOCK, problem);
	if (ShIdxPageGetMeta(page)->version != SHIDX_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has format version %u, but this library reads version %u",
						RelationGetRelationName(index),
						ShIdxPageGetMeta(page)->version, SHIDX_VERSION),
				 errdetail("The version is stored in block %u.", SHIDX_METAPAGE_BLOCK),
				 errhint("Please REINDEX it.")));
}

/*
 * Read the metapage, for shidx_get_cache.
 */
ShIdxCache *
shidx_read_cache(Relation index)
{
	ShIdxCache *cache;
	ShIdxMetaPageData *meta;
	ShBitsScheme *scheme;
	Buffer		buffer;
	Size		trees_end;
	int			ntrees;

	buffer = ReadBuffer(index, SHIDX_METAPAGE_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	shidx_check_metapage(index, buffer);
	meta = ShIdxPageGetMeta(BufferGetPage(buffer));
	ntrees = meta->nparts * meta->ntables;
	trees_end = MAXALIGN(offsetof(ShIdxCache, trees) + (ntrees + 1) * sizeof(ShIdxTreeCache));

	/* one chunk: the relcache frees it with a plain pfree */
	cache = MemoryContextAllocZero(index->rd_indexcxt,
								   trees_end + shbits_scheme_size(meta->ntables));
	scheme = (ShBitsScheme *) ((char *) cache + trees_end);
	shbits_scheme_init(scheme, shbits_part_bits(meta->width, 0), meta->blocks, meta->distance);
	cache->geometry = (ShIdxGeometry)
	{
		meta->width, meta->nparts, ntrees, meta->prefix_bits, scheme
	};
	cache->nblocks = RelationGetNumberOfBlocks(index);
	for (int tree = 0; tree <= ntrees; tree++)
		cache->trees[tree].root = meta->roots[tree];

	UnlockReleaseBuffer(buffer);
	index->rd_amcache = cache;
	return cache;
}

/*
 * Read the metapage again at the next use.
 */
void
shidx_forget_metapage(Relation index)
{
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;
}

/*
 * Forget all that is remembered of the index.
 */
void
shidx_forget_cache(Relation index)
{
	shidx_forget_metapage(index);
	shidx_map_forget(index);
}

/*
 * Can a page of a tree have this block number?  Reading a block that does not
 * exist would be an error, and reading InvalidBlockNumber would extend the
 * index.
 *
 * The size is asked for only if the block is beyond the last known size, since
 * an index does not shrink while its descriptor is valid.  May read the
 * metapage, as shidx_get_cache does.
 */
bool
shidx_is_block(Relation index, BlockNumber block)
{
	ShIdxCache *cache = shidx_get_cache(index);

	if (unlikely(block >= cache->nblocks))
		cache->nblocks = RelationGetNumberOfBlocks(index);
	return block < cache->nblocks && block != SHIDX_METAPAGE_BLOCK;
}

/*
 * Check that the target of a link exists, before the link is followed.
 * Reports ERRCODE_INDEX_CORRUPTED.
 */
void
shidx_check_link(Relation index, BlockNumber block)
{
	if (unlikely(!shidx_is_block(index, block)))
		shidx_report_corrupted(index, block,
							   "index \"%s\" has a link to block %u, where no page of a tree is");
}

/*
 * A copy of the scheme of the index, in the current memory context, for
 * callers that need it longer than shidx_get_cache() promises.
 */
ShBitsScheme *
shidx_get_scheme(Relation index)
{
	const ShBitsScheme *scheme = shidx_get_cache(index)->geometry.scheme;
	Size		size = shbits_scheme_size(scheme->ntables);

	return memcpy(palloc(size), scheme, size);
}

/*
 * The same of all that is known of its trees.
 */
ShIdxGeometry *
shidx_get_geometry(Relation index)
{
	ShIdxGeometry *geometry = palloc(sizeof(ShIdxGeometry));

	*geometry = shidx_get_cache(index)->geometry;
	geometry->scheme = shidx_get_scheme(index);
	return geometry;
}
