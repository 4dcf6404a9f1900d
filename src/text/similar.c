/*-------------------------------------------------------------------------
 *
 * similar.c
 *	  The operator ~= of two documents.
 *
 * Two documents are near-duplicates if their MinHash fingerprints differ in few
 * bits, so that an index of fingerprints finds them, and if most of their
 * features are the same.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "text/jaccard.h"
#include "text/remembered.h"
#include "text/sketch.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_similar_text);
PG_FUNCTION_INFO_V1(simhash_similar_bytea);
PG_FUNCTION_INFO_V1(simhash_similar_fingerprint_text);
PG_FUNCTION_INFO_V1(simhash_similar_fingerprint_bytea);

/*
 * What ~= means.  Indexes and constraints rely on it, so it cannot change.  The
 * shingles are the defaults of simhash_minhash and simhash_jaccard.
 */
#define SIMILAR_RADIUS			10
#define SIMILAR_JACCARD			0.8
#define FINGERPRINT_WORDS		2
#define JACCARD_WORDS			3
#define BYTES_SHINGLE			8

/* how often few common features decide until the fingerprints are asked first again */
#define NEAR_CALLS				8

/* an argument, and its fingerprint if it is known */
typedef struct Remembered
{
	ShTextRemembered document;
	bool		computed;		/* the next two are known */
	bool		found;			/* it has a fingerprint */
	ShFingerprint fp;
} Remembered;

/*
 * What is kept from one call of an expression to the next.  The rows of a table
 * are hardly ever near the document that is looked for, and fingerprints show that
 * faster than sets of features.  Candidates of an index are always near, so that
 * only the sets can decide.
 */
typedef struct Calls
{
	Remembered	a;
	Remembered	b;
	int			near;			/* calls in which the sets are compared first */
} Calls;

/* which features count */
typedef struct Form
{
	ShTextFeatures (*for_fingerprint) (const struct varlena *document);
	ShTextFeatures (*for_jaccard) (const struct varlena *document);
} Form;

static ShTextFeatures
pairs_of_words(const struct varlena *document)
{
	return shtext_features_of_text(document, FINGERPRINT_WORDS, SHTEXT_WORD);
}

static ShTextFeatures
triples_of_words(const struct varlena *document)
{
	return shtext_features_of_text(document, JACCARD_WORDS, SHTEXT_WORD);
}

static ShTextFeatures
runs_of_bytes(const struct varlena *document)
{
	return shtext_features_of_bytes(document, BYTES_SHINGLE);
}

static const Form form_of_text = {pairs_of_words, triples_of_words};
static const Form form_of_bytea = {runs_of_bytes, runs_of_bytes};

static void
add_to_sketch(void *state, const uint64 *hashes, int nhashes)
{
	shtext_sketch_add((ShTextSketch *) state, hashes, nhashes);
}

/*
 * Compute the fingerprint of a document.  Returns false if it has no feature.
 */
static bool
compute_fingerprint(const Form *form, const struct varlena *document, ShFingerprint *fp)
{
	ShTextFeatures features = form->for_fingerprint(document);
	ShTextSketch sketch;

	shtext_sketch_init(&sketch);
	features.read(&features, add_to_sketch, &sketch);
	return shtext_sketch_result(&sketch, fp);
}

/*
 * What is kept for the expression of a call; NULL if the call is none of an
 * expression, so that nothing should outlive it.
 */
static Calls *
calls_of(FunctionCallInfo fcinfo)
{
	FmgrInfo   *function = fcinfo->flinfo;

	if (function->fn_expr == NULL)
		return NULL;
	if (function->fn_extra == NULL)
		function->fn_extra = MemoryContextAllocZero(function->fn_mcxt, sizeof(Calls));
	return (Calls *) function->fn_extra;
}

/*
 * What is known of an argument, which is often the same as in the last call: the
 * document that is looked for.  NULL if nothing is, and nothing should be kept.
 */
static Remembered *
recall(FunctionCallInfo fcinfo, Remembered *last, const struct varlena *document)
{
	if (shtext_recall(&last->document, fcinfo->flinfo->fn_mcxt, document) == NULL)
		return NULL;
	if (!last->document.again)
		last->computed = false;
	return last;
}

/*
 * Get the fingerprint of an argument.  Returns false if it has none.
 */
static bool
get_fingerprint(Remembered *last, const Form *form, const struct varlena *document,
				ShFingerprint *fp)
{
	if (last == NULL)
		return compute_fingerprint(form, document, fp);
	if (!last->computed)
		last->found = compute_fingerprint(form, document, &last->fp);
	last->computed = true;
	*fp = last->fp;
	return last->found;
}

/*
 * The features of an argument.
 */
static ShTextFeatures
get_features(Remembered *last, const Form *form, const struct varlena *document)
{
	ShTextFeatures features = form->for_jaccard(document);

	return shtext_remembered_features(last != NULL ? &last->document : NULL, &features);
}

/* the arguments of a call, and what is known of them */
typedef struct DocumentPair
{
	const Form *form;
	Calls	   *calls;			/* of the expression; NULL if nothing is kept */
	const struct varlena *a;
	const struct varlena *b;
	Remembered *last_a;
	Remembered *last_b;
	bool		known;			/* both have features, as far as was seen */
} DocumentPair;

static bool
are_near(DocumentPair *pair)
{
	ShFingerprint fp_a;
	ShFingerprint fp_b;

	pair->known = get_fingerprint(pair->last_a, pair->form, pair->a, &fp_a) &&
		get_fingerprint(pair->last_b, pair->form, pair->b, &fp_b);
	return pair->known && shbits_distance(fp_a, fp_b) <= SIMILAR_RADIUS;
}

static bool
share_most(DocumentPair *pair)
{
	ShTextFeatures of_a = get_features(pair->last_a, pair->form, pair->a);
	ShTextFeatures of_b = get_features(pair->last_b, pair->form, pair->b);
	double		coefficient;

	pair->known = shtext_jaccard(&of_a, &of_b, &coefficient);
	return pair->known && coefficient >= SIMILAR_JACCARD;
}

/*
 * Are the documents near-duplicates?
 */
static bool
are_similar(DocumentPair *pair)
{
	Calls	   *calls = pair->calls;

	if (calls == NULL)
		return are_near(pair) && share_most(pair);
	if (calls->near > 0)
	{
		calls->near--;
		if (!share_most(pair) || !are_near(pair))
			return false;
		calls->near = NEAR_CALLS;
		return true;
	}
	if (!are_near(pair))
		return false;
	calls->near = NEAR_CALLS;
	return share_most(pair);
}

static Datum
similar(FunctionCallInfo fcinfo, const Form *form)
{
	struct varlena *a = PG_GETARG_VARLENA_PP(0);
	struct varlena *b = PG_GETARG_VARLENA_PP(1);
	DocumentPair pair = {form, calls_of(fcinfo), a, b};
	bool		result;

	if (pair.calls != NULL)
	{
		pair.last_a = recall(fcinfo, &pair.calls->a, a);
		pair.last_b = recall(fcinfo, &pair.calls->b, b);
	}
	result = are_similar(&pair);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	if (!pair.known)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(result);
}

static Datum
similar_fingerprint(FunctionCallInfo fcinfo, const Form *form)
{
	struct varlena *document = PG_GETARG_VARLENA_PP(0);
	ShFingerprint fp;
	bool		found = compute_fingerprint(form, document, &fp);

	PG_FREE_IF_COPY(document, 0);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(fp);
}

/*
 * simhash_similar(a text, b text) -> boolean
 *
 * Whether the simhash_minhash of both differ in at most 10 bits and their
 * simhash_jaccard is at least 0.8.  Null if either has no letter, mark or
 * number.
 */
Datum
simhash_similar_text(PG_FUNCTION_ARGS)
{
	return similar(fcinfo, &form_of_text);
}

/*
 * simhash_similar(a bytea, b bytea) -> boolean
 *
 * The same for byte strings.  Null if either has no byte.
 */
Datum
simhash_similar_bytea(PG_FUNCTION_ARGS)
{
	return similar(fcinfo, &form_of_bytea);
}

/*
 * simhash_similar_fingerprint(document text) -> simhash, simhash_minhash(document).
 * Null if there is no letter, mark or number.
 */
Datum
simhash_similar_fingerprint_text(PG_FUNCTION_ARGS)
{
	return similar_fingerprint(fcinfo, &form_of_text);
}

/*
 * simhash_similar_fingerprint(document bytea) -> simhash, simhash_minhash(document).
 * Null if there is no byte.
 */
Datum
simhash_similar_fingerprint_bytea(PG_FUNCTION_ARGS)
{
	return similar_fingerprint(fcinfo, &form_of_bytea);
}
