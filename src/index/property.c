/*-------------------------------------------------------------------------
 *
 * property.c
 *	  Properties of an index that depend on its operator class.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "index/am.h"

/*
 * amproperty
 *
 * A column can be ordered by distance if its operator family has the operator
 * for that.
 */
bool
shidx_property(Oid index_oid, int attno, IndexAMProperty prop,
			   const char *propname, bool *res, bool *isnull)
{
	Oid			opclass;

	if (prop != AMPROP_DISTANCE_ORDERABLE || attno == 0)
		return false;

	opclass = get_index_column_opclass(index_oid, attno);
	if (!OidIsValid(opclass))
	{
		*isnull = true;
		return true;
	}
	*res = OidIsValid(get_opfamily_member(get_opclass_family(opclass),
										  get_opclass_input_type(opclass),
										  get_opclass_input_type(opclass),
										  SHIDX_STRATEGY_DISTANCE));
	return true;
}
