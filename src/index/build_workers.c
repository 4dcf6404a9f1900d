/*-------------------------------------------------------------------------
 *
 * build_workers.c
 *	  How many parallel workers a build may have.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "index/build_workers.h"

/*
 * Is there something in the expressions or the predicate of an index that the
 * table may keep in its TOAST table?
 */
static bool
reads_toast(Relation heap, IndexInfo *info)
{
	TupleDesc	desc = RelationGetDescr(heap);
	Bitmapset  *columns = NULL;
	int			column = -1;
	bool		result = false;

	if (!OidIsValid(heap->rd_rel->reltoastrelid))
		return false;
	pull_varattnos((Node *) info->ii_Expressions, 1, &columns);
	pull_varattnos((Node *) info->ii_Predicate, 1, &columns);
	while (!result && (column = bms_next_member(columns, column)) >= 0)
	{
		AttrNumber	number = column + FirstLowInvalidHeapAttributeNumber;

		/* 0 is the whole row */
		result = number == 0 ||
			(number > 0 && TupleDescAttr(desc, number - 1)->attlen == -1 &&
			 TupleDescAttr(desc, number - 1)->attstorage != TYPSTORAGE_PLAIN);
	}
	bms_free(columns);
	return result;
}

/*
 * How many workers the server would choose were the table so many times as
 * large.
 *
 * It compares the table with a setting; so that all its other rules apply as
 * they are, that is made smaller meanwhile.
 */
static int
workers_if_larger(Relation heap, Relation index, double times)
{
	int			level = NewGUCNestLevel();
	char		limit[16];
	int			workers;

	snprintf(limit, sizeof(limit), "%d", (int) (min_parallel_table_scan_size / times));
	(void) set_config_option("min_parallel_table_scan_size", limit, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	workers = plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
	AtEOXact_GUC(false, level);
	return workers;
}

/*
 * How many workers the build of an index may have; 0 for none.
 *
 * The server goes by the pages of the table.  But most of the work may be in
 * those of its TOAST table: a hundred megabytes of documents that are stored
 * out of line have rows of a few megabytes, too few for any worker.
 *
 * The caller holds the locks of a build.
 */
int
shidx_build_workers(Relation heap, Relation index, IndexInfo *info)
{
	BlockNumber pages = RelationGetNumberOfBlocks(heap);

	/* TRUNCATE builds while the TOAST table still has its pages */
	if (pages > 0 && reads_toast(heap, info))
	{
		Relation	toast = table_open(heap->rd_rel->reltoastrelid, AccessShareLock);
		BlockNumber toast_pages = RelationGetNumberOfBlocks(toast);

		table_close(toast, AccessShareLock);
		if (toast_pages > 0)
			return workers_if_larger(heap, index, 1.0 + (double) toast_pages / pages);
	}
	return shcompat_build_workers(heap, index, info);
}
