/*-------------------------------------------------------------------------
 *
 * hash_name.c
 *	  Hash function of names, for columns before the fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(simhash_hash_name);

/*
 * simhash_hash_name(name, bigint) -> bigint
 *
 * Hashes a name like a text, with the collation.  The server's
 * hashnameextended ignores the collation, so that under a nondeterministic
 * collation a name would have another hash than the texts that are equal to
 * it.
 */
Datum
simhash_hash_name(PG_FUNCTION_ARGS)
{
	text	   *value = cstring_to_text(NameStr(*PG_GETARG_NAME(0)));
	Datum		hash = DirectFunctionCall2Coll(hashtextextended, PG_GET_COLLATION(),
											   PointerGetDatum(value), PG_GETARG_DATUM(1));

	pfree(value);
	return hash;
}
