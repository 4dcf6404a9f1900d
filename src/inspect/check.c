/*-------------------------------------------------------------------------
 *
 * check.c
 *	  Verifying a simhash index.
 *
 * All of it holds while others insert, delete and vacuum, so AccessShareLock
 * is enough, and it runs on a standby.  What changes meanwhile is told from
 * what is wrong by three facts: pages are only ever added, a page's low fence
 * never changes, and a row that a snapshot sees was put into all tables
 * before the snapshot was taken and cannot be removed while it is held.
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
#include "inspect/check.h"

PG_FUNCTION_INFO_V1(simhash_index_check);

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
	 * Functions in the expressions of the index are its owner's, and are run.
	 * An abort restores all this by itself.
	 */
	GetUserIdAndSecContext(&user, &security_context);
	SetUserIdAndSecContext(heap->rd_rel->relowner,
						   security_context | SECURITY_RESTRICTED_OPERATION);
	guc_level = NewGUCNestLevel();
	shcompat_restrict_search_path();

	/* not what this backend remembers, but what is there */
	shbt_forget_cache(index);
	scheme = shbt_get_scheme(index);
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	shidx_check_snapshot(index, snapshot);

	sums = palloc((scheme->ntables + 1) * sizeof(ShInspSum));
	for (int tree = 0; tree <= scheme->ntables; tree++)
		sums[tree] = shinsp_check_tree(heap, index, scheme, tree);
	shinsp_check_same_rows(heap, index, snapshot, scheme, sums);
	if (PG_GETARG_BOOL(1))
		shinsp_check_heap(heap, index, snapshot, scheme);

	AtEOXact_GUC(false, guc_level);
	SetUserIdAndSecContext(user, security_context);
	UnregisterSnapshot(snapshot);
	shidx_close(&target);
	PG_RETURN_VOID();
}
