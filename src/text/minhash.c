/*-------------------------------------------------------------------------
 *
 * minhash.c
 *	  SQL functions that make a fingerprint from one bit of each of 64 minimum
 *	  hashes, and that convert its distances.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "utils/array.h"
#include "utils/float.h"

#include "compat.h"
#include "text/document.h"
#include "text/elements.h"
#include "text/encoding.h"
#include "text/sketch.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_minhash_text);
PG_FUNCTION_INFO_V1(simhash_minhash_bytea);
PG_FUNCTION_INFO_V1(simhash_minhash_tsvector);
PG_FUNCTION_INFO_V1(simhash_minhash_text_array);
PG_FUNCTION_INFO_V1(simhash_minhash_bigint_array);
PG_FUNCTION_INFO_V1(simhash_minhash_jaccard);
PG_FUNCTION_INFO_V1(simhash_minhash_radius);

/* hashes of features that are added at once */
#define BATCH			256

/* average distance of two sets without a common element */
#define MEAN_DISTANCE	32

static Datum minhash_array(FunctionCallInfo fcinfo, ShTextElementHash hash);
static void add_hashes(void *state, const uint64 *hashes, int nhashes);
static Datum return_sketch(FunctionCallInfo fcinfo, const ShTextSketch *sketch);

/*
 * simhash_minhash(document text, shingle int, unit text) -> simhash
 *
 * Null if the text has no letter, mark or number.
 */
Datum
simhash_minhash_text(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(1));
	ShTextUnit	unit = shtext_unit_named(PG_GETARG_TEXT_PP(2));
	ShTextSketch sketch;

	shtext_sketch_init(&sketch);
	shtext_hash_text(document, shingle, unit, add_hashes, &sketch);

	PG_FREE_IF_COPY(document, 0);
	return return_sketch(fcinfo, &sketch);
}

/*
 * simhash_minhash(document bytea, shingle int) -> simhash
 *
 * Null if there is no byte.
 */
Datum
simhash_minhash_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *document = PG_GETARG_BYTEA_PP(0);
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(1));
	ShTextSketch sketch;

	shtext_sketch_init(&sketch);
	shtext_hash_bytes(document, shingle, add_hashes, &sketch);

	PG_FREE_IF_COPY(document, 0);
	return return_sketch(fcinfo, &sketch);
}

/*
 * simhash_minhash(document tsvector) -> simhash
 *
 * Null if there is no lexeme.
 */
Datum
simhash_minhash_tsvector(PG_FUNCTION_ARGS)
{
	TSVector	document = PG_GETARG_TSVECTOR(0);
	WordEntry  *entries = ARRPTR(document);
	ShTextSketch sketch;
	uint64		hashes[BATCH];
	int			nhashes = 0;

	shtext_sketch_init(&sketch);
	for (int i = 0; i < document->size; i++)
	{
		CHECK_FOR_INTERRUPTS();
		hashes[nhashes++] =
			shtext_hash_converted(STRPTR(document) + entries[i].pos,
								  entries[i].len);
		if (nhashes == BATCH || i == document->size - 1)
		{
			shtext_sketch_add(&sketch, hashes, nhashes);
			nhashes = 0;
		}
	}

	PG_FREE_IF_COPY(document, 0);
	return return_sketch(fcinfo, &sketch);
}

/*
 * simhash_minhash(features text[]) -> simhash
 */
Datum
simhash_minhash_text_array(PG_FUNCTION_ARGS)
{
	return minhash_array(fcinfo, shtext_element_hash_text);
}

/*
 * simhash_minhash(hashes bigint[]) -> simhash
 */
Datum
simhash_minhash_bigint_array(PG_FUNCTION_ARGS)
{
	return minhash_array(fcinfo, shtext_element_hash_bigint);
}

/*
 * simhash_minhash_jaccard(distance int) -> float8
 *
 * The Jaccard coefficient of two sets of which the fingerprints have this
 * distance on average.  Raises ERRCODE_INVALID_PARAMETER_VALUE if there are
 * no such fingerprints.
 */
Datum
simhash_minhash_jaccard(PG_FUNCTION_ARGS)
{
	int32		distance = PG_GETARG_INT32(0);

	if (distance < 0 || distance > SHTEXT_BINS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("distance %d is out of range", distance),
				 errdetail("The distance must be between 0 and %d bits.", SHTEXT_BINS)));
	PG_RETURN_FLOAT8(Max(0.0, 1.0 - distance / (double) MEAN_DISTANCE));
}

/*
 * simhash_minhash_radius(jaccard float8) -> int
 *
 * The distance, rounded, that the fingerprints of two sets of this Jaccard
 * coefficient have on average.  Raises ERRCODE_INVALID_PARAMETER_VALUE if
 * there are no such sets.
 */
Datum
simhash_minhash_radius(PG_FUNCTION_ARGS)
{
	double		jaccard = PG_GETARG_FLOAT8(0);

	/* this also rejects NaN */
	if (!(jaccard >= 0.0 && jaccard <= 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("Jaccard coefficient %s is out of range",
						float8out_internal(jaccard)),
				 errdetail("A Jaccard coefficient is between 0 and 1.")));
	PG_RETURN_INT32((int32) rint(MEAN_DISTANCE * (1.0 - jaccard)));
}

/*
 * The fingerprint of the elements of the first argument, null if there are
 * none.
 *
 * Raises ERRCODE_NULL_VALUE_NOT_ALLOWED for a null element.
 */
static Datum
minhash_array(FunctionCallInfo fcinfo, ShTextElementHash hash)
{
	Datum	   *features;
	int			nfeatures = shtext_elements(PG_GETARG_ARRAYTYPE_P(0),
											SHTEXT_NULL_FEATURE, &features);
	ShTextSketch sketch;
	uint64		hashes[BATCH];

	shtext_sketch_init(&sketch);
	for (int done = 0; done < nfeatures; done += BATCH)
	{
		int			n = Min(nfeatures - done, BATCH);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
			hashes[i] = hash(features[done + i]);
		shtext_sketch_add(&sketch, hashes, n);
	}

	return return_sketch(fcinfo, &sketch);
}

/*
 * A consumer of hashes: adds them to a sketch.
 */
static void
add_hashes(void *state, const uint64 *hashes, int nhashes)
{
	shtext_sketch_add((ShTextSketch *) state, hashes, nhashes);
}

/*
 * The fingerprint of a sketch; null if the set is empty.
 */
static Datum
return_sketch(FunctionCallInfo fcinfo, const ShTextSketch *sketch)
{
	uint64		result;

	if (!shtext_sketch_result(sketch, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}
