/*-------------------------------------------------------------------------
 *
 * simhash_io.c
 *	  Input and output of the type simhash.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "compat.h"
#include "type/convert.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_in);
PG_FUNCTION_INFO_V1(simhash_out);
PG_FUNCTION_INFO_V1(simhash_recv);
PG_FUNCTION_INFO_V1(simhash_send);
PG_FUNCTION_INFO_V1(simhash_to_hex);

Datum
simhash_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	const char *end;
	uint64		fp = 0;
	ShTypeParseResult result;

	result = shtype_parse(input, &end, &fp);
	if (result == SHTYPE_PARSE_SYNTAX || *shtype_skip_space(end) != '\0')
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"simhash", input)));
	if (result == SHTYPE_PARSE_RANGE)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type %s",
						input, "simhash")));

	PG_RETURN_SIMHASH(fp);
}

Datum
simhash_out(PG_FUNCTION_ARGS)
{
	uint64		fp = PG_GETARG_SIMHASH(0);
	char	   *output = palloc(SHTYPE_DECIMAL_SIZE);

	shtype_print(fp, output);
	PG_RETURN_CSTRING(output);
}

Datum
simhash_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);

	PG_RETURN_SIMHASH(pq_getmsgint64(buf));
}

Datum
simhash_send(PG_FUNCTION_ARGS)
{
	uint64		fp = PG_GETARG_SIMHASH(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, fp);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

Datum
simhash_to_hex(PG_FUNCTION_ARGS)
{
	static const char hex_digits[] = "0123456789abcdef";
	uint64		fp = PG_GETARG_SIMHASH(0);
	char		output[16];

	for (int i = 15; i >= 0; i--)
	{
		output[i] = hex_digits[fp & 15];
		fp >>= 4;
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(output, sizeof(output)));
}
