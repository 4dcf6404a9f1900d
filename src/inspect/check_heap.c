/*-------------------------------------------------------------------------
 *
 * check_heap.c
 *	  Verifying that a simhash index holds the rows of its table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"

#include "compat.h"
#include "dedup/progress.h"
#include "index/index.h"
#include "index/sort.h"
#include "inspect/check.h"

static void
report_missing(Relation index, int tree, ShIdxRow tid)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" lacks the row at (%u,%u) in its table %d",
					RelationGetRelationName(index),
					(BlockNumber) (tid >> 16), (OffsetNumber) (tid & 0xFFFF), tree),
			 errhint("Please REINDEX it.")));
}

/*
 * Does the snapshot see the row that an index entry leads to?
 */
static bool
is_visible(IndexFetchTableData *fetch, TupleTableSlot *slot, Snapshot snapshot, ShIdxRow tid)
{
	ItemPointerData pointer;
	bool		again = false;
	bool		all_dead;
	bool		visible;

	shidx_int_to_tid(tid, &pointer);
	visible = table_index_fetch_tuple(fetch, &pointer, snapshot, slot, &again, &all_dead);
	ExecClearTuple(slot);
	return visible;
}

/*
 * Check that every visible row of one table, by its tree, is in another one of the
 * same part.
 */
static void
check_subset(Relation heap, Relation index, Snapshot snapshot, const ShBitsScheme *scheme,
			 int tree, int other)
{
	const ShBitsTable *from = &scheme->tables[tree % scheme->ntables];
	const ShBitsTable *to = &scheme->tables[other % scheme->ntables];
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	IndexFetchTableData *fetch = shcompat_index_fetch_begin(heap);
	ShIdxWalk	walk;

	shidx_walk_start(&walk, index, tree, 0);
	while (shidx_walk_next(&walk))
	{
		Page		page = (Page) walk.page.data;

		shdup_progress_add(shidx_page_count(page));
		for (int i = 0; i < shidx_page_count(page); i++)
		{
			ShIdxKey	key = shidx_leaf_key(page, i);
			bool		dead;

			key.fp = shbits_permute(to, shbits_unpermute(from, key.fp));
			if (!shidx_has_entry(index, other, key, &dead) &&
				is_visible(fetch, slot, snapshot, key.tid))
				report_missing(index, other, key.tid);
		}
	}
	table_index_fetch_end(fetch);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Sort the rows of a tree, by group and TID.
 */
static ShIdxSort *
sort_rows(Relation index, const ShBitsScheme *scheme, int tree)
{
	ShIdxSort  *sort = shidx_sort_begin(maintenance_work_mem / 2);
	ShIdxWalk	walk;

	shidx_walk_start(&walk, index, tree, 0);
	while (shidx_walk_next(&walk))
	{
		Page		page = (Page) walk.page.data;

		shdup_progress_add(shidx_page_count(page));
		for (int i = 0; i < shidx_page_count(page); i++)
		{
			ShIdxKey	key = shidx_leaf_key(page, i);

			shidx_sort_add(sort, key.group, key.tid);
		}
	}
	shidx_sort_start_table(sort, &scheme->tables[0]);
	return sort;
}

/*
 * Check that two trees, of different parts, hold the same visible rows.
 *
 * Nothing but the row tells which entries of different parts belong together, so
 * those of both trees are sorted by it.
 */
static void
check_parts(Relation heap, Relation index, Snapshot snapshot, const ShBitsScheme *scheme,
			int tree, int other)
{
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	IndexFetchTableData *fetch = shcompat_index_fetch_begin(heap);
	ShIdxSort  *left = sort_rows(index, scheme, tree);
	ShIdxSort  *right = sort_rows(index, scheme, other);
	ShIdxSortItem a;
	ShIdxSortItem b;
	bool		has_a = shidx_sort_next(left, &a);
	bool		has_b = shidx_sort_next(right, &b);

	while (has_a || has_b)
	{
		bool		only_a = has_a && (!has_b || shidx_sort_item_less(a, b));
		bool		only_b = has_b && (!has_a || shidx_sort_item_less(b, a));

		CHECK_FOR_INTERRUPTS();
		if (only_a && is_visible(fetch, slot, snapshot, a.value))
			report_missing(index, other, a.value);
		if (only_b && is_visible(fetch, slot, snapshot, b.value))
			report_missing(index, tree, b.value);
		if (!only_b)
			has_a = shidx_sort_next(left, &a);
		if (!only_a)
			has_b = shidx_sort_next(right, &b);
	}
	shidx_sort_end(left);
	shidx_sort_end(right);
	table_index_fetch_end(fetch);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Do two trees seem to hold the same rows?  Those of one part also have the same
 * fingerprints.
 */
static bool
have_same_entries(const ShInspSum *a, const ShInspSum *b, bool same_part)
{
	return a->entries == b->entries && (same_part ? a->hash == b->hash : a->rows == b->rows);
}

/*
 * Check that all tables of all parts hold the same visible rows.
 *
 * If the sums agree, the tables hold the same entries.  If they do not, this
 * may be due to rows of transactions that are in progress or ended in a crash.
 * Each table is compared with the first one of its part, and each of these with
 * that of the first part.
 */
void
shinsp_check_same_rows(Relation heap, Relation index, Snapshot snapshot,
					   const ShBitsScheme *scheme, int nparts, const ShInspSum *sums)
{
	int			ntrees = nparts * scheme->ntables;
	double		entries = 0;

	for (int t = 1; t < ntrees; t++)
	{
		bool		same_part = t % scheme->ntables != 0;
		int			first = same_part ? t - t % scheme->ntables : 0;

		if (!have_same_entries(&sums[first], &sums[t], same_part))
			entries += (double) sums[first].entries + sums[t].entries;
	}
	if (entries > 0)
		shdup_progress_phase(SHDUP_PHASE_CHECK_SAME, entries);
	for (int t = 1; t < ntrees; t++)
	{
		bool		same_part = t % scheme->ntables != 0;
		int			first = same_part ? t - t % scheme->ntables : 0;

		if (have_same_entries(&sums[first], &sums[t], same_part))
			continue;
		if (same_part)
		{
			check_subset(heap, index, snapshot, scheme, first, t);
			check_subset(heap, index, snapshot, scheme, t, first);
		}
		else
			check_parts(heap, index, snapshot, scheme, first, t);
	}
}

typedef struct HeapCheck
{
	Relation	index;
	const ShBitsScheme *scheme;
	bool		marks_count;	/* of dead entries */
	ShIdxFingerprinter fingerprinter;
	double		nrows;			/* looked up so far */
} HeapCheck;

/*
 * Check that a visible row has an entry, and that it is not marked as dead.
 */
static void
check_entry(const HeapCheck *check, int tree, ShIdxKey key)
{
	bool		dead;

	if (!shidx_has_entry(check->index, tree, key, &dead))
		report_missing(check->index, tree, key.tid);
	if (dead && check->marks_count)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has marked the row at (%u,%u) as dead in its table %d",
						RelationGetRelationName(check->index),
						(BlockNumber) (key.tid >> 16), (OffsetNumber) (key.tid & 0xFFFF), tree),
				 errhint("Please REINDEX it.")));
}

static void
check_heap_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			   bool alive, void *arg)
{
	HeapCheck  *check = arg;
	const ShBitsScheme *scheme = check->scheme;
	int			column = shidx_fp_column(index);
	uint32		group = shidx_group_of_row(&check->fingerprinter, index, values, isnull);
	ShIdxKey	key = shidx_make_key(group, 0, shidx_tid_to_int(tid));
	int			nparts = check->fingerprinter.nparts;
	ShFingerprint parts[SHBITS_MAX_PARTS];

	shdup_progress_entries(check->nrows++);
	if (!shidx_fingerprint(&check->fingerprinter, values[column], isnull[column], parts))
	{
		check_entry(check, nparts * scheme->ntables, key);
		return;
	}
	for (int t = 0; t < nparts * scheme->ntables; t++)
	{
		key.fp = shbits_permute(&scheme->tables[t % scheme->ntables], parts[t / scheme->ntables]);
		check_entry(check, t, key);
	}
}

/*
 * Check that every row that the snapshot sees is in every table.
 */
void
shinsp_check_heap(Relation heap, Relation index, Snapshot snapshot, const ShBitsScheme *scheme)
{
	/* queries on a standby may see rows that are dead on the primary */
	HeapCheck	check = {index, scheme,.marks_count = !snapshot->takenDuringRecovery};
	IndexInfo  *info = BuildIndexInfo(index);
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, true);

	/* scan with the snapshot, like a concurrent build */
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	shidx_fingerprinter_begin(&check.fingerprinter, index, shidx_width(index));
	table_index_build_scan(heap, index, info, true, false, check_heap_row, &check, scan);
	shidx_fingerprinter_end(&check.fingerprinter);
}
