/*-------------------------------------------------------------------------
 *
 * open.c
 *	  Opening an index with its table, and what catalogs say of both.
 *
 * An index is passed by its OID.  Privileges and policies are those that a query of
 * its table would need.  They are checked before waiting for locks, so that nobody
 * can block others without having privileges, and again when the locks are held.
 * The table is locked before the index, as in a query.
 *
 * Functions of the owner of the table, such as those in expressions of the index, run as
 * the owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "dedup/open.h"
#include "index/index.h"

/*
 * Is a relation a simhash index?  Compares functions, since the access method may have been
 * created with another name.  It is gone if another session has dropped it with its indexes
 * meanwhile.
 */
static bool
is_simhash_index(Form_pg_class form)
{
	const IndexAmRoutine *routine = NULL;

	if (form->relkind == RELKIND_INDEX || form->relkind == RELKIND_PARTITIONED_INDEX)
		routine = GetIndexAmRoutineByAmId(form->relam, true);
	return routine != NULL && routine->ambuild == shidx_build;
}

/*
 * The name of the only simhash index of a table, as this session can write it; NULL if there
 * is none, or more than one, if the current user may not read the table, or if that is locked
 * now.  The caller reports an error, which releases everything.
 */
static char *
name_only_index(Oid table)
{
	Relation	heap = NULL;
	Oid			found = InvalidOid;
	ListCell   *cell;

	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
		ConditionalLockRelationOid(table, AccessShareLock))
		heap = try_table_open(table, NoLock);
	if (heap == NULL)
		return NULL;
	foreach(cell, RelationGetIndexList(heap))
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(tuple) || !is_simhash_index((Form_pg_class) GETSTRUCT(tuple)))
			continue;
		if (OidIsValid(found))
			return NULL;
		found = lfirst_oid(cell);
	}
	return shdup_written_name(found);
}

/*
 * Report that a relation is not a simhash index.  Whoever names a table has its index in
 * mind, and whoever names a view its table.
 */
static void
report_wrong_relation(Form_pg_class form)
{
	char	   *index = NULL;

	if (RELKIND_HAS_TABLE_AM(form->relkind) || form->relkind == RELKIND_PARTITIONED_TABLE)
		index = name_only_index(form->oid);
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a simhash index", NameStr(form->relname)),
			 form->relkind == RELKIND_VIEW ?
			 errhint("A view has no indexes.  Name a simhash index of the table that it reads.") :
			 index != NULL ? errhint("Name the simhash index of the table: %s.", quote_literal_cstr(index)) :
			 errhint("Name a simhash index of the table.  CREATE INDEX ... USING simhash creates one.")));
}

/*
 * Report that there is no relation with an OID.
 *
 * Views, and functions with a parsed body, store the OID of the index and
 * depend on it, so the index cannot be dropped while they exist.  But REINDEX
 * CONCURRENTLY replaces it by another index, with another OID.
 */
static void
report_missing_index(Oid relation)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation with OID %u does not exist", relation),
			 relation < FirstNormalObjectId ? 0 :
			 errhint("REINDEX CONCURRENTLY gives an index a new OID.  Re-create the views and functions that refer to the index.")));
}

/*
 * The table of a simhash index.  Reports an error if it is not a simhash
 * index, or if it is partitioned, and hence has no storage, unless that is
 * allowed.
 */
static Oid
table_of_index(Oid index, bool may_be_partitioned)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	Form_pg_class form;
	Oid			table;

	if (!HeapTupleIsValid(tuple))
		report_missing_index(index);
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (!is_simhash_index(form))
		report_wrong_relation(form);
	if (form->relkind == RELKIND_PARTITIONED_INDEX && !may_be_partitioned)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partitioned index", NameStr(form->relname)),
				 errhint("Use the indexes of its partitions instead; pg_partition_tree lists them.")));
	ReleaseSysCache(tuple);

	table = IndexGetRelation(index, true);
	if (!OidIsValid(table))
		report_missing_index(index);
	return table;
}

/*
 * Report an error if this session cannot read an index now.  The index and its
 * table are open.
 */
void
shdup_check_state(Relation heap, Relation index)
{
	if (!RelationIsScannable(heap))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("materialized view \"%s\" has not been populated",
						RelationGetRelationName(heap)),
				 errhint("Use the REFRESH MATERIALIZED VIEW command.")));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
				 errhint("Use REINDEX INDEX to rebuild it, or repeat the query if REINDEX CONCURRENTLY has just replaced it.")));
	if (index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED && RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot access unlogged index \"%s\" during recovery",
						RelationGetRelationName(index))));
}

/*
 * The expressions or the predicate of an index, given its entry in pg_index, as the
 * catalog has them: nothing of them is evaluated.  NIL if there are none.
 */
List *
shdup_index_trees(HeapTuple index, AttrNumber catalog_column)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(INDEXRELID, index, catalog_column, &isnull);

	return isnull ? NIL : stringToNode(TextDatumGetCString(value));
}

/*
 * The columns of the table that an index uses, as offsets from
 * FirstLowInvalidHeapAttributeNumber.
 */
static Bitmapset *
get_columns(Oid indexoid)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(indexoid));
	Form_pg_index index;
	Bitmapset  *columns = NULL;

	if (!HeapTupleIsValid(tuple))
		report_missing_index(indexoid);
	index = (Form_pg_index) GETSTRUCT(tuple);
	for (int i = 0; i < index->indnatts; i++)
	{
		AttrNumber	column = index->indkey.values[i];

		if (column != 0)
			columns = bms_add_member(columns, column - FirstLowInvalidHeapAttributeNumber);
	}
	pull_varattnos((Node *) shdup_index_trees(tuple, Anum_pg_index_indexprs), 1, &columns);
	pull_varattnos((Node *) shdup_index_trees(tuple, Anum_pg_index_indpred), 1, &columns);
	ReleaseSysCache(tuple);
	return columns;
}

/*
 * Does the current user have SELECT on the table, or on all columns that are
 * shown: those that an index uses, and the system columns that name a row?
 */
static bool
may_select_columns(Oid table, Oid index)
{
	Oid			user = GetUserId();
	Bitmapset  *columns;
	int			member = -1;

	if (pg_class_aclcheck(table, user, ACL_SELECT) == ACLCHECK_OK)
		return true;

	columns = get_columns(index);
	columns = bms_add_member(columns, SelfItemPointerAttributeNumber -
							 FirstLowInvalidHeapAttributeNumber);
	columns = bms_add_member(columns, TableOidAttributeNumber -
							 FirstLowInvalidHeapAttributeNumber);
	while ((member = bms_next_member(columns, member)) >= 0)
	{
		AttrNumber	column = member + FirstLowInvalidHeapAttributeNumber;

		/* a whole-row reference requires SELECT on the whole table */
		if (column == InvalidAttrNumber ||
			pg_attribute_aclcheck(table, column, user, ACL_SELECT) != ACLCHECK_OK)
			return false;
	}
	return true;
}

/*
 * Report an error if the current user lacks privileges.
 *
 * An index is given by its OID, but nobody may do with it what could not be
 * done by a name, which USAGE on the schema allows to use.  It is in the schema
 * of its table.
 */
static void
check_access(Oid table, Oid index, ShDupAccess access)
{
	Oid			user = GetUserId();
	Oid			schema = get_rel_namespace(table);
	bool		allowed;

	if (!OidIsValid(schema))
		report_missing_index(index);
	if (!shcompat_may_use_schema(schema, user))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA, get_namespace_name(schema));

	if (access == SHDUP_ACCESS_OWNER)
	{
		if (!shcompat_owns_relation(index, user))
			aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, get_rel_name(index));
		return;
	}

	if (access == SHDUP_ACCESS_ROWS)
		allowed = may_select_columns(table, index);
	else
		allowed = pg_class_aclcheck(table, user, ACL_SELECT) == ACLCHECK_OK;
	if (!allowed)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));

	/* this may itself report an error, depending on row_security */
	if (access == SHDUP_ACCESS_ROWS &&
		check_enable_rls(table, InvalidOid, false) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("row-level security of table \"%s\" cannot be applied to a whole index",
						get_rel_name(table)),
				 errhint("Use a join with the condition a.fp <~> b.fp <= distance instead.")));
}

/*
 * The table of an index, if it is a simhash index that the current user may
 * access.  Otherwise reports an error.
 */
static Oid
check_index(Oid index, ShDupAccess access)
{
	Oid			table = table_of_index(index, access == SHDUP_ACCESS_ROWS);

	check_access(table, index, access);
	shdup_check_not_distributed(table, index);
	return table;
}

/*
 * Lock the table of an index and its partitions with AccessShareLock until the end of the
 * transaction, for a caller that opens several indexes with SHDUP_ACCESS_ROWS.  Reports
 * errors as shdup_open does.
 */
void
shdup_lock_table(Oid index)
{
	Oid			table = check_index(index, SHDUP_ACCESS_ROWS);

	LockRelationOid(table, AccessShareLock);
	/* as in shdup_open, before waiting for the partitions */
	if (check_index(index, SHDUP_ACCESS_ROWS) != table)
		report_missing_index(index);
	if (get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE)
		list_free(find_all_inheritors(table, AccessShareLock, NULL));
}

/*
 * Open an index and its table, both with AccessShareLock, and the table first,
 * as all other code does.
 *
 * Reports an error if it is not a valid simhash index that this session can
 * read, or if the current user lacks the privileges.  These are checked before
 * waiting for locks, so that nobody can block others without having
 * privileges.  With SHDUP_ACCESS_ROWS, the index may be partitioned; then it has nothing
 * to read except in its partitions (heaps.c).
 */
void
shdup_open(Oid indexoid, ShDupAccess access, ShDupOpened *target)
{
	Oid			heapoid = check_index(indexoid, access);

	/*
	 * either may be dropped, recreated, or get another owner before we lock
	 * it
	 */
	target->heap = try_table_open(heapoid, AccessShareLock);
	if (target->heap == NULL || check_index(indexoid, access) != heapoid)
		report_missing_index(indexoid);
	target->index = try_relation_open(indexoid, AccessShareLock);
	if (target->index == NULL)
		report_missing_index(indexoid);
	if (!shdup_is_partitioned(target->index))
		shdup_check_state(target->heap, target->index);

	/* TIDs that are returned stay valid as long as the locks are held */
	target->release = access == SHDUP_ACCESS_ROWS ? NoLock : AccessShareLock;
}

/*
 * Close both.  The locks are released, unless TIDs were returned
 * (SHDUP_ACCESS_ROWS): then they are kept until the end of the transaction, as
 * after a query.
 */
void
shdup_close(ShDupOpened *target)
{
	index_close(target->index, target->release);
	table_close(target->heap, target->release);
}

/*
 * Was a snapshot taken after an index was built?
 *
 * A snapshot of the transaction that built it may have been taken before, if
 * it is that of the whole transaction or of a cursor.  Otherwise its command
 * ID shows whether it was taken after the command that created the catalog
 * entry of the index; changes that others had committed by then are visible to
 * it.
 */
static bool
is_after_build(Snapshot snapshot, Relation index)
{
	HeapTupleHeader tuple = index->rd_indextuple->t_data;
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple);

	if (TransactionIdIsCurrentTransactionId(xmin))
		return !IsolationUsesXactSnapshot() &&
			HeapTupleHeaderGetCmin(tuple) < snapshot->curcid;
	return !XidInMVCCSnapshot(xmin, snapshot);
}

/*
 * May an index have been built again after a snapshot was taken?  REINDEX changes its row
 * in pg_class alone; so do commands that build nothing, which are not told apart.  Only
 * VACUUM FULL or CLUSTER of a catalog could hide a build from an older snapshot of a standby.
 */
static bool
is_changed_after(Snapshot snapshot, Relation index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(index)));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(index));
	result = XidInMVCCSnapshot(HeapTupleHeaderGetXmin(tuple->t_data), snapshot);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Report an error if the index may lack rows that the snapshot sees, because
 * it was built after the snapshot was taken.
 *
 * A build leaves out older row versions of HOT chains that it cannot
 * represent, and sets indcheckxmin in that case.  It also leaves out rows that no
 * snapshot of the primary sees, of which those of a standby may see some.
 */
void
shdup_check_snapshot(Relation index, Snapshot snapshot)
{
	bool		in_recovery = snapshot->takenDuringRecovery;

	if (!in_recovery && !index->rd_index->indcheckxmin)
		return;
	if (!is_after_build(snapshot, index) || (in_recovery && is_changed_after(snapshot, index)))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" was built after the snapshot of this query was taken",
						RelationGetRelationName(index)),
				 in_recovery ? errdetail("On a standby, an index that was altered counts as one that was built.") : 0));
}

/*
 * The table of which another was a partition when a snapshot was taken, or InvalidOid.
 */
static Oid
parent_at(Snapshot snapshot, Oid table)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			parent = InvalidOid;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, snapshot, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		parent = ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return parent;
}

/*
 * Had a table its file of now when a snapshot was taken, and was it a part of the table
 * whose index is searched?
 */
static bool
is_same_table(Snapshot snapshot, Relation heap, Oid root)
{
	Relation	catalog;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		result = false;

	for (Oid table = RelationGetRelid(heap); table != root;)
	{
		table = parent_at(snapshot, table);
		if (!OidIsValid(table))
			return false;
	}
	catalog = table_open(RelationRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationGetRelid(heap)));
	scan = systable_beginscan(catalog, ClassOidIndexId, true, snapshot, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		result = ((Form_pg_class) GETSTRUCT(tuple))->relfilenode == heap->rd_rel->relfilenode;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * Does a snapshot see any row of a table?
 */
static bool
sees_rows(Snapshot snapshot, Relation heap)
{
	TableScanDesc scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, false);
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	bool		result = table_scan_getnextslot(scan, ForwardScanDirection, slot);

	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return result;
}

/*
 * Report an error if a table, which is locked, may lack rows that the snapshot should see.
 * It is the root, whose index is searched, or a leaf partition of that.
 *
 * The snapshot is that of the query, which then waits for the lock.  TRUNCATE, and ALTER
 * TABLE if it changes each row, leave none of the rows of before, and the new ones are
 * invisible to the snapshot.  So are those of a table that has become a partition in place
 * of another, or a partition of one that has.  What copies rows as they are, such as VACUUM
 * FULL, leaves them visible.
 */
void
shdup_check_table(Relation heap, Oid root, Snapshot snapshot)
{
	/* GetLatestSnapshot may not be called in parallel mode */
	if (!is_same_table(snapshot, heap, root) && !sees_rows(snapshot, heap) && sees_rows(SnapshotSelf, heap))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("table \"%s\" was rewritten after the snapshot of this query was taken",
						RelationGetRelationName(heap)),
				 errdetail("A table that was created, or has become a partition, counts as one that was rewritten.")));
}

/*
 * Switch to the owner of a table, as REINDEX does.  Functions in the expressions of
 * an index are the owner's, and must not get the privileges of the caller.  An abort
 * undoes it automatically.
 */
void
shdup_become_owner(ShDupCaller *caller, Relation table)
{
	GetUserIdAndSecContext(&caller->user, &caller->security_context);
	SetUserIdAndSecContext(table->rd_rel->relowner,
						   caller->security_context | SECURITY_RESTRICTED_OPERATION);
	caller->guc_level = NewGUCNestLevel();
	shcompat_restrict_search_path();
}

/*
 * Switch back.
 */
void
shdup_become_caller(const ShDupCaller *caller)
{
	AtEOXact_GUC(false, caller->guc_level);
	SetUserIdAndSecContext(caller->user, caller->security_context);
}

/*
 * The name of a relation, as this session can write it; NULL if it is gone.
 */
char *
shdup_written_name(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = NULL;

	if (name == NULL)
		return NULL;
	if (!RelationIsVisible(relation))
		schema = get_namespace_name(get_rel_namespace(relation));
	return quote_qualified_identifier(schema, name);
}

/*
 * Does Citus distribute a table?  Its catalog of such tables is no system catalog, so
 * it may be dropped at any time.  If there is none, this is one syscache lookup.
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
shdup_check_not_distributed(Oid table, Oid index)
{
	if (is_distributed(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" belongs to a distributed table",
						get_rel_name(index)),
				 errdetail("Citus keeps the rows of table \"%s\" in shards, so this index has no entries.",
						   get_rel_name(table)),
				 errhint("Pass (SELECT array_agg(...) FROM %s) of the fingerprints, and the distance, to simhash_find_all_in or simhash_find_clusters_in, but not ARRAY(SELECT ...), which Citus evaluates in each shard by itself. Or search the index of each shard with run_command_on_shards.",
						 shdup_written_name(table))));
}
