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
 * Reports an error if it is not a valid simhash index that this session can
 * read, or if the user may not: with owner_only, who does not own it; else,
 * who may not select from the table.
 */
void
shinsp_open(Oid indexoid, bool owner_only, Relation *heap, Relation *index)
{
	Oid			heapoid = IndexGetRelation(indexoid, true);
	AclResult	acl;

	if (!OidIsValid(heapoid))
	{
		char	   *name = get_rel_name(indexoid);

		if (name == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("relation with OID %u does not exist", indexoid)));
		report_wrong_relation(name);
	}

	*heap = table_open(heapoid, AccessShareLock);
	*index = index_open(indexoid, AccessShareLock);

	if (heapoid != IndexGetRelation(indexoid, true))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open the table of index \"%s\"",
						RelationGetRelationName(*index))));

	/* a partitioned index has no storage, and no functions to tell it by */
	if ((*index)->rd_rel->relkind != RELKIND_INDEX ||
		(*index)->rd_indam->ambuild != shidx_build)
		report_wrong_relation(RelationGetRelationName(*index));

	if (owner_only)
	{
		if (!shcompat_owns_relation(indexoid, GetUserId()))
			aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(*index));
	}
	else
	{
		acl = pg_class_aclcheck(heapoid, GetUserId(), ACL_SELECT);
		if (acl != ACLCHECK_OK)
			aclcheck_error(acl, OBJECT_TABLE, RelationGetRelationName(*heap));
	}

	if (RELATION_IS_OTHER_TEMP(*index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (!(*index)->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(*index))));
	if ((*index)->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED && RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot access unlogged index \"%s\" during recovery",
						RelationGetRelationName(*index))));
}

/*
 * Close both, and give up the locks.
 */
void
shinsp_close(Relation heap, Relation index)
{
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
}
