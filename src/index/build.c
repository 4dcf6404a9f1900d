/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building a simhash index.
 *
 * The rows of the table are collected.  Then, for each tree in turn, they are
 * sorted, and the pages of the tree are written.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "utils/backend_progress.h"

#include "btree/cache.h"
#include "btree/page.h"
#include "compat.h"
#include "index/am.h"
#include "index/build_parallel.h"
#include "index/build_rows.h"
#include "index/build_tree.h"
#include "index/build_workers.h"
#include "sort/entrysort.h"

/*
 * Build without parallel workers.
 */
static void
build_alone(Relation heap, Relation index, IndexInfo *info, const ShBitsScheme *scheme,
			IndexBuildResult *result)
{
	pg_atomic_uint64 written;
	ShIdxBuild	build = {index, scheme, shidx_get_options(index).fillfactor};
	bool		grouped = shbt_is_grouped(index);
	ShSort	   *rows = shsort_begin_grouped(maintenance_work_mem, grouped);
	ShSort	   *nulls = shsort_begin_grouped(maintenance_work_mem / 8, grouped);

	result->heap_tuples = shidx_collect_rows(heap, index, info, rows, nulls, true, NULL);
	build.rows = shsort_count(rows);
	build.nulls = shsort_count(nulls);
	result->index_tuples = build.rows + build.nulls;

	pg_atomic_init_u64(&written, 0);
	build.written = &written;
	build.is_leader = true;
	shidx_allocate_trees(&build, true);
	shidx_report_writing(&build);
	build.pages = shidx_begin_pages(index, RelationNeedsWAL(index));
	shidx_write_metapage(&build);
	for (int t = 0; t < scheme->ntables; t++)
	{
		shsort_start_table(rows, &scheme->tables[t]);
		shidx_write_tree(&build, rows, t);
	}
	/* all fingerprints are 0 here, so any permutation will do */
	shsort_start_table(nulls, &scheme->tables[0]);
	shidx_write_tree(&build, nulls, scheme->ntables);
	shidx_end_pages(build.pages);

	shsort_end(rows);
	shsort_end(nulls);
}

/*
 * ambuild: build an index
 */
IndexBuildResult *
shidx_build(Relation heap, Relation index, struct IndexInfo *info)
{
	ShIdxOptions options = shidx_get_options(index);
	ShBitsScheme *scheme = shbits_make_scheme(options.blocks, options.distance);
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	int			workers = shidx_build_workers(heap, index, info);

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	shidx_check_columns(index, info);

	/* the cache may describe the index before TRUNCATE */
	shbt_forget_cache(index);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_BUILD_PHASE_SCAN);
	if (workers == 0 || !shidx_build_parallel(heap, index, info, scheme, workers, result))
		build_alone(heap, index, info, scheme, result);
	return result;
}

/*
 * Log a page of the init fork, and unlock and release it.
 */
static void
finish_init_page(Buffer buffer)
{
	START_CRIT_SECTION();
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * ambuildempty: write an empty index to the init fork of an unlogged one.
 */
void
shidx_buildempty(Relation index)
{
	ShIdxOptions options = shidx_get_options(index);
	Buffer		metabuffer = shbt_new_buffer(index, INIT_FORKNUM);
	Page		metapage = BufferGetPage(metabuffer);
	ShBtMetaPageData *meta = ShBtPageGetMeta(metapage);

	shbt_init_metapage(metapage, options.blocks, options.distance,
					   IndexRelationGetNumberOfAttributes(index));
	for (int tree = 0; tree < meta->ntrees; tree++)
	{
		Buffer		root = shbt_new_buffer(index, INIT_FORKNUM);

		shbt_init_page(BufferGetPage(root), tree, 0,
					   SHBT_ROOT | (shbt_is_grouped(index) ? SHBT_GROUPED : 0),
					   SHBT_LOWEST_KEY, SHBT_HIGHEST_KEY, InvalidBlockNumber);
		shbt_set_root(metapage, tree, BufferGetBlockNumber(root), 0);
		finish_init_page(root);
	}
	finish_init_page(metabuffer);
}

/*
 * ambuildphasename: the name of a phase, for the progress view
 */
char *
shidx_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case SHIDX_BUILD_PHASE_SCAN:
			return "scanning table";
		case SHIDX_BUILD_PHASE_WRITE:
			return "sorting and writing tables";
		default:
			return NULL;
	}
}
