/*-------------------------------------------------------------------------
 *
 * ball.c
 *	  The type simhash_ball: all fingerprints within a radius of a center.
 *
 * The text form is (center,radius), with the center in the form of the type
 * simhash.  The input may have white space around either number and around the
 * parentheses.  The binary form is the center, 8 bytes, and the radius, 4
 * bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqformat.h"

#include "bits/distance.h"
#include "compat.h"
#include "type/convert.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_ball_in);
PG_FUNCTION_INFO_V1(simhash_ball_out);
PG_FUNCTION_INFO_V1(simhash_ball_recv);
PG_FUNCTION_INFO_V1(simhash_ball_send);
PG_FUNCTION_INFO_V1(simhash_ball);
PG_FUNCTION_INFO_V1(simhash_in_ball);
PG_FUNCTION_INFO_V1(simhash_ball_contains);

/*
 * simhash_ball_in(cstring) -> simhash_ball
 */
Datum
simhash_ball_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	const char *p = shtype_skip_space(input);
	ShFingerprint center = 0;
	int32		radius = 0;
	ShTypeParseResult center_result;
	ShTypeParseResult radius_result;

	if (*p != '(')
		goto bad_syntax;
	center_result = shtype_parse(p + 1, &p, &center);
	p = shtype_skip_space(p);
	if (center_result == SHTYPE_PARSE_SYNTAX || *p != ',')
		goto bad_syntax;
	radius_result = shtype_parse_radius(p + 1, &p, &radius);
	p = shtype_skip_space(p);
	if (radius_result == SHTYPE_PARSE_SYNTAX || *p != ')')
		goto bad_syntax;
	if (*shtype_skip_space(p + 1) != '\0')
		goto bad_syntax;

	if (center_result == SHTYPE_PARSE_RANGE ||
		radius_result == SHTYPE_PARSE_RANGE)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" is out of range for type %s",
						input, "simhash_ball"),
				 center_result == SHTYPE_PARSE_RANGE ?
				 errdetail(SHTYPE_RANGE_DETAIL) :
				 errdetail(SHTYPE_RADIUS_DETAIL, PG_INT32_MIN, PG_INT32_MAX)));

	return SimhashBallGetDatum(simhash_new_ball(center, radius));

bad_syntax:
	ereturn(fcinfo->context, (Datum) 0,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s: \"%s\"",
					"simhash_ball", input),
			 errhint("A ball is a fingerprint and a radius in parentheses, such as \"(42,3)\".")));
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
