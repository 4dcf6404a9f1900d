/*-------------------------------------------------------------------------
 *
 * similar.c
 *	  Similar documents: the operators =~= and =%=, and the same with another threshold.
 *
 * Two documents are similar if they share as many of their features as is asked for,
 * and one of their first bands, of which more count, and more of a band may differ, the less
 * similar they need to be.  An index of bands finds them by these.
 *
 * Titles are compared by their words, and those with different numbers are not similar.  A
 * hash of the numbers is part of the prefix of each band, so that they hardly ever meet.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/value.h"
#include "utils/float.h"

#include "bits/distance.h"
#include "compat.h"
#include "text/jaccard.h"
#include "text/similar.h"
#include "text/sketch.h"
#include "type/hash.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_similar_text);
PG_FUNCTION_INFO_V1(simhash_similar_bytea);
PG_FUNCTION_INFO_V1(simhash_similar_titles);
PG_FUNCTION_INFO_V1(simhash_similar_bands_text);
PG_FUNCTION_INFO_V1(simhash_similar_bands_bytea);
PG_FUNCTION_INFO_V1(simhash_title_bands);
PG_FUNCTION_INFO_V1(simhash_similar_ball_text);
PG_FUNCTION_INFO_V1(simhash_similar_ball_bytea);
PG_FUNCTION_INFO_V1(simhash_similar_in_ball_text);
PG_FUNCTION_INFO_V1(simhash_similar_in_ball_bytea);

/*
 * Which features count.  Indexes and constraints rely on it, so it cannot change.  Of texts
 * and byte strings, those of bands are the defaults of simhash_bands, as are the minima and
 * how many bands are stored; those that are counted are the defaults of simhash_jaccard.
 */
#define BAND_WORDS				2
#define JACCARD_WORDS			3
#define BYTES_SHINGLE			8
#define BAND_MINIMA				3
#define BANDS					32
#define TITLE_MINIMA			4
#define TITLE_BANDS				16

/* how often few common features decide until the bands are asked first again */
#define NEAR_CALLS				8

/* what is compared, and by what */
typedef struct Form
{
	ShTextUnit	unit;
	int			for_bands;		/* units of a feature, for the bands, */
	int			for_jaccard;	/* and for the coefficient */
	int			minima;			/* of a band */
	int			nbands;			/* that are stored */
	bool		numbers;		/* must they be the same? */
	double		similarity;		/* if none is asked for */
	const char *least;			/* that can be asked for */
} Form;

static const Form forms[] = {
	[SHBITS_TEXTS] = {
		SHTEXT_WORD, BAND_WORDS, JACCARD_WORDS, BAND_MINIMA, BANDS, false, SHBITS_SIMILAR_SHARE, "0.5"
	},
	[SHBITS_BYTEA] = {
		SHTEXT_BYTE, BYTES_SHINGLE, BYTES_SHINGLE, BAND_MINIMA, BANDS, false, SHBITS_SIMILAR_SHARE, "0.5"
	},
	[SHBITS_TITLES] = {
		SHTEXT_WORD, 1, 1, TITLE_MINIMA, TITLE_BANDS, true, SHBITS_TITLES_SHARE, "0.7"
	}
};

static ShTextFeatures
features_of(const Form *form, const struct varlena *document, int shingle)
{
	return form->unit == SHTEXT_BYTE ? shtext_features_of_bytes(document, shingle) :
		shtext_features_of_text(document, shingle, form->unit);
}

/*
 * Change the prefixes of the bands of a title by a hash of its numbers, if it has any.
 */
static void
add_numbers(const struct varlena *title, int nbands, uint64 *bands)
{
	ShTextBuffer numbers = shtext_numbers(title);
	uint64		hash = numbers.length == 0 ? 0 : shtype_hash(numbers.bytes, numbers.length);

	for (int i = 0; i < nbands; i++)
		bands[i] ^= hash >> (SHBITS_WIDTH - SHBITS_BAND_PREFIX_BITS) << SHBITS_BAND_OTHER_BITS;
	shtext_free_array(numbers.bytes);
}

/*
 * Compute the first bands of a document.  Returns false if it has no feature.
 */
static bool
compute_bands(const Form *form, const struct varlena *document, int nbands, uint64 *bands)
{
	ShTextFeatures features = features_of(form, document, form->for_bands);
	ShTextSketch sketch;
	bool		found;

	shtext_sketch_init(&sketch, nbands * SHBITS_WIDTH, form->minima);
	features.read(&features, shtext_sketch_add, &sketch);
	found = shtext_sketch_result(&sketch, bands);
	shtext_sketch_free(&sketch);
	if (found && form->numbers)
		add_numbers(document, nbands, bands);
	return found;
}

static bool
are_equal(const struct varlena *a, const struct varlena *b)
{
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

/*
 * Do two documents have the same numbers, each as often?  Others than titles need not.
 */
static bool
have_same_numbers(const Form *form, const struct varlena *a, const struct varlena *b)
{
	ShTextBuffer of_a = {0};
	ShTextBuffer of_b = {0};
	bool		result;

	if (form->numbers)
	{
		of_a = shtext_numbers(a);
		of_b = shtext_numbers(b);
	}
	result = of_a.length == of_b.length &&
		(of_a.length == 0 || memcmp(of_a.bytes, of_b.bytes, of_a.length) == 0);
	shtext_free_array(of_a.bytes);
	shtext_free_array(of_b.bytes);
	return result;
}

/*
 * The document whose bands an index had last, if it is not longer than this: one that is
 * looked for, or inserted under a constraint, is then compared with candidates.
 */
#define KEPT_SIZE				8192

static const Form *kept_form = NULL;
static int	kept_nbands;
static union
{
	struct varlena document;
	char		bytes[KEPT_SIZE];
}			kept;
static uint64 kept_bands[BANDS];

static void
keep_bands(const Form *form, const struct varlena *document, int nbands, const uint64 *bands)
{
	if (VARSIZE_ANY(document) > KEPT_SIZE ||
		(form == kept_form && nbands <= kept_nbands && are_equal(document, &kept.document)))
		return;
	memcpy(kept.bytes, document, VARSIZE_ANY(document));
	memcpy(kept_bands, bands, nbands * sizeof(uint64));
	kept_nbands = nbands;
	kept_form = form;
}

/*
 * Get the first bands of a document.  Returns false if it has no feature.
 */
static bool
find_bands(const Form *form, const struct varlena *document, int nbands, uint64 *bands)
{
	if (form != kept_form || nbands > kept_nbands || !are_equal(document, &kept.document))
		return compute_bands(form, document, nbands, bands);
	memcpy(bands, kept_bands, nbands * sizeof(uint64));
	return true;
}

/* one of the documents of a call */
typedef struct Document
{
	ShTextFeatures features;
	ShTextRemembered *known;	/* NULL if nothing is kept */
} Document;

/*
 * Read a document that is an argument of a call.
 */
static void
read_document(Document *document, const Form *form, const struct varlena *value, int argument)
{
	document->features = features_of(form, value, form->for_jaccard);
	document->known = shtext_recall(&document->features, argument);
}

/*
 * Get at least the first bands of a document, in words if they are not remembered.  Returns
 * NULL if it has none.
 */
static const uint64 *
get_bands(const Form *form, const Document *document, int nbands, uint64 *words)
{
	ShTextRemembered *known = document->known;

	if (known != NULL && known->nbands == SHTEXT_NO_BANDS)
		return NULL;
	if (known != NULL && known->nbands >= nbands)
		return known->bands;
	if (!find_bands(form, document->features.document, nbands, words))
	{
		if (known != NULL)
			known->nbands = SHTEXT_NO_BANDS;
		return NULL;
	}
	if (known == NULL)
		return words;
	shtext_know_bands(known, words, nbands);
	return known->bands;
}

/* the arguments of a call */
typedef struct DocumentPair
{
	const Form *form;
	Document	documents[SHTEXT_ARGUMENTS];
	double		similarity;		/* that is asked for, */
	int			nbands;			/* and the bands of such documents, */
	int			radius;			/* within which they share one */
	bool		known;			/* both have features, as far as was seen */
} DocumentPair;

static bool
share_band(DocumentPair *pair)
{
	uint64		words_a[BANDS];
	uint64		words_b[BANDS];
	const uint64 *a = get_bands(pair->form, &pair->documents[0], pair->nbands, words_a);
	const uint64 *b = a == NULL ? NULL :
		get_bands(pair->form, &pair->documents[1], pair->nbands, words_b);

	pair->known = b != NULL;
	return pair->known && shbits_share_band(a, b, pair->nbands, pair->radius);
}

/*
 * Do they share as many features?  A product with the threshold could be rounded up: 55
 * of 100 are .55.
 */
static bool
share_enough(DocumentPair *pair)
{
	const Document *a = &pair->documents[0];
	const Document *b = &pair->documents[1];
	double		share;

	pair->known = shtext_share(shtext_overlap(&a->features, a->known, &b->features, b->known), &share);
	return pair->known && share >= pair->similarity &&
		have_same_numbers(pair->form, a->features.document, b->features.document);
}

/* are the bands of both documents known, which were compared before? */
static bool
have_bands(const DocumentPair *pair)
{
	const ShTextRemembered *a = pair->documents[0].known;
	const ShTextRemembered *b = pair->documents[1].known;

	return a != NULL && a->nbands >= pair->nbands && b != NULL && b->nbands >= pair->nbands;
}

/*
 * Are the documents similar?  Equal ones are if they have features.
 *
 * The rows of a table hardly ever share a band with the document that is looked for, and
 * bands show that faster than sets of features.  Candidates of an index always share one,
 * so that only the sets can decide: after a pair that does, these are compared first some
 * times.
 */
static bool
are_similar(DocumentPair *pair)
{
	static int	near = 0;
	bool		result;

	if (are_equal(pair->documents[0].features.document, pair->documents[1].features.document))
	{
		uint64		words[BANDS];

		pair->known = get_bands(pair->form, &pair->documents[1], pair->nbands, words) != NULL;
		return pair->known;
	}
	if (near == 0 || have_bands(pair))
	{
		if (!share_band(pair))
			return false;
		near = NEAR_CALLS;
		return share_enough(pair);
	}
	near--;
	result = share_enough(pair) && share_band(pair);
	if (result)
		near = NEAR_CALLS;
	return result;
}

int
shtext_similar_bands(double similarity, ShBitsDocuments documents, int *radius)
{
	int			nbands = shbits_similar_bands(similarity, documents, radius);

	if (nbands == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("similarity %s is out of range", float8out_internal(similarity)),
				 errdetail("A similarity is at least %s and at most 1.", forms[documents].least)));
	return nbands;
}

bool
shtext_similarity(const struct varlena *a, const struct varlena *b, ShBitsDocuments documents,
				  double *similarity)
{
	const Form *form = &forms[documents];
	Document	of_a;
	Document	of_b;

	/* the bands of rows that are compared say that they have features */
	if (are_equal(a, b))
	{
		*similarity = 1;
		return true;
	}
	read_document(&of_a, form, a, 0);
	read_document(&of_b, form, b, 1);
	return shtext_share(shtext_overlap(&of_a.features, of_a.known, &of_b.features, of_b.known),
						similarity) &&
		have_same_numbers(form, a, b);
}

/*
 * Get the documents of a call that have not been read.  One that is known by how it is stored
 * is not read, and has no features, unless all are needed.  Returns whether they have.
 */
static bool
get_documents(FunctionCallInfo fcinfo, DocumentPair *pair, bool all)
{
	bool		complete = true;

	for (int i = 0; i < SHTEXT_ARGUMENTS; i++)
	{
		Document   *document = &pair->documents[i];
		Datum		value = PG_GETARG_DATUM(i);

		if (document->features.document != NULL)
			continue;
		document->known = all ? NULL : shtext_recall_stored(value, i);
		if (document->known != NULL && document->known->unit == pair->form->unit &&
			document->known->shingle == pair->form->for_jaccard)
		{
			complete = false;
			continue;
		}
		read_document(document, pair->form, PG_GETARG_VARLENA_PP(i), i);
		shtext_know_stored(value, i);
	}
	return complete;
}

static void
free_documents(FunctionCallInfo fcinfo, const DocumentPair *pair)
{
	for (int i = 0; i < SHTEXT_ARGUMENTS; i++)
	{
		struct varlena *document = unconstify(struct varlena *, pair->documents[i].features.document);

		if (document != NULL)
			PG_FREE_IF_COPY(document, i);
	}
}

/*
 * The operators =~= and =%= call this with two arguments.
 */
static Datum
similar(FunctionCallInfo fcinfo, ShBitsDocuments documents)
{
	DocumentPair pair = {.form = &forms[documents]};
	double		similarity = PG_NARGS() > 2 ? PG_GETARG_FLOAT8(2) : pair.form->similarity;
	bool		result;

	pair.nbands = shtext_similar_bands(similarity, documents, &pair.radius);
	pair.similarity = shbits_similar_share(similarity);
	if (!get_documents(fcinfo, &pair, false))
	{
		if (have_bands(&pair) && !share_band(&pair))
		{
			free_documents(fcinfo, &pair);
			PG_RETURN_BOOL(false);
		}
		(void) get_documents(fcinfo, &pair, true);
	}
	result = are_similar(&pair);
	free_documents(fcinfo, &pair);
	if (!pair.known)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(result);
}

/*
 * All bands of a document; or those that an index says it needs, and zeros (index/class.h).
 */
static Datum
similar_bands(FunctionCallInfo fcinfo, ShBitsDocuments documents)
{
	const Form *form = &forms[documents];
	struct varlena *document = PG_GETARG_VARLENA_PP(0);
	Node	   *needed = fcinfo->context;
	int			nbands = needed != NULL && IsA(needed, Integer) ? Min(intVal(needed), form->nbands) :
		form->nbands;
	uint64		words[BANDS] = {0};
	bool		found = find_bands(form, document, nbands, words);

	if (found)
		keep_bands(form, document, nbands, words);
	PG_FREE_IF_COPY(document, 0);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(shtype_bits_of_words(words, form->nbands * SHBITS_WIDTH));
}

/*
 * The ball that has the first bands of a document, so many as its similar documents share
 * one of, as center.
 */
static Datum
similar_ball(FunctionCallInfo fcinfo, ShBitsDocuments documents)
{
	const Form *form = &forms[documents];
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	int			radius;
	int			nbands = shtext_similar_bands(PG_GETARG_FLOAT8(1), documents, &radius);
	Document	document;
	uint64		words[BANDS];
	const uint64 *bands;
	bytea	   *center;

	read_document(&document, form, value, 1);	/* as in a call of two documents */
	bands = get_bands(form, &document, nbands, words);
	PG_FREE_IF_COPY(value, 0);
	if (bands == NULL)
		PG_RETURN_NULL();
	center = shtype_bits_of_words(bands, nbands * SHBITS_WIDTH);
	PG_RETURN_POINTER(shtype_new_bits_ball(shtype_bits_data(center), shtype_bits_bytes(center), radius));
}

static Datum
similar_in_ball(FunctionCallInfo fcinfo, ShBitsDocuments documents)
{
	const Form *form = &forms[documents];
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	SimhashBitsBall *ball = PG_GETARG_SIMHASH_BITS_BALL(1);
	int			nbands = shtype_ball_bands(ball);
	Document	document;
	uint64		center[SHTEXT_MAX_BANDS];
	uint64		words[SHTEXT_MAX_BANDS];
	const uint64 *bands;
	bool		result;

	shtype_split_bits(ball->center, nbands * SHBITS_WIDTH, center);
	read_document(&document, form, value, 0);
	bands = get_bands(form, &document, nbands, words);
	result = bands != NULL && shbits_share_band(bands, center, nbands, ball->radius);
	PG_FREE_IF_COPY(value, 0);
	PG_FREE_IF_COPY(ball, 1);
	if (bands == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(result);
}

/*
 * simhash_similar(a text, b text, similarity float8) -> boolean
 *
 * Whether the simhash_jaccard of both is at least so much, and they share a band as such
 * texts do: see shbits_similar_bands.  Null if either has no letter, mark or number.
 */
Datum
simhash_similar_text(PG_FUNCTION_ARGS)
{
	return similar(fcinfo, SHBITS_TEXTS);
}

/*
 * simhash_similar(a bytea, b bytea, similarity float8) -> boolean
 *
 * The same for byte strings.  Null if either has no byte.
 */
Datum
simhash_similar_bytea(PG_FUNCTION_ARGS)
{
	return similar(fcinfo, SHBITS_BYTEA);
}

/*
 * simhash_similar_titles(a text, b text, similarity float8) -> boolean
 *
 * Whether the simhash_jaccard of the words of both is at least so much, they have the same
 * numbers, and they share a band of simhash_title_bands as titles do.  Null if either has no
 * letter, mark or number.
 */
Datum
simhash_similar_titles(PG_FUNCTION_ARGS)
{
	return similar(fcinfo, SHBITS_TITLES);
}

/*
 * simhash_bands_text(document text) -> simhash_bits_2048, simhash_bands(document).  Null if
 * there is no letter, mark or number.
 */
Datum
simhash_similar_bands_text(PG_FUNCTION_ARGS)
{
	return similar_bands(fcinfo, SHBITS_TEXTS);
}

/*
 * simhash_bands_bytea(document bytea) -> simhash_bits_2048, simhash_bands(document).  Null
 * if there is no byte.
 */
Datum
simhash_similar_bands_bytea(PG_FUNCTION_ARGS)
{
	return similar_bands(fcinfo, SHBITS_BYTEA);
}

/*
 * simhash_title_bands(title text) -> simhash_bits_1024, which is simhash_bands(title, 1, 'word',
 * 4, 16), but for the numbers.  Null if there is no letter, mark or number.
 */
Datum
simhash_title_bands(PG_FUNCTION_ARGS)
{
	return similar_bands(fcinfo, SHBITS_TITLES);
}

/*
 * simhash_similar_ball(document text, similarity float8) -> simhash_bits_ball, with the bands
 * of which texts that are so similar share one, and the radius.  Null if there are none.
 */
Datum
simhash_similar_ball_text(PG_FUNCTION_ARGS)
{
	return similar_ball(fcinfo, SHBITS_TEXTS);
}

/*
 * The same for byte strings.
 */
Datum
simhash_similar_ball_bytea(PG_FUNCTION_ARGS)
{
	return similar_ball(fcinfo, SHBITS_BYTEA);
}

/*
 * simhash_similar_in_ball(document text, ball simhash_bits_ball) -> boolean, whether the
 * document shares one of the bands that are the center within the radius.  Null if it has
 * none.
 */
Datum
simhash_similar_in_ball_text(PG_FUNCTION_ARGS)
{
	return similar_in_ball(fcinfo, SHBITS_TEXTS);
}

/*
 * The same for byte strings.
 */
Datum
simhash_similar_in_ball_bytea(PG_FUNCTION_ARGS)
{
	return similar_in_ball(fcinfo, SHBITS_BYTEA);
}
