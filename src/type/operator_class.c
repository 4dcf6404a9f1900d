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
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "type/operator_class.h"
#include "type/simhash.h"
#include "type/wide.h"

/* of simhash_io.c, ball.c and wide_io.c */
extern Datum simhash_in(PG_FUNCTION_ARGS);
extern Datum simhash_ball_in(PG_FUNCTION_ARGS);
extern Datum simhash_bits_ball_in(PG_FUNCTION_ARGS);

/*
 * Can values of a type be fingerprints of 64 bits, which are by value?
 */
bool
shtype_is_64_bits(Oid type)
{
	return get_typlen(type) == sizeof(uint64) && get_typbyval(type);
}

/*
 * Is the equality of a type that of its bits?  Fingerprints of a type such as float8,
 * where -0 equals 0, are found by distances only.
 */
static bool
is_equal_by_bits(Oid type)
{
	return type == INT8OID || shtype_has_input(type, sizeof(uint64), simhash_in);
}

/*
 * Can an index of values of the left type search for what is on the right side of an
 * operator of a strategy?  The values are fingerprints, unless there is a function that
 * computes those of values on both sides.  The index reads the right side as a ball, as
 * a fingerprint of the same type, or, if it is compared with a bigint, as a shorter
 * integer.
 *
 * A bigint and a simhash are the same to an index.
 */
bool
shtype_can_search(Oid function, Oid left, Oid right, int strategy)
{
	bool		wide;

	if (OidIsValid(function))
	{
		if (strategy != SIMHASH_STRATEGY_BALL)
			return left == right && strategy >= SIMHASH_STRATEGY_WITHIN;
		left = getBaseType(get_func_rettype(function));
	}
	wide = shtype_is_bits(left);
	if (!wide && !shtype_is_64_bits(left))
		return false;
	if (strategy == SIMHASH_STRATEGY_BALL)
		return wide ? shtype_has_input(right, -1, simhash_bits_ball_in) :
			shtype_has_input(right, sizeof(SimhashBall), simhash_ball_in);
	if (wide || !is_equal_by_bits(left))
		return left == right && (wide || strategy != SIMHASH_STRATEGY_EQUAL);
	return is_equal_by_bits(right) ||
		(strategy == SIMHASH_STRATEGY_EQUAL && (right == INT4OID || right == INT2OID));
}

/*
 * The number of bits of fingerprints of a type: 64 of one that has 64 bits by value,
 * n of simhash_bits(n), also as a domain.  0 if the type does not say it, or has no
 * fingerprints.
 */
int
shtype_fingerprint_width(Oid type, int32 typmod)
{
	type = getBaseTypeAndTypmod(type, &typmod);
	if (shtype_is_64_bits(type))
		return SHBITS_WIDTH;
	return shtype_is_bits(type) ? Max(typmod, 0) : 0;
}

/*
 * The same of those that a function returns.  What it returns has no type modifier,
 * so wide ones need a domain.
 */
int
shtype_function_width(Oid function)
{
	return shtype_fingerprint_width(get_func_rettype(function), -1);
}

/*
 * Can a function compute the fingerprints of the values of a type?
 */
bool
shtype_is_fingerprint_function(Oid function, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	Oid			argument;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	argument = form->pronargs == 1 ? form->proargtypes.values[0] : InvalidOid;
	result = form->prokind == PROKIND_FUNCTION && !form->proretset &&
		shtype_fingerprint_width(form->prorettype, -1) > 0 &&
		(argument == type || IsBinaryCoercible(type, argument)) &&
		form->provolatile == PROVOLATILE_IMMUTABLE;
	ReleaseSysCache(tuple);
	return result;
}

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
 * The operator of an operator family that computes fingerprints of the values of a
 * type that compares two of these by a radius, and this radius: of several operators
 * the one with the least.  InvalidOid if there is none.
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
		*radius = Min(SIMHASH_RADIUS_OF_STRATEGY(least),
					  shtype_function_width(shtype_fingerprint_function(family, type)));
	return result;
}
