/*-------------------------------------------------------------------------
 *
 * open_index.c
 *	  Opening the index that is passed to a function, and running its functions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace_d.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "build/options.h"
#include "class/fingerprint.h"
#include "compat.h"
#include "rows/list_indexes.h"
#include "rows/open_index.h"

/*
 * Can a user create an index on a relation?
 */
static bool
can_be_indexed(Oid relation)
{
	char		relkind = get_rel_relkind(relation);

	return relation >= FirstNormalObjectId &&
		(relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE ||
		 relkind == RELKIND_MATVIEW);
}

/*
 * Report that a relation is not a simhash index.
 *
 * If it is a table with simhash indexes, or another index of such a table, the
 * hint names the simhash indexes.  Whoever names a view has its table in mind.
 */
static void
report_wrong_relation(Oid relation, const char *name)
{
	Oid			table = IndexGetRelation(relation, true);
	char	   *names;

	if (!OidIsValid(table))
		table = relation;
	names = shrows_list_indexes(table);

	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a simhash index", name),
			 names != NULL ?
			 errhint("Name a simhash index of the table: %s.", names) :
			 can_be_indexed(table) ?
			 errhint("The table has no simhash index.  Use CREATE INDEX ... USING simhash to create one.") :
			 table >= FirstNormalObjectId && get_rel_relkind(table) == RELKIND_VIEW ?
			 errhint("A view has no indexes.  Name a simhash index of the table that it reads.") : 0));
}

/*
 * Report that there is no relation with an OID.
 *
 * Views, and functions with a parsed body, store the OID of the index and
 * depend on it, so the index cannot be dropped while they exist.  But REINDEX
 * CONCURRENTLY replaces it by another index, with another OID.
 */
static void
report_missing(Oid relation)
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
get_table(Oid index, bool may_be_partitioned)
{
	char	   *name;
	char		relkind;
	Oid			table;

	if (!shrows_is_simhash_index(index, &name, &relkind))
	{
		if (name == NULL)
			report_missing(index);
		report_wrong_relation(index, name);
	}
	if (relkind == RELKIND_PARTITIONED_INDEX && !may_be_partitioned)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partitioned index", name),
				 errhint("Use the indexes of its partitions instead; pg_partition_tree lists them.")));

	table = IndexGetRelation(index, true);
	if (!OidIsValid(table))
		report_missing(index);
	return table;
}

/*
 * Report an error if this session cannot read an index now.  The index and its
 * table are open.
 */
void
shrows_check_state(Relation heap, Relation index)
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
				 errhint("Use REINDEX INDEX to rebuild it.")));
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
shrows_index_trees(HeapTuple index, AttrNumber catalog_column)
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
		report_missing(indexoid);
	index = (Form_pg_index) GETSTRUCT(tuple);
	for (int i = 0; i < index->indnatts; i++)
	{
		AttrNumber	column = index->indkey.values[i];

		if (column != 0)
			columns = bms_add_member(columns, column - FirstLowInvalidHeapAttributeNumber);
	}
	pull_varattnos((Node *) shrows_index_trees(tuple, Anum_pg_index_indexprs), 1, &columns);
	pull_varattnos((Node *) shrows_index_trees(tuple, Anum_pg_index_indpred), 1, &columns);
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
check_access(Oid table, Oid index, ShRowsAccess access)
{
	Oid			user = GetUserId();
	Oid			schema = get_rel_namespace(table);
	bool		allowed;

	if (!OidIsValid(schema))
		report_missing(index);
	if (!shcompat_may_use_schema(schema, user))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA, get_namespace_name(schema));

	if (access == SHROWS_ACCESS_OWNER)
	{
		if (!shcompat_owns_relation(index, user))
			aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, get_rel_name(index));
		return;
	}

	if (access == SHROWS_ACCESS_PAGES)
	{
		if (!has_privs_of_role(user, ROLE_PG_READ_SERVER_FILES))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied to read pages of an index"),
					 errdetail("Only superusers and roles with privileges of the \"%s\" role may do that.",
							   "pg_read_server_files")));
		return;
	}

	if (access == SHROWS_ACCESS_ROWS)
		allowed = may_select_columns(table, index);
	else
		allowed = pg_class_aclcheck(table, user, ACL_SELECT) == ACLCHECK_OK;
	if (!allowed)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));

	/* this may itself report an error, depending on row_security */
	if (access == SHROWS_ACCESS_ROWS &&
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
check_index(Oid index, ShRowsAccess access, bool may_be_partitioned)
{
	Oid			table = get_table(index, may_be_partitioned);

	check_access(table, index, access);
	shrows_check_not_distributed(table, index);
	return table;
}

/*
 * Are two indexes of a table, by their entries in pg_index, on the same columns
 * and the same rows?
 */
static bool
have_same_definition(HeapTuple a, HeapTuple b)
{
	static const AttrNumber vectors[] = {
		Anum_pg_index_indkey, Anum_pg_index_indcollation, Anum_pg_index_indclass
	};

	for (int i = 0; i < lengthof(vectors); i++)
	{
		bool		isnull;
		Datum		x = SysCacheGetAttr(INDEXRELID, a, vectors[i], &isnull);
		Datum		y = SysCacheGetAttr(INDEXRELID, b, vectors[i], &isnull);

		if (!datumIsEqual(x, y, false, -1))
			return false;
	}
	return equal(shrows_index_trees(a, Anum_pg_index_indexprs),
				 shrows_index_trees(b, Anum_pg_index_indexprs)) &&
		equal(shrows_index_trees(a, Anum_pg_index_indpred),
			  shrows_index_trees(b, Anum_pg_index_indpred));
}

static bool
are_alike(Oid index, Oid other)
{
	HeapTuple	a = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	HeapTuple	b = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(other));
	bool		result = HeapTupleIsValid(a) && HeapTupleIsValid(b) && have_same_definition(a, b);

	if (HeapTupleIsValid(a))
		ReleaseSysCache(a);
	if (HeapTupleIsValid(b))
		ReleaseSysCache(b);
	return result;
}

/*
 * If an index is not valid, open a valid one of the same definition and the
 * same options in its place, if there is one.  The table is open.
 *
 * REINDEX CONCURRENTLY puts a new index in the place of the old one.  A
 * statement that found the old one by its name may open it only afterwards,
 * when it is no longer valid.  The rows that are found are the same in both.
 * Once the table and a valid index are locked, the index stays usable until
 * they are unlocked, even if it is replaced meanwhile.
 */
void
shrows_replace_invalid(Relation heap, Relation *index)
{
	List	   *indexes;
	ListCell   *cell;

	if ((*index)->rd_index->indisvalid)
		return;
	indexes = RelationGetIndexList(heap);
	foreach(cell, indexes)
	{
		Relation	other;

		if (!are_alike(lfirst_oid(cell), RelationGetRelid(*index)))
			continue;
		other = try_relation_open(lfirst_oid(cell), AccessShareLock);
		if (other == NULL)
			continue;
		if (other->rd_index->indisvalid && shbld_have_same_options(other, *index))
		{
			relation_close(*index, AccessShareLock);
			*index = other;
			break;
		}
		relation_close(other, AccessShareLock);
	}
	list_free(indexes);
}

static void
open_with_table(Oid indexoid, ShRowsAccess access, bool may_be_partitioned,
				ShRowsOpened *target)
{
	Oid			heapoid = check_index(indexoid, access, may_be_partitioned);

	/*
	 * either may be dropped, recreated, or get another owner before we lock
	 * it
	 */
	target->heap = try_table_open(heapoid, AccessShareLock);
	if (target->heap == NULL || check_index(indexoid, access, may_be_partitioned) != heapoid)
		report_missing(indexoid);
	target->index = try_relation_open(indexoid, AccessShareLock);
	if (target->index == NULL)
		report_missing(indexoid);

	/* TIDs that are returned stay valid as long as the locks are held */
	target->release = access == SHROWS_ACCESS_ROWS ? NoLock : AccessShareLock;
}

/*
 * Open an index and its table, both with AccessShareLock, and the table first,
 * as all other code does.
 *
 * Reports an error if it is not a valid simhash index that this session can
 * read, or if the current user lacks the privileges.  These are checked before
 * waiting for locks, so that nobody can block others without having
 * privileges.
 */
void
shrows_open(Oid indexoid, ShRowsAccess access, ShRowsOpened *target)
{
	open_with_table(indexoid, access, false, target);
	shrows_check_state(target->heap, target->index);
}

/*
 * The same for an index that may be partitioned, with SHROWS_ACCESS_ROWS.  A
 * partitioned index has nothing to read except in its partitions
 * (shrows_open_partitions).
 */
void
shrows_open_named(Oid indexoid, ShRowsOpened *target)
{
	open_with_table(indexoid, SHROWS_ACCESS_ROWS, true, target);
	if (target->index->rd_rel->relkind != RELKIND_PARTITIONED_INDEX)
	{
		shrows_replace_invalid(target->heap, &target->index);
		shrows_check_state(target->heap, target->index);
	}
}

/*
 * Close both.  The locks are released, unless TIDs were returned
 * (SHROWS_ACCESS_ROWS): then they are kept until the end of the transaction, as
 * after a query.
 */
void
shrows_close(ShRowsOpened *target)
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
 * Report an error if the index may lack rows that the snapshot sees, because
 * it was built after the snapshot was taken.
 *
 * A build leaves out older row versions of HOT chains that it cannot
 * represent, and sets indcheckxmin in that case.
 */
void
shrows_check_snapshot(Relation index, Snapshot snapshot)
{
	if (index->rd_index->indcheckxmin && !is_after_build(snapshot, index))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" was built after the snapshot of this query was taken",
						RelationGetRelationName(index))));
}

/*
 * Switch to the owner of a table, as REINDEX does.  Functions in the expressions of
 * an index are the owner's, and must not get the privileges of the caller.  An abort
 * undoes it automatically.
 */
void
shrows_become_owner(ShRowsCaller *caller, Relation table)
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
shrows_become_caller(const ShRowsCaller *caller)
{
	AtEOXact_GUC(false, caller->guc_level);
	SetUserIdAndSecContext(caller->user, caller->security_context);
}
