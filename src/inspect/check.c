/*-------------------------------------------------------------------------
 *
 * check.c
 *	  Verifying a simhash index: the structure of its trees, and that it holds the rows
 *	  of its table.
 *
 * The checks are valid while others insert, delete and vacuum, so
 * AccessShareLock is sufficient, and they work on standbys.  Four invariants
 * separate concurrent change from corruption: pages are only added and never
 * removed, a page's low fence never changes, its high fence never rises, and a
 * row that a snapshot sees was inserted into all tables before the snapshot was
 * taken and is not removed while it is held.
 *
 * The levels of a tree are walked from the leaves upwards.  A page that the walk met had
 * its downlink before the walk of the level above began, since a split creates
 * both together.  So each page must be found there.  Downlinks to pages that
 * the walk did not meet belong to later splits, or the page before has lost a write
 * and leads past them; they are followed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "dedup/open.h"
#include "dedup/progress.h"
#include "index/index.h"
#include "index/sort.h"

PG_FUNCTION_INFO_V1(simhash_index_check);

/* a sum over the entries of a tree, independent of their order */
typedef struct TreeSum
{
	uint64		entries;
	uint64		hash;
	uint64		rows;			/* without the fingerprints */
} TreeSum;

typedef struct Checker
{
	Relation	heap;
	BlockNumber heap_blocks;	/* it has at least this many */
	Relation	index;
	const ShIdxGeometry *geometry;
	int			tree;
	int			root_level;		/* it is at least this one */
	TreeSum		sum;
	ShIdxPageList below;		/* pages of the level below the current one */
	size_t		next_below;		/* the first without a downlink so far */
	BlockNumber child;			/* of the last downlink so far */
	ShIdxPageList here;
} Checker;

/*
 * Can the table have a row with this TID?  The meaning of a TID is up to the
 * table access method, so only TIDs of heaps are checked.
 */
static bool
is_in_heap(Checker *checker, ShIdxRow tid)
{
	BlockNumber block = (BlockNumber) (tid >> 16);

	if (checker->heap->rd_rel->relam != HEAP_TABLE_AM_OID)
		return true;
	if (block >= checker->heap_blocks)
		checker->heap_blocks = RelationGetNumberOfBlocks(checker->heap);
	return block < checker->heap_blocks && (tid & 0xFFFF) <= MaxHeapTuplesPerPage;
}

/*
 * Check that the entries of a leaf have possible TIDs, lie between its fences,
 * and are all different, and that its sorted run is sorted.
 */
static void
check_leaf(Checker *checker, const ShIdxWalk *walk)
{
	Page		page = (Page) walk->page.data;
	const ShBitsTable *table = shidx_table_of_tree(checker->geometry, checker->tree);
	ShIdxSortedEntry entries[SHIDX_MAX_ENTRIES];
	int			count = shidx_sort_entries(page, entries);
	bool		is_null_tree = checker->tree == checker->geometry->ntrees;

	if (!shidx_fits_fences(page))
		shidx_report_corrupted(checker->index, walk->block,
							   "index \"%s\" has a leaf whose fingerprints are not as wide as its fences require at block %u");
	for (int i = count; i < shidx_page_capacity(page); i++)
	{
		if (shidx_is_dead(page, i))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has a dead mark without an entry at block %u");
	}
	for (int i = 1; i < shidx_leaf_sorted(page); i++)
	{
		ShIdxKey	left = shidx_leaf_key(page, i - 1);
		ShIdxKey	right = shidx_leaf_key(page, i);

		if (left.group > right.group || (left.group == right.group && left.fp > right.fp))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has entries out of order at block %u");
	}
	for (int i = 0; i < count; i++)
	{
		ShIdxKey	key = entries[i].key;
		uint64		row[] = {key.group, key.fp, key.tid};

		if (!is_null_tree)
			row[1] = shbits_unpermute(table, key.fp);
		if (!is_null_tree && (shbits_permute(table, row[1]) != key.fp ||
							  (checker->geometry->prefix_bits > 0 && key.fp >> SHBITS_BAND_BITS != 0)))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has a fingerprint of too many bits at block %u");
		if (!is_in_heap(checker, key.tid))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has an entry for a row that the table cannot have at block %u");
		if (shidx_key_less(key, shidx_page_low(page)) ||
			!shidx_key_less(key, shidx_page_high(page)))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has an entry outside the fences of block %u");
		if (i > 0 && shidx_key_equal(entries[i - 1].key, key))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has a duplicate entry at block %u");
		if (is_null_tree && key.fp != 0)
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has a fingerprint among the null ones at block %u");
		checker->sum.entries++;
		checker->sum.hash += hash_bytes_extended((const unsigned char *) row, sizeof(row), 0);
		row[1] = 0;
		checker->sum.rows += hash_bytes_extended((const unsigned char *) row, sizeof(row), 0);
	}
}

/*
 * Read the fences of a page below an inner one.
 */
static void
read_fences(Checker *checker, const ShIdxWalk *walk, BlockNumber child, ShIdxKey *low,
			ShIdxKey *high)
{
	Buffer		buffer;
	Page		page;

	shidx_check_link(checker->index, child);
	buffer = ReadBuffer(checker->index, child);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = shidx_check_page(checker->index, buffer, checker->tree, walk->level - 1);
	*low = shidx_page_low(page);
	*high = shidx_page_high(page);
	UnlockReleaseBuffer(buffer);
}

/*
 * Check a page that the walk of the level below has not met.  Since the split, the page
 * before must not end beyond where this one begins.  If it does, its write was lost, and
 * it leads past this one.
 */
static void
check_new_child(Checker *checker, const ShIdxWalk *walk, ShIdxKey key, BlockNumber child)
{
	ShIdxKey	low;
	ShIdxKey	high;

	CHECK_FOR_INTERRUPTS();
	read_fences(checker, walk, child, &low, &high);
	if (!shidx_key_equal(low, key))
		shidx_report_corrupted(checker->index, child,
							   "index \"%s\" has a page that does not start at its downlink, at block %u");
	if (!BlockNumberIsValid(checker->child))
		return;
	read_fences(checker, walk, checker->child, &low, &high);
	if (shidx_key_less(key, high))
		shidx_report_corrupted(checker->index, checker->child,
							   "index \"%s\" has a page that does not end at the next downlink, at block %u");
}

/*
 * Check that the downlinks of an inner page are different, start at its low
 * fence, and lead to the pages of the level below.
 */
static void
check_inner(Checker *checker, const ShIdxWalk *walk)
{
	Page		page = (Page) walk->page.data;
	ShIdxPageList *below = &checker->below;
	ShIdxSortedEntry entries[SHIDX_MAX_ENTRIES];
	int			count = shidx_sort_entries(page, entries);

	for (int i = 0; i < count; i++)
	{
		ShIdxKey	key = entries[i].key;
		BlockNumber child = shidx_inner_child(page, entries[i].position);

		if (i == 0 && !shidx_key_equal(key, shidx_page_low(page)))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has no downlink for the low fence of block %u");
		if (i > 0 && shidx_key_equal(entries[i - 1].key, key))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has a duplicate downlink at block %u");
		if (!shidx_key_less(key, shidx_page_high(page)))
			shidx_report_corrupted(checker->index, walk->block,
								   "index \"%s\" has a downlink outside the fences of block %u");

		if (checker->next_below < below->count &&
			shidx_key_equal(below->lows[checker->next_below], key))
		{
			if (below->blocks[checker->next_below] != child)
				shidx_report_corrupted(checker->index, walk->block,
									   "index \"%s\" has a downlink to the wrong page at block %u");
			checker->next_below++;
		}
		else
		{
			if (checker->next_below < below->count &&
				shidx_key_less(below->lows[checker->next_below], key))
				shidx_report_corrupted(checker->index, below->blocks[checker->next_below],
									   "index \"%s\" has no downlink to block %u");
			check_new_child(checker, walk, key, child);
		}
		checker->child = child;
	}
}

/*
 * Check a level.  Returns whether it is that of the root.
 */
static bool
check_level(Checker *checker, int level)
{
	ShIdxWalk	walk;
	Page		page = (Page) walk.page.data;
	bool		has_root = false;

	checker->next_below = 0;
	checker->child = InvalidBlockNumber;
	shidx_walk_start(&walk, checker->index, checker->tree, level);
	while (shidx_walk_next(&walk))
	{
		if (checker->here.count == 0 &&
			!shidx_key_equal(shidx_page_low(page), SHIDX_LOWEST_KEY))
			shidx_report_corrupted(checker->index, walk.block,
								   "index \"%s\" has a level that does not start at its first page, block %u");
		if (shidx_page_is_root(page) &&
			(checker->here.count > 0 || BlockNumberIsValid(shidx_page_right(page))))
			shidx_report_corrupted(checker->index, walk.block,
								   "index \"%s\" has a root with siblings at block %u");
		has_root = shidx_page_is_root(page);
		if (has_root && level < checker->root_level)
			shidx_report_corrupted(checker->index, walk.block,
								   "index \"%s\" has a root below its root at block %u");

		if (level == 0)
		{
			check_leaf(checker, &walk);
			shdup_progress_add(shidx_page_count(page));
		}
		else
			check_inner(checker, &walk);
		shidx_list_add(&checker->here, shidx_page_low(page), walk.block);
	}
	if (level > 0 && checker->next_below < checker->below.count)
		shidx_report_corrupted(checker->index, checker->below.blocks[checker->next_below],
							   "index \"%s\" has no downlink to block %u");
	return has_root;
}

/*
 * Verify a tree.  Returns the sum over its entries.
 */
static TreeSum
check_tree(Relation heap, Relation index, const ShIdxGeometry *geometry, int tree)
{
	Checker		checker = {0};
	int			level = 0;

	checker.heap = heap;
	checker.index = index;
	checker.geometry = geometry;
	checker.tree = tree;
	checker.root_level = shidx_place_of_root(index, tree).level;
	while (!check_level(&checker, level))
	{
		shidx_list_free(&checker.below);
		checker.below = checker.here;
		memset(&checker.here, 0, sizeof(checker.here));
		level++;
	}
	shidx_list_free(&checker.below);
	shidx_list_free(&checker.here);
	return checker.sum;
}

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
 * Does the snapshot see the row that an index entry leads to?  Holds no pin on return, as
 * much may be read before the next row.
 */
static bool
is_visible(Relation heap, TupleTableSlot *slot, Snapshot snapshot, ShIdxRow tid)
{
	IndexFetchTableData *fetch = shcompat_index_fetch_begin(heap);
	ItemPointerData pointer;
	bool		again = false;
	bool		all_dead;
	bool		visible;

	shidx_int_to_tid(tid, &pointer);
	visible = table_index_fetch_tuple(fetch, &pointer, snapshot, slot, &again, &all_dead);
	ExecClearTuple(slot);
	table_index_fetch_end(fetch);
	return visible;
}

/*
 * Check that every visible row of one table, by its tree, is in another one of the
 * same part.
 */
static void
check_subset(Relation heap, Relation index, Snapshot snapshot, const ShIdxGeometry *geometry,
			 int tree, int other)
{
	const ShBitsTable *from = shidx_table_of_tree(geometry, tree);
	const ShBitsTable *to = shidx_table_of_tree(geometry, other);
	TupleTableSlot *slot = table_slot_create(heap, NULL);
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
				is_visible(heap, slot, snapshot, key.tid))
				report_missing(index, other, key.tid);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Sort the rows of a tree, by group and TID.
 */
static ShIdxSort *
sort_rows(Relation index, const ShIdxGeometry *geometry, int tree)
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
	shidx_sort_start_table(sort, &geometry->scheme->tables[0]);
	return sort;
}

/*
 * Check that two trees, of different parts, hold the same visible rows.
 *
 * Nothing but the row tells which entries of different parts belong together, so
 * those of both trees are sorted by it.
 */
static void
check_parts(Relation heap, Relation index, Snapshot snapshot, const ShIdxGeometry *geometry,
			int tree, int other)
{
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	ShIdxSort  *left = sort_rows(index, geometry, tree);
	ShIdxSort  *right = sort_rows(index, geometry, other);
	ShIdxSortItem a;
	ShIdxSortItem b;
	bool		has_a = shidx_sort_next(left, &a);
	bool		has_b = shidx_sort_next(right, &b);

	while (has_a || has_b)
	{
		bool		only_a = has_a && (!has_b || shidx_sort_item_less(a, b));
		bool		only_b = has_b && (!has_a || shidx_sort_item_less(b, a));

		CHECK_FOR_INTERRUPTS();
		if (only_a && is_visible(heap, slot, snapshot, a.value))
			report_missing(index, other, a.value);
		if (only_b && is_visible(heap, slot, snapshot, b.value))
			report_missing(index, tree, b.value);
		if (!only_b)
			has_a = shidx_sort_next(left, &a);
		if (!only_a)
			has_b = shidx_sort_next(right, &b);
	}
	shidx_sort_end(left);
	shidx_sort_end(right);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Do a tree and the one with which it is compared seem to hold different rows?  That is
 * the first tree of its part, with the same fingerprints, or that of the first part.
 */
static bool
differs(const TreeSum *sums, const ShIdxGeometry *geometry, int tree, int *other)
{
	int			first = shidx_tree_of(geometry, shidx_part_of_tree(geometry, tree), 0);
	bool		same_part = tree != first;
	const TreeSum *a;
	const TreeSum *b = &sums[tree];

	*other = same_part ? first : 0;
	a = &sums[*other];
	return a->entries != b->entries || (same_part ? a->hash != b->hash : a->rows != b->rows);
}

/*
 * Check that all tables of all parts hold the same visible rows.
 *
 * If the sums agree, the tables hold the same entries.  If they do not, this
 * may be due to rows of transactions that are in progress or ended in a crash.
 */
static void
check_same_rows(Relation heap, Relation index, Snapshot snapshot,
				const ShIdxGeometry *geometry, const TreeSum *sums)
{
	double		entries = 0;
	int			other;

	for (int t = 1; t < geometry->ntrees; t++)
	{
		if (differs(sums, geometry, t, &other))
			entries += (double) sums[other].entries + sums[t].entries;
	}
	if (entries > 0)
		shdup_progress_phase(SHDUP_PHASE_CHECK_SAME, entries);
	for (int t = 1; t < geometry->ntrees; t++)
	{
		if (!differs(sums, geometry, t, &other))
			continue;
		if (shidx_part_of_tree(geometry, t) != shidx_part_of_tree(geometry, other))
			check_parts(heap, index, snapshot, geometry, other, t);
		else
		{
			check_subset(heap, index, snapshot, geometry, other, t);
			check_subset(heap, index, snapshot, geometry, t, other);
		}
	}
}

typedef struct HeapCheck
{
	Relation	index;
	const ShIdxGeometry *geometry;
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
	const ShIdxGeometry *geometry = check->geometry;
	int			column = shidx_fp_column(index);
	uint32		group = shidx_group_of_row(&check->fingerprinter, index, values, isnull);
	ShIdxKey	key = shidx_make_key(group, 0, shidx_tid_to_int(tid));
	ShFingerprint parts[SHBITS_MAX_PARTS];

	shdup_progress_entries(check->nrows++);
	if (!shidx_fingerprint(&check->fingerprinter, values[column], isnull[column], parts))
	{
		check_entry(check, geometry->ntrees, key);
		return;
	}
	for (int t = 0; t < geometry->ntrees; t++)
	{
		key.fp = shbits_permute(shidx_table_of_tree(geometry, t),
								parts[shidx_part_of_tree(geometry, t)]);
		check_entry(check, t, key);
	}
}

/*
 * Check that every row that the snapshot sees is in every table.
 */
static void
check_heap(Relation heap, Relation index, Snapshot snapshot, const ShIdxGeometry *geometry)
{
	/* queries on a standby may see rows that are dead on the primary */
	HeapCheck	check = {index, geometry,.marks_count = !snapshot->takenDuringRecovery};
	IndexInfo  *info = BuildIndexInfo(index);
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, true);

	/* scan with the snapshot, like a concurrent build */
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	info->ii_ExclusionOps = NULL;
	info->ii_ExclusionProcs = NULL;
	info->ii_ExclusionStrats = NULL;
	shidx_fingerprinter_begin(&check.fingerprinter, index, geometry);
	table_index_build_scan(heap, index, info, true, false, check_heap_row, &check, scan);
	shidx_fingerprinter_end(&check.fingerprinter);
}

/*
 * Verify all trees, and sum up their entries.
 */
static void
check_trees(Relation heap, Relation index, const ShIdxGeometry *geometry, TreeSum *sums)
{
	int			ntrees = geometry->ntrees;
	double		rows = Max(index->rd_rel->reltuples, 0);

	shdup_progress_phase(SHDUP_PHASE_CHECK_TABLES, rows * ntrees);
	for (int tree = 0; tree <= ntrees; tree++)
	{
		/* the tree of the nulls is the last one */
		shdup_progress_table(tree, ntrees);
		sums[tree] = check_tree(heap, index, geometry, tree);
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
	const ShIdxGeometry *geometry;
	TreeSum    *sums;

	shdup_open(PG_GETARG_OID(0), SHDUP_ACCESS_OWNER, &target);
	heap = target.heap;
	index = target.index;

	/*
	 * The snapshot is taken with the lock, to see what it waited for.  On a standby, REINDEX
	 * CONCURRENTLY waits for no lock: it may have replaced the index just before.
	 */
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	AcceptInvalidationMessages();
	shdup_check_state(heap, index);
	shdup_check_snapshot(index, snapshot);

	/* functions of the index are run */
	shdup_become_owner(&caller, heap);

	/* check the index itself, not what this backend remembers */
	shidx_forget_cache(index);
	geometry = shidx_get_geometry(index);
	warn_of_width(index, shidx_stored_width(index));

	shdup_progress_start(SHDUP_INDEX_CHECK, RelationGetRelid(heap), RelationGetRelid(index));
	sums = palloc((geometry->ntrees + 1) * sizeof(TreeSum));
	check_trees(heap, index, geometry, sums);
	check_same_rows(heap, index, snapshot, geometry, sums);
	if (PG_GETARG_BOOL(1))
	{
		shdup_progress_phase(SHDUP_PHASE_CHECK_HEAP,
							 sums[0].entries + sums[geometry->ntrees].entries);
		check_heap(heap, index, snapshot, geometry);
	}
	shdup_progress_end();

	shdup_become_caller(&caller);
	UnregisterSnapshot(snapshot);
	shdup_close(&target);
	PG_RETURN_VOID();
}
