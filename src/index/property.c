/*-------------------------------------------------------------------------
 *
 * property.c
 *	  Properties of an index that depend on its operator class.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "index/am.h"

/*
 * Is a column the last one of an index, that of the fingerprint?
 */
static bool
is_last_column(Oid index, int attno)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = attno == ((Form_pg_index) GETSTRUCT(tuple))->indnkeyatts;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * amproperty: properties of a column
 *
 * The last column supports ordering by distance, if its operator family has
 * the ordering operator.
 */
bool
shidx_property(Oid index_oid, int attno, IndexAMProperty prop,
			   const char *propname, bool *res, bool *isnull)
{
	Oid			opclass;
	Oid			type;

	if (prop != AMPROP_DISTANCE_ORDERABLE || attno == 0)
		return false;

	opclass = get_index_column_opclass(index_oid, attno);
	if (!OidIsValid(opclass))
	{
		*isnull = true;
		return true;
	}
	type = get_opclass_input_type(opclass);
	*res = is_last_column(index_oid, attno) &&
		OidIsValid(get_opfamily_member(get_opclass_family(opclass), type, type,
									   SIMHASH_STRATEGY_DISTANCE));
	return true;
}
