/*-------------------------------------------------------------------------
 *
 * build_workers.c
 *	  The number of parallel workers of a build.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "index/build_workers.h"

/*
 * Do the expressions or the predicate of an index use values that may be
 * stored in the TOAST table?
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
 * The number of workers that the server would choose if the table were larger
 * by the given factor.
 *
 * The server compares the size of the table with a setting.  The setting is
 * lowered temporarily, so that all other rules of the server apply unchanged.
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
 * The number of workers for the build of an index; 0 for none.
 *
 * The server decides by the pages of the table.  But most of the work may be
 * in its TOAST table: a hundred megabytes of documents stored out of line may
 * have rows of a few megabytes, too few for any worker.
 *
 * The caller holds the locks of a build.
 */
int
shidx_build_workers(Relation heap, Relation index, IndexInfo *info)
{
	BlockNumber pages = RelationGetNumberOfBlocks(heap);

	/*
	 * TRUNCATE builds the index while the TOAST table still has its old pages
	 */
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
