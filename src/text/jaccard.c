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
 * Choose slots for both documents, assuming that they have most features in
 * common, as documents that are compared usually do.
 */
static int
first_slot_bits(const ShTextFeatures *a, const ShTextFeatures *b, int max_slot_bits)
{
	int64		nfeatures = Max(features_expected(a), features_expected(b));
	int			slot_bits = pg_leftmost_one_pos64(nfeatures + 1) + 1;

	slot_bits = Min(Max(slot_bits, LEAST_SLOT_BITS), MOST_SLOT_BITS);
	return Min(slot_bits, max_slot_bits);
}

/*
 * Make room for more hashes: enlarge the array or, if it may not grow, leave
 * hashes of the upper half to a later range.
 */
static ShTextSets
with_room(ShTextSets sets, int max_slot_bits)
{
	while (shtext_sets_full(&sets))
	{
		if (sets.slot_bits < max_slot_bits)
			shtext_sets_grow(&sets);
		else
			shtext_sets_narrow(&sets);
	}
	return sets;
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
			sets = with_room(sets, overlap->max_slot_bits);
		if (shtext_sets_cover(&sets, number))
			shtext_sets_add(&sets, number, which);
	}
	overlap->sets = sets;
}

/*
 * A consumer of hashes: adds those of the range to a set that are in the other one.
 */
static void
mark(void *state, const uint64 *hashes, int nhashes)
{
	Overlap    *overlap = state;

	for (int i = 0; i < nhashes; i++)
	{
		uint64		number = shtext_sets_number(hashes[i], overlap->key);

		if (shtext_sets_cover(&overlap->sets, number))
			shtext_sets_mark(&overlap->sets, number, overlap->which);
	}
}

/*
 * Count the features of both documents, each read as often as necessary.  read_b is
 * collect or, if only those of b that a has are to be counted, mark.
 *
 * A random key determines which features share a part of the array, or a
 * range.  Otherwise the authors of the documents could make this slow.
 */
static void
count_by_reading(const ShTextFeatures *a, const ShTextFeatures *b, ShTextConsumer read_b,
				 ShTextOverlap *result)
{
	uint64		low = 0;
	Overlap		overlap;
	int			slot_bits;

	overlap.key = pg_prng_uint64(&pg_global_prng_state) | 1;
	overlap.max_slot_bits =
		pg_leftmost_one_pos64(get_hash_memory_limit() /
							  (ARRAYS_AT_ONCE * sizeof(uint64)));
	slot_bits = first_slot_bits(a, read_b == mark ? a : b, overlap.max_slot_bits);

	do
	{
		uint64		in_a;
		uint64		in_b;
		uint64		in_both;

		/* while the documents are read, the range may shrink */
		shtext_sets_init(&overlap.sets, low, slot_bits);
		overlap.which = SHTEXT_IN_A;
		a->read(a, collect, &overlap);
		overlap.which = SHTEXT_IN_B;
		b->read(b, read_b, &overlap);

		shtext_sets_count(&overlap.sets, &in_a, &in_b, &in_both);
		result->in_a += in_a;
		result->in_b += in_b;
		result->in_both += in_both;

		/* the next range needs as many slots */
		low = shtext_sets_end(&overlap.sets);
		slot_bits = overlap.sets.slot_bits;
		shtext_sets_free(&overlap.sets);
	} while (low != 0);
}

/*
 * The same for documents whose features are known.
 */
static void
count_known(const ShTextRemembered *a, const ShTextRemembered *b, ShTextOverlap *result)
{
	int			i = 0;
	int			j = 0;

	result->in_a = a->nfeatures;
	result->in_b = b->nfeatures;
	while (i < a->nfeatures && j < b->nfeatures)
	{
		uint64		x = a->features[i];
		uint64		y = b->features[j];

		/* without branches, which could not be predicted */
		result->in_both += x == y;
		i += x <= y;
		j += y <= x;
	}
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
		count_by_reading(a, b, collect, &result);
	else
	{
		shtext_know_features(known_a, a);
		shtext_know_features(known_b, b);
		count_known(known_a, known_b, &result);
	}
	return result;
}

/*
 * Do the documents have a feature in common?
 *
 * Most often one is a quote, and only its few features are kept.  To remember those
 * of each document that is compared with it would take longer than to find them.
 */
bool
shtext_meet(const ShTextFeatures *a, const ShTextFeatures *b)
{
	bool		b_is_smaller = features_expected(b) < features_expected(a);
	ShTextOverlap result = {0};

	count_by_reading(b_is_smaller ? b : a, b_is_smaller ? a : b, mark, &result);
	return result.in_both > 0;
}

/*
 * Count the features of texts or byte strings, which are remembered.
 */
static ShTextOverlap
overlap_remembered(const ShTextFeatures *a, const ShTextFeatures *b)
{
	ShTextRemembered *known_a = shtext_recall(a);
	ShTextRemembered *known_b = shtext_recall(b);

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
