/*-------------------------------------------------------------------------
 *
 * check_tree.c
 *	  Verifying the structure of a tree.
 *
 * The levels are walked from the leaves upwards.  A page that the walk met had
 * its downlink before the walk of the level above began, since a split creates
 * both together.  So each page must be found there.  Downlinks to pages that
 * the walk did not meet belong to later splits, and are followed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_am_d.h"
#include "common/hashfn.h"
#include "miscadmin.h"

#include "dedup/progress.h"
#include "index/index.h"
#include "inspect/check.h"

typedef struct Checker
{
	Relation	heap;
	BlockNumber heap_blocks;	/* it has at least this many */
	Relation	index;
	const ShBitsScheme *scheme;
	int			ntrees;			/* and that of the nulls */
	int			tree;
	ShInspSum	sum;
	ShIdxPageList below;		/* pages of the level below the current one */
	size_t		next_below;		/* the first without a downlink so far */
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
	ShIdxSortedEntry entries[SHIDX_MAX_ENTRIES];
	int			count = shidx_sort_entries(page, entries);
	bool		is_null_tree = checker->tree == checker->ntrees;

	if (!shidx_has_widths(page, shidx_row_width(page)))
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
			row[1] = shbits_unpermute(&checker->scheme->tables[checker->tree %
															   checker->scheme->ntables],
									  key.fp);
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
 * Check a page that the walk of the level below has not met.
 */
static void
check_new_child(Checker *checker, const ShIdxWalk *walk, ShIdxKey low, BlockNumber child)
{
	Buffer		buffer;
	Page		page;

	shidx_check_link(checker->index, child);
	buffer = ReadBuffer(checker->index, child);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = shidx_check_page(checker->index, buffer, checker->tree, walk->level - 1);
	if (!shidx_key_equal(shidx_page_low(page), low))
		shidx_report_corrupted(checker->index, child,
							   "index \"%s\" has a page that does not start at its downlink, at block %u");
	UnlockReleaseBuffer(buffer);
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
 * Verify a tree, 0 .. ntrees - 1, or number ntrees, that of the nulls.  Returns the
 * sum over its entries.
 */
ShInspSum
shinsp_check_tree(Relation heap, Relation index, const ShBitsScheme *scheme, int ntrees,
				  int tree)
{
	Checker		checker = {0};
	int			level = 0;

	checker.heap = heap;
	checker.index = index;
	checker.scheme = scheme;
	checker.ntrees = ntrees;
	checker.tree = tree;
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
