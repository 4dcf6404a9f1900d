/*-------------------------------------------------------------------------
 *
 * info.c
 *	  Statistics of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "dedup/open.h"
#include "index/index.h"
#include "inspect/scheme_sql.h"

PG_FUNCTION_INFO_V1(simhash_index_info);

#define INFO_COLUMNS	9

/*
 * simhash_index_info(index regclass) -> a row for each table, and one for the
 * null fingerprints.  Reads every page; needs SELECT on the table.
 */
Datum
simhash_index_info(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ShDupOpened target;
	Relation	index;
	ShBitsScheme *scheme;
	int			width;
	int			ntrees;

	InitMaterializedSRF(fcinfo, 0);
	shdup_open(PG_GETARG_OID(0), SHDUP_ACCESS_TABLE, &target);
	index = target.index;

	/* read the index itself, not what this backend remembers */
	shidx_forget_cache(index);
	scheme = shidx_get_scheme(index);
	width = shidx_width(index);
	ntrees = shbits_nparts(width) * scheme->ntables;
	shidx_report_pending_options(index, scheme, width);

	for (int tree = 0; tree <= ntrees; tree++)
	{
		bool		is_null_tree = tree == ntrees;
		int			table = tree % scheme->ntables;
		int			levels = 0;
		int64		inner_pages = 0;
		int64		leaf_pages = 0;
		int64		entries = 0;
		int64		room = 0;	/* for entries, on the leaves as they are */
		ShIdxWalk	walk;
		Datum		values[INFO_COLUMNS] = {0};
		bool		nulls[INFO_COLUMNS] = {0};

		/* up to the level whose single page is the root */
		for (bool at_root = false; !at_root; levels++)
		{
			shidx_walk_start(&walk, index, tree, levels);
			while (shidx_walk_next(&walk))
			{
				at_root = shidx_page_is_root((Page) walk.page.data);
				if (levels == 0)
				{
					leaf_pages++;
					entries += shidx_page_count((Page) walk.page.data);
					room += shidx_page_capacity((Page) walk.page.data);
				}
				else
					inner_pages++;
			}
		}

		nulls[0] = nulls[1] = nulls[2] = is_null_tree;
		if (!is_null_tree)
		{
			values[0] = Int32GetDatum(tree);
			values[1] = PointerGetDatum(shinsp_permutation(scheme, table));
			values[2] = Int32GetDatum(scheme->tables[table].prefix_bits);
		}
		values[3] = Int64GetDatum(walk.block);
		values[4] = Int32GetDatum(levels);
		values[5] = Int64GetDatum(inner_pages);
		values[6] = Int64GetDatum(leaf_pages);
		values[7] = Int64GetDatum(entries);
		values[8] = Float8GetDatum((double) entries / room);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}

	shdup_close(&target);
	return (Datum) 0;
}
