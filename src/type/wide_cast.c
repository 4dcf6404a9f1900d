/*-------------------------------------------------------------------------
 *
 * wide_cast.c
 *	  Casts between simhash_bits and bit, bytea and simhash.
 *
 * The cast to bytea needs no code, since the bytes are the same.  Those of bit
 * serve bit varying as well.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"
#include "utils/varbit.h"

#include "compat.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_bits_from_bit);
PG_FUNCTION_INFO_V1(simhash_bits_to_bit);
PG_FUNCTION_INFO_V1(simhash_bits_from_bytea);
PG_FUNCTION_INFO_V1(simhash_bits_from_simhash);
PG_FUNCTION_INFO_V1(simhash_bits_to_simhash);
PG_FUNCTION_INFO_V1(simhash_bits_count);

/*
 * simhash_bits_from_bit(bit) -> simhash_bits
 */
Datum
simhash_bits_from_bit(PG_FUNCTION_ARGS)
{
	VarBit	   *bits = PG_GETARG_VARBIT_P(0);
	int			width = VARBITLEN(bits);

	if (width < SIMHASH_BITS_MIN_WIDTH || width > SIMHASH_BITS_MAX_WIDTH ||
		width % BITS_PER_BYTE != 0)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("bit string length %d does not match type %s",
						width, "simhash_bits"),
				 errdetail(SHTYPE_WIDTH_DETAIL)));
	PG_RETURN_BYTEA_P(shtype_new_bits(VARBITS(bits), width / BITS_PER_BYTE));
}

/*
 * simhash_bits_to_bit(simhash_bits) -> bit
 */
Datum
simhash_bits_to_bit(PG_FUNCTION_ARGS)
{
	bytea	   *fp = PG_GETARG_SIMHASH_BITS(0);
	int			width = shtype_bits_width(fp);
	VarBit	   *result = palloc(VARBITTOTALLEN(width));

	SET_VARSIZE(result, VARBITTOTALLEN(width));
	VARBITLEN(result) = width;
	memcpy(VARBITS(result), shtype_bits_data(fp), shtype_bits_bytes(fp));
	PG_RETURN_VARBIT_P(result);
}

/*
 * simhash_bits_from_bytea(bytea) -> simhash_bits
 */
Datum
simhash_bits_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	int			length = VARSIZE_ANY_EXHDR(bytes);

	if (length < 1 || length > SIMHASH_BITS_MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("byte string length %d does not match type %s",
						length, "simhash_bits"),
				 errdetail(SHTYPE_WIDTH_DETAIL)));
	PG_RETURN_BYTEA_P(bytes);
}

/*
 * simhash_bits_from_simhash(simhash) -> simhash_bits
 */
Datum
simhash_bits_from_simhash(PG_FUNCTION_ARGS)
{
	uint64		bytes = pg_hton64(PG_GETARG_SIMHASH(0));

	PG_RETURN_BYTEA_P(shtype_new_bits(&bytes, sizeof(bytes)));
}

/*
 * simhash_bits_to_simhash(simhash_bits) -> simhash
 */
Datum
simhash_bits_to_simhash(PG_FUNCTION_ARGS)
{
	bytea	   *fp = PG_GETARG_SIMHASH_BITS(0);
	uint64		bytes;

	if (shtype_bits_width(fp) != SHBITS_WIDTH)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("fingerprint of %d bits does not match type %s",
						shtype_bits_width(fp), "simhash"),
				 errdetail("A fingerprint of this type has %d bits.", SHBITS_WIDTH)));
	memcpy(&bytes, shtype_bits_data(fp), sizeof(bytes));
	PG_RETURN_SIMHASH(pg_ntoh64(bytes));
}

/*
 * bit_count(simhash_bits) -> bigint
 */
Datum
simhash_bits_count(PG_FUNCTION_ARGS)
{
	static const uint8 zeros[SIMHASH_BITS_MAX_BYTES];
	bytea	   *fp = PG_GETARG_SIMHASH_BITS(0);

	PG_RETURN_INT64(shbits_kernels->bytes(shtype_bits_data(fp), zeros, shtype_bits_bytes(fp)));
}
