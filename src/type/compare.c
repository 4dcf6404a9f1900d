/*-------------------------------------------------------------------------
 *
 * compare.c
 *	  Order, equality and hashing of fingerprints, as unsigned integers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"
#include "utils/sortsupport.h"

#include "type/hash.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_eq);
PG_FUNCTION_INFO_V1(simhash_ne);
PG_FUNCTION_INFO_V1(simhash_lt);
PG_FUNCTION_INFO_V1(simhash_le);
PG_FUNCTION_INFO_V1(simhash_gt);
PG_FUNCTION_INFO_V1(simhash_ge);
PG_FUNCTION_INFO_V1(simhash_cmp);
PG_FUNCTION_INFO_V1(simhash_sortsupport);
PG_FUNCTION_INFO_V1(simhash_hash_value);
PG_FUNCTION_INFO_V1(simhash_hash_value_extended);
PG_FUNCTION_INFO_V1(simhash_smaller);
PG_FUNCTION_INFO_V1(simhash_larger);

Datum
simhash_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(PG_GETARG_SIMHASH(0) == PG_GETARG_SIMHASH(1));
}

Datum
simhash_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(PG_GETARG_SIMHASH(0) != PG_GETARG_SIMHASH(1));
}

Datum
simhash_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(PG_GETARG_SIMHASH(0) < PG_GETARG_SIMHASH(1));
}

Datum
simhash_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(PG_GETARG_SIMHASH(0) <= PG_GETARG_SIMHASH(1));
}

Datum
simhash_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(PG_GETARG_SIMHASH(0) > PG_GETARG_SIMHASH(1));
}

Datum
simhash_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(PG_GETARG_SIMHASH(0) >= PG_GETARG_SIMHASH(1));
}

Datum
simhash_cmp(PG_FUNCTION_ARGS)
{
	ShFingerprint a = PG_GETARG_SIMHASH(0);
	ShFingerprint b = PG_GETARG_SIMHASH(1);

	PG_RETURN_INT32((a > b) - (a < b));
}

/* The server's own comparator, for which its sort has a fast path. */
Datum
simhash_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	ssup->comparator = ssup_datum_unsigned_cmp;
	PG_RETURN_VOID();
}

static uint64
hash_of(ShFingerprint fp, uint64 seed)
{
	uint64		bytes = pg_hton64(fp);

	return shtype_hash_seeded(&bytes, sizeof(bytes), seed);
}

Datum
simhash_hash_value(PG_FUNCTION_ARGS)
{
	return UInt32GetDatum((uint32) hash_of(PG_GETARG_SIMHASH(0), 0));
}

Datum
simhash_hash_value_extended(PG_FUNCTION_ARGS)
{
	return UInt64GetDatum(hash_of(PG_GETARG_SIMHASH(0), (uint64) PG_GETARG_INT64(1)));
}

Datum
simhash_smaller(PG_FUNCTION_ARGS)
{
	ShFingerprint a = PG_GETARG_SIMHASH(0);
	ShFingerprint b = PG_GETARG_SIMHASH(1);

	PG_RETURN_SIMHASH(Min(a, b));
}

Datum
simhash_larger(PG_FUNCTION_ARGS)
{
	ShFingerprint a = PG_GETARG_SIMHASH(0);
	ShFingerprint b = PG_GETARG_SIMHASH(1);

	PG_RETURN_SIMHASH(Max(a, b));
}
