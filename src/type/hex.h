/*-------------------------------------------------------------------------
 *
 * hex.h
 *	  The text form of a wide fingerprint: hexadecimal digits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_HEX_H
#define SIMHASH_TYPE_HEX_H

#include "type/wide.h"

/*
 * Read hexadecimal digits, two for a byte, after white space and perhaps 0x or
 * 0X.
 *
 * Sets *end to the first character that is no such digit, *ndigits to their
 * number, and bytes[], which has room for SIMHASH_BITS_MAX_BYTES, if the number
 * is that of a fingerprint.  Raises no error.
 */
extern void shtype_parse_hex(const char *input, const char **end, size_t *ndigits, uint8 *bytes);

/* Do so many digits make a fingerprint? */
static inline bool
shtype_is_hex_length(size_t ndigits)
{
	return ndigits > 0 && ndigits % 2 == 0 && ndigits / 2 <= SIMHASH_BITS_MAX_BYTES;
}

/* What is wrong with the number of digits otherwise: errdetail within ereport. */
extern int	shtype_hex_length_detail(size_t ndigits);

/* Write the digits of bytes, two for each and in lower case; returns their end. */
extern char *shtype_print_hex(const uint8 *bytes, int nbytes, char *output);

#endif							/* SIMHASH_TYPE_HEX_H */
