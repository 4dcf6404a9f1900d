/*-------------------------------------------------------------------------
 *
 * hamming.c
 *	  Hamming distance, and conditions on it.
 *
 * The functions of simhash raise no error and reveal nothing about their
 * arguments except by their results, so they are leakproof.  Those of simhash_bits
 * are not: the distance of fingerprints of different widths is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "bits/distance.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_hamming);
PG_FUNCTION_INFO_V1(simhash_within);
PG_FUNCTION_INFO_V1(simhash_near);
PG_FUNCTION_INFO_V1(simhash_near_6);
PG_FUNCTION_INFO_V1(simhash_near_10);
PG_FUNCTION_INFO_V1(simhash_bits_hamming);
PG_FUNCTION_INFO_V1(simhash_bits_within);
PG_FUNCTION_INFO_V1(simhash_bits_near);
PG_FUNCTION_INFO_V1(simhash_share_band);
PG_FUNCTION_INFO_V1(simhash_radius);
PG_FUNCTION_INFO_V1(simhash_warn_of_casts);

/* the distance of the first two arguments of a call */
static inline int
distance_of_args(FunctionCallInfo fcinfo)
{
	return shbits_distance(PG_GETARG_SIMHASH(0), PG_GETARG_SIMHASH(1));
}

/*
 * hamming(simhash, simhash) -> simhash_distance
 */
Datum
simhash_hamming(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT16(distance_of_args(fcinfo));
}

/*
 * simhash_within(a simhash, b simhash, radius integer) -> boolean
 */
Datum
simhash_within(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= PG_GETARG_INT32(2));
}

/*
 * simhash % simhash -> boolean
 */
Datum
simhash_near(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= SIMHASH_NEAR_RADIUS);
}

/*
 * simhash <%> simhash -> boolean
 */
Datum
simhash_near_6(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= 6);
}

/*
 * simhash <<%>> simhash -> boolean
 */
Datum
simhash_near_10(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(distance_of_args(fcinfo) <= 10);
}

static inline int
bits_distance_of_args(FunctionCallInfo fcinfo)
{
	bytea	   *a = PG_GETARG_SIMHASH_BITS(0);
	bytea	   *b = PG_GETARG_SIMHASH_BITS(1);

	return shtype_bits_distance(shtype_bits_data(a), shtype_bits_bytes(a),
								shtype_bits_data(b), shtype_bits_bytes(b));
}

/*
 * hamming(simhash_bits, simhash_bits) -> simhash_distance
 */
Datum
simhash_bits_hamming(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT16(bits_distance_of_args(fcinfo));
}

/*
 * simhash_within(a simhash_bits, b simhash_bits, radius integer) -> boolean
 */
Datum
simhash_bits_within(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(bits_distance_of_args(fcinfo) <= PG_GETARG_INT32(2));
}

/*
 * simhash_bits % simhash_bits -> boolean
 *
 * Fewer than an eighth of the bits differ: fewer bits than there are bytes.
 */
Datum
simhash_bits_near(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(bits_distance_of_args(fcinfo) < shtype_bits_bytes(PG_GETARG_SIMHASH_BITS(0)));
}

/*
 * simhash_share_band(a simhash_bits, b simhash_bits, radius integer, bands integer)
 *	-> boolean
 *
 * Whether one of the first bands, or of all if that is null, has the same prefix in both,
 * and at most radius other bits differ.  Null if another argument is.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE, ERRCODE_STRING_DATA_LENGTH_MISMATCH if the
 * widths differ or there are not so many bands, and ERRCODE_INVALID_BINARY_REPRESENTATION
 * if these are no bands.
 */
Datum
simhash_share_band(PG_FUNCTION_ARGS)
{
	bytea	   *a;
	bytea	   *b;
	int32		radius;
	int			width;
	int32		nbands;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	a = PG_GETARG_SIMHASH_BITS(0);
	b = PG_GETARG_SIMHASH_BITS(1);
	radius = PG_GETARG_INT32(2);
	if (radius < 0 || radius > SHBITS_BAND_OTHER_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("radius %d is out of range", radius),
				 errdetail("The radius must be between 0 and %d bits.", SHBITS_BAND_OTHER_BITS)));
	width = shtype_bits_width(a);
	if (width != shtype_bits_width(b))
		shtype_report_widths(width, shtype_bits_width(b));
	nbands = PG_ARGISNULL(3) ? Max(width / SHBITS_WIDTH, 1) : PG_GETARG_INT32(3);
	if (nbands < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of bands %d is out of range", nbands),
				 errdetail("The number of bands must be at least 1.")));
	if (width % SHBITS_WIDTH != 0 || nbands > width / SHBITS_WIDTH)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("fingerprint of %d bits does not have the bands to compare", width),
				 errdetail("It must consist of %d or more bands of %d bits each.",
						   nbands, SHBITS_WIDTH)));
	shtype_check_bands(shtype_bits_data(a), nbands);
	shtype_check_bands(shtype_bits_data(b), nbands);
	PG_RETURN_BOOL(shtype_share_band(shtype_bits_data(a), shtype_bits_data(b), nbands, radius));
}

/*
 * simhash_radius(bound bigint, strict boolean) -> integer
 *
 * The radius of the ball of all distances that are <= bound, or < bound if
 * strict.  Distances are 0..4096, of wide
 * fingerprints, so every bound has such a radius in -1..4096, -1 being the empty
 * ball.
 */
Datum
simhash_radius(PG_FUNCTION_ARGS)
{
	int64		bound = PG_GETARG_INT64(0);

	/* bring it into range first: subtracting from the least bigint overflows */
	bound = Max(bound, -1);
	bound = Min(bound, SIMHASH_BITS_MAX_WIDTH + 1);
	if (PG_GETARG_BOOL(1))
		bound--;

	PG_RETURN_INT32((int32) Max(-1, Min(bound, SIMHASH_BITS_MAX_WIDTH)));
}

/*
 * simhash_warn_of_casts() -> void
 *
 * For the installation script, which needs no language but SQL and C: warns of the types
 * that have an implicit cast to the base type of a distance, and so can stand for one.
 */
Datum
simhash_warn_of_casts(PG_FUNCTION_ARGS)
{
	Relation	catalog = table_open(CastRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;
	StringInfoData types;

	initStringInfo(&types);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_cast cast = (Form_pg_cast) GETSTRUCT(tuple);

		if (cast->casttarget == INT2OID && cast->castcontext == COERCION_CODE_IMPLICIT)
			appendStringInfo(&types, "%s%s", types.len > 0 ? ", " : "",
							 format_type_be(cast->castsource));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	if (types.len > 0)
		ereport(WARNING,
				(errmsg("types with an implicit cast to smallint can no longer be compared with numbers"),
				 errdetail("These types have such a cast: %s.", types.data),
				 errhint("Make the cast AS ASSIGNMENT, or make one to integer implicit instead.")));
	PG_RETURN_VOID();
}
