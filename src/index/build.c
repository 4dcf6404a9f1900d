/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building a simhash index.
 *
 * The pages are written through the buffer manager and logged afterwards, by
 * page ranges: nobody can read the index before the build commits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/backend_progress.h"

#include "btree/cache.h"
#include "btree/page.h"
#include "compat.h"
#include "index/am.h"
#include "index/build_parallel.h"
#include "index/build_rows.h"
#include "index/build_tree.h"
#include "sort/entrysort.h"

static void
write_metapage(Relation index, const ShBitsScheme *scheme)
{
	Buffer		buffer = shbt_new_buffer(index, MAIN_FORKNUM);

	Assert(BufferGetBlockNumber(buffer) == SHBT_METAPAGE_BLOCK);
	shbt_init_metapage(BufferGetPage(buffer), scheme->blocks, scheme->distance,
					   IndexRelationGetNumberOfAttributes(index));
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

/*
 * Build without other processes, after the metapage.
 */
static void
build_alone(Relation heap, Relation index, IndexInfo *info, const ShBitsScheme *scheme,
			IndexBuildResult *result)
{
	pg_atomic_uint64 written;
	ShIdxBuild	build = {index, shidx_get_options(index).fillfactor, true, &written};
	ShSort	   *rows = shsort_begin(maintenance_work_mem);
	ShSort	   *nulls = shsort_begin(maintenance_work_mem / 8);

	pg_atomic_init_u64(&written, 0);
	result->heap_tuples = shidx_collect_rows(heap, index, info, rows, nulls, true, NULL);
	result->index_tuples = shsort_count(rows) + shsort_count(nulls);

	shidx_report_writing(scheme, shsort_count(rows), shsort_count(nulls));
	for (int t = 0; t < scheme->ntables; t++)
	{
		shsort_start_table(rows, &scheme->tables[t]);
		shidx_write_tree(&build, rows, t);
	}
	/* the first table permutes nothing where all fingerprints are 0 */
	shsort_start_table(nulls, &scheme->tables[0]);
	shidx_write_tree(&build, nulls, scheme->ntables);

	shsort_end(rows);
	shsort_end(nulls);

	if (RelationNeedsWAL(index))
	{
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_PHASE_LOG);
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);
	}
}

/*
 * Write empty trees, after the metapage.
 */
static void
write_empty_trees(Relation index, const ShBitsScheme *scheme)
{
	ShSort	   *none = shsort_begin(maintenance_work_mem);
	pg_atomic_uint64 written;
	ShIdxBuild	build = {index, shidx_get_options(index).fillfactor, true, &written};

	pg_atomic_init_u64(&written, 0);
	for (int tree = 0; tree <= scheme->ntables; tree++)
	{
		shsort_start_table(none, &scheme->tables[0]);
		shidx_write_tree(&build, none, tree);
	}
	shsort_end(none);
	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);
}

typedef struct Inserter
{
	Relation	heap;
	IndexInfo  *info;
	double		rows;
} Inserter;

static void
insert_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	Inserter   *inserter = arg;

	shidx_insert(index, values, isnull, tid, inserter->heap, UNIQUE_CHECK_NO, false,
				 inserter->info);
	inserter->rows++;
}

/*
 * Build an index of several columns, row by row.
 */
static void
build_by_inserts(Relation heap, Relation index, IndexInfo *info, const ShBitsScheme *scheme,
				 IndexBuildResult *result)
{
	Inserter	inserter = {heap, info};

	write_empty_trees(index, scheme);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true, insert_row,
												 &inserter, NULL);
	result->index_tuples = inserter.rows;
}

/*
 * ambuild
 */
IndexBuildResult *
shidx_build(Relation heap, Relation index, struct IndexInfo *info)
{
	ShIdxOptions options = shidx_get_options(index);
	ShBitsScheme *scheme = shbits_make_scheme(options.blocks, options.distance);
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	int			workers = shcompat_build_workers(heap, index, info);

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	/* the cache may describe the index before TRUNCATE */
	shbt_forget_cache(index);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_PHASE_SCAN);
	write_metapage(index, scheme);
	if (shbt_is_grouped(index))
		build_by_inserts(heap, index, info, scheme, result);
	else if (workers == 0 || !shidx_build_parallel(heap, index, info, scheme, workers, result))
		build_alone(heap, index, info, scheme, result);
	return result;
}

/*
 * Log a page of the init fork and let it go.
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
 * ambuildphasename
 */
char *
shidx_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case SHIDX_PHASE_SCAN:
			return "scanning table";
		case SHIDX_PHASE_WRITE:
			return "sorting and writing tables";
		case SHIDX_PHASE_LOG:
			return "writing WAL";
		default:
			return NULL;
	}
}
