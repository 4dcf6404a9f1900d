/*-------------------------------------------------------------------------
 *
 * features.c
 *	  SQL functions whose arguments are the features, or their hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "utils/builtins.h"

#include "compat.h"
#include "text/elements.h"
#include "text/encoding.h"
#include "text/majority.h"
#include "text/weights.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_compute_tsvector);
PG_FUNCTION_INFO_V1(simhash_compute_text_array);
PG_FUNCTION_INFO_V1(simhash_compute_bigint_array);

static Datum compute_array(FunctionCallInfo fcinfo, ShTextElementHash hash);

/*
 * simhash_compute(document tsvector) -> simhash
 *
 * The weight of a lexeme is the number of its positions, 1 if it has none.
 * Null if there is no lexeme.
 */
Datum
simhash_compute_tsvector(PG_FUNCTION_ARGS)
{
	TSVector	document = PG_GETARG_TSVECTOR(0);
	WordEntry  *entries = ARRPTR(document);
	ShTextWeights weights = {0};
	uint64		result;
	bool		found;

	for (int i = 0; i < document->size; i++)
	{
		WordEntry  *entry = &entries[i];
		int			npositions = POSDATALEN(document, entry);
		uint64		hash = shtext_hash_converted(STRPTR(document) + entry->pos,
												 entry->len);

		CHECK_FOR_INTERRUPTS();
		shtext_weights_add(&weights, hash,
						   Max(npositions, 1) * SHTEXT_WEIGHT_ONE);
	}
	found = shtext_weights_result(&weights, &result);

	PG_FREE_IF_COPY(document, 0);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}

/*
 * simhash_compute(features text[], weights float8[]) -> simhash
 */
Datum
simhash_compute_text_array(PG_FUNCTION_ARGS)
{
	return compute_array(fcinfo, shtext_element_hash_text);
}

/*
 * simhash_compute(hashes bigint[], weights float8[]) -> simhash
 */
Datum
simhash_compute_bigint_array(PG_FUNCTION_ARGS)
{
	return compute_array(fcinfo, shtext_element_hash_bigint);
}

/*
 * The fingerprint of the elements of the first argument.  Their weights are
 * those of the second, 1 if that is null.
 *
 * Null if the first argument is, or if no element has a weight.  Raises
 * ERRCODE_NULL_VALUE_NOT_ALLOWED for a null element and
 * ERRCODE_ARRAY_SUBSCRIPT_ERROR if the arrays differ in length.
 */
static Datum
compute_array(FunctionCallInfo fcinfo, ShTextElementHash hash)
{
	Datum	   *features;
	Datum	   *values = NULL;
	int			nfeatures;
	uint64		result;
	bool		found;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();

	nfeatures = shtext_elements(PG_GETARG_ARRAYTYPE_P(0), SHTEXT_NULL_FEATURE,
								&features);
	if (!PG_ARGISNULL(1))
	{
		int			nweights = shtext_elements(PG_GETARG_ARRAYTYPE_P(1),
											   SHTEXT_NULL_WEIGHT, &values);

		if (nweights != nfeatures)
			ereport(ERROR,
					(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					 errmsg("number of weights must match number of features"),
					 errdetail("The number of weights is %d, and the number of features is %d.",
							   nweights, nfeatures)));
	}

	if (values == NULL)
	{
		ShTextMajority majority;

		shtext_majority_init(&majority);
		for (int i = 0; i < nfeatures; i++)
		{
			uint64		number = hash(features[i]);

			CHECK_FOR_INTERRUPTS();
			shtext_majority_add(&majority, &number, 1);
		}
		result = shtext_majority_result(&majority);
		found = (majority.count > 0);
	}
	else
	{
		ShTextWeights weights = {0};

		for (int i = 0; i < nfeatures; i++)
		{
			CHECK_FOR_INTERRUPTS();
			shtext_weights_add(&weights, hash(features[i]),
							   shtext_weight(DatumGetFloat8(values[i])));
		}
		found = shtext_weights_result(&weights, &result);
	}

	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}
