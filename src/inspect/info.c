/*-------------------------------------------------------------------------
 *
 * info.c
 *	  What a simhash index consists of.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "index/tree.h"
#include "inspect/scheme.h"
#include "inspect/target.h"
#include "inspect/walk.h"

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
	Relation	heap;
	Relation	index;
	ShBitsScheme *scheme;

	shinsp_open(PG_GETARG_OID(0), false, &heap, &index);
	InitMaterializedSRF(fcinfo, 0);
	scheme = shidx_get_scheme(index);

	for (int tree = 0; tree <= scheme->ntables; tree++)
	{
		ShIdxRoot	root = shidx_get_cache(index)->roots[tree];
		bool		is_null_tree = tree == scheme->ntables;
		int64		inner_pages = 0;
		int64		leaf_pages = 0;
		int64		entries = 0;
		ShInspWalk	walk;
		Datum		values[INFO_COLUMNS] = {0};
		bool		nulls[INFO_COLUMNS] = {0};

		for (int level = 0; level <= root.level; level++)
		{
			shinsp_walk_start(&walk, index, tree, level);
			while (shinsp_walk_next(&walk))
			{
				if (level == 0)
				{
					leaf_pages++;
					entries += shidx_page_count((Page) walk.page.data);
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
		values[3] = Int64GetDatum(root.block);
		values[4] = Int32GetDatum(root.level + 1);
		values[5] = Int64GetDatum(inner_pages);
		values[6] = Int64GetDatum(leaf_pages);
		values[7] = Int64GetDatum(entries);
		values[8] = Float8GetDatum((double) entries / (leaf_pages * SHIDX_LEAF_CAPACITY));
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}

	shinsp_close(heap, index);
	return (Datum) 0;
}
