/*-------------------------------------------------------------------------
 *
 * build_rows.c
 *	  Collecting the rows of a table for a new index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "btree/page.h"
#include "build/build_rows.h"
#include "class/fingerprint.h"

typedef struct Collector
{
	ShSort	  **rows;			/* with a fingerprint: one for each part */
	ShSort	   *nulls;			/* and without */
	ShClsFingerprinter fingerprinter;
} Collector;

static void
collect_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			bool alive, void *arg)
{
	Collector  *collector = arg;
	int			column = shcls_fp_column(index);
	uint32		group = shcls_group_of_row(index, values, isnull);
	ShFingerprint parts[SHBITS_MAX_PARTS];

	if (shcls_fingerprint(&collector->fingerprinter, values[column], isnull[column], parts))
	{
		for (int i = 0; i < collector->fingerprinter.nparts; i++)
			shsort_add_grouped(collector->rows[i], group, parts[i], shbt_tid_to_int(tid));
	}
	else
		shsort_add_grouped(collector->nulls, group, 0, shbt_tid_to_int(tid));
}

/*
 * Add the rows that belong in an index to sorts: those with a fingerprint to one
 * for each of its parts, and those without to another.  Returns the number of rows
 * in the table.  width is that of the fingerprints, in bits.
 *
 * scan may be this process's part of a parallel scan, which is ended here, or
 * NULL for a scan of the whole table.  The caller holds the locks of a build.
 */
double
shbld_collect_rows(Relation heap, Relation index, IndexInfo *info, int width, ShSort **rows,
				   ShSort *nulls, bool progress, TableScanDesc scan)
{
	Collector	collector = {rows, nulls};
	double		nrows;

	shcls_fingerprinter_begin(&collector.fingerprinter, index, width);
	nrows = table_index_build_scan(heap, index, info, true, progress, collect_row, &collector,
								   scan);
	shcls_fingerprinter_end(&collector.fingerprinter);
	return nrows;
}
