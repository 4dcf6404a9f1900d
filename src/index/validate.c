/*-------------------------------------------------------------------------
 *
 * validate.c
 *	  Checking operator classes and their members.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "index/am.h"

/*
 * Is something wrong with a member of the family?  Says so at level INFO.
 */
static bool
validate_operator(Form_pg_amop member, const char *family)
{
	const char *name = format_operator(member->amopopr);
	Oid			result_type = BOOLOID;
	bool		valid_purpose;
	bool		result = true;

	if (member->amopstrategy < 1 || member->amopstrategy > SHIDX_NUM_STRATEGIES)
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator family \"%s\" of access method %s contains operator %s with invalid strategy number %d",
						family, "simhash", name, member->amopstrategy)));
		result = false;
	}
	if (member->amopstrategy == SHIDX_STRATEGY_DISTANCE)
	{
		/* the distances of an ordered scan ascend as integers do */
		result_type = INT4OID;
		valid_purpose = member->amoppurpose == AMOP_ORDER &&
			opfamily_can_sort_type(member->amopsortfamily, INT4OID);
	}
	else
		valid_purpose = member->amoppurpose == AMOP_SEARCH &&
			!OidIsValid(member->amopsortfamily);
	if (!valid_purpose)
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator family \"%s\" of access method %s contains invalid ORDER BY specification for operator %s",
						family, "simhash", name)));
		result = false;
	}
	if (!check_amop_signature(member->amopopr, result_type,
							  member->amoplefttype, member->amoprighttype) ||
		(member->amopstrategy != SHIDX_STRATEGY_BALL &&
		 member->amoplefttype != member->amoprighttype))
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator family \"%s\" of access method %s contains operator %s with wrong signature",
						family, "simhash", name)));
		result = false;
	}
	return result;
}

/*
 * amvalidate
 */
bool
shidx_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;
	CatCList   *operators;
	CatCList   *functions;
	HeapTuple	family_tuple;
	const char *family;
	bool		result = true;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	family_tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(form->opcfamily));
	if (!HeapTupleIsValid(family_tuple))
		elog(ERROR, "cache lookup failed for operator family %u", form->opcfamily);
	family = NameStr(((Form_pg_opfamily) GETSTRUCT(family_tuple))->opfname);

	/* the entries of the index are 64 bits by value, whatever the type */
	if (get_typlen(form->opcintype) != sizeof(uint64) || !get_typbyval(form->opcintype))
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class \"%s\" of access method %s has input type %s, which is not 64 bits by value",
						NameStr(form->opcname), "simhash", format_type_be(form->opcintype))));
		result = false;
	}

	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(form->opcfamily));
	for (int i = 0; i < operators->n_members; i++)
	{
		HeapTuple	member = &operators->members[i]->tuple;

		result &= validate_operator((Form_pg_amop) GETSTRUCT(member), family);
	}

	functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(form->opcfamily));
	if (functions->n_members > 0)
	{
		ereport(INFO,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator family \"%s\" of access method %s contains support functions, which it does not use",
						family, "simhash")));
		result = false;
	}

	ReleaseCatCacheList(functions);
	ReleaseCatCacheList(operators);
	ReleaseSysCache(family_tuple);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * amadjustmembers
 *
 * How the members depend on each other is left as the server has it.  But one
 * that is added to the family of an extension, and is not part of one, is lost
 * in a dump, and with it what needs it, such as an exclusion constraint: warn.
 */
void
shidx_adjust_members(Oid family, Oid opclass, List *operators, List *functions)
{
	char	   *extension;

	if (creating_extension || OidIsValid(opclass))
		return;
	extension = get_extension_name(getExtensionOfObject(OperatorFamilyRelationId, family));
	if (extension == NULL)
		return;

	ereport(WARNING,
			(errmsg("operators that are added to an operator family of extension \"%s\" are not dumped",
					extension),
			 errdetail("Indexes and constraints that use them cannot be restored from a dump by pg_dump."),
			 errhint("Create an operator class of your own, which is dumped.")));
}
