/*-------------------------------------------------------------------------
 *
 * forms.c
 *	  The functions that make fingerprints, in all their forms in SQL.
 *
 * A fingerprint is made by a method from the hashes of features.  The features
 * are those of a text or a byte string, the lexemes of a tsvector, or the
 * elements of an array.  So each function in SQL is a method and a form.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "compat.h"
#include "text/document.h"
#include "text/majority.h"
#include "text/sketch.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_compute_text);
PG_FUNCTION_INFO_V1(simhash_compute_bytea);
PG_FUNCTION_INFO_V1(simhash_compute_tsvector);
PG_FUNCTION_INFO_V1(simhash_compute_array);
PG_FUNCTION_INFO_V1(simhash_minhash_text);
PG_FUNCTION_INFO_V1(simhash_minhash_bytea);
PG_FUNCTION_INFO_V1(simhash_minhash_tsvector);
PG_FUNCTION_INFO_V1(simhash_minhash_array);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_text);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_bytea);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_tsvector);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_array);
PG_FUNCTION_INFO_V1(simhash_bands_text);
PG_FUNCTION_INFO_V1(simhash_bands_bytea);
PG_FUNCTION_INFO_V1(simhash_bands_tsvector);
PG_FUNCTION_INFO_V1(simhash_bands_array);

/* the state of any method */
typedef union MethodState
{
	ShTextMajority majority;
	ShTextSketch sketch;
} MethodState;

typedef struct Method
{
	void		(*init) (MethodState *state, FunctionCallInfo fcinfo);
	ShTextConsumer add;
	bool		(*result) (MethodState *state, Datum *result);	/* false: null */
	bool		of_set;			/* features count once */
	int			nargs;			/* between the document and what describes its
								 * features */
} Method;

/* simhash_compute: the majority of each bit */
static void
init_majority(MethodState *state, FunctionCallInfo fcinfo)
{
	memset(&state->majority, 0, sizeof(state->majority));
}

static bool
majority_result(MethodState *state, Datum *result)
{
	*result = SimhashGetDatum(shtext_majority_result(&state->majority));
	return state->majority.count > 0;
}

static const Method compute = {init_majority, shtext_majority_add, majority_result, false, 0};

/* simhash_minhash: one bit of each of 64 minimum hashes */
static void
init_sketch(MethodState *state, FunctionCallInfo fcinfo)
{
	shtext_sketch_init(&state->sketch, SHBITS_WIDTH, 0);
}

static bool
sketch_result(MethodState *state, Datum *result)
{
	ShFingerprint fp;
	bool		found = shtext_sketch_result(&state->sketch, &fp);

	*result = SimhashGetDatum(fp);
	return found;
}

static const Method minhash = {init_sketch, shtext_sketch_add, sketch_result, true, 0};

/* simhash_minhash_bits: the same for any number of bits, the second argument */
static void
init_wide(MethodState *state, FunctionCallInfo fcinfo)
{
	int32		width = PG_GETARG_INT32(1);

	shtype_check_width(width);
	shtext_sketch_init(&state->sketch, width, 0);
}

static bool
wide_result(MethodState *state, Datum *result)
{
	uint64		words[SHBITS_MAX_PARTS];
	bool		found = shtext_sketch_result(&state->sketch, words);

	*result = PointerGetDatum(shtype_bits_of_words(words, state->sketch.width));
	shtext_sketch_free(&state->sketch);
	return found;
}

static const Method minhash_bits = {init_wide, shtext_sketch_add, wide_result, true, 1};

/* simhash_bands: a word for each band; how many minima and bands, the last two arguments */
static void
init_bands(MethodState *state, FunctionCallInfo fcinfo)
{
	int32		minima = PG_GETARG_INT32(PG_NARGS() - 2);
	int32		nbands = PG_GETARG_INT32(PG_NARGS() - 1);

	shtext_check_bands(minima, nbands);
	shtext_sketch_init(&state->sketch, nbands * SHBITS_WIDTH, minima);
}

static const Method bands = {init_bands, shtext_sketch_add, wide_result, true, 0};

/*
 * Make a fingerprint of the features of the first argument, which is freed if it is
 * a copy.  Null if there is none.
 */
static Datum
of_features(FunctionCallInfo fcinfo, const Method *method, void *document,
			const ShTextFeatures *features)
{
	MethodState state;
	Datum		result;

	method->init(&state, fcinfo);
	features->read(features, method->add, &state);
	PG_FREE_IF_COPY(document, 0);
	if (!method->result(&state, &result))
		PG_RETURN_NULL();
	return result;
}

/*
 * (document text, ..., shingle int, unit text, ...) -> fingerprint
 *
 * Null if the text has no letter, mark or number.
 */
static Datum
of_text(FunctionCallInfo fcinfo, const Method *method)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(method->nargs + 1));
	ShTextUnit	unit = shtext_unit_named(PG_GETARG_TEXT_PP(method->nargs + 2));
	ShTextFeatures features = shtext_features_of_text(document, shingle, unit);

	return of_features(fcinfo, method, document, &features);
}

/*
 * (document bytea, ..., shingle int, ...) -> fingerprint
 *
 * Null if there is no byte.
 */
static Datum
of_bytea(FunctionCallInfo fcinfo, const Method *method)
{
	bytea	   *document = PG_GETARG_BYTEA_PP(0);
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(method->nargs + 1));
	ShTextFeatures features = shtext_features_of_bytes(document, shingle);

	return of_features(fcinfo, method, document, &features);
}

/*
 * (document tsvector, ...) -> fingerprint
 *
 * A lexeme counts as often as it has positions, once if it has none.  Null if
 * there is no lexeme.
 */
static Datum
of_tsvector(FunctionCallInfo fcinfo, const Method *method)
{
	TSVector	document = PG_GETARG_TSVECTOR(0);
	ShTextFeatures features = shtext_features_of_tsvector(document, method->of_set);

	return of_features(fcinfo, method, document, &features);
}

/*
 * (features text[], ...) -> fingerprint or (hashes bigint[], ...) -> fingerprint
 *
 * Null if there is no element.  Raises ERRCODE_NULL_VALUE_NOT_ALLOWED for a
 * null element.
 */
static Datum
of_array(FunctionCallInfo fcinfo, const Method *method)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	ShTextFeatures features = shtext_features_of_array(array);

	return of_features(fcinfo, method, array, &features);
}

Datum
simhash_compute_text(PG_FUNCTION_ARGS)
{
	return of_text(fcinfo, &compute);
}

Datum
simhash_compute_bytea(PG_FUNCTION_ARGS)
{
	return of_bytea(fcinfo, &compute);
}

Datum
simhash_compute_tsvector(PG_FUNCTION_ARGS)
{
	return of_tsvector(fcinfo, &compute);
}

/*
 * simhash_compute(features text[], weights float8[]) -> simhash or
 * simhash_compute(hashes bigint[], weights float8[]) -> simhash
 *
 * The weights are 1 if the second argument is null.  Null if the first argument
 * is, or if no element has a weight.  Raises ERRCODE_NULL_VALUE_NOT_ALLOWED for
 * a null element and ERRCODE_ARRAY_SUBSCRIPT_ERROR if the arrays differ in
 * length.
 */
Datum
simhash_compute_array(PG_FUNCTION_ARGS)
{
	ShTextFeatures features;
	Datum	   *values;
	int			nweights;
	ShTextWeights weights = {0};
	ShFingerprint result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		return of_array(fcinfo, &compute);

	features = shtext_features_of_array(PG_GETARG_ARRAYTYPE_P(0));
	nweights = shtext_elements(PG_GETARG_ARRAYTYPE_P(1), SHTEXT_NULL_WEIGHT, &values);
	if (nweights != features.nelements)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("number of weights must match number of features"),
				 errdetail("The number of weights is %d, and the number of features is %d.",
						   nweights, features.nelements)));
	for (int i = 0; i < nweights; i++)
	{
		CHECK_FOR_INTERRUPTS();
		shtext_weights_add(&weights, features.hash(features.elements[i]),
						   shtext_weight(DatumGetFloat8(values[i])));
	}
	if (!shtext_weights_result(&weights, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

Datum
simhash_minhash_text(PG_FUNCTION_ARGS)
{
	return of_text(fcinfo, &minhash);
}

Datum
simhash_minhash_bytea(PG_FUNCTION_ARGS)
{
	return of_bytea(fcinfo, &minhash);
}

Datum
simhash_minhash_tsvector(PG_FUNCTION_ARGS)
{
	return of_tsvector(fcinfo, &minhash);
}

Datum
simhash_minhash_array(PG_FUNCTION_ARGS)
{
	return of_array(fcinfo, &minhash);
}

Datum
simhash_minhash_bits_text(PG_FUNCTION_ARGS)
{
	return of_text(fcinfo, &minhash_bits);
}

Datum
simhash_minhash_bits_bytea(PG_FUNCTION_ARGS)
{
	return of_bytea(fcinfo, &minhash_bits);
}

Datum
simhash_minhash_bits_tsvector(PG_FUNCTION_ARGS)
{
	return of_tsvector(fcinfo, &minhash_bits);
}

Datum
simhash_minhash_bits_array(PG_FUNCTION_ARGS)
{
	return of_array(fcinfo, &minhash_bits);
}

Datum
simhash_bands_text(PG_FUNCTION_ARGS)
{
	return of_text(fcinfo, &bands);
}

Datum
simhash_bands_bytea(PG_FUNCTION_ARGS)
{
	return of_bytea(fcinfo, &bands);
}

Datum
simhash_bands_tsvector(PG_FUNCTION_ARGS)
{
	return of_tsvector(fcinfo, &bands);
}

Datum
simhash_bands_array(PG_FUNCTION_ARGS)
{
	return of_array(fcinfo, &bands);
}
