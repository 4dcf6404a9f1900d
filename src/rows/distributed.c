/*-------------------------------------------------------------------------
 *
 * distributed.c
 *	  Detecting tables that Citus distributes to other machines.
 *
 * When Citus distributes a table, the table and its indexes remain, but
 * without rows.  The rows are in shards, which are tables with other names,
 * mostly on other machines, and Citus plans queries so that they go there.  A
 * function that opens the index itself would find it empty and return a wrong
 * result.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type_d.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "rows/distributed.h"
#include "rows/list_indexes.h"

/* the catalog in which Citus lists distributed tables, and its index */
#define LIST_OF_TABLES "pg_dist_partition"
#define INDEX_OF_LIST "pg_dist_partition_logical_relid_index"

#define LIST_TABLE_COLUMN 1

/*
 * Does the catalog have the expected columns?
 */
static bool
lists_tables(Relation list)
{
	TupleDesc	columns = RelationGetDescr(list);

	return list->rd_rel->relkind == RELKIND_RELATION &&
		columns->natts >= LIST_TABLE_COLUMN &&
		TupleDescAttr(columns, LIST_TABLE_COLUMN - 1)->atttypid == REGCLASSOID;
}

/*
 * Does Citus distribute a table?  If it is not installed, this is one syscache
 * look-up.
 */
static bool
is_distributed(Oid table)
{
	Oid			listoid = get_relname_relid(LIST_OF_TABLES, PG_CATALOG_NAMESPACE);
	Relation	list;
	ScanKeyData key;
	SysScanDesc scan;
	bool		result = false;

	if (!OidIsValid(listoid))
		return false;

	/* this is not a system catalog, so it may be dropped at any time */
	list = try_table_open(listoid, AccessShareLock);
	if (list == NULL)
		return false;
	if (lists_tables(list))
	{
		Oid			index = get_relname_relid(INDEX_OF_LIST, PG_CATALOG_NAMESPACE);

		ScanKeyInit(&key, LIST_TABLE_COLUMN, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(table));
		scan = systable_beginscan(list, index, OidIsValid(index), NULL, 1, &key);
		result = systable_getnext(scan) != NULL;
		systable_endscan(scan);
	}
	table_close(list, AccessShareLock);
	return result;
}

/*
 * Report an error if Citus distributes a table.  For functions that read an
 * index of it as a whole.
 *
 * The shards themselves are not in the catalog, so their indexes can be read.
 */
void
shrows_check_not_distributed(Oid table, Oid index)
{
	if (is_distributed(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" belongs to a distributed table",
						get_rel_name(index)),
				 errdetail("Citus keeps the rows of table \"%s\" in shards, so this index has no entries.",
						   get_rel_name(table)),
				 errhint("Pass (SELECT array_agg(...) FROM %s) of the fingerprints, and the distance, to simhash_find_all_in or simhash_find_clusters_in, but not ARRAY(SELECT ...), which Citus evaluates in each shard by itself. Or search the index of each shard with run_command_on_shards.",
						 shrows_written_name(table))));
}
