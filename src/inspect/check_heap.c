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

#include "btree/search.h"
#include "btree/walk.h"
#include "compat.h"
#include "index/group.h"
#include "index/progress.h"
#include "inspect/check.h"
#include "type/simhash.h"

static void
report_missing(Relation index, int tree, uint64 tid)
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
is_visible(IndexFetchTableData *fetch, TupleTableSlot *slot, Snapshot snapshot, uint64 tid)
{
	ItemPointerData pointer;
	bool		again = false;
	bool		all_dead;
	bool		visible;

	shbt_int_to_tid(tid, &pointer);
	visible = table_index_fetch_tuple(fetch, &pointer, snapshot, slot, &again, &all_dead);
	ExecClearTuple(slot);
	return visible;
}

/*
 * Check that every visible row of one table is in another one.
 */
static void
check_subset(Relation heap, Relation index, Snapshot snapshot, const ShBitsScheme *scheme,
			 int table, int other)
{
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	IndexFetchTableData *fetch = shcompat_index_fetch_begin(heap);
	ShBtWalk	walk;

	shbt_walk_start(&walk, index, table, 0);
	while (shbt_walk_next(&walk))
	{
		Page		page = (Page) walk.page.data;

		shidx_progress_add(shbt_page_count(page));
		for (int i = 0; i < shbt_page_count(page); i++)
		{
			ShBtKey		key = shbt_leaf_key(page, i);
			bool		dead;

			key.fp = shbits_permute(&scheme->tables[other],
									shbits_unpermute(&scheme->tables[table], key.fp));
			if (!shbt_has_entry(index, other, key, &dead) &&
				is_visible(fetch, slot, snapshot, key.tid))
				report_missing(index, other, key.tid);
		}
	}
	table_index_fetch_end(fetch);
	ExecDropSingleTupleTableSlot(slot);
}

static bool
have_same_entries(const ShInspSum *a, const ShInspSum *b)
{
	return a->entries == b->entries && a->hash == b->hash;
}

/*
 * Check that all tables hold the same visible rows.
 *
 * If the sums agree, the tables hold the same entries.  If they do not, this
 * may be due to rows of transactions that are in progress or ended in a crash.
 */
void
shinsp_check_same_rows(Relation heap, Relation index, Snapshot snapshot,
					   const ShBitsScheme *scheme, const ShInspSum *sums)
{
	double		entries = 0;

	for (int t = 1; t < scheme->ntables; t++)
	{
		if (!have_same_entries(&sums[0], &sums[t]))
			entries += (double) sums[0].entries + sums[t].entries;
	}
	if (entries > 0)
		shidx_progress_phase(SHIDX_PHASE_CHECK_SAME, entries);
	for (int t = 1; t < scheme->ntables; t++)
	{
		if (have_same_entries(&sums[0], &sums[t]))
			continue;
		check_subset(heap, index, snapshot, scheme, 0, t);
		check_subset(heap, index, snapshot, scheme, t, 0);
	}
}

typedef struct HeapCheck
{
	Relation	index;
	const ShBitsScheme *scheme;
	bool		marks_count;	/* of dead entries */
	double		nrows;			/* looked up so far */
} HeapCheck;

/*
 * Check that a visible row has an entry, and that it is not marked as dead.
 */
static void
check_entry(const HeapCheck *check, int tree, ShBtKey key)
{
	bool		dead;

	if (!shbt_has_entry(check->index, tree, key, &dead))
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
	ShBtKey		key = shbt_make_key(shidx_group_of_row(index, values, isnull), 0,
									shbt_tid_to_int(tid));

	shidx_progress_entries(check->nrows++);
	if (isnull[column])
	{
		check_entry(check, scheme->ntables, key);
		return;
	}
	for (int t = 0; t < scheme->ntables; t++)
	{
		key.fp = shbits_permute(&scheme->tables[t], DatumGetSimhash(values[column]));
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
	table_index_build_scan(heap, index, info, true, false, check_heap_row, &check, scan);
}
