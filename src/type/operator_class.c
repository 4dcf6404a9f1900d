/*-------------------------------------------------------------------------
 *
 * operator_class.c
 *	  What the operator class of an index says of fingerprints.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "type/operator_class.h"
#include "type/simhash.h"

/*
 * The function that computes the fingerprint of a value of a type; InvalidOid
 * if values are fingerprints.
 */
Oid
shtype_fingerprint_function(Oid family, Oid type)
{
	return get_opfamily_proc(family, type, type, SIMHASH_FINGERPRINT_PROC);
}

/*
 * The operator of an operator family that compares two values of a type by a
 * radius, and this radius: of several operators the one with the least.
 * InvalidOid if there is none.
 */
Oid
shtype_near_operator(Oid family, Oid type, int *radius)
{
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	int			least = 0;
	Oid			result = InvalidOid;

	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		if (member->amoplefttype == type && member->amoprighttype == type &&
			member->amopstrategy >= SIMHASH_STRATEGY_WITHIN &&
			(least == 0 || member->amopstrategy < least))
		{
			least = member->amopstrategy;
			result = member->amopopr;
		}
	}
	ReleaseCatCacheList(operators);
	if (OidIsValid(result))
		*radius = Min(SIMHASH_RADIUS_OF_STRATEGY(least), SHBITS_WIDTH);
	return result;
}
