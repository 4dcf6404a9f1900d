/*-------------------------------------------------------------------------
 *
 * check.c
 *	  Verifying a simhash index.
 *
 * The checks are valid while others insert, delete and vacuum, so
 * AccessShareLock is sufficient, and they work on standbys.  Three invariants
 * separate concurrent change from corruption: pages are only added and never
 * removed, a page's low fence never changes, and a row that a snapshot sees
 * was inserted into all tables before the snapshot was taken and is not
 * removed while it is held.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

#include "btree/cache.h"
#include "compat.h"
#include "index/open_index.h"
#include "index/progress.h"
#include "inspect/check.h"

PG_FUNCTION_INFO_V1(simhash_index_check);

/*
 * Verify all trees, and sum up their entries.
 */
static void
check_trees(Relation heap, Relation index, const ShBitsScheme *scheme, ShInspSum *sums)
{
	double		rows = Max(index->rd_rel->reltuples, 0);

	shidx_progress_phase(SHIDX_PHASE_CHECK_TABLES, rows * scheme->ntables);
	for (int tree = 0; tree <= scheme->ntables; tree++)
	{
		/* the tree of the nulls is the last one */
		shidx_progress_table(tree, scheme->ntables);
		sums[tree] = shinsp_check_tree(heap, index, scheme, tree);
		if (tree == 0)
			shidx_progress_total((double) sums[0].entries * scheme->ntables +
								 Max(rows - sums[0].entries, 0));
	}
}

/*
 * simhash_index_check(index regclass, heapallindexed boolean) -> void
 *
 * Verifies order, fences, sibling links and downlinks of all trees, and that
 * all tables hold the same rows; with heapallindexed, also that each row that
 * the snapshot sees is in all of them.  Reports ERRCODE_INDEX_CORRUPTED.
 * Only for the owner of the index.
 */
Datum
simhash_index_check(PG_FUNCTION_ARGS)
{
	ShIdxOpened target;
	Oid			user;
	int			security_context;
	int			guc_level;
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	ShBitsScheme *scheme;
	ShInspSum  *sums;

	shidx_open(PG_GETARG_OID(0), SHIDX_ACCESS_OWNER, &target);
	heap = target.heap;
	index = target.index;

	/*
	 * Functions in index expressions are run, and must be run as the owner of
	 * the table.  An abort restores all of this automatically.
	 */
	GetUserIdAndSecContext(&user, &security_context);
	SetUserIdAndSecContext(heap->rd_rel->relowner,
						   security_context | SECURITY_RESTRICTED_OPERATION);
	guc_level = NewGUCNestLevel();
	shcompat_restrict_search_path();

	/* check the index itself, not what this backend remembers */
	shbt_forget_cache(index);
	scheme = shbt_get_scheme(index);
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	shidx_check_snapshot(index, snapshot);

	shidx_progress_start(SHIDX_INDEX_CHECK, RelationGetRelid(heap), RelationGetRelid(index));
	sums = palloc((scheme->ntables + 1) * sizeof(ShInspSum));
	check_trees(heap, index, scheme, sums);
	shinsp_check_same_rows(heap, index, snapshot, scheme, sums);
	if (PG_GETARG_BOOL(1))
	{
		shidx_progress_phase(SHIDX_PHASE_CHECK_HEAP,
							 sums[0].entries + sums[scheme->ntables].entries);
		shinsp_check_heap(heap, index, snapshot, scheme);
	}
	shidx_progress_end();

	AtEOXact_GUC(false, guc_level);
	SetUserIdAndSecContext(user, security_context);
	UnregisterSnapshot(snapshot);
	shidx_close(&target);
	PG_RETURN_VOID();
}
