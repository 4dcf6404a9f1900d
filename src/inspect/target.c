/*-------------------------------------------------------------------------
 *
 * target.c
 *	  Opening the index that an inspection function is given.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "index/am.h"
#include "inspect/target.h"

#include "compat.h"

static void
report_wrong_relation(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a simhash index", name)));
}

/*
 * Open an index and its table, both with AccessShareLock, the table first as
 * everybody does.
 *
 * Until shinsp_close the session acts as the owner of the table: functions in
 * the expressions of the index are his, and may be run.
 *
 * Reports an error if it is not a valid simhash index that this session can
 * read, or if the user may not: with owner_only, who does not own it; else,
 * who may not select from the table.
 */
void
shinsp_open(Oid indexoid, bool owner_only, ShInspTarget *target)
{
	Oid			heapoid = IndexGetRelation(indexoid, true);
	AclResult	acl;
	Relation	index;

	if (!OidIsValid(heapoid))
	{
		char	   *name = get_rel_name(indexoid);

		if (name == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("relation with OID %u does not exist", indexoid)));
		report_wrong_relation(name);
	}

	target->heap = table_open(heapoid, AccessShareLock);

	/* an abort restores all this by itself */
	GetUserIdAndSecContext(&target->user, &target->security_context);
	SetUserIdAndSecContext(target->heap->rd_rel->relowner,
						   target->security_context | SECURITY_RESTRICTED_OPERATION);
	target->guc_level = NewGUCNestLevel();
	shcompat_restrict_search_path();

	index = index_open(indexoid, AccessShareLock);
	target->index = index;

	if (heapoid != IndexGetRelation(indexoid, true))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open the table of index \"%s\"",
						RelationGetRelationName(index))));

	/* a partitioned index has no storage, and no functions to tell it by */
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		index->rd_indam->ambuild != shidx_build)
		report_wrong_relation(RelationGetRelationName(index));

	if (owner_only)
	{
		if (!shcompat_owns_relation(indexoid, target->user))
			aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(index));
	}
	else
	{
		acl = pg_class_aclcheck(heapoid, target->user, ACL_SELECT);
		if (acl != ACLCHECK_OK)
			aclcheck_error(acl, OBJECT_TABLE, RelationGetRelationName(target->heap));
	}

	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index))));
	if (index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED && RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot access unlogged index \"%s\" during recovery",
						RelationGetRelationName(index))));
}

/*
 * Close both, give up the locks, and act as the caller again.
 */
void
shinsp_close(ShInspTarget *target)
{
	index_close(target->index, AccessShareLock);
	table_close(target->heap, AccessShareLock);
	AtEOXact_GUC(false, target->guc_level);
	SetUserIdAndSecContext(target->user, target->security_context);
}
