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
 * Sets of these hashes are compared.  If one takes more memory than a hash table
 * may use, the hashes of both documents are sorted, on disk if need be.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/float.h"

#include "index/sort.h"
#include "text/hash_sets.h"
#include "text/jaccard.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_jaccard_text);
PG_FUNCTION_INFO_V1(simhash_jaccard_bytea);
PG_FUNCTION_INFO_V1(simhash_jaccard_text_array);
PG_FUNCTION_INFO_V1(simhash_containment);
PG_FUNCTION_INFO_V1(simhash_minhash_radius);

/* the different features of a document, as numbers that stand for them, ascending */
typedef struct Numbers
{
	uint64	   *numbers;
	Size		count;
} Numbers;

/*
 * Get the features of a document, of which known is what is remembered, or NULL.
 * Returns false if they take too much memory.
 */
static bool
get_numbers(const ShTextFeatures *features, ShTextRemembered *known, Numbers *result)
{
	ShTextSet	set;

	if (known != NULL)
	{
		shtext_know_features(known, features);
		result->numbers = known->features;
		result->count = known->nfeatures;
		return known->features != NULL;
	}
	if (!shtext_set_read(&set, features))
		return false;
	shtext_set_sort(&set);
	result->numbers = set.slots;
	result->count = set.used;
	return true;
}

static void
free_numbers(Numbers *numbers, const ShTextRemembered *known)
{
	if (known == NULL && numbers->numbers != NULL)
		pfree(numbers->numbers);
}

/* which document has a feature */
#define IN_A	1
#define IN_B	2

/* the features of both documents, to be sorted */
typedef struct Sorting
{
	ShIdxSort  *sort;
	int			which;			/* the document that is being read */
} Sorting;

/*
 * A consumer of hashes: adds them to those that are sorted.
 */
static void
sort_hashes(void *state, const uint64 *hashes, int nhashes)
{
	Sorting    *sorting = state;

	for (int i = 0; i < nhashes; i++)
		shidx_sort_add(sorting->sort, shtext_set_number(hashes[i]), sorting->which);
}

/*
 * Count the features of both documents, which take too much memory.
 */
static ShTextOverlap
count_by_sorting(const ShTextFeatures *a, const ShTextFeatures *b)
{
	ShTextOverlap result = {0};
	Sorting		sorting = {shidx_sort_begin_distinct(work_mem, false), IN_A};
	ShIdxSortItem item;
	uint64		number = 0;		/* the last one, */
	uint64		in = 0;			/* and which documents have it */

	a->read(a, sort_hashes, &sorting);
	sorting.which = IN_B;
	b->read(b, sort_hashes, &sorting);
	shidx_sort_start(sorting.sort);
	while (shidx_sort_next(sorting.sort, &item))
	{
		CHECK_FOR_INTERRUPTS();
		if (item.key != number)
			in = 0;
		number = item.key;
		/* equal items may come again */
		if ((in & item.value) == 0)
		{
			in |= item.value;
			result.in_a += item.value == IN_A;
			result.in_b += item.value == IN_B;
			result.in_both += in == (IN_A | IN_B);
		}
	}
	shidx_sort_end(sorting.sort);
	return result;
}

/*
 * Count the features of both documents.  Those that are remembered are the results
 * of shtext_recall; NULL if there are none.
 */
ShTextOverlap
shtext_overlap(const ShTextFeatures *a, ShTextRemembered *known_a,
			   const ShTextFeatures *b, ShTextRemembered *known_b)
{
	ShTextOverlap result;
	Numbers		of_a = {0};
	Numbers		of_b = {0};

	if (get_numbers(a, known_a, &of_a) && get_numbers(b, known_b, &of_b))
	{
		result.in_a = of_a.count;
		result.in_b = of_b.count;
		result.in_both = shtext_count_common(of_a.numbers, of_a.count, of_b.numbers, of_b.count);
	}
	else
		result = count_by_sorting(a, b);
	free_numbers(&of_a, known_a);
	free_numbers(&of_b, known_b);
	return result;
}

/*
 * Do two texts have a run in common?  Reads no further than to the first one, unless
 * both take too much memory.
 *
 * The set of the runs of one text is needed.  Most often a text is a query that is compared
 * with many, and its set is remembered.  To remember each text that is compared with it
 * would take longer than to find its runs.  If none is remembered yet, the shorter text
 * gives the set.
 */
bool
shtext_meet(const ShTextFeatures *a, const ShTextFeatures *b)
{
	const ShTextFeatures *other;
	ShTextRemembered *known = shtext_recall_repeated(a, b, &other);
	ShTextSet	set;
	bool		result;

	if (known != NULL)
	{
		shtext_know_features(known, other == a ? b : a);
		if (known->features != NULL)
		{
			set.slots = known->features;
			set.slot_bits = pg_leftmost_one_pos64(known->nfeatures);
			return shtext_set_meets(&set, other);
		}
	}
	other = VARSIZE_ANY_EXHDR(b->document) < VARSIZE_ANY_EXHDR(a->document) ? a : b;
	if (!shtext_set_read(&set, other == a ? b : a))
		return count_by_sorting(a, b).in_both > 0;
	result = shtext_set_meets(&set, other);
	pfree(set.slots);
	return result;
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
	double		share;

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	if (!shtext_share(overlap, &share))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(share);
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
 * Check an argument that is a share.
 */
static void
check_share(const char *name, double share)
{
	/* this also rejects NaN */
	if (!(share >= 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %s is out of range", name, float8out_internal(share)),
				 errdetail("\"%s\" must be between 0 and 1.", name)));
}

/*
 * simhash_minhash_radius(similarity float8, bits int, found float8) -> int
 *
 * The least radius within which so large a share of the pairs of sets of this Jaccard
 * coefficient is expected: each of the bits of their fingerprints differs with the
 * probability (1 - J) / 2.
 */
Datum
simhash_minhash_radius(PG_FUNCTION_ARGS)
{
	double		similarity = PG_GETARG_FLOAT8(0);
	int32		width = PG_GETARG_INT32(1);
	double		found = PG_GETARG_FLOAT8(2);
	double		differs = (1 - similarity) / 2;
	double		within = 0;
	int32		radius = 0;

	shtype_check_width(width);
	check_share("similarity", similarity);
	check_share("found", found);
	if (differs == 0)
		PG_RETURN_INT32(0);
	/* the sum may never reach 1, or too early */
	if (found == 1)
		PG_RETURN_INT32(width);
	for (; radius < width; radius++)
	{
		within += exp(lgamma(width + 1.0) - lgamma(radius + 1.0) - lgamma(width - radius + 1.0) +
					  radius * log(differs) + (width - radius) * log1p(-differs));
		if (within >= found)
			break;
	}
	PG_RETURN_INT32(radius);
}
