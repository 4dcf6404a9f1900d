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
 * Read the text form of a fingerprint: decimal digits, or 0x or 0X and 1 to 16
 * hex digits; white space before it is skipped.
 *
 * Sets *end to the first character that does not belong to it, *fp to the
 * fingerprint if the result is SHTYPE_PARSE_OK.  A negative integer is out of
 * range.  Raises no error.
 */
extern ShTypeParseResult shtype_parse(const char *input, const char **end, uint64 *fp);

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
