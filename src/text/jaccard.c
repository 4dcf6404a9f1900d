/*-------------------------------------------------------------------------
 *
 * jaccard.c
 *	  The Jaccard coefficient of two documents: the share of the features of
 *	  either that both have.
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

#include "common/pg_prng.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "compat.h"
#include "text/document.h"
#include "text/elements.h"
#include "text/hash_sets.h"

PG_FUNCTION_INFO_V1(simhash_jaccard_text);
PG_FUNCTION_INFO_V1(simhash_jaccard_bytea);
PG_FUNCTION_INFO_V1(simhash_jaccard_text_array);

/* arrays of slots that exist while the number of slots changes */
#define ARRAYS_AT_ONCE		2

/*
 * The first array is sized for the expected number of features, which is only
 * a guess.
 */
#define LEAST_SLOT_BITS		6
#define MOST_SLOT_BITS		16
#define BYTES_OF_WORD		3	/* low, so that half of the slots are free */

/* Features that can be read any number of times. */
typedef struct Features
{
	void		(*read) (const struct Features *features,
						 ShTextConsumer consumer, void *state);
	const struct varlena *document; /* of the first two forms */
	int			shingle;
	ShTextUnit	unit;
	Datum	   *elements;		/* of the third */
	int			nelements;
} Features;

/* A comparison of two documents. */
typedef struct Comparison
{
	uint64		key;			/* a factor of the hashes */
	int			max_slot_bits;
	ShTextSets	sets;			/* the hashes within a range */
	int			which;			/* the set of the document that is being read */
} Comparison;

static void read_text(const Features *features, ShTextConsumer consumer,
					  void *state);
static void read_bytes(const Features *features, ShTextConsumer consumer,
					   void *state);
static void read_elements(const Features *features, ShTextConsumer consumer,
						  void *state);
static bool jaccard(const Features *a, const Features *b, double *result);
static int	first_slot_bits(const Features *a, const Features *b,
							int max_slot_bits);
static int64 features_expected(const Features *features);
static void collect(void *state, const uint64 *hashes, int nhashes);
static ShTextSets with_room(ShTextSets sets, int max_slot_bits);

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
	int			shingle = shtext_checked_shingle(PG_GETARG_INT32(2));
	ShTextUnit	unit = shtext_unit_named(PG_GETARG_TEXT_PP(3));
	Features	of_a = {read_text, a, shingle, unit};
	Features	of_b = {read_text, b, shingle, unit};
	double		result;
	bool		found = jaccard(&of_a, &of_b, &result);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(result);
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
	Features	of_a = {read_bytes, a, shingle};
	Features	of_b = {read_bytes, b, shingle};
	double		result;
	bool		found = jaccard(&of_a, &of_b, &result);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(result);
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
	Features	of_a = {read_elements};
	Features	of_b = {read_elements};
	double		result;
	bool		found;

	of_a.nelements = shtext_elements(a, SHTEXT_NULL_FEATURE, &of_a.elements);
	of_b.nelements = shtext_elements(b, SHTEXT_NULL_FEATURE, &of_b.elements);
	found = jaccard(&of_a, &of_b, &result);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(result);
}

static void
read_text(const Features *features, ShTextConsumer consumer, void *state)
{
	shtext_hash_text(features->document, features->shingle, features->unit,
					 consumer, state);
}

static void
read_bytes(const Features *features, ShTextConsumer consumer, void *state)
{
	shtext_hash_bytes(features->document, features->shingle, consumer, state);
}

static void
read_elements(const Features *features, ShTextConsumer consumer, void *state)
{
	for (int i = 0; i < features->nelements; i++)
	{
		uint64		hash = shtext_element_hash_text(features->elements[i]);

		CHECK_FOR_INTERRUPTS();
		consumer(state, &hash, 1);
	}
}

/*
 * Compute the Jaccard coefficient.  Returns false if either document has no
 * feature.
 *
 * A random key determines which features share a part of the array, or a
 * range.  Otherwise the authors of the documents could make this slow.
 */
static bool
jaccard(const Features *a, const Features *b, double *result)
{
	uint64		total_a = 0;
	uint64		total_b = 0;
	uint64		total_both = 0;
	uint64		low = 0;
	Comparison	comparison;
	int			slot_bits;

	/* odd, so that different numbers stay different */
	comparison.key = pg_prng_uint64(&pg_global_prng_state) | 1;
	comparison.max_slot_bits =
		pg_leftmost_one_pos64(get_hash_memory_limit() /
							  (ARRAYS_AT_ONCE * sizeof(uint64)));
	slot_bits = first_slot_bits(a, b, comparison.max_slot_bits);

	do
	{
		uint64		in_a;
		uint64		in_b;
		uint64		in_both;

		/* while the documents are read, the range may shrink */
		shtext_sets_init(&comparison.sets, low, slot_bits);
		comparison.which = SHTEXT_IN_A;
		a->read(a, collect, &comparison);
		comparison.which = SHTEXT_IN_B;
		b->read(b, collect, &comparison);

		shtext_sets_count(&comparison.sets, &in_a, &in_b, &in_both);
		total_a += in_a;
		total_b += in_b;
		total_both += in_both;

		/* the next range needs as many slots */
		low = shtext_sets_end(&comparison.sets);
		slot_bits = comparison.sets.slot_bits;
		shtext_sets_free(&comparison.sets);
	} while (low != 0);

	if (total_a == 0 || total_b == 0)
		return false;
	*result = (double) total_both / (total_a + total_b - total_both);
	return true;
}

/*
 * Choose slots for both documents, assuming that they have most features in
 * common, as documents that are compared usually do.
 */
static int
first_slot_bits(const Features *a, const Features *b, int max_slot_bits)
{
	int64		nfeatures = Max(features_expected(a), features_expected(b));
	int			slot_bits = pg_leftmost_one_pos64(nfeatures + 1) + 1;

	slot_bits = Min(Max(slot_bits, LEAST_SLOT_BITS), MOST_SLOT_BITS);
	return Min(slot_bits, max_slot_bits);
}

static int64
features_expected(const Features *features)
{
	Size		length;

	if (features->document == NULL)
		return features->nelements;
	length = VARSIZE_ANY_EXHDR(features->document);
	return features->unit == SHTEXT_WORD ? length / BYTES_OF_WORD : length;
}

/*
 * A consumer of hashes: adds them to a set, if they are in the range.
 */
static void
collect(void *state, const uint64 *hashes, int nhashes)
{
	Comparison *comparison = state;
	ShTextSets	sets = comparison->sets;	/* a copy can stay in registers */
	uint64		key = comparison->key;
	int			which = comparison->which;

	for (int i = 0; i < nhashes; i++)
	{
		/* equality must not depend on the key, so remove these bits first */
		uint64		number = (hashes[i] & ~(uint64) SHTEXT_IN_BOTH) * key;

		if (unlikely(shtext_sets_full(&sets)))
			sets = with_room(sets, comparison->max_slot_bits);
		if (shtext_sets_cover(&sets, number))
			shtext_sets_add(&sets, number, which);
	}
	comparison->sets = sets;
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
