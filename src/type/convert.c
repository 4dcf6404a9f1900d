/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Text forms of fingerprints and radii, for several files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "utils/builtins.h"

#include "compat.h"
#include "type/convert.h"

const char *
shtype_skip_space(const char *input)
{
	while (isspace((unsigned char) *input))
		input++;
	return input;
}

/* The value of a hexadecimal digit, or -1 if it is none. */
static inline int
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
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
		for (; digit_value(*p) >= 0; p++)
			value = (value << 4) | digit_value(*p);
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
	char	   *behind;
	long		value;

	errno = 0;
	value = strtol(input, &behind, 10);
	*end = behind;
	if (behind == input)
		return SHTYPE_PARSE_SYNTAX;
	if (errno == ERANGE || value != (int32) value)
		return SHTYPE_PARSE_RANGE;
	*radius = (int32) value;
	return SHTYPE_PARSE_OK;
}

int
shtype_print(ShFingerprint fp, char *output)
{
	int			length = pg_ulltoa_n(fp, output);

	output[length] = '\0';
	return length;
}

void
shtype_parse_hex(const char *input, const char **end, size_t *ndigits, uint8 *bytes)
{
	const char *digits = shtype_skip_space(input);
	const char *p;

	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		digits += 2;
	for (p = digits; digit_value(*p) >= 0; p++)
		;
	*end = p;
	*ndigits = p - digits;
	if (!shtype_is_hex_length(*ndigits))
		return;
	for (; digits < p; digits += 2)
		*bytes++ = digit_value(digits[0]) << 4 | digit_value(digits[1]);
}

int
shtype_hex_length_detail(size_t ndigits)
{
	if (ndigits == 0)
		return errdetail("There is no hexadecimal digit.");
	if (ndigits % 2 != 0)
		return errdetail("The number of hexadecimal digits is odd: %zu.", ndigits);
	return errdetail("There are %zu hexadecimal digits, and %d is the most.",
					 ndigits, 2 * SIMHASH_BITS_MAX_BYTES);
}

char *
shtype_print_hex(const uint8 *bytes, int nbytes, char *output)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < nbytes; i++)
	{
		*output++ = digits[bytes[i] >> 4];
		*output++ = digits[bytes[i] & 15];
	}
	return output;
}
