/*-------------------------------------------------------------------------
 *
 * jaccard.c
 *	  The Jaccard coefficient of two documents, the share of the features of
 *	  either that both have; and the share of those of one that the other has.
 *
 * Features are taken as equal if the first 62 bits of their hashes are equal.
 * The probability that this is wrong for any two of n different features is
 * below n^2 / 2^63: 1e-11 for 10,000, and 1e-7 for a million.  In that case
 * the result is wrong by about 1 / n.  So the bytes of features are not kept.
 *
 * The sets of these hashes are kept.  If they take more memory than a hash
 * table may use, only the hashes in a range are kept, and the documents are
 * read again for the other ranges, as many times as necessary.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/float.h"

#include "compat.h"
#include "text/hash_sets.h"
#include "text/jaccard.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_jaccard_text);
PG_FUNCTION_INFO_V1(simhash_jaccard_bytea);
PG_FUNCTION_INFO_V1(simhash_jaccard_text_array);
PG_FUNCTION_INFO_V1(simhash_containment);
PG_FUNCTION_INFO_V1(simhash_minhash_jaccard);
PG_FUNCTION_INFO_V1(simhash_minhash_radius);

/* arrays of slots that exist while the number of slots changes */
#define ARRAYS_AT_ONCE		2

/*
 * The first array is sized for the expected number of features, which is only
 * a guess.
 */
#define LEAST_SLOT_BITS		6
#define MOST_SLOT_BITS		16
#define BYTES_OF_WORD		3	/* low, so that half of the slots are free */

/* A comparison of two documents. */
typedef struct Overlap
{
	uint64		key;			/* of shtext_sets_number */
	int			max_slot_bits;
	ShTextSets	sets;			/* the hashes within a range */
	int			which;			/* the set of the document that is being read */
	bool		met;			/* of shtext_meet: a common feature was found */
} Overlap;

static int64
features_expected(const ShTextFeatures *features)
{
	Size		length;

	if (features->document == NULL)
		return features->nelements;
	length = VARSIZE_ANY_EXHDR(features->document);
	return features->unit == SHTEXT_WORD ? length / BYTES_OF_WORD : length;
}

/*
 * Make room for more hashes: enlarge the array or, if it may not grow, leave hashes of
 * the upper half to a later range.
 */
static void
make_room_for_hashes(Overlap *overlap)
{
	while (shtext_sets_full(&overlap->sets))
	{
		if (overlap->sets.slot_bits < overlap->max_slot_bits)
			shtext_sets_grow(&overlap->sets);
		else
			shtext_sets_narrow(&overlap->sets);
	}
}

/*
 * A consumer of hashes: adds them to a set, if they are in the range.
 */
static void
collect(void *state, const uint64 *hashes, int nhashes)
{
	Overlap    *overlap = state;
	ShTextSets	sets = overlap->sets;	/* a copy can stay in registers */
	uint64		key = overlap->key;
	int			which = overlap->which;

	for (int i = 0; i < nhashes; i++)
	{
		uint64		number = shtext_sets_number(hashes[i], key);

		if (unlikely(shtext_sets_full(&sets)))
		{
			overlap->sets = sets;
			make_room_for_hashes(overlap);
			sets = overlap->sets;
		}
		if (shtext_sets_cover(&sets, number))
			shtext_sets_add(&sets, number, which);
	}
	overlap->sets = sets;
}

/*
 * Start to compare documents, of which the larger one is expected to have so many
 * features.
 *
 * A random key determines which features share a part of the array, or a range.
 * Otherwise the authors of the documents could make this slow.
 */
static void
begin_overlap(Overlap *overlap, int64 nfeatures)
{
	int			slot_bits = pg_leftmost_one_pos64(nfeatures + 1) + 1;

	overlap->key = pg_prng_uint64(&pg_global_prng_state) | 1;
	overlap->max_slot_bits =
		pg_leftmost_one_pos64(get_hash_memory_limit() /
							  (ARRAYS_AT_ONCE * sizeof(uint64)));
	slot_bits = Min(Max(slot_bits, LEAST_SLOT_BITS), MOST_SLOT_BITS);
	shtext_sets_init(&overlap->sets, 0, Min(slot_bits, overlap->max_slot_bits));
}

/*
 * Add the features of a document to a set, if they are in the range.  The range may
 * shrink meanwhile.
 */
static void
read_into(Overlap *overlap, const ShTextFeatures *features, int which)
{
	overlap->which = which;
	features->read(features, collect, overlap);
}

/*
 * Go on to the next range, which needs as many slots.  Returns false after the last.
 */
static bool
next_range(Overlap *overlap)
{
	uint64		low = shtext_sets_end(&overlap->sets);

	shtext_sets_free(&overlap->sets);
	if (low != 0)
		shtext_sets_init(&overlap->sets, low, overlap->sets.slot_bits);
	return low != 0;
}

/*
 * Count the features of both documents, each read as often as necessary.  Most of them
 * are expected in both, as in documents that are usually compared.
 */
static void
count_by_reading(const ShTextFeatures *a, const ShTextFeatures *b, ShTextOverlap *result)
{
	Overlap		overlap;

	begin_overlap(&overlap, Max(features_expected(a), features_expected(b)));
	do
	{
		uint64		in_a;
		uint64		in_b;
		uint64		in_both;

		read_into(&overlap, a, SHTEXT_IN_A);
		read_into(&overlap, b, SHTEXT_IN_B);
		shtext_sets_count(&overlap.sets, &in_a, &in_b, &in_both);
		result->in_a += in_a;
		result->in_b += in_b;
		result->in_both += in_both;
	} while (next_range(&overlap));
}

/*
 * Count the features of both documents.  Those that are remembered are the results
 * of shtext_recall; NULL if there are none.
 */
ShTextOverlap
shtext_overlap(const ShTextFeatures *a, ShTextRemembered *known_a,
			   const ShTextFeatures *b, ShTextRemembered *known_b)
{
	ShTextOverlap result = {0};

	if (known_a == NULL || known_b == NULL)
		count_by_reading(a, b, &result);
	else
	{
		shtext_know_features(known_a, a);
		shtext_know_features(known_b, b);
		result.in_a = known_a->nfeatures;
		result.in_b = known_b->nfeatures;
		result.in_both = shtext_count_common(known_a->features, known_a->nfeatures,
											 known_b->features, known_b->nfeatures);
	}
	return result;
}

/*
 * A consumer of hashes: looks for one that is in the set.
 */
static void
look_for(void *state, const uint64 *hashes, int nhashes)
{
	Overlap    *overlap = state;

	for (int i = 0; i < nhashes && !overlap->met; i++)
	{
		uint64		number = shtext_sets_number(hashes[i], overlap->key);

		overlap->met = shtext_sets_cover(&overlap->sets, number) &&
			*shtext_sets_slot(&overlap->sets, number) != 0;
	}
}

/*
 * Do the documents have a feature in common?  Reads no further than to the first one.
 *
 * Most often one document is a quote, and only its few features are kept.  To remember
 * the features of each document that is compared with it would take longer than to
 * find them.
 */
bool
shtext_meet(const ShTextFeatures *a, const ShTextFeatures *b)
{
	bool		b_is_smaller = features_expected(b) < features_expected(a);
	const ShTextFeatures *smaller = b_is_smaller ? b : a;
	ShTextFeatures larger = b_is_smaller ? *a : *b;
	Overlap		overlap;

	begin_overlap(&overlap, features_expected(smaller));
	overlap.met = false;
	larger.enough = &overlap.met;
	do
	{
		read_into(&overlap, smaller, SHTEXT_IN_A);
		larger.read(&larger, look_for, &overlap);
	} while (!overlap.met && next_range(&overlap));
	if (overlap.met)
		shtext_sets_free(&overlap.sets);
	return overlap.met;
}

/*
 * Count the features of texts or byte strings, which are remembered.
 */
static ShTextOverlap
overlap_remembered(const ShTextFeatures *a, const ShTextFeatures *b)
{
	ShTextRemembered *known_a = shtext_recall(a, 0);
	ShTextRemembered *known_b = shtext_recall(b, 1);

	return shtext_overlap(a, known_a, b, known_b);
}

/*
 * The result of a function of two documents, which are its first arguments.
 * Frees those that are copies.
 */
static Datum
result_of(FunctionCallInfo fcinfo, void *a, void *b, ShTextOverlap overlap)
{
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	if (overlap.in_a == 0 || overlap.in_b == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) overlap.in_both / (overlap.in_a + overlap.in_b - overlap.in_both));
}

/*
 * What the two texts of a function with the arguments (a text, b text, shingle int,
 * unit text) have in common.
 */
static ShTextOverlap
overlap_of_texts(FunctionCallInfo fcinfo, const text *a, const text *b)
{
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(2));
	ShTextUnit	unit = shtext_unit_named(PG_GETARG_TEXT_PP(3));
	ShTextFeatures of_a = shtext_features_of_text(a, shingle, unit);
	ShTextFeatures of_b = shtext_features_of_text(b, shingle, unit);

	return overlap_remembered(&of_a, &of_b);
}

/*
 * simhash_jaccard(a text, b text, shingle int, unit text) -> float8
 *
 * Null if either has no letter, mark or number.
 */
Datum
simhash_jaccard_text(PG_FUNCTION_ARGS)
{
	text	   *a = PG_GETARG_TEXT_PP(0);
	text	   *b = PG_GETARG_TEXT_PP(1);

	return result_of(fcinfo, a, b, overlap_of_texts(fcinfo, a, b));
}

/*
 * simhash_containment(a text, b text, shingle int, unit text) -> float8
 *
 * The share of the features of a that b has.  Null if a has no letter, mark or
 * number.
 */
Datum
simhash_containment(PG_FUNCTION_ARGS)
{
	text	   *a = PG_GETARG_TEXT_PP(0);
	text	   *b = PG_GETARG_TEXT_PP(1);
	ShTextOverlap overlap = overlap_of_texts(fcinfo, a, b);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	if (overlap.in_a == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((double) overlap.in_both / overlap.in_a);
}

/*
 * simhash_jaccard(a bytea, b bytea, shingle int) -> float8
 *
 * Null if either has no byte.
 */
Datum
simhash_jaccard_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *a = PG_GETARG_BYTEA_PP(0);
	bytea	   *b = PG_GETARG_BYTEA_PP(1);
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(2));
	ShTextFeatures of_a = shtext_features_of_bytes(a, shingle);
	ShTextFeatures of_b = shtext_features_of_bytes(b, shingle);

	return result_of(fcinfo, a, b, overlap_remembered(&of_a, &of_b));
}

/*
 * simhash_jaccard(a text[], b text[]) -> float8
 *
 * Null if either has no element.  Raises ERRCODE_NULL_VALUE_NOT_ALLOWED if
 * one is null.
 */
Datum
simhash_jaccard_text_array(PG_FUNCTION_ARGS)
{
	ArrayType  *a = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType  *b = PG_GETARG_ARRAYTYPE_P(1);
	ShTextFeatures of_a = shtext_features_of_array(a);
	ShTextFeatures of_b = shtext_features_of_array(b);

	return result_of(fcinfo, a, b, shtext_overlap(&of_a, NULL, &of_b, NULL));
}

/*
 * simhash_minhash_jaccard(distance int, bits int) -> float8
 *
 * The Jaccard coefficient of two sets of which the fingerprints of so many bits
 * have this distance on average: that of two sets without a common element is
 * half of the bits.  Raises ERRCODE_INVALID_PARAMETER_VALUE if there are no
 * such fingerprints.
 */
Datum
simhash_minhash_jaccard(PG_FUNCTION_ARGS)
{
	int32		distance = PG_GETARG_INT32(0);
	int32		width = PG_GETARG_INT32(1);

	shtype_check_width(width);
	if (distance < 0 || distance > width)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("distance %d is out of range", distance),
				 errdetail("The distance must be between 0 and %d bits.", width)));
	PG_RETURN_FLOAT8(Max(0.0, 1.0 - distance / (width / 2.0)));
}

/*
 * simhash_minhash_radius(jaccard float8, bits int) -> int
 *
 * The distance, rounded, that the fingerprints of so many bits of two sets of
 * this Jaccard coefficient have on average.  Raises
 * ERRCODE_INVALID_PARAMETER_VALUE if there are no such sets.
 */
Datum
simhash_minhash_radius(PG_FUNCTION_ARGS)
{
	double		jaccard = PG_GETARG_FLOAT8(0);
	int32		width = PG_GETARG_INT32(1);

	shtype_check_width(width);
	/* this also rejects NaN */
	if (!(jaccard >= 0.0 && jaccard <= 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("Jaccard coefficient %s is out of range",
						float8out_internal(jaccard)),
				 errdetail("A Jaccard coefficient is between 0 and 1.")));
	PG_RETURN_INT32((int32) rint(width / 2.0 * (1.0 - jaccard)));
}
