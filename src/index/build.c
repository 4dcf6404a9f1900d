/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building a simhash index, alone or with parallel workers.
 *
 * The rows of the table are collected.  Then, for each tree in turn, they are
 * sorted, and the pages of the tree are written.
 *
 * With workers, the leader and these do the same work, in two phases.  First each
 * of them scans a share of the table and writes its rows to a shared file.  When
 * all have finished, each takes one tree after the other, reads the rows of all
 * processes, sorts them for that tree and writes its pages.  The leader writes
 * the metapage at the end.  A worker that starts late joins the current phase.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "pgstat.h"
#include "storage/barrier.h"
#include "storage/bufmgr.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/backend_progress.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "index/build.h"
#include "index/cache.h"
#include "index/class.h"
#include "index/group.h"
#include "index/leaf.h"
#include "index/page.h"
#include "index/sort.h"

typedef struct Collector
{
	ShIdxSort **rows;			/* with a fingerprint: one for each part */
	ShIdxSort  *nulls;			/* and without */
	ShIdxFingerprinter fingerprinter;
} Collector;

static void
collect_heap_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
				 bool alive, void *arg)
{
	Collector  *collector = arg;
	int			column = shidx_fp_column(index);
	uint32		group = shidx_group_of_row(&collector->fingerprinter, index, values, isnull);
	ShFingerprint parts[SHBITS_MAX_PARTS];

	if (shidx_fingerprint(&collector->fingerprinter, values[column], isnull[column], parts))
	{
		for (int i = 0; i < collector->fingerprinter.geometry->nparts; i++)
			shidx_sort_add_grouped(collector->rows[i], group, parts[i], shidx_tid_to_int(tid));
	}
	else
		shidx_sort_add_grouped(collector->nulls, group, 0, shidx_tid_to_int(tid));
}

/*
 * Add the rows that belong in an index to sorts: those with a fingerprint to one
 * for each of its parts, and those without to another.  Returns the number of rows
 * in the table.
 *
 * scan may be this process's part of a parallel scan, which is ended here, or
 * NULL for a scan of the whole table.  The caller holds the locks of a build.
 */
static double
collect_rows(Relation heap, Relation index, IndexInfo *info, const ShIdxGeometry *geometry,
			 ShIdxSort **rows, ShIdxSort *nulls, bool progress, TableScanDesc scan)
{
	Collector	collector = {rows, nulls};
	double		nrows;

	shidx_fingerprinter_begin(&collector.fingerprinter, index, geometry);
	nrows = table_index_build_scan(heap, index, info, true, progress, collect_heap_row, &collector,
								   scan);
	shidx_fingerprinter_end(&collector.fingerprinter);
	return nrows;
}

/*
 * Build without parallel workers.
 */
static void
build_alone(Relation heap, Relation index, IndexInfo *info, const ShIdxGeometry *geometry,
			IndexBuildResult *result)
{
	pg_atomic_uint64 written;
	int			nparts = geometry->nparts;
	ShIdxBuild	build = {index, geometry, shidx_fillfactor(index)};
	bool		logged = RelationNeedsWAL(index);
	bool		grouped = shidx_is_grouped(index);
	ShIdxSort  *rows[SHBITS_MAX_PARTS];
	ShIdxSort  *nulls = shidx_sort_begin_grouped(maintenance_work_mem / 8, grouped);

	for (int i = 0; i < nparts; i++)
		rows[i] = shidx_sort_begin_grouped(maintenance_work_mem / nparts, grouped);
	result->heap_tuples = collect_rows(heap, index, info, geometry, rows, nulls, true, NULL);
	build.rows = shidx_sort_count(rows[0]);
	build.nulls = shidx_sort_count(nulls);
	result->index_tuples = build.rows + build.nulls;

	pg_atomic_init_u64(&written, 0);
	build.written = &written;
	build.is_leader = true;
	build.roots = palloc((geometry->ntrees + 1) * sizeof(ShIdxRoot));
	shidx_report_writing(&build);
	build.pages = shidx_begin_pages(index, logged, true);
	for (int i = 0; i < nparts; i++)
	{
		for (int t = 0; t < geometry->scheme->ntables; t++)
		{
			shidx_sort_start_table(rows[i], &geometry->scheme->tables[t]);
			shidx_write_tree(&build, rows[i], shidx_tree_of(geometry, i, t));
		}
		shidx_sort_end(rows[i]);
	}
	/* all fingerprints are 0 here, so any permutation will do */
	shidx_sort_start_table(nulls, &geometry->scheme->tables[0]);
	shidx_write_tree(&build, nulls, geometry->ntrees);
	shidx_end_pages(build.pages);
	shidx_write_metapage(&build, logged);

	shidx_sort_end(nulls);
}

/* keys of the objects in the shared memory of a build */
#define KEY_SHARED			UINT64CONST(0xB000000000000001)
#define KEY_TABLE_SCAN		UINT64CONST(0xB000000000000002)
#define KEY_QUERY_TEXT		UINT64CONST(0xB000000000000003)
#define KEY_WAL_USAGE		UINT64CONST(0xB000000000000004)
#define KEY_BUFFER_USAGE	UINT64CONST(0xB000000000000005)
#define KEY_ROOTS			UINT64CONST(0xB000000000000006)

/* phases of the barrier: what the attached processes are doing */
enum
{
	PHASE_SCAN,
	PHASE_WRITE
};

typedef struct BuildShared
{
	ShIdxBuildId build_id;

	/* does not change */
	Oid			heap;
	Oid			index;
	bool		concurrent;
	bool		needs_wal;
	int			width;			/* of the geometry */
	int			blocks;
	int			distance;
	bool		bands;
	int			nparts;
	int			memory_kb;		/* for each process */
	int			max_processes;

	Barrier		barrier;
	SharedFileSet files;
	pg_atomic_uint32 next_tree;
	pg_atomic_uint64 written;	/* entries */

	/* results of the scan, protected by the mutex */
	slock_t		mutex;
	bool		broken_hot_chain;
	double		heap_tuples;
	int			nprocesses;		/* that have collected rows */

	/*
	 * what they have collected: the rows with a fingerprint, by the parts of
	 * these, one process after the other, and last the rows without
	 */
	ShIdxSortShare shares[FLEXIBLE_ARRAY_MEMBER];
} BuildShared;

/* the number of sorts of each process */
static inline int
sorts_of(const BuildShared *shared)
{
	return shared->nparts + 1;
}

/*
 * What the processes have collected for sort number i; the first one that there
 * is room for, at most one for each process that can take part.
 */
static inline ShIdxSortShare *
shares_of(BuildShared *shared, int i)
{
	return shared->shares + i * shared->max_processes;
}

PGDLLEXPORT void shidx_build_worker(dsm_segment *seg, shm_toc *toc);

/*
 * Scan a share of the table.  number is the number of this process, from 0.
 */
static void
scan_share(BuildShared *shared, Relation heap, Relation index, IndexInfo *info,
		   ParallelTableScanDesc table_scan, const ShIdxGeometry *geometry, int number,
		   bool is_leader)
{
	bool		grouped = shidx_is_grouped(index);
	int			nsorts = sorts_of(shared);
	ShIdxSort  *sorts[SHBITS_MAX_PARTS + 1] = {NULL};
	ShIdxSortShare shares[SHBITS_MAX_PARTS + 1];
	double		heap_tuples;
	int			place;

	for (int i = 0; i < nsorts; i++)
		sorts[i] = shidx_sort_begin_share(&shared->files, nsorts * number + i, grouped);
	heap_tuples = collect_rows(heap, index, info, geometry, sorts, sorts[nsorts - 1],
							   is_leader, shcompat_beginscan_parallel(heap, table_scan));
	for (int i = 0; i < nsorts; i++)
		shidx_sort_end_share(sorts[i], &shares[i]);

	SpinLockAcquire(&shared->mutex);
	shared->heap_tuples += heap_tuples;
	shared->broken_hot_chain |= info->ii_BrokenHotChain;
	place = shared->nprocesses++;
	SpinLockRelease(&shared->mutex);

	/* others read them after the barrier */
	for (int i = 0; i < nsorts; i++)
		shares_of(shared, i)[place] = shares[i];
}

/*
 * Fill in this process's description of the build, after the scan.
 */
static void
begin_build(BuildShared *shared, ShIdxRoot *roots, Relation index,
			const ShIdxGeometry *geometry, bool is_leader, ShIdxBuild *build)
{
	memset(build, 0, sizeof(ShIdxBuild));
	build->index = index;
	build->geometry = geometry;
	build->fillfactor = shidx_fillfactor(index);
	build->is_leader = is_leader;
	build->written = &shared->written;
	build->roots = roots;
	for (int i = 0; i < shared->nprocesses; i++)
	{
		build->rows += shares_of(shared, 0)[i].summary.count;
		build->nulls += shares_of(shared, geometry->nparts)[i].summary.count;
	}
}

/*
 * Write trees until all have been taken by some process.
 */
static void
write_trees(BuildShared *shared, ShIdxBuild *build)
{
	const ShIdxGeometry *geometry = build->geometry;
	ShIdxSort  *sort = NULL;
	int			sorted = -1;	/* the sort that it is */
	int			tree;

	build->pages = shidx_begin_pages(build->index, shared->needs_wal, false);
	if (build->is_leader)
		shidx_report_writing(build);
	while ((tree = pg_atomic_fetch_add_u32(&shared->next_tree, 1)) <= geometry->ntrees)
	{
		int			part = shidx_part_of_tree(geometry, tree);

		/*
		 * the trees of a part follow each other, and that of the nulls is the
		 * last
		 */
		if (sorted != part)
		{
			if (sort != NULL)
				shidx_sort_end(sort);
			sorted = part;
			sort = shidx_sort_begin_whole(shared->memory_kb, &shared->files,
										  shares_of(shared, sorted), shared->nprocesses,
										  shidx_is_grouped(build->index));
		}

		/* the null fingerprints are all 0, so any permutation will do */
		shidx_sort_start_table(sort, shidx_table_of_tree(geometry, tree));
		shidx_write_tree(build, sort, tree);
	}
	if (sort != NULL)
		shidx_sort_end(sort);
	shidx_end_pages(build->pages);
}

/*
 * What the leader and each worker do.
 */
static void
participate(BuildShared *shared, ShIdxRoot *roots, Relation heap, Relation index,
			IndexInfo *info, ParallelTableScanDesc table_scan, const ShIdxGeometry *geometry,
			int number, bool is_leader)
{
	ShIdxBuild	build;

	if (BarrierAttach(&shared->barrier) == PHASE_SCAN)
	{
		scan_share(shared, heap, index, info, table_scan, geometry, number, is_leader);
		BarrierArriveAndWait(&shared->barrier, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	begin_build(shared, roots, index, geometry, is_leader, &build);
	write_trees(shared, &build);
	BarrierDetach(&shared->barrier);
}

/*
 * What a leader shares, which begins with its build ID, for a worker.  Reports an error if
 * the two have loaded different libraries: nothing else is sure to mean the same in both.
 */
void *
shidx_of_this_build(void *shared)
{
	if (memcmp(shared, &shidx_build_id, sizeof(ShIdxBuildId)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the library \"simhash\" was replaced after this session had loaded it"),
				 errdetail("Parallel workers have loaded the new one."),
				 errhint("Connect again.")));
	return shared;
}

/*
 * Entry point of a worker.
 */
void
shidx_build_worker(dsm_segment *seg, shm_toc *toc)
{
	BuildShared *shared = shidx_of_this_build(shm_toc_lookup(toc, KEY_SHARED, false));
	ParallelTableScanDesc table_scan = shm_toc_lookup(toc, KEY_TABLE_SCAN, false);
	WalUsage   *wal_usage = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffer_usage = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);
	LOCKMODE	heap_lock = shared->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	index_lock = shared->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	Relation	heap;
	Relation	index;
	IndexInfo  *info;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY_TEXT, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);

	/* the same locks as the leader's, which do not conflict in a lock group */
	heap = table_open(shared->heap, heap_lock);
	index = index_open(shared->index, index_lock);
	info = BuildIndexInfo(index);
	info->ii_Concurrent = shared->concurrent;
	SharedFileSetAttach(&shared->files, seg);

	InstrStartParallelQuery();
	participate(shared, shm_toc_lookup(toc, KEY_ROOTS, false), heap, index, info, table_scan,
				shidx_make_geometry(shared->width, shared->blocks, shared->distance, shared->bands),
				ParallelWorkerNumber + 1, false);
	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber], &wal_usage[ParallelWorkerNumber]);

	index_close(index, index_lock);
	table_close(heap, heap_lock);
}

/*
 * Allocate an array in shared memory with one element for each worker.
 */
static void *
allocate_each(ParallelContext *pcxt, uint64 key, Size element)
{
	void	   *array = shm_toc_allocate(pcxt->toc, mul_size(element, pcxt->nworkers));

	shm_toc_insert(pcxt->toc, key, array);
	return array;
}

static void
estimate_chunk(ParallelContext *pcxt, Size size)
{
	shm_toc_estimate_chunk(&pcxt->estimator, size);
	shm_toc_estimate_keys(&pcxt->estimator, 1);
}

/*
 * Build an index with the given number of workers, or with as many as can be started.
 * If there are none, returns false without doing anything.
 *
 * The caller holds the locks of a build, and so do the workers.
 */
static bool
build_together(Relation heap, Relation index, IndexInfo *info, const ShIdxGeometry *geometry,
			   int workers, IndexBuildResult *result)
{
	Snapshot	snapshot = SnapshotAny;
	ParallelContext *pcxt;
	BuildShared *shared;
	ParallelTableScanDesc table_scan;
	WalUsage   *wal_usage;
	BufferUsage *buffer_usage;
	Size		shared_size;
	Size		scan_size;
	Size		roots_size = (geometry->ntrees + 1) * sizeof(ShIdxRoot);
	ShIdxRoot  *roots = NULL;
	bool		launched = false;

	EnterParallelMode();
	pcxt = CreateParallelContext("simhash", "shidx_build_worker", workers);

	/* a concurrent build uses an MVCC snapshot, like a query */
	if (info->ii_Concurrent)
		snapshot = RegisterSnapshot(GetTransactionSnapshot());

	shared_size = add_size(offsetof(BuildShared, shares),
						   mul_size((workers + 1) * (geometry->nparts + 1), sizeof(ShIdxSortShare)));
	scan_size = table_parallelscan_estimate(heap, snapshot);
	estimate_chunk(pcxt, shared_size);
	estimate_chunk(pcxt, scan_size);
	estimate_chunk(pcxt, roots_size);
	estimate_chunk(pcxt, mul_size(sizeof(WalUsage), pcxt->nworkers));
	estimate_chunk(pcxt, mul_size(sizeof(BufferUsage), pcxt->nworkers));
	if (debug_query_string != NULL)
		estimate_chunk(pcxt, strlen(debug_query_string) + 1);
	InitializeParallelDSM(pcxt);

	if (pcxt->seg != NULL)
	{
		shared = shm_toc_allocate(pcxt->toc, shared_size);
		shared->build_id = shidx_build_id;
		shared->heap = RelationGetRelid(heap);
		shared->index = RelationGetRelid(index);
		shared->concurrent = info->ii_Concurrent;
		shared->needs_wal = RelationNeedsWAL(index);
		shared->width = geometry->width;
		shared->blocks = geometry->scheme->blocks;
		shared->distance = geometry->scheme->distance;
		shared->bands = geometry->prefix_bits > 0;
		shared->nparts = geometry->nparts;
		BarrierInit(&shared->barrier, 0);
		SharedFileSetInit(&shared->files, pcxt->seg);
		pg_atomic_init_u32(&shared->next_tree, 0);
		pg_atomic_init_u64(&shared->written, 0);
		SpinLockInit(&shared->mutex);
		shared->broken_hot_chain = false;
		shared->heap_tuples = 0;
		shared->nprocesses = 0;
		shared->max_processes = workers + 1;
		shared->memory_kb = maintenance_work_mem / (workers + 1);
		shm_toc_insert(pcxt->toc, KEY_SHARED, shared);

		table_scan = shm_toc_allocate(pcxt->toc, scan_size);
		table_parallelscan_initialize(heap, table_scan, snapshot);
		shm_toc_insert(pcxt->toc, KEY_TABLE_SCAN, table_scan);
		roots = shm_toc_allocate(pcxt->toc, roots_size);
		shm_toc_insert(pcxt->toc, KEY_ROOTS, roots);
		wal_usage = allocate_each(pcxt, KEY_WAL_USAGE, sizeof(WalUsage));
		buffer_usage = allocate_each(pcxt, KEY_BUFFER_USAGE, sizeof(BufferUsage));
		if (debug_query_string != NULL)
		{
			char	   *text = shm_toc_allocate(pcxt->toc, strlen(debug_query_string) + 1);

			strcpy(text, debug_query_string);
			shm_toc_insert(pcxt->toc, KEY_QUERY_TEXT, text);
		}

		LaunchParallelWorkers(pcxt);
		launched = pcxt->nworkers_launched > 0;
	}

	if (launched)
	{
		ShIdxBuild	build;

		participate(shared, roots, heap, index, info, table_scan, geometry, 0, true);
		WaitForParallelWorkersToFinish(pcxt);

		for (int i = 0; i < pcxt->nworkers_launched; i++)
			InstrAccumParallelQuery(&buffer_usage[i], &wal_usage[i]);
		info->ii_BrokenHotChain |= shared->broken_hot_chain;
		result->heap_tuples = shared->heap_tuples;
		begin_build(shared, roots, index, geometry, true, &build);
		shidx_write_metapage(&build, shared->needs_wal);
		result->index_tuples = build.rows + build.nulls;
	}

	if (IsMVCCSnapshot(snapshot))
		UnregisterSnapshot(snapshot);
	DestroyParallelContext(pcxt);
	ExitParallelMode();
	return launched;
}

/*
 * Do the expressions or the predicate of an index, or its fingerprints, use
 * values that may be stored in the TOAST table?
 */
static bool
reads_toast(Relation heap, Relation index, IndexInfo *info)
{
	int			last = shidx_fp_column(index);
	TupleDesc	desc = RelationGetDescr(heap);
	Bitmapset  *columns = NULL;
	int			column = -1;
	bool		result = false;

	if (!OidIsValid(heap->rd_rel->reltoastrelid))
		return false;
	pull_varattnos((Node *) info->ii_Expressions, 1, &columns);
	pull_varattnos((Node *) info->ii_Predicate, 1, &columns);
	if (shidx_computes_fingerprints(index) && info->ii_IndexAttrNumbers[last] > 0)
		columns = bms_add_member(columns, info->ii_IndexAttrNumbers[last] -
								 FirstLowInvalidHeapAttributeNumber);
	while (!result && (column = bms_next_member(columns, column)) >= 0)
	{
		AttrNumber	number = column + FirstLowInvalidHeapAttributeNumber;

		/* 0 is the whole row */
		result = number == 0 ||
			(number > 0 && TupleDescAttr(desc, number - 1)->attlen == -1 &&
			 TupleDescAttr(desc, number - 1)->attstorage != TYPSTORAGE_PLAIN);
	}
	bms_free(columns);
	return result;
}

/*
 * The number of workers that the server would choose if the table were larger
 * by the given factor.
 *
 * The server compares the size of the table with a setting.  The setting is
 * lowered temporarily, so that all other rules of the server apply unchanged.
 */
static int
workers_if_larger(Relation heap, Relation index, double times)
{
	int			level = NewGUCNestLevel();
	char		limit[16];
	int			workers;

	snprintf(limit, sizeof(limit), "%d", (int) (min_parallel_table_scan_size / times));
	(void) set_config_option("min_parallel_table_scan_size", limit, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	workers = plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
	AtEOXact_GUC(false, level);
	return workers;
}

/*
 * Can workers run the support functions that a build calls?
 */
static bool
is_parallel_safe(Relation index)
{
	int			last = shidx_fp_column(index);

	for (int i = 0; i <= last; i++)
	{
		Oid			function = i < last ? index_getprocid(index, i + 1, SHIDX_HASH_PROC) :
			shidx_fingerprint_function(index);

		if (OidIsValid(function) && func_parallel(function) != PROPARALLEL_SAFE)
			return false;
	}
	return true;
}

/*
 * The number of workers for the build of an index; 0 for none.  The server knows
 * whether expressions can be computed in a worker, but not whether hashes and
 * fingerprints can.
 *
 * The server decides by the pages of the table.  But most of the work may be
 * in its TOAST table: a hundred megabytes of documents stored out of line may
 * have rows of a few megabytes, too few for any worker.
 *
 * The caller holds the locks of a build.
 */
static int
choose_workers(Relation heap, Relation index, IndexInfo *info)
{
	BlockNumber pages = RelationGetNumberOfBlocks(heap);

	/* an empty table may still have its old TOAST pages, in TRUNCATE */
	if (pages == 0 || !is_parallel_safe(index))
		return 0;
	if (reads_toast(heap, index, info))
	{
		Relation	toast = table_open(heap->rd_rel->reltoastrelid, AccessShareLock);
		BlockNumber toast_pages = RelationGetNumberOfBlocks(toast);

		table_close(toast, AccessShareLock);
		if (toast_pages > 0)
			return workers_if_larger(heap, index, 1.0 + (double) toast_pages / pages);
	}
	return shcompat_build_workers(heap, index, info);
}

/*
 * ambuild: build an index
 */
IndexBuildResult *
shidx_build(Relation heap, Relation index, struct IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	ShIdxGeometry *geometry;
	int			workers;

	/*
	 * what has become impossible must not keep anybody from emptying the
	 * table
	 */
	if (!shidx_is_emptied(heap, index, info->ii_Concurrent))
		shidx_check_columns(index, info);
	geometry = shidx_choose_geometry(heap, index, info->ii_Concurrent);
	workers = choose_workers(heap, index, info);
	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));

	/* the cache may describe the index before TRUNCATE */
	shidx_forget_cache(index);

	shidx_reserve_metapage(index);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, SHIDX_PHASE_SCAN);
	if (workers == 0 || !build_together(heap, index, info, geometry, workers, result))
		build_alone(heap, index, info, geometry, result);

	/*
	 * Of a page that was read before it was written, a buffer would keep
	 * zeros.  Others can open an index that is built concurrently, and
	 * functions that a build calls can read this one.
	 */
	if (info->ii_Concurrent || info->ii_Expressions != NIL || info->ii_Predicate != NIL ||
		shidx_computes_fingerprints(index) || shidx_is_grouped(index))
		shcompat_drop_buffers(index);
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
 * ambuildempty: write an empty index to the init fork of an unlogged one, whose main
 * fork has just been built, with the same scheme.
 */
void
shidx_buildempty(Relation index)
{
	Buffer		metabuffer = shcompat_extend(index, INIT_FORKNUM);
	Page		metapage = BufferGetPage(metabuffer);
	const ShIdxGeometry *geometry = shidx_get_geometry(index);

	shidx_init_metapage(metapage, geometry, IndexRelationGetNumberOfAttributes(index));
	for (int tree = 0; tree <= geometry->ntrees; tree++)
	{
		Buffer		root = shcompat_extend(index, INIT_FORKNUM);

		shidx_init_page(BufferGetPage(root), tree, 0,
						SHIDX_ROOT | shidx_contents(index, geometry),
						SHIDX_LOWEST_KEY, SHIDX_HIGHEST_KEY, InvalidBlockNumber);
		shidx_set_widths(BufferGetPage(root), SHIDX_MIN_ROW_WIDTH);
		shidx_set_root(metapage, tree, BufferGetBlockNumber(root), 0);
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
		case SHIDX_PHASE_SCAN:
			return "scanning table";
		case SHIDX_PHASE_WRITE:
			return "sorting and writing tables";
		default:
			return NULL;
	}
}
