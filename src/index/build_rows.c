/*-------------------------------------------------------------------------
 *
 * build_rows.c
 *	  Collecting the rows of a table for a new index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "btree/page.h"
#include "index/build_rows.h"
#include "index/group.h"
#include "type/simhash.h"

typedef struct Collector
{
	ShSort	   *rows;			/* with a fingerprint */
	ShSort	   *nulls;			/* and without */
} Collector;

static void
collect_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			bool alive, void *arg)
{
	Collector  *collector = arg;
	int			column = shidx_fp_column(index);
	uint32		group = shidx_group_of_row(index, values, isnull);

	if (isnull[column])
		shsort_add_grouped(collector->nulls, group, 0, shbt_tid_to_int(tid));
	else
		shsort_add_grouped(collector->rows, group, DatumGetSimhash(values[column]),
						   shbt_tid_to_int(tid));
}

/*
 * Add the rows that belong in an index to two sorts: those with a fingerprint,
 * and those without.  Returns the number of rows in the table.
 *
 * scan may be this process's part of a parallel scan, which is ended here, or
 * NULL for a scan of the whole table.  The caller holds the locks of a build.
 */
double
shidx_collect_rows(Relation heap, Relation index, IndexInfo *info, ShSort *rows, ShSort *nulls,
				   bool progress, TableScanDesc scan)
{
	Collector	collector = {rows, nulls};

	return table_index_build_scan(heap, index, info, true, progress, collect_row, &collector,
								  scan);
}
