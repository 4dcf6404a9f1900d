/*-------------------------------------------------------------------------
 *
 * simhash_io.c
 *	  Input and output of the type simhash, whose binary form is that of bigint.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "compat.h"
#include "type/convert.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_in);
PG_FUNCTION_INFO_V1(simhash_out);

/*
 * The hint for what is no fingerprint, or 0 for no hint.  Called within
 * ereport, for its effect.
 *
 * What people write in the place of one is its hex digits as to_hex and other
 * tools print them, or the document itself.
 */
static int
hint_at_syntax(const char *input)
{
	const char *digits = shtype_skip_space(input);
	bool		is_hex = digits[0] == '\\' && digits[1] == 'x';
	const char *letter;
	int			length;

	if (is_hex)
		digits += 2;
	letter = strpbrk(digits, "abcdefABCDEF");
	length = strspn(digits, "0123456789abcdefABCDEF");
	is_hex |= letter != NULL && letter < digits + length;
	is_hex &= *shtype_skip_space(digits + length) == '\0';
	if (is_hex && length > 16 && shtype_is_hex_length(length))
		return errhint("%d hexadecimal digits are a fingerprint of type simhash_bits(%d).",
					   length, length * 4);
	if (is_hex && length > 0 && length <= 16)
		return errhint("Hexadecimal digits need 0x before them: \"0x%.*s\".",
					   length, digits);

	for (const char *p = input; *p != '\0'; p++)
	{
		if (IS_HIGHBIT_SET(*p) || isalpha((unsigned char) *p))
			return errhint("To compute the fingerprint of a text, call simhash_minhash or simhash_compute.");
	}
	return 0;
}

/*
 * simhash_in(cstring) -> simhash
 */
Datum
simhash_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	const char *end;
	ShFingerprint fp = 0;
	ShTypeParseResult result;

	result = shtype_parse(input, &end, &fp);
	if (result == SHTYPE_PARSE_SYNTAX || *shtype_skip_space(end) != '\0')
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"simhash", input),
				 hint_at_syntax(input)));
	if (result == SHTYPE_PARSE_RANGE)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type %s",
						input, "simhash"),
				 errdetail(SHTYPE_RANGE_DETAIL)));

	PG_RETURN_SIMHASH(fp);
}

/*
 * simhash_out(simhash) -> cstring
 */
Datum
simhash_out(PG_FUNCTION_ARGS)
{
	ShFingerprint fp = PG_GETARG_SIMHASH(0);
	char	   *output = palloc(SHTYPE_DECIMAL_SIZE);

	shtype_print(fp, output);
	PG_RETURN_CSTRING(output);
}
