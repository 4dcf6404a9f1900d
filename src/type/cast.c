/*-------------------------------------------------------------------------
 *
 * cast.c
 *	  Casts between simhash and integer, numeric, bit and bytea.
 *
 * The cast between simhash and bigint is binary-coercible and needs no code, and
 * that to bytea is simhash_send.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "compat.h"
#include "type/convert.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_from_int2);
PG_FUNCTION_INFO_V1(simhash_from_int4);
PG_FUNCTION_INFO_V1(simhash_from_numeric);
PG_FUNCTION_INFO_V1(simhash_to_numeric);
PG_FUNCTION_INFO_V1(simhash_from_bit);
PG_FUNCTION_INFO_V1(simhash_to_bit);
PG_FUNCTION_INFO_V1(simhash_from_bytea);

/*
 * simhash_from_int2(smallint) -> simhash
 *
 * The same as a cast by way of bigint: the sign fills the upper bits.
 */
Datum
simhash_from_int2(PG_FUNCTION_ARGS)
{
	int16		value = PG_GETARG_INT16(0);

	PG_RETURN_SIMHASH((uint64) (int64) value);
}

/*
 * simhash_from_int4(integer) -> simhash
 *
 * Likewise.
 */
Datum
simhash_from_int4(PG_FUNCTION_ARGS)
{
	int32		value = PG_GETARG_INT32(0);

	PG_RETURN_SIMHASH((uint64) (int64) value);
}

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
	ShFingerprint fp = 0;

	if (VARBITLEN(bits) != SHBITS_WIDTH)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("bit string length %d does not match type %s",
						VARBITLEN(bits), "simhash"),
				 errdetail("A fingerprint has %d bits.", SHBITS_WIDTH)));

	for (int i = 0; i < SHBITS_WIDTH / BITS_PER_BYTE; i++)
		fp = (fp << BITS_PER_BYTE) | VARBITS(bits)[i];

	PG_RETURN_SIMHASH(fp);
}

/*
 * simhash_to_bit(simhash) -> bit
 */
Datum
simhash_to_bit(PG_FUNCTION_ARGS)
{
	ShFingerprint fp = PG_GETARG_SIMHASH(0);

	PG_RETURN_VARBIT_P(shtype_to_bit(fp));
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
