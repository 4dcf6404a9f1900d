/*-------------------------------------------------------------------------
 *
 * hex.c
 *	  The text form of a wide fingerprint: hexadecimal digits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "type/convert.h"
#include "type/hex.h"

/* The value of a digit, or -1 if it is none. */
static inline int
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
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
