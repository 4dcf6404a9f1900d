/*-------------------------------------------------------------------------
 *
 * hash_strings.c
 *	  Hash functions of names and of blank-padded strings, for columns before
 *	  the fingerprint.
 *
 * Values that are equal must have the same hash.  Under a nondeterministic
 * collation the server's own functions for these types do not see to that.
 * Here the hash is that of the text which the server compares.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "compat.h"

PG_FUNCTION_INFO_V1(simhash_hash_bpchar);
PG_FUNCTION_INFO_V1(simhash_hash_name);

/*
 * Hash a string with the collation and the seed of a call.
 */
static Datum
hash_string(FunctionCallInfo fcinfo, const char *string, int length)
{
	text	   *value = cstring_to_text_with_len(string, length);
	Datum		hash = DirectFunctionCall2Coll(hashtextextended, PG_GET_COLLATION(),
											   PointerGetDatum(value), PG_GETARG_DATUM(1));

	pfree(value);
	return hash;
}

/*
 * simhash_hash_bpchar(character, bigint) -> bigint
 *
 * Trailing blanks do not count in a comparison, but under a nondeterministic
 * collation hashbpcharextended of server version 15 hashes them.
 */
Datum
simhash_hash_bpchar(PG_FUNCTION_ARGS)
{
	BpChar	   *value = PG_GETARG_BPCHAR_PP(0);
	char	   *string = VARDATA_ANY(value);
	Datum		hash = hash_string(fcinfo, string, bpchartruelen(string, VARSIZE_ANY_EXHDR(value)));

	PG_FREE_IF_COPY(value, 0);
	return hash;
}

/*
 * simhash_hash_name(name, bigint) -> bigint
 *
 * The server's hashnameextended ignores the collation, so that under a
 * nondeterministic collation a name would have another hash than the texts that
 * are equal to it.
 */
Datum
simhash_hash_name(PG_FUNCTION_ARGS)
{
	const char *string = NameStr(*PG_GETARG_NAME(0));

	return hash_string(fcinfo, string, strlen(string));
}
