/*-------------------------------------------------------------------------
 *
 * convert.h
 *	  Text forms of fingerprints and radii, for several files.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_CONVERT_H
#define SIMHASH_TYPE_CONVERT_H

#include "type/simhash.h"
#include "type/wide.h"

/* result of shtype_parse */
typedef enum ShTypeParseResult
{
	SHTYPE_PARSE_OK,
	SHTYPE_PARSE_SYNTAX,		/* not a fingerprint */
	SHTYPE_PARSE_RANGE			/* an integer, but not of 64 bits */
} ShTypeParseResult;

/*
 * Read the text form of a fingerprint: decimal digits, which may have a sign,
 * or 0x or 0X and 1 to 16 hex digits; white space before it is skipped.
 *
 * A negative integer stands for the bits of a bigint.  Drivers, COPY, and
 * replication from a bigint column write half of all fingerprints in this
 * form.
 *
 * Sets *end to the first character that does not belong to it, *fp to the
 * fingerprint if the result is SHTYPE_PARSE_OK.  Raises no error.
 */
extern ShTypeParseResult shtype_parse(const char *input, const char **end, ShFingerprint *fp);

/* the accepted input, for the detail of an error */
#define SHTYPE_RANGE_DETAIL \
	"A fingerprint is an integer from -9223372036854775808 to 18446744073709551615, or 0x and 1 to 16 hexadecimal digits."

/*
 * Read a radius, a decimal integer with an optional sign, like shtype_parse.
 */
extern ShTypeParseResult shtype_parse_radius(const char *input, const char **end, int32 *radius);

/* the accepted input, for the detail of an error; PG_INT32_MIN, PG_INT32_MAX */
#define SHTYPE_RADIUS_DETAIL	"The radius is an integer from %d to %d."

/* Skip white space. */
extern const char *shtype_skip_space(const char *input);

/* room for the decimal digits of a fingerprint and a terminating zero */
#define SHTYPE_DECIMAL_SIZE		21

/*
 * Write a fingerprint as decimal digits and a terminating zero.  Returns the
 * number of digits.
 */
extern int	shtype_print(ShFingerprint fp, char *output);

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

#endif							/* SIMHASH_TYPE_CONVERT_H */
