/*-------------------------------------------------------------------------
 *
 * wide_ball.c
 *	  The type simhash_bits_ball: all wide fingerprints within a radius of a
 *	  center.
 *
 * The text form is (center,radius), with the center in the form of the type
 * simhash_bits, and white space as for simhash_ball.  The binary form is the
 * radius, 4 bytes, and the bytes of the center.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqformat.h"

#include "compat.h"
#include "type/convert.h"
#include "type/hex.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_bits_ball_in);
PG_FUNCTION_INFO_V1(simhash_bits_ball_out);
PG_FUNCTION_INFO_V1(simhash_bits_ball_recv);
PG_FUNCTION_INFO_V1(simhash_bits_ball_send);
PG_FUNCTION_INFO_V1(simhash_bits_ball);
PG_FUNCTION_INFO_V1(simhash_bits_in_ball);
PG_FUNCTION_INFO_V1(simhash_bits_ball_contains);

/*
 * simhash_bits_ball_in(cstring) -> simhash_bits_ball
 */
Datum
simhash_bits_ball_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	const char *p = shtype_skip_space(input);
	uint8		center[SIMHASH_BITS_MAX_BYTES];
	size_t		ndigits;
	int32		radius = 0;
	ShTypeParseResult radius_result;

	if (*p != '(')
		goto bad_syntax;
	shtype_parse_hex(p + 1, &p, &ndigits, center);
	p = shtype_skip_space(p);
	if (*p != ',')
		goto bad_syntax;
	radius_result = shtype_parse_radius(p + 1, &p, &radius);
	p = shtype_skip_space(p);
	if (radius_result == SHTYPE_PARSE_SYNTAX || *p != ')')
		goto bad_syntax;
	if (*shtype_skip_space(p + 1) != '\0')
		goto bad_syntax;

	if (!shtype_is_hex_length(ndigits))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"simhash_bits_ball", input),
				 shtype_hex_length_detail(ndigits)));
	if (radius_result == SHTYPE_PARSE_RANGE)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type %s",
						input, "simhash_bits_ball"),
				 errdetail(SHTYPE_RADIUS_DETAIL, PG_INT32_MIN, PG_INT32_MAX)));

	PG_RETURN_POINTER(shtype_new_bits_ball(center, ndigits / 2, radius));

bad_syntax:
	ereturn(fcinfo->context, (Datum) 0,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s: \"%s\"",
					"simhash_bits_ball", input),
			 errhint("A ball is hexadecimal digits and a radius in parentheses, such as \"(f8e5c3a1,3)\".")));
}

/*
 * simhash_bits_ball_out(simhash_bits_ball) -> cstring
 */
Datum
simhash_bits_ball_out(PG_FUNCTION_ARGS)
{
	SimhashBitsBall *ball = PG_GETARG_SIMHASH_BITS_BALL(0);
	char		center[2 * SIMHASH_BITS_MAX_BYTES + 1];

	*shtype_print_hex(ball->center, shtype_ball_bytes(ball), center) = '\0';
	PG_RETURN_CSTRING(psprintf("(%s,%d)", center, ball->radius));
}

/*
 * simhash_bits_ball_recv(internal) -> simhash_bits_ball
 */
Datum
simhash_bits_ball_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	int32		radius = (int32) pq_getmsgint(buf, sizeof(int32));
	int			nbytes = buf->len - buf->cursor;

	if (nbytes < 1 || nbytes > SIMHASH_BITS_MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid length in external value of type %s: %d bytes of the center",
						"simhash_bits_ball", nbytes),
				 errdetail(SHTYPE_WIDTH_DETAIL)));
	PG_RETURN_POINTER(shtype_new_bits_ball((const uint8 *) pq_getmsgbytes(buf, nbytes), nbytes, radius));
}

/*
 * simhash_bits_ball_send(simhash_bits_ball) -> bytea
 */
Datum
simhash_bits_ball_send(PG_FUNCTION_ARGS)
{
	SimhashBitsBall *ball = PG_GETARG_SIMHASH_BITS_BALL(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint32(&buf, ball->radius);
	pq_sendbytes(&buf, (const char *) ball->center, shtype_ball_bytes(ball));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * simhash_bits_ball(center simhash_bits, radius integer) -> simhash_bits_ball
 */
Datum
simhash_bits_ball(PG_FUNCTION_ARGS)
{
	bytea	   *center = PG_GETARG_SIMHASH_BITS(0);

	PG_RETURN_POINTER(shtype_new_bits_ball(shtype_bits_data(center), shtype_bits_bytes(center),
										   PG_GETARG_INT32(1)));
}

static inline bool
ball_contains(const SimhashBitsBall *ball, const bytea *fp)
{
	return shtype_bits_distance(shtype_bits_data(fp), shtype_bits_bytes(fp),
								ball->center, shtype_ball_bytes(ball)) <= ball->radius;
}

/*
 * simhash_bits <@ simhash_bits_ball -> boolean
 */
Datum
simhash_bits_in_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ball_contains(PG_GETARG_SIMHASH_BITS_BALL(1), PG_GETARG_SIMHASH_BITS(0)));
}

/*
 * simhash_bits_ball @> simhash_bits -> boolean
 */
Datum
simhash_bits_ball_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ball_contains(PG_GETARG_SIMHASH_BITS_BALL(0), PG_GETARG_SIMHASH_BITS(1)));
}
