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
#include "utils/builtins.h"

#include "compat.h"
#include "text/document.h"
#include "text/majority.h"
#include "text/sketch.h"
#include "text/weights.h"
#include "text/wide_sketch.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_compute_text);
PG_FUNCTION_INFO_V1(simhash_compute_bytea);
PG_FUNCTION_INFO_V1(simhash_compute_tsvector);
PG_FUNCTION_INFO_V1(simhash_compute_text_array);
PG_FUNCTION_INFO_V1(simhash_compute_bigint_array);
PG_FUNCTION_INFO_V1(simhash_minhash_text);
PG_FUNCTION_INFO_V1(simhash_minhash_bytea);
PG_FUNCTION_INFO_V1(simhash_minhash_tsvector);
PG_FUNCTION_INFO_V1(simhash_minhash_text_array);
PG_FUNCTION_INFO_V1(simhash_minhash_bigint_array);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_text);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_bytea);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_tsvector);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_text_array);
PG_FUNCTION_INFO_V1(simhash_minhash_bits_bigint_array);

/* the state of any method */
typedef union MethodState
{
	ShTextMajority majority;
	ShTextSketch sketch;
	struct
	{
		int			nbytes;		/* of the fingerprint */
		ShTextWideSketch *sketch;
	}			wide;
} MethodState;

typedef struct Method
{
	void		(*init) (MethodState *state, FunctionCallInfo fcinfo);
	ShTextConsumer add;			/* its state is a MethodState */
	bool		(*result) (const MethodState *state, Datum *result);	/* false: null */
	bool		of_set;			/* features count once */
	int			nargs;			/* between the document and what describes its
								 * features */
} Method;

/* simhash_compute: the majority of each bit */
static void
init_majority(MethodState *state, FunctionCallInfo fcinfo)
{
	shtext_majority_init(&state->majority);
}

static void
add_to_majority(void *state, const uint64 *hashes, int nhashes)
{
	shtext_majority_add(&((MethodState *) state)->majority, hashes, nhashes);
}

static bool
majority_result(const MethodState *state, Datum *result)
{
	*result = SimhashGetDatum(shtext_majority_result(&state->majority));
	return state->majority.count > 0;
}

static const Method compute = {init_majority, add_to_majority, majority_result, false, 0};

/* simhash_minhash: one bit of each of 64 minimum hashes */
static void
init_sketch(MethodState *state, FunctionCallInfo fcinfo)
{
	shtext_sketch_init(&state->sketch);
}

static void
add_to_sketch(void *state, const uint64 *hashes, int nhashes)
{
	shtext_sketch_add(&((MethodState *) state)->sketch, hashes, nhashes);
}

static bool
sketch_result(const MethodState *state, Datum *result)
{
	ShFingerprint fp;
	bool		found = shtext_sketch_result(&state->sketch, &fp);

	*result = SimhashGetDatum(fp);
	return found;
}

static const Method minhash = {init_sketch, add_to_sketch, sketch_result, true, 0};

/* simhash_minhash_bits: the same for any number of bits, the second argument */
static void
init_wide(MethodState *state, FunctionCallInfo fcinfo)
{
	int32		width = PG_GETARG_INT32(1);

	shtype_check_width(width);
	state->wide.nbytes = width / BITS_PER_BYTE;
	state->wide.sketch = shtext_wide_sketch_make(state->wide.nbytes);
}

static void
add_to_wide(void *state, const uint64 *hashes, int nhashes)
{
	shtext_wide_sketch_add(((MethodState *) state)->wide.sketch, hashes, nhashes);
}

static bool
wide_result(const MethodState *state, Datum *result)
{
	uint8		bytes[SIMHASH_BITS_MAX_BYTES];
	bool		found = shtext_wide_sketch_result(state->wide.sketch, bytes, state->wide.nbytes);

	pfree(state->wide.sketch);
	*result = PointerGetDatum(shtype_new_bits(bytes, state->wide.nbytes));
	return found;
}

static const Method minhash_bits = {init_wide, add_to_wide, wide_result, true, 1};

/*
 * Return a fingerprint; null if there was no feature.
 */
static Datum
return_result(FunctionCallInfo fcinfo, const Method *method, const MethodState *state)
{
	Datum		result;

	if (!method->result(state, &result))
		PG_RETURN_NULL();
	return result;
}

/*
 * (document text, ..., shingle int, unit text) -> fingerprint
 *
 * Null if the text has no letter, mark or number.
 */
static Datum
of_text(FunctionCallInfo fcinfo, const Method *method)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(method->nargs + 1));
	ShTextUnit	unit = shtext_unit_named(PG_GETARG_TEXT_PP(method->nargs + 2));
	MethodState state;

	method->init(&state, fcinfo);
	shtext_hash_text(document, shingle, unit, method->add, &state);
	PG_FREE_IF_COPY(document, 0);
	return return_result(fcinfo, method, &state);
}

/*
 * (document bytea, ..., shingle int) -> fingerprint
 *
 * Null if there is no byte.
 */
static Datum
of_bytea(FunctionCallInfo fcinfo, const Method *method)
{
	bytea	   *document = PG_GETARG_BYTEA_PP(0);
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(method->nargs + 1));
	MethodState state;

	method->init(&state, fcinfo);
	shtext_hash_bytes(document, shingle, method->add, &state);
	PG_FREE_IF_COPY(document, 0);
	return return_result(fcinfo, method, &state);
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
	MethodState state;

	method->init(&state, fcinfo);
	shtext_hash_tsvector(document, method->of_set, method->add, &state);
	PG_FREE_IF_COPY(document, 0);
	return return_result(fcinfo, method, &state);
}

/*
 * (features text[], ...) -> fingerprint or, with another hash, (hashes bigint[],
 * ...) -> fingerprint
 *
 * Null if there is no element.  Raises ERRCODE_NULL_VALUE_NOT_ALLOWED for a
 * null element.
 */
static Datum
of_array(FunctionCallInfo fcinfo, const Method *method, ShTextElementHash hash)
{
	Datum	   *features;
	int			nfeatures = shtext_elements(PG_GETARG_ARRAYTYPE_P(0), SHTEXT_NULL_FEATURE,
											&features);
	MethodState state;

	method->init(&state, fcinfo);
	shtext_hash_elements(features, nfeatures, hash, method->add, &state);
	return return_result(fcinfo, method, &state);
}

/*
 * simhash_compute(features text[], weights float8[]) -> simhash or, with
 * another hash, simhash_compute(hashes bigint[], weights float8[]) -> simhash
 *
 * The weights are 1 if the second argument is null.  Null if the first argument
 * is, or if no element has a weight.  Raises ERRCODE_NULL_VALUE_NOT_ALLOWED for
 * a null element and ERRCODE_ARRAY_SUBSCRIPT_ERROR if the arrays differ in
 * length.
 */
static Datum
compute_of_array(FunctionCallInfo fcinfo, ShTextElementHash hash)
{
	Datum	   *features;
	Datum	   *values;
	int			nfeatures;
	int			nweights;
	ShTextWeights weights = {0};
	ShFingerprint result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		return of_array(fcinfo, &compute, hash);

	nfeatures = shtext_elements(PG_GETARG_ARRAYTYPE_P(0), SHTEXT_NULL_FEATURE, &features);
	nweights = shtext_elements(PG_GETARG_ARRAYTYPE_P(1), SHTEXT_NULL_WEIGHT, &values);
	if (nweights != nfeatures)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("number of weights must match number of features"),
				 errdetail("The number of weights is %d, and the number of features is %d.",
						   nweights, nfeatures)));
	for (int i = 0; i < nfeatures; i++)
	{
		CHECK_FOR_INTERRUPTS();
		shtext_weights_add(&weights, hash(features[i]), shtext_weight(DatumGetFloat8(values[i])));
	}
	if (!shtext_weights_result(&weights, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
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

Datum
simhash_compute_text_array(PG_FUNCTION_ARGS)
{
	return compute_of_array(fcinfo, shtext_element_hash_text);
}

Datum
simhash_compute_bigint_array(PG_FUNCTION_ARGS)
{
	return compute_of_array(fcinfo, shtext_element_hash_bigint);
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
simhash_minhash_text_array(PG_FUNCTION_ARGS)
{
	return of_array(fcinfo, &minhash, shtext_element_hash_text);
}

Datum
simhash_minhash_bigint_array(PG_FUNCTION_ARGS)
{
	return of_array(fcinfo, &minhash, shtext_element_hash_bigint);
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
simhash_minhash_bits_text_array(PG_FUNCTION_ARGS)
{
	return of_array(fcinfo, &minhash_bits, shtext_element_hash_text);
}

Datum
simhash_minhash_bits_bigint_array(PG_FUNCTION_ARGS)
{
	return of_array(fcinfo, &minhash_bits, shtext_element_hash_bigint);
}
