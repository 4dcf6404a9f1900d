/*-------------------------------------------------------------------------
 *
 * cast.c
 *	  Casts between fingerprints and numeric, bit and bytea, and between those of
 *	  64 bits and wide ones; and how many bits they have.
 *
 * The cast between simhash and bigint is binary-coercible and needs no code, those
 * from smaller integers and to bytea are the server's of bigint.  So is that
 * between simhash_bits and bytea, but for a check of the length.  Casts of bit
 * serve bit varying as well.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/varbit.h"

#include "compat.h"
#include "type/convert.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_from_numeric);
PG_FUNCTION_INFO_V1(simhash_to_numeric);
PG_FUNCTION_INFO_V1(simhash_from_bit);
PG_FUNCTION_INFO_V1(simhash_to_bit);
PG_FUNCTION_INFO_V1(simhash_from_bytea);
PG_FUNCTION_INFO_V1(simhash_bits_from_bit);
PG_FUNCTION_INFO_V1(simhash_bits_to_bit);
PG_FUNCTION_INFO_V1(simhash_bits_from_bytea);
PG_FUNCTION_INFO_V1(simhash_bits_from_simhash);
PG_FUNCTION_INFO_V1(simhash_bits_to_simhash);
PG_FUNCTION_INFO_V1(simhash_bits_count);
PG_FUNCTION_INFO_V1(simhash_bits_length);

/*
 * simhash_from_numeric(numeric) -> simhash
 *
 * This uses the text form, which is exact: a sign, digits, and after the
 * decimal point as many more digits as the scale of the value.
 */
Datum
simhash_from_numeric(PG_FUNCTION_ARGS)
{
	Numeric		value = PG_GETARG_NUMERIC(0);
	const char *end;
	ShFingerprint fp = 0;
	ShTypeParseResult result;
	char	   *text;

	if (numeric_is_nan(value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("cannot convert NaN to %s", "simhash")));
	if (numeric_is_inf(value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("cannot convert infinity to %s", "simhash")));

	text = DatumGetCString(DirectFunctionCall1(numeric_out,
											   NumericGetDatum(value)));

	result = shtype_parse(text, &end, &fp);
	if (*end == '.' && end[1 + strspn(end + 1, "0")] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("cannot convert a number with a fraction to %s",
						"simhash")));
	if (result != SHTYPE_PARSE_OK)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%s out of range", "simhash"),
				 errdetail("The number must be from -9223372036854775808 to 18446744073709551615.")));
	pfree(text);

	PG_RETURN_SIMHASH(fp);
}

/*
 * simhash_to_numeric(simhash) -> numeric
 */
Datum
simhash_to_numeric(PG_FUNCTION_ARGS)
{
	ShFingerprint fp = PG_GETARG_SIMHASH(0);
	char		digits[SHTYPE_DECIMAL_SIZE];

	/* most values exceed bigint, which the server could convert faster */
	shtype_print(fp, digits);
	return DirectFunctionCall3(numeric_in,
							   CStringGetDatum(digits),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/*
 * simhash_from_bit(bit) -> simhash
 */
Datum
simhash_from_bit(PG_FUNCTION_ARGS)
{
	VarBit	   *bits = PG_GETARG_VARBIT_P(0);

	if (VARBITLEN(bits) != SHBITS_WIDTH)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("bit string length %d does not match type %s",
						VARBITLEN(bits), "simhash"),
				 errdetail("A fingerprint has %d bits.", SHBITS_WIDTH)));

	return DirectFunctionCall1(bittoint8, VarBitPGetDatum(bits));
}

/*
 * simhash_to_bit(simhash) -> bit
 */
Datum
simhash_to_bit(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall2(bitfromint8, PG_GETARG_DATUM(0), Int32GetDatum(SHBITS_WIDTH));
}

/*
 * simhash_from_bytea(bytea) -> simhash
 *
 * The first byte is the most significant one, as tools write fingerprints and as
 * simhash_send does.
 */
Datum
simhash_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	int			length = VARSIZE_ANY_EXHDR(bytes);
	ShFingerprint fp;

	if (length != sizeof(fp))
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("byte string length %d does not match type %s",
						length, "simhash"),
				 errdetail("A fingerprint has %d bytes.", (int) sizeof(fp))));

	/* they need not be aligned */
	memcpy(&fp, VARDATA_ANY(bytes), sizeof(fp));
	PG_RETURN_SIMHASH(pg_ntoh64(fp));
}

/*
 * simhash_bits_from_bit(bit) -> simhash_bits
 */
Datum
simhash_bits_from_bit(PG_FUNCTION_ARGS)
{
	VarBit	   *bits = PG_GETARG_VARBIT_P(0);
	int			width = VARBITLEN(bits);

	if (!shtype_is_width(width))
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

/*
 * length(simhash_bits) -> integer
 */
Datum
simhash_bits_length(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(shtype_bits_width(PG_GETARG_SIMHASH_BITS(0)));
}
