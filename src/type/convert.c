/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Conversions of fingerprints that are used by several files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "utils/builtins.h"

#include "compat.h"
#include "type/convert.h"
#include "type/simhash.h"

const char *
shtype_skip_space(const char *input)
{
	while (isspace((unsigned char) *input))
		input++;
	return input;
}

ShTypeParseResult
shtype_parse(const char *input, const char **end, uint64 *fp)
{
	const char *p = shtype_skip_space(input);
	const char *digits;
	uint64		value = 0;
	bool		in_range = true;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
	{
		p += 2;
		digits = p;
		for (; isxdigit((unsigned char) *p); p++)
		{
			int			c = (unsigned char) *p;

			value = (value << 4) |
				(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
		}
		in_range = p - digits <= 16;
	}
	else
	{
		bool		negative = (*p == '-');

		if (*p == '-' || *p == '+')
			p++;
		digits = p;
		for (; *p >= '0' && *p <= '9'; p++)
		{
			int			digit = *p - '0';

			if (value > (PG_UINT64_MAX - digit) / 10)
				in_range = false;
			value = value * 10 + digit;
		}
		if (negative)
		{
			if (value > (uint64) PG_INT64_MAX + 1)
				in_range = false;
			value = 0 - value;
		}
	}

	*end = p;
	if (p == digits)
		return SHTYPE_PARSE_SYNTAX;
	if (!in_range)
		return SHTYPE_PARSE_RANGE;
	*fp = value;
	return SHTYPE_PARSE_OK;
}

int
shtype_print(uint64 fp, char *output)
{
	int			length = pg_ulltoa_n(fp, output);

	output[length] = '\0';
	return length;
}

VarBit *
shtype_to_bit(uint64 fp)
{
	VarBit	   *result = palloc(VARBITTOTALLEN(SHBITS_WIDTH));

	SET_VARSIZE(result, VARBITTOTALLEN(SHBITS_WIDTH));
	VARBITLEN(result) = SHBITS_WIDTH;
	for (int i = SHBITS_WIDTH / BITS_PER_BYTE - 1; i >= 0; i--)
	{
		VARBITS(result)[i] = (uint8) (fp & BITMASK);
		fp >>= BITS_PER_BYTE;
	}
	return result;
}
