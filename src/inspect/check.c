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
#include "utils/snapmgr.h"

#include "dedup/open.h"
#include "dedup/progress.h"
#include "index/index.h"
#include "inspect/check.h"

PG_FUNCTION_INFO_V1(simhash_index_check);

/*
 * Verify all trees, and sum up their entries.
 */
static void
check_trees(Relation heap, Relation index, const ShBitsScheme *scheme, int ntrees,
			ShInspSum *sums)
{
	double		rows = Max(index->rd_rel->reltuples, 0);

	shdup_progress_phase(SHDUP_PHASE_CHECK_TABLES, rows * ntrees);
	for (int tree = 0; tree <= ntrees; tree++)
	{
		/* the tree of the nulls is the last one */
		shdup_progress_table(tree, ntrees);
		sums[tree] = shinsp_check_tree(heap, index, scheme, ntrees, tree);
		if (tree == 0)
			shdup_progress_total((double) sums[0].entries * ntrees +
								 Max(rows - sums[0].entries, 0));
	}
}

/*
 * Warn if the column no longer says how many bits the fingerprints have, so that the
 * index is sound but cannot be built again.
 */
static void
warn_of_width(Relation index, int width)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), shidx_fp_column(index));

	if (shidx_index_width(index) == 0)
		ereport(WARNING,
				(errmsg("column \"%s\" of index \"%s\" does not say how many bits its fingerprints have",
						NameStr(column->attname), RelationGetRelationName(index)),
				 errdetail("The fingerprints in the index have %d bits, but it cannot be built again.",
						   width),
				 errhint("Change the type of the column to simhash_bits(%d).", width)));
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
	ShDupOpened target;
	ShDupCaller caller;
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	ShBitsScheme *scheme;
	int			width;
	int			nparts;
	int			ntrees;
	ShInspSum  *sums;

	shdup_open(PG_GETARG_OID(0), SHDUP_ACCESS_OWNER, &target);
	heap = target.heap;
	index = target.index;

	/* functions of the index are run */
	shdup_become_owner(&caller, heap);

	/* check the index itself, not what this backend remembers */
	shidx_forget_cache(index);
	scheme = shidx_get_scheme(index);
	width = shidx_stored_width(index);
	warn_of_width(index, width);
	nparts = shbits_nparts(width);
	ntrees = nparts * scheme->ntables;
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	shdup_check_snapshot(index, snapshot);

	shdup_progress_start(SHDUP_INDEX_CHECK, RelationGetRelid(heap), RelationGetRelid(index));
	sums = palloc((ntrees + 1) * sizeof(ShInspSum));
	check_trees(heap, index, scheme, ntrees, sums);
	shinsp_check_same_rows(heap, index, snapshot, scheme, nparts, sums);
	if (PG_GETARG_BOOL(1))
	{
		shdup_progress_phase(SHDUP_PHASE_CHECK_HEAP,
							 sums[0].entries + sums[ntrees].entries);
		shinsp_check_heap(heap, index, snapshot, scheme);
	}
	shdup_progress_end();

	shdup_become_caller(&caller);
	UnregisterSnapshot(snapshot);
	shdup_close(&target);
	PG_RETURN_VOID();
}
