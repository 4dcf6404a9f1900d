/*-------------------------------------------------------------------------
 *
 * build_parallel.c
 *	  Building a simhash index with parallel workers.
 *
 * The leader and the workers do the same work, in three phases.  First each of
 * them scans a part of the table and writes its rows to a shared file.  When
 * all have finished, one of them allocates the pages of the index.  Then each
 * takes one tree after the other, reads the rows of all processes, sorts them
 * for that tree and writes its pages.
 *
 * A worker that starts late joins the current phase.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/barrier.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/backend_progress.h"
#include "utils/snapmgr.h"

#include "btree/cache.h"
#include "btree/page.h"
#include "compat.h"
#include "index/am.h"
#include "index/build_parallel.h"
#include "index/build_rows.h"
#include "index/build_tree.h"
#include "sort/entrysort.h"

/* keys of the objects in the shared memory of a build */
#define KEY_SHARED			UINT64CONST(0xB000000000000001)
#define KEY_TABLE_SCAN		UINT64CONST(0xB000000000000002)
#define KEY_QUERY_TEXT		UINT64CONST(0xB000000000000003)
#define KEY_WAL_USAGE		UINT64CONST(0xB000000000000004)
#define KEY_BUFFER_USAGE	UINT64CONST(0xB000000000000005)

/* phases of the barrier: what the attached processes are doing */
enum
{
	PHASE_SCAN,
	PHASE_ALLOCATE,
	PHASE_WRITE
};

/* what a process has collected */
typedef struct BuildPart
{
	ShSortPart	rows;			/* with a fingerprint */
	ShSortPart	nulls;			/* and without */
} BuildPart;

typedef struct BuildShared
{
	/* does not change */
	Oid			heap;
	Oid			index;
	bool		concurrent;
	bool		needs_wal;
	int			blocks;			/* the scheme */
	int			distance;
	int			memory_kb;		/* for each process */

	Barrier		barrier;
	SharedFileSet files;
	pg_atomic_uint32 next_tree;
	pg_atomic_uint64 written;	/* entries */

	/* results of the scan, protected by the mutex */
	slock_t		mutex;
	bool		broken_hot_chain;
	double		heap_tuples;
	int			nparts;
	BuildPart	parts[FLEXIBLE_ARRAY_MEMBER];
} BuildShared;

PGDLLEXPORT void shidx_build_worker(dsm_segment *seg, shm_toc *toc);

/*
 * Scan a part of the table.  number is the number of this process, from 0.
 */
static void
scan_part(BuildShared *shared, Relation heap, Relation index, IndexInfo *info,
		  ParallelTableScanDesc table_scan, int number, bool is_leader)
{
	bool		grouped = shbt_is_grouped(index);
	ShSort	   *rows = shsort_begin_part(&shared->files, 2 * number, grouped);
	ShSort	   *nulls = shsort_begin_part(&shared->files, 2 * number + 1, grouped);
	BuildPart	part;
	double		heap_tuples;

	heap_tuples = shidx_collect_rows(heap, index, info, rows, nulls, is_leader,
									 shcompat_beginscan_parallel(heap, table_scan));
	shsort_end_part(rows, &part.rows);
	shsort_end_part(nulls, &part.nulls);

	SpinLockAcquire(&shared->mutex);
	shared->heap_tuples += heap_tuples;
	shared->broken_hot_chain |= info->ii_BrokenHotChain;
	shared->parts[shared->nparts++] = part;
	SpinLockRelease(&shared->mutex);
}

/*
 * Fill in this process's description of the build, after the scan.
 */
static void
begin_build(BuildShared *shared, Relation index, const ShBitsScheme *scheme, bool is_leader,
			ShIdxBuild *build)
{
	memset(build, 0, sizeof(ShIdxBuild));
	build->index = index;
	build->scheme = scheme;
	build->fillfactor = shidx_get_options(index).fillfactor;
	build->is_leader = is_leader;
	build->written = &shared->written;
	for (int i = 0; i < shared->nparts; i++)
	{
		build->rows += shared->parts[i].rows.summary.count;
		build->nulls += shared->parts[i].nulls.summary.count;
	}
}

/*
 * Write trees until all have been taken by some process.
 */
static void
write_trees(BuildShared *shared, ShIdxBuild *build)
{
	ShSortPart *parts = palloc(Max(shared->nparts, 1) * sizeof(ShSortPart));
	ShSort	   *sort = NULL;
	int			tree;

	build->pages = shidx_begin_pages(build->index, shared->needs_wal);
	if (build->is_leader)
	{
		shidx_report_writing(build);
		shidx_write_metapage(build);
	}
	while ((tree = pg_atomic_fetch_add_u32(&shared->next_tree, 1)) <= build->scheme->ntables)
	{
		bool		is_null_tree = tree == build->scheme->ntables;

		/* the tree of the nulls is the last one */
		if (is_null_tree && sort != NULL)
		{
			shsort_end(sort);
			sort = NULL;
		}
		if (sort == NULL)
		{
			for (int i = 0; i < shared->nparts; i++)
				parts[i] = is_null_tree ? shared->parts[i].nulls : shared->parts[i].rows;
			sort = shsort_begin_whole(shared->memory_kb, &shared->files, parts, shared->nparts,
									  shbt_is_grouped(build->index));
		}

		/* the null fingerprints are all 0, so any permutation will do */
		shsort_start_table(sort, &build->scheme->tables[is_null_tree ? 0 : tree]);
		shidx_write_tree(build, sort, tree);
	}
	if (sort != NULL)
		shsort_end(sort);
	shidx_end_pages(build->pages);
	pfree(parts);
}

/*
 * What the leader and each worker do.
 */
static void
participate(BuildShared *shared, Relation heap, Relation index, IndexInfo *info,
			ParallelTableScanDesc table_scan, const ShBitsScheme *scheme, int number,
			bool is_leader)
{
	int			phase = BarrierAttach(&shared->barrier);
	bool		is_elected = false;
	ShIdxBuild	build;

	if (phase == PHASE_SCAN)
	{
		scan_part(shared, heap, index, info, table_scan, number, is_leader);
		is_elected = BarrierArriveAndWait(&shared->barrier,
										  WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
		phase++;
	}
	begin_build(shared, index, scheme, is_leader, &build);
	if (phase == PHASE_ALLOCATE)
	{
		static uint32 event = 0;

		if (is_elected)
			shidx_allocate_trees(&build, false);
		BarrierArriveAndWait(&shared->barrier,
							 shcompat_wait_event(&event, "SimhashBuildAllocate"));
	}
	write_trees(shared, &build);
	BarrierDetach(&shared->barrier);
}

/*
 * Entry point of a worker.
 */
void
shidx_build_worker(dsm_segment *seg, shm_toc *toc)
{
	BuildShared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
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
	participate(shared, heap, index, info, table_scan,
				shbits_make_scheme(shared->blocks, shared->distance),
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
 * Build an index with the given number of workers, or with as many as can be
 * started.  If there are none, returns false without doing anything.
 *
 * The caller holds the locks of a build, and so do the workers.
 */
bool
shidx_build_parallel(Relation heap, Relation index, IndexInfo *info, const ShBitsScheme *scheme,
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
	bool		launched = false;

	EnterParallelMode();
	pcxt = CreateParallelContext("simhash", "shidx_build_worker", workers);

	/* a concurrent build uses an MVCC snapshot, like a query */
	if (info->ii_Concurrent)
		snapshot = RegisterSnapshot(GetTransactionSnapshot());

	shared_size = add_size(offsetof(BuildShared, parts), mul_size(workers + 1, sizeof(BuildPart)));
	scan_size = table_parallelscan_estimate(heap, snapshot);
	estimate_chunk(pcxt, shared_size);
	estimate_chunk(pcxt, scan_size);
	estimate_chunk(pcxt, mul_size(sizeof(WalUsage), pcxt->nworkers));
	estimate_chunk(pcxt, mul_size(sizeof(BufferUsage), pcxt->nworkers));
	if (debug_query_string != NULL)
		estimate_chunk(pcxt, strlen(debug_query_string) + 1);
	InitializeParallelDSM(pcxt);

	if (pcxt->seg != NULL)
	{
		shared = shm_toc_allocate(pcxt->toc, shared_size);
		shared->heap = RelationGetRelid(heap);
		shared->index = RelationGetRelid(index);
		shared->concurrent = info->ii_Concurrent;
		shared->needs_wal = RelationNeedsWAL(index);
		shared->blocks = scheme->blocks;
		shared->distance = scheme->distance;
		BarrierInit(&shared->barrier, 0);
		SharedFileSetInit(&shared->files, pcxt->seg);
		pg_atomic_init_u32(&shared->next_tree, 0);
		pg_atomic_init_u64(&shared->written, 0);
		SpinLockInit(&shared->mutex);
		shared->broken_hot_chain = false;
		shared->heap_tuples = 0;
		shared->nparts = 0;
		shared->memory_kb = maintenance_work_mem / (workers + 1);
		shm_toc_insert(pcxt->toc, KEY_SHARED, shared);

		table_scan = shm_toc_allocate(pcxt->toc, scan_size);
		table_parallelscan_initialize(heap, table_scan, snapshot);
		shm_toc_insert(pcxt->toc, KEY_TABLE_SCAN, table_scan);
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

		participate(shared, heap, index, info, table_scan, scheme, 0, true);
		WaitForParallelWorkersToFinish(pcxt);

		for (int i = 0; i < pcxt->nworkers_launched; i++)
			InstrAccumParallelQuery(&buffer_usage[i], &wal_usage[i]);
		info->ii_BrokenHotChain |= shared->broken_hot_chain;
		result->heap_tuples = shared->heap_tuples;
		begin_build(shared, index, scheme, true, &build);
		result->index_tuples = build.rows + build.nulls;
	}

	if (IsMVCCSnapshot(snapshot))
		UnregisterSnapshot(snapshot);
	DestroyParallelContext(pcxt);
	ExitParallelMode();
	return launched;
}
