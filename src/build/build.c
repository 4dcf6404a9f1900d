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
#include "btree/leaf.h"
#include "build/build.h"
#include "build/build_parallel.h"
#include "build/build_rows.h"
#include "build/build_tree.h"
#include "build/options.h"
#include "class/columns.h"
#include "class/fingerprint.h"
#include "compat.h"
#include "sort/entrysort.h"

/*
 * Build without parallel workers.
 */
static void
build_alone(Relation heap, Relation index, IndexInfo *info, int width,
			const ShBitsScheme *scheme, IndexBuildResult *result)
{
	pg_atomic_uint64 written;
	int			nparts = shbits_nparts(width);
	int			ntrees = nparts * scheme->ntables;
	ShBldBuild	build = {index, width, nparts, scheme, shbld_fillfactor(index)};
	bool		logged = RelationNeedsWAL(index);
	bool		grouped = shbt_is_grouped(index);
	ShSort	   *rows[SHBITS_MAX_PARTS];
	ShSort	   *nulls = shsort_begin_grouped(maintenance_work_mem / 8, grouped);

	for (int i = 0; i < nparts; i++)
		rows[i] = shsort_begin_grouped(maintenance_work_mem / nparts, grouped);
	result->heap_tuples = shbld_collect_rows(heap, index, info, width, rows, nulls, true, NULL);
	build.rows = shsort_count(rows[0]);
	build.nulls = shsort_count(nulls);
	result->index_tuples = build.rows + build.nulls;

	pg_atomic_init_u64(&written, 0);
	build.written = &written;
	build.is_leader = true;
	build.roots = palloc((ntrees + 1) * sizeof(ShBtRoot));
	shbld_report_writing(&build);
	build.pages = shbld_begin_pages(index, logged, true);
	for (int i = 0; i < nparts; i++)
	{
		for (int t = 0; t < scheme->ntables; t++)
		{
			shsort_start_table(rows[i], &scheme->tables[t]);
			shbld_write_tree(&build, rows[i], i * scheme->ntables + t);
		}
		shsort_end(rows[i]);
	}
	/* all fingerprints are 0 here, so any permutation will do */
	shsort_start_table(nulls, &scheme->tables[0]);
	shbld_write_tree(&build, nulls, ntrees);
	shbld_end_pages(build.pages);
	shbld_write_metapage(&build, logged);

	shsort_end(nulls);
}

/*
 * ambuild: build an index
 */
IndexBuildResult *
shbld_build(Relation heap, Relation index, struct IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	int			width = shcls_check_columns(index, info);
	ShBitsScheme *scheme = shbld_make_scheme(index, width);
	int			workers = shbld_build_workers(heap, index, info);

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	/* the cache may describe the index before TRUNCATE */
	shbt_forget_cache(index);

	shbld_reserve_metapage(index);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHBLD_PHASE_SCAN);
	if (workers == 0 || !shbld_build_parallel(heap, index, info, width, scheme, workers, result))
		build_alone(heap, index, info, width, scheme, result);
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
shbld_buildempty(Relation index)
{
	int			width = shcls_index_width(index);
	Buffer		metabuffer = shbt_new_buffer(index, INIT_FORKNUM);
	Page		metapage = BufferGetPage(metabuffer);
	ShBtMetaPageData *meta = ShBtPageGetMeta(metapage);

	shbt_init_metapage(metapage, shbld_make_scheme(index, width), width,
					   IndexRelationGetNumberOfAttributes(index));
	for (int tree = 0; tree < meta->ntrees; tree++)
	{
		Buffer		root = shbt_new_buffer(index, INIT_FORKNUM);

		shbt_init_page(BufferGetPage(root), tree, 0,
					   SHBT_ROOT | (shbt_is_grouped(index) ? SHBT_GROUPED : 0),
					   SHBT_LOWEST_KEY, SHBT_HIGHEST_KEY, InvalidBlockNumber);
		shbt_set_widths(BufferGetPage(root), SHBT_MIN_ROW_WIDTH);
		shbt_set_root(metapage, tree, BufferGetBlockNumber(root), 0);
		finish_init_page(root);
	}
	finish_init_page(metabuffer);
}

/*
 * ambuildphasename: the name of a phase, for the progress view
 */
char *
shbld_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case SHBLD_PHASE_SCAN:
			return "scanning table";
		case SHBLD_PHASE_WRITE:
			return "sorting and writing tables";
		default:
			return NULL;
	}
}
