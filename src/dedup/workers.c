/*-------------------------------------------------------------------------
 *
 * workers.c
 *	  How many parallel workers a search may have.
 *
 * Workers compare fingerprints only.  The leader looks up rows, and compares values for
 * which the index has computed fingerprints, or of the columns before the
 * fingerprint.  It does this in parallel mode, in which functions that are not
 * marked as safe, or at least restricted, may fail.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_index.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "dedup/checks.h"
#include "dedup/open.h"
#include "dedup/rows.h"
#include "index/index.h"

/*
 * If the server does not choose workers for every index, however small, a search
 * must be worth some milliseconds, in which they start.  It grows with the pages
 * and with the distance.
 */
#define LEAST_WORK		10000

/*
 * Are the expressions of an index that a search evaluates allowed in parallel mode?  They
 * are taken from the catalog as they are, since simplifying them would run functions of
 * the owner of the table.
 */
static bool
expressions_are_allowed(Relation index, int ncolumns)
{
	/* the server's own check wants a query */
	Query	   *query = makeNode(Query);
	ListCell   *cell;

	query->commandType = CMD_SELECT;
	foreach(cell, shdup_index_expressions(index, ncolumns))
		query->targetList = lappend(query->targetList,
									makeTargetEntry(lfirst(cell), 1, NULL, false));
	return max_parallel_hazard(query) != PROPARALLEL_UNSAFE;
}

/*
 * May everything that a search evaluates be evaluated in parallel mode?
 */
static bool
functions_are_allowed(const ShDupHeaps *heaps)
{
	int			ncolumns = shdup_checked_columns(heaps);

	for (int i = 0; i < ncolumns; i++)
	{
		if (func_parallel(get_opcode(shdup_column_operator(heaps, i))) == PROPARALLEL_UNSAFE)
			return false;
	}
	for (int side = 0; side < heaps->nsides; side++)
	{
		if (!expressions_are_allowed(heaps->sides[side].named.index, ncolumns))
			return false;
	}
	return true;
}

/*
 * The number of workers for so many pages of indexes, as the server chooses it
 * for a scan of them.
 */
static int
workers_for_pages(double pages, int distance)
{
	double		threshold = Max(min_parallel_index_scan_size, 1);
	int			workers = 1;

	if (pages == 0 || pages < min_parallel_index_scan_size ||
		(min_parallel_index_scan_size > 0 && pages * (distance + 1) < LEAST_WORK))
		return 0;
	while (pages >= threshold * 3)
	{
		workers++;
		threshold *= 3;
	}
	return workers;
}

/*
 * How many workers a search of some tables within a distance may have; 0 for none.
 *
 * parallel_workers of a table counts as in a scan of it.
 */
int
shdup_choose_workers(const ShDupHeaps *heaps, int distance)
{
	double		pages = 0;
	int			workers = 0;

	if (max_parallel_workers_per_gather == 0 || !IsUnderPostmaster ||
		IsInParallelMode() || IsParallelWorker())
		return 0;
	for (int i = 0; i < heaps->count; i++)
	{
		const ShDupHeap *heap = &heaps->heaps[i];
		int			wanted = RelationGetParallelWorkers(heap->relation, -1);

		/* workers cannot see the buffers of temporary tables */
		if (RelationUsesLocalBuffers(heap->relation))
			return 0;
		if (wanted < 0)
			pages += RelationGetNumberOfBlocks(heap->index);
		workers = Max(workers, wanted);
	}
	workers = Min(Max(workers, workers_for_pages(pages, distance)), max_parallel_workers_per_gather);
	return workers > 0 && functions_are_allowed(heaps) ? workers : 0;
}
