/*-------------------------------------------------------------------------
 *
 * wide_io.c
 *	  Input, output and type modifier of the type simhash_bits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"

#include "compat.h"
#include "type/convert.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_bits_in);
PG_FUNCTION_INFO_V1(simhash_bits_out);
PG_FUNCTION_INFO_V1(simhash_bits_recv);
PG_FUNCTION_INFO_V1(simhash_bits_typmod_in);
PG_FUNCTION_INFO_V1(simhash_bits_check_width);

/* the message where a value does not have the width of a column */
#define MISMATCH_MESSAGE	"fingerprint of %d bits does not match type %s(%d)"

/* the width of what simhash_minhash_bits returns, unless it is called with another */
#define MINHASH_DEFAULT_WIDTH	256

/* Does a value of so many bytes fit a type modifier, which is -1 if there is none? */
static inline bool
fits(int nbytes, int32 typmod)
{
	return typmod < 0 || nbytes * BITS_PER_BYTE == typmod;
}

/*
 * simhash_bits_in(cstring, oid, typmod integer) -> simhash_bits
 */
Datum
simhash_bits_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	int32		typmod = PG_GETARG_INT32(2);
	const char *end;
	const char *rest;
	size_t		ndigits;
	uint8		bytes[SIMHASH_BITS_MAX_BYTES];
	int			nbytes;

	shtype_parse_hex(input, &end, &ndigits, bytes);
	rest = shtype_skip_space(end);
	if (*rest != '\0')
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"simhash_bits", input),
				 errdetail("\"%.*s\" is no hexadecimal digit.", pg_mblen(rest), rest)));
	if (!shtype_is_hex_length(ndigits))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"simhash_bits", input),
				 shtype_hex_length_detail(ndigits)));
	nbytes = ndigits / 2;
	if (!fits(nbytes, typmod))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg(MISMATCH_MESSAGE, nbytes * BITS_PER_BYTE, "simhash_bits", typmod)));
	PG_RETURN_BYTEA_P(shtype_new_bits(bytes, nbytes));
}

/*
 * simhash_bits_out(simhash_bits) -> cstring
 */
Datum
simhash_bits_out(PG_FUNCTION_ARGS)
{
	bytea	   *fp = PG_GETARG_SIMHASH_BITS(0);
	int			nbytes = shtype_bits_bytes(fp);
	char	   *output = palloc(2 * nbytes + 1);

	*shtype_print_hex(shtype_bits_data(fp), nbytes, output) = '\0';
	PG_RETURN_CSTRING(output);
}

/*
 * simhash_bits_recv(internal, oid, typmod integer) -> simhash_bits
 */
Datum
simhash_bits_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int32		typmod = PG_GETARG_INT32(2);
	int			nbytes = buf->len - buf->cursor;

	if (nbytes < 1 || nbytes > SIMHASH_BITS_MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid length in external value of type %s: %d bytes",
						"simhash_bits", nbytes),
				 errdetail(SHTYPE_WIDTH_DETAIL)));
	if (!fits(nbytes, typmod))
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg(MISMATCH_MESSAGE, nbytes * BITS_PER_BYTE, "simhash_bits", typmod)));
	PG_RETURN_BYTEA_P(shtype_new_bits(pq_getmsgbytes(buf, nbytes), nbytes));
}

/*
 * simhash_bits_typmod_in(cstring[]) -> integer
 */
Datum
simhash_bits_typmod_in(PG_FUNCTION_ARGS)
{
	int			nmodifiers;
	int32	   *modifiers = ArrayGetIntegerTypmods(PG_GETARG_ARRAYTYPE_P(0), &nmodifiers);

	if (nmodifiers != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type modifier"),
				 errdetail("Type %s has one modifier, the number of bits.", "simhash_bits")));
	shtype_check_width(modifiers[0]);
	PG_RETURN_INT32(modifiers[0]);
}

/*
 * simhash_bits_check_width(simhash_bits, typmod integer, explicit boolean) -> simhash_bits
 *
 * The server calls this where a value gets a type modifier.  A fingerprint of
 * another width is of another kind, so even an explicit cast neither pads nor
 * cuts it.
 */
Datum
simhash_bits_check_width(PG_FUNCTION_ARGS)
{
	bytea	   *fp = PG_GETARG_SIMHASH_BITS(0);
	int32		typmod = PG_GETARG_INT32(1);

	if (!fits(shtype_bits_bytes(fp), typmod))
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg(MISMATCH_MESSAGE, shtype_bits_width(fp), "simhash_bits", typmod),
				 shtype_bits_width(fp) != MINHASH_DEFAULT_WIDTH ? 0 :
				 errhint("To compute a fingerprint of %d bits of a text, call simhash_minhash_bits(..., %d).",
						 typmod, typmod)));
	PG_RETURN_BYTEA_P(fp);
}
