/*-------------------------------------------------------------------------
 *
 * compare.c
 *	  Hashing of fingerprints, and what the server has no function for in their
 *	  order.
 *
 * Fingerprints of 64 bits are compared as unsigned integers by the server's
 * functions for xid8, wide ones by those for bytea.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"
#include "utils/sortsupport.h"

#include "type/hash.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_sortsupport);
PG_FUNCTION_INFO_V1(simhash_hash_value);
PG_FUNCTION_INFO_V1(simhash_hash_value_extended);
PG_FUNCTION_INFO_V1(simhash_bits_hash_value);
PG_FUNCTION_INFO_V1(simhash_bits_hash_value_extended);
PG_FUNCTION_INFO_V1(simhash_bits_smaller);
PG_FUNCTION_INFO_V1(simhash_bits_larger);

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

/*
 * The hash of the fingerprint of a call.  Like comparisons, it gives memory back.
 */
static uint64
hash_fingerprint(FunctionCallInfo fcinfo, uint64 seed)
{
	bytea	   *fp = PG_GETARG_SIMHASH_BITS(0);
	uint64		hash = shtype_hash_seeded(shtype_bits_data(fp), shtype_bits_bytes(fp), seed);

	PG_FREE_IF_COPY(fp, 0);
	return hash;
}

Datum
simhash_bits_hash_value(PG_FUNCTION_ARGS)
{
	return UInt32GetDatum((uint32) hash_fingerprint(fcinfo, 0));
}

Datum
simhash_bits_hash_value_extended(PG_FUNCTION_ARGS)
{
	return UInt64GetDatum(hash_fingerprint(fcinfo, (uint64) PG_GETARG_INT64(1)));
}

static int
compare(const bytea *a, const bytea *b)
{
	return shtype_compare_bytes(shtype_bits_data(a), shtype_bits_bytes(a),
								shtype_bits_data(b), shtype_bits_bytes(b));
}

/*
 * simhash_bits_smaller(simhash_bits, simhash_bits) -> simhash_bits
 */
Datum
simhash_bits_smaller(PG_FUNCTION_ARGS)
{
	bytea	   *a = PG_GETARG_SIMHASH_BITS(0);
	bytea	   *b = PG_GETARG_SIMHASH_BITS(1);

	PG_RETURN_BYTEA_P(compare(a, b) <= 0 ? a : b);
}

/*
 * simhash_bits_larger(simhash_bits, simhash_bits) -> simhash_bits
 */
Datum
simhash_bits_larger(PG_FUNCTION_ARGS)
{
	bytea	   *a = PG_GETARG_SIMHASH_BITS(0);
	bytea	   *b = PG_GETARG_SIMHASH_BITS(1);

	PG_RETURN_BYTEA_P(compare(a, b) >= 0 ? a : b);
}
