/*-------------------------------------------------------------------------
 *
 * ball.c
 *	  The types simhash_ball and simhash_bits_ball: all fingerprints within a
 *	  radius of a center.
 *
 * The text form is (center,radius), with the center in the form of its type, and
 * white space around either and around the parentheses.  The binary form of
 * simhash_ball is the center, 8 bytes, and the radius, 4 bytes; that of
 * simhash_bits_ball is the radius and the bytes of the center.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqformat.h"

#include "bits/distance.h"
#include "compat.h"
#include "type/convert.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_ball_in);
PG_FUNCTION_INFO_V1(simhash_ball_out);
PG_FUNCTION_INFO_V1(simhash_ball_recv);
PG_FUNCTION_INFO_V1(simhash_ball_send);
PG_FUNCTION_INFO_V1(simhash_ball);
PG_FUNCTION_INFO_V1(simhash_in_ball);
PG_FUNCTION_INFO_V1(simhash_ball_contains);
PG_FUNCTION_INFO_V1(simhash_bits_ball_in);
PG_FUNCTION_INFO_V1(simhash_bits_ball_out);
PG_FUNCTION_INFO_V1(simhash_bits_ball_recv);
PG_FUNCTION_INFO_V1(simhash_bits_ball_send);
PG_FUNCTION_INFO_V1(simhash_bits_ball);
PG_FUNCTION_INFO_V1(simhash_bits_in_ball);
PG_FUNCTION_INFO_V1(simhash_bits_ball_contains);

/*
 * Read all of the text form of a ball but its center, whose text ends at *comma
 * and begins at the result; NULL for what is no ball.
 */
static const char *
parse_ball(const char *input, const char **comma, int32 *radius, ShTypeParseResult *radius_result)
{
	const char *start = shtype_skip_space(input);
	const char *p;

	*comma = strchr(start, ',');
	if (*start != '(' || *comma == NULL)
		return NULL;
	*radius_result = shtype_parse_radius(*comma + 1, &p, radius);
	p = shtype_skip_space(p);
	if (*radius_result == SHTYPE_PARSE_SYNTAX || *p != ')' || *shtype_skip_space(p + 1) != '\0')
		return NULL;
	return start + 1;
}

static Datum
report_syntax(FunctionCallInfo fcinfo, const char *type, const char *hint)
{
	ereturn(fcinfo->context, (Datum) 0,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s: \"%s\"", type, PG_GETARG_CSTRING(0)),
			 errhint("%s", hint)));
}

static Datum
report_range(FunctionCallInfo fcinfo, const char *type, bool of_center)
{
	ereturn(fcinfo->context, (Datum) 0,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value \"%s\" is out of range for type %s", PG_GETARG_CSTRING(0), type),
			 of_center ? errdetail(SHTYPE_RANGE_DETAIL) :
			 errdetail(SHTYPE_RADIUS_DETAIL, PG_INT32_MIN, PG_INT32_MAX)));
}

/*
 * simhash_ball_in(cstring) -> simhash_ball
 */
Datum
simhash_ball_in(PG_FUNCTION_ARGS)
{
	const char *comma;
	const char *end;
	ShFingerprint center = 0;
	int32		radius = 0;
	ShTypeParseResult center_result;
	ShTypeParseResult radius_result;
	const char *text = parse_ball(PG_GETARG_CSTRING(0), &comma, &radius, &radius_result);

	center_result = text == NULL ? SHTYPE_PARSE_SYNTAX : shtype_parse(text, &end, &center);

	if (center_result == SHTYPE_PARSE_SYNTAX || shtype_skip_space(end) != comma)
		return report_syntax(fcinfo, "simhash_ball",
							 _("A ball is a fingerprint and a radius in parentheses, such as \"(42,3)\"."));
	if (center_result == SHTYPE_PARSE_RANGE || radius_result == SHTYPE_PARSE_RANGE)
		return report_range(fcinfo, "simhash_ball", center_result == SHTYPE_PARSE_RANGE);
	return SimhashBallGetDatum(simhash_new_ball(center, radius));
}

/*
 * simhash_ball_out(simhash_ball) -> cstring
 */
Datum
simhash_ball_out(PG_FUNCTION_ARGS)
{
	SimhashBall *ball = PG_GETARG_SIMHASH_BALL(0);
	char		center[SHTYPE_DECIMAL_SIZE];

	shtype_print(ball->center, center);
	PG_RETURN_CSTRING(psprintf("(%s,%d)", center, ball->radius));
}

/*
 * simhash_ball_recv(internal) -> simhash_ball
 */
Datum
simhash_ball_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	ShFingerprint center = pq_getmsgint64(buf);
	int32		radius = (int32) pq_getmsgint(buf, sizeof(int32));

	return SimhashBallGetDatum(simhash_new_ball(center, radius));
}

/*
 * simhash_ball_send(simhash_ball) -> bytea
 */
Datum
simhash_ball_send(PG_FUNCTION_ARGS)
{
	SimhashBall *ball = PG_GETARG_SIMHASH_BALL(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, ball->center);
	pq_sendint32(&buf, ball->radius);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * simhash_ball(center simhash, radius integer) -> simhash_ball
 */
Datum
simhash_ball(PG_FUNCTION_ARGS)
{
	return SimhashBallGetDatum(simhash_new_ball(PG_GETARG_SIMHASH(0), PG_GETARG_INT32(1)));
}

static inline bool
ball_contains(const SimhashBall *ball, ShFingerprint fp)
{
	return shbits_distance(ball->center, fp) <= ball->radius;
}

/*
 * simhash <@ simhash_ball -> boolean
 */
Datum
simhash_in_ball(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ball_contains(PG_GETARG_SIMHASH_BALL(1), PG_GETARG_SIMHASH(0)));
}

/*
 * simhash_ball @> simhash -> boolean
 */
Datum
simhash_ball_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ball_contains(PG_GETARG_SIMHASH_BALL(0), PG_GETARG_SIMHASH(1)));
}

/*
 * simhash_bits_ball_in(cstring) -> simhash_bits_ball
 */
Datum
simhash_bits_ball_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	const char *comma;
	const char *end = NULL;
	uint8		center[SIMHASH_BITS_MAX_BYTES];
	size_t		ndigits;
	int32		radius = 0;
	ShTypeParseResult radius_result;
	const char *text = parse_ball(input, &comma, &radius, &radius_result);

	if (text !=NULL)
		shtype_parse_hex(text, &end, &ndigits, center);
	if (text == NULL || shtype_skip_space(end) != comma)
		return report_syntax(fcinfo, "simhash_bits_ball",
							 _("A ball is hexadecimal digits and a radius in parentheses, such as \"(f8e5c3a1,3)\"."));
	if (!shtype_is_hex_length(ndigits))
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"",
						"simhash_bits_ball", input),
				 shtype_hex_length_detail(ndigits)));
	if (radius_result == SHTYPE_PARSE_RANGE)
		return report_range(fcinfo, "simhash_bits_ball", false);
	PG_RETURN_POINTER(shtype_new_bits_ball(center, ndigits / 2, radius));
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
bits_ball_contains(const SimhashBitsBall *ball, const bytea *fp)
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
	PG_RETURN_BOOL(bits_ball_contains(PG_GETARG_SIMHASH_BITS_BALL(1), PG_GETARG_SIMHASH_BITS(0)));
}

/*
 * simhash_bits_ball @> simhash_bits -> boolean
 */
Datum
simhash_bits_ball_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(bits_ball_contains(PG_GETARG_SIMHASH_BITS_BALL(0), PG_GETARG_SIMHASH_BITS(1)));
}
