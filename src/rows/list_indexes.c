/*-------------------------------------------------------------------------
 *
 * list_indexes.c
 *	  What catalogs say of a table: its simhash indexes, and whether Citus keeps its
 *	  rows elsewhere.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "build/build.h"
#include "rows/list_indexes.h"

/*
 * Is there a simhash index with an OID, perhaps a partitioned one?  Also
 * returns the name and the kind of the relation; the name is NULL if there is
 * none.
 */
bool
shrows_is_simhash_index(Oid relation, char **name, char *relkind)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Form_pg_class form;
	const IndexAmRoutine *routine = NULL;

	*name = NULL;
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	*name = pstrdup(NameStr(form->relname));
	*relkind = form->relkind;

	if (*relkind == RELKIND_INDEX || *relkind == RELKIND_PARTITIONED_INDEX)
		routine = GetIndexAmRoutineByAmId(form->relam, true);
	ReleaseSysCache(tuple);

	/*
	 * Compare functions, since the access method may have been created with
	 * another name.  It is gone if another session has dropped it with its
	 * indexes meanwhile.
	 */
	return routine != NULL && routine->ambuild == shbld_build;
}

/*
 * The name of a relation, as this session can write it; NULL if it is gone.
 */
char *
shrows_written_name(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = NULL;

	if (name == NULL)
		return NULL;
	if (!RelationIsVisible(relation))
		schema = get_namespace_name(get_rel_namespace(relation));
	return quote_qualified_identifier(schema, name);
}

static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/*
 * The names of the valid simhash indexes of a table, separated by commas, for a
 * hint.  NULL if there are none.
 *
 * Reads the catalogs only.  No lock is taken on the table, on which the user
 * may have no privileges, or on the indexes.
 */
char *
shrows_list_indexes(Oid table)
{
	Relation	catalog = table_open(IndexRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *names = NIL;
	ListCell   *lc;
	StringInfoData result;

	ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
		char	   *name;
		char		relkind;

		if (!form->indisvalid || !shrows_is_simhash_index(form->indexrelid, &name, &relkind))
			continue;
		name = shrows_written_name(form->indexrelid);
		if (name != NULL)
			names = lappend(names, name);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);

	if (names == NIL)
		return NULL;
	list_sort(names, compare_names);
	initStringInfo(&result);
	foreach(lc, names)
		appendStringInfo(&result, "%s%s", result.len > 0 ? ", " : "", (char *) lfirst(lc));
	return result.data;
}

/*
 * Does Citus distribute a table?  Its catalog of such tables is no system catalog, so
 * it may be dropped at any time.  If there is none, this is one syscache look-up.
 */
static bool
is_distributed(Oid table)
{
	Oid			listoid = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
	Relation	list = OidIsValid(listoid) ? try_table_open(listoid, AccessShareLock) : NULL;
	bool		result = false;

	if (list == NULL)
		return false;
	if (list->rd_rel->relkind == RELKIND_RELATION && RelationGetDescr(list)->natts > 0 &&
		TupleDescAttr(RelationGetDescr(list), 0)->atttypid == REGCLASSOID)
	{
		ScanKeyData key;
		SysScanDesc scan;

		ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
		scan = systable_beginscan(list, InvalidOid, false, NULL, 1, &key);
		result = systable_getnext(scan) != NULL;
		systable_endscan(scan);
	}
	table_close(list, AccessShareLock);
	return result;
}

/*
 * Report an error if Citus distributes a table.  For functions that read an index of it
 * as a whole: the table and its indexes remain, but without rows.  These are in shards,
 * which are tables with other names, not in that catalog, so their indexes can be read.
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
