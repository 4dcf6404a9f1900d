/*-------------------------------------------------------------------------
 *
 * convert.h
 *	  Conversions of fingerprints that several files need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_CONVERT_H
#define SIMHASH_TYPE_CONVERT_H

#include "postgres.h"

#include "utils/varbit.h"

/* what shtype_parse says of its input */
typedef enum ShTypeParseResult
{
	SHTYPE_PARSE_OK,
	SHTYPE_PARSE_SYNTAX,		/* no fingerprint there */
	SHTYPE_PARSE_RANGE			/* an integer there, but not one of 64 bits */
} ShTypeParseResult;

/*
 * Read the text form of a fingerprint: decimal digits, which may have a sign,
 * or 0x or 0X and 1 to 16 hex digits; white space before it is skipped.
 *
 * A negative integer has the bits of a bigint: what speaks of fingerprints as
 * signed integers, as drivers, COPY and replication from a bigint column do,
 * writes half of them so.
 *
 * Sets *end to the first character that does not belong to it, *fp to the
 * fingerprint if the result is SHTYPE_PARSE_OK.  Raises no error.
 */
extern ShTypeParseResult shtype_parse(const char *input, const char **end, uint64 *fp);

/* what can be read, for the detail of an error */
#define SHTYPE_RANGE_DETAIL \
	"A fingerprint is an integer from -9223372036854775808 to 18446744073709551615, or 0x and 1 to 16 hexadecimal digits."

/* Skip white space. */
extern const char *shtype_skip_space(const char *input);

/* room for the decimal digits of a fingerprint and a terminating zero */
#define SHTYPE_DECIMAL_SIZE		21

/*
 * Write a fingerprint as decimal digits and a terminating zero.  Returns the
 * number of digits.
 */
extern int	shtype_print(uint64 fp, char *output);

/* A fingerprint as a new bit(64), first bit most significant. */
extern VarBit *shtype_to_bit(uint64 fp);

#endif							/* SIMHASH_TYPE_CONVERT_H */
