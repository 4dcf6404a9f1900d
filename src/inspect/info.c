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

#include "btree/cache.h"
#include "btree/walk.h"
#include "index/am.h"
#include "index/open_index.h"
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
	ShIdxOpened target;
	Relation	index;
	ShBitsScheme *scheme;

	InitMaterializedSRF(fcinfo, 0);
	shidx_open(PG_GETARG_OID(0), SHIDX_ACCESS_TABLE, &target);
	index = target.index;

	/* read the index itself, not what this backend remembers */
	shbt_forget_cache(index);
	scheme = shbt_get_scheme(index);
	shidx_report_pending_options(index, scheme);

	for (int tree = 0; tree <= scheme->ntables; tree++)
	{
		bool		is_null_tree = tree == scheme->ntables;
		int			levels = 0;
		int64		inner_pages = 0;
		int64		leaf_pages = 0;
		int64		entries = 0;
		ShBtWalk	walk;
		Datum		values[INFO_COLUMNS] = {0};
		bool		nulls[INFO_COLUMNS] = {0};

		/* up to the level whose single page is the root */
		for (bool at_root = false; !at_root; levels++)
		{
			shbt_walk_start(&walk, index, tree, levels);
			while (shbt_walk_next(&walk))
			{
				at_root = (ShBtPageGetOpaque((Page) walk.page.data)->flags & SHBT_ROOT) != 0;
				if (levels == 0)
				{
					leaf_pages++;
					entries += shbt_page_count((Page) walk.page.data);
				}
				else
					inner_pages++;
			}
		}

		nulls[0] = nulls[1] = nulls[2] = is_null_tree;
		if (!is_null_tree)
		{
			values[0] = Int32GetDatum(tree);
			values[1] = PointerGetDatum(shinsp_permutation(scheme, tree));
			values[2] = Int32GetDatum(scheme->tables[tree].prefix_bits);
		}
		values[3] = Int64GetDatum(walk.block);
		values[4] = Int32GetDatum(levels);
		values[5] = Int64GetDatum(inner_pages);
		values[6] = Int64GetDatum(leaf_pages);
		values[7] = Int64GetDatum(entries);
		values[8] = Float8GetDatum((double) entries / (leaf_pages * shbt_leaf_capacity(shbt_is_grouped(index))));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}

	shidx_close(&target);
	return (Datum) 0;
}
