/*-------------------------------------------------------------------------
 *
 * compare.c
 *	  Order, equality and hashing of fingerprints, as unsigned integers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/sortsupport.h"

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

Datum
simhash_hash_value(PG_FUNCTION_ARGS)
{
	ShFingerprint fp = PG_GETARG_SIMHASH(0);

	return UInt32GetDatum(hash_bytes((const unsigned char *) &fp, sizeof(fp)));
}

Datum
simhash_hash_value_extended(PG_FUNCTION_ARGS)
{
	ShFingerprint fp = PG_GETARG_SIMHASH(0);
	uint64		seed = DatumGetUInt64(PG_GETARG_DATUM(1));

	return UInt64GetDatum(hash_bytes_extended((const unsigned char *) &fp,
											  sizeof(fp), seed));
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
