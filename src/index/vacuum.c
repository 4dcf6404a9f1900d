/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *	  Removing the entries of dead rows from a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"

#include "compat.h"
#include "index/handler.h"
#include "index/leaf.h"
#include "index/tree.h"

typedef struct VacuumState
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void	   *callback_state;
	int			null_tree;
	bool		lists_rows;		/* nothing is removed, and each row is told
								 * once */
} VacuumState;

/*
 * Remove the entries that the callback selects from a leaf on which the caller
 * has a cleanup lock.  Returns the number removed.
 */
static int
vacuum_leaf(VacuumState *state, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	uint16		dead[SHIDX_MAX_ENTRIES];
	int			ndead = 0;
	int			count = shidx_page_count(page);

	shidx_check_leaf_rows(state->info->index, BufferGetBlockNumber(buffer), page);
	for (int i = 0; i < count; i++)
	{
		ItemPointerData tid;

		shidx_int_to_tid(shidx_leaf_row(page, i), &tid);
		if (state->callback(&tid, state->callback_state))
			dead[ndead++] = i;
	}
	if (ndead > 0 && state->lists_rows)
		elog(ERROR, "index \"%s\" is not being vacuumed", RelationGetRelationName(state->info->index));
	if (ndead > 0)
		shidx_remove(state->info->index, buffer, dead, ndead);
	return ndead;
}

static void
vacuum_block(VacuumState *state, BlockNumber block)
{
	Relation	index = state->info->index;
	Buffer		buffer;
	Page		page;

	buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL,
								state->info->strategy);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);

	/*
	 * An extension that is interrupted by a crash or an error leaves a page
	 * of zeros.
	 */
	if (!PageIsNew(page))
	{
		/*
		 * whatever it is, these lie within the page; there are no further
		 * trees
		 */
		int			tree = Min(shidx_page_tree(page), state->null_tree);

		/* each row has one entry in table 0, or one among the nulls */
		bool		counted = tree == 0 || tree == state->null_tree;
		const char *problem = shidx_page_problem_in(index, page, tree, shidx_page_level(page));

		if (problem != NULL)
			shidx_report_corrupted(index, block, problem);

		if (shidx_page_is_leaf(page) && (counted || !state->lists_rows))
		{
			int			removed;

			/*
			 * A scan may hold a pin because it is still going to visit rows
			 * of this page.  Their TIDs must not be reused before that.
			 */
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			LockBufferForCleanup(buffer);
			removed = vacuum_leaf(state, buffer);

			if (counted)
			{
				state->stats->tuples_removed += removed;
				state->stats->num_index_tuples += shidx_page_count(page);
			}
		}
	}
	UnlockReleaseBuffer(buffer);
}

/*
 * ambulkdelete: remove the entries of dead rows
 *
 * The pages are read in block order.  A concurrent split moves entries only to
 * a new page at the end of the relation, which is read later, so no entry is
 * missed.
 */
IndexBulkDeleteResult *
shidx_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				 IndexBulkDeleteCallback callback, void *callback_state)
{
	VacuumState state = {0};
	BlockNumber block = SHIDX_METAPAGE_BLOCK + 1;

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_index_tuples = 0;
	stats->estimated_count = false;

	state.info = info;
	state.stats = stats;
	state.callback = callback;
	state.callback_state = callback_state;
	state.null_tree = shidx_get_cache(info->index)->geometry.ntrees;

	/*
	 * The last phase of a concurrent build asks in this way which rows the
	 * index has, and sorts what it is told; it removes nothing.  Whoever else
	 * may be asking gets all entries.
	 */
	state.lists_rows = !info->index->rd_index->indisvalid && info->strategy == NULL &&
		(MyProc->statusFlags & PROC_IN_VACUUM) == 0;

	for (;;)
	{
		BlockNumber nblocks = RelationGetNumberOfBlocks(info->index);

		if (block >= nblocks)
		{
			stats->num_pages = nblocks;
			return stats;
		}
		for (; block < nblocks; block++)
		{
			shcompat_vacuum_delay_point();
			vacuum_block(&state, block);
		}
	}
}

/*
 * amvacuumcleanup: only statistics, since ambulkdelete has done all the work.
 *
 * Entries that a split moved to a new page were counted twice.  The index has no
 * more than rows, if these were counted.
 */
IndexBulkDeleteResult *
shidx_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (stats != NULL && !info->estimated_count)
		stats->num_index_tuples = Min(stats->num_index_tuples, info->num_heap_tuples);
	return stats;
}
