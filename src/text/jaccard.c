/*-------------------------------------------------------------------------
 *
 * jaccard.c
 *	  The Jaccard coefficient of two documents: the share of their features
 *	  that they have in common.
 *
 * Features are equal if their hashes are.  Of n different features two have
 * the same hash with a probability below n^2 / 2^65, if they were not made for
 * it: 3e-12 of 10,000, 3e-8 of a million.  And then the result is wrong by
 * about 1 / n.  So the bytes of features are not kept.
 *
 * What is kept are the sets of the hashes of either document.  If these take
 * more memory than a hash table may, only hashes up to some number are, and the
 * documents are read again for the rest: as many times as it takes.
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
#include "text/hash_set.h"

PG_FUNCTION_INFO_V1(simhash_jaccard_text);
PG_FUNCTION_INFO_V1(simhash_jaccard_bytea);
PG_FUNCTION_INFO_V1(simhash_jaccard_text_array);

/* arrays of slots that exist at a time: two sets, and one that is being moved */
#define ARRAYS_AT_ONCE		3

/* Features, which can be read any number of times */
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

/* The hashes of two documents, in a range */
typedef struct Comparison
{
	uint64		key;			/* hashes are multiplied by it */
	int			max_slot_bits;	/* of a set */
	ShTextSet	a;
	ShTextSet	b;
	ShTextSet  *target;			/* the one of which features are read */
} Comparison;

static void read_text(const Features *features, ShTextConsumer consumer,
					  void *state);
static void read_bytes(const Features *features, ShTextConsumer consumer,
					   void *state);
static void read_elements(const Features *features, ShTextConsumer consumer,
						  void *state);
static bool jaccard(const Features *a, const Features *b, double *result);
static int	slot_bits_allowed(void);
static void collect(void *state, const uint64 *hashes, int nhashes);
static void make_room(Comparison *comparison);

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

	of_a.nelements = shtext_elements(a, "features", &of_a.elements);
	of_b.nelements = shtext_elements(b, "features", &of_b.elements);
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
 * The Jaccard coefficient; false if there is none, since either document has no
 * feature.
 *
 * No one can know which features have numbers that are near each other, for
 * they depend on a random key.  Else whoever writes the documents could make
 * the sets slow, and the ranges many.
 */
static bool
jaccard(const Features *a, const Features *b, double *result)
{
	uint64		nfeatures_a = 0;
	uint64		nfeatures_b = 0;
	uint64		ncommon = 0;
	uint64		low = 0;
	Comparison	comparison;

	/* odd, so that different hashes stay different */
	comparison.key = pg_prng_uint64(&pg_global_prng_state) | 1;
	comparison.max_slot_bits = slot_bits_allowed();
	do
	{
		/* as large a range as can begin here; while reading, it may shrink */
		int			fixed_bits = low == 0 ? 0 :
			63 - pg_rightmost_one_pos64(low);

		shtext_set_init(&comparison.a, low, fixed_bits);
		shtext_set_init(&comparison.b, low, fixed_bits);
		comparison.target = &comparison.a;
		a->read(a, collect, &comparison);
		comparison.target = &comparison.b;
		b->read(b, collect, &comparison);

		nfeatures_a += shtext_set_size(&comparison.a);
		nfeatures_b += shtext_set_size(&comparison.b);
		ncommon += shtext_set_common(&comparison.a, &comparison.b);

		/* the next range, or 0 after the last */
		low += (PG_UINT64_MAX >> comparison.a.fixed_bits) + 1;
		shtext_set_free(&comparison.a);
		shtext_set_free(&comparison.b);
	} while (low != 0);

	if (nfeatures_a == 0 || nfeatures_b == 0)
		return false;
	*result = (double) ncommon / (nfeatures_a + nfeatures_b - ncommon);
	return true;
}

/*
 * How large a set may be.
 */
static int
slot_bits_allowed(void)
{
	Size		nslots = get_hash_memory_limit() / ARRAYS_AT_ONCE / sizeof(uint64);

	return pg_leftmost_one_pos64(nslots);
}

/*
 * A consumer of hashes: adds them to one of the sets, if they are in the range.
 */
static void
collect(void *state, const uint64 *hashes, int nhashes)
{
	Comparison *comparison = state;
	ShTextSet  *set = comparison->target;

	for (int i = 0; i < nhashes; i++)
	{
		uint64		number = hashes[i] * comparison->key;

		if (shtext_set_is_full(set))
			make_room(comparison);
		if (shtext_set_covers(set, number))
			shtext_set_add(set, number);
	}
}

/*
 * Make room in the set that is full: let it grow, or if it may not, leave out
 * what belongs to a later range.
 */
static void
make_room(Comparison *comparison)
{
	if (comparison->target->slot_bits < comparison->max_slot_bits)
	{
		shtext_set_grow(comparison->target);
		return;
	}
	while (shtext_set_is_full(comparison->target))
	{
		shtext_set_narrow(&comparison->a);
		shtext_set_narrow(&comparison->b);
	}
}
