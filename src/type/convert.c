/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Conversions of fingerprints that are used by several files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "common/int.h"
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
shtype_parse(const char *input, const char **end, ShFingerprint *fp)
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

ShTypeParseResult
shtype_parse_radius(const char *input, const char **end, int32 *radius)
{
	const char *p = shtype_skip_space(input);
	const char *digits;
	bool		negative = (*p == '-');
	bool		in_range = true;
	int32		value = 0;

	if (*p == '-' || *p == '+')
		p++;
	digits = p;

	/*
	 * accumulate a negative number, since the least integer has no positive
	 * counterpart
	 */
	for (; *p >= '0' && *p <= '9'; p++)
	{
		if (pg_mul_s32_overflow(value, 10, &value) ||
			pg_sub_s32_overflow(value, *p - '0', &value))
			in_range = false;
	}

	*end = p;
	if (p == digits)
		return SHTYPE_PARSE_SYNTAX;
	if (!in_range || (!negative && value == PG_INT32_MIN))
		return SHTYPE_PARSE_RANGE;
	*radius = negative ? value : -value;
	return SHTYPE_PARSE_OK;
}

int
shtype_print(ShFingerprint fp, char *output)
{
	int			length = pg_ulltoa_n(fp, output);

	output[length] = '\0';
	return length;
}

VarBit *
shtype_to_bit(ShFingerprint fp)
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
