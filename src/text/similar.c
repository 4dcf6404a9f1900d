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
#define SIMILAR_RADIUS			8
#define SIMILAR_JACCARD			0.8
#define FINGERPRINT_WORDS		2
#define JACCARD_WORDS			3
#define BYTES_SHINGLE			8

/* longer documents are not remembered, in bytes */
#define MAX_REMEMBERED			(1024 * 1024)

/* the hashes for which there is room at first */
#define FIRST_HASHES			256

/* how often few common features decide until the fingerprints are asked first again */
#define NEAR_CALLS				8

/*
 * The last document that was an argument and, as far as they are known, its
 * fingerprint and, if it has been an argument before, the hashes of its features.
 */
typedef struct Remembered
{
	Size		length;
	Size		size;			/* of the copy; 0 if there is none */
	char	   *bytes;
	bool		again;			/* the last argument was the same */
	bool		computed;		/* the next two are known */
	bool		found;			/* it has a fingerprint */
	ShFingerprint fp;
	int			nhashes;
	int			max_hashes;
	uint64	   *hashes;			/* NULL if not known */
} Remembered;

/*
 * What is kept from one call of an expression to the next.  The rows of a table
 * are hardly ever near the document that is looked for, and fingerprints show that
 * faster than sets of features.  Candidates of an index are always near, so that
 * only the sets can decide.
 */
typedef struct Calls
{
	MemoryContext context;
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
	{
		Calls	   *calls = MemoryContextAllocZero(function->fn_mcxt, sizeof(Calls));

		calls->context = function->fn_mcxt;
		function->fn_extra = calls;
	}
	return (Calls *) function->fn_extra;
}

static bool
is_remembered(const Remembered *last, const struct varlena *document)
{
	return last->size > 0 && VARSIZE_ANY_EXHDR(document) == last->length &&
		memcmp(last->bytes, VARDATA_ANY(document), last->length) == 0;
}

static void
remember(Remembered *last, MemoryContext context, const struct varlena *document)
{
	Size		length = VARSIZE_ANY_EXHDR(document);

	if (length > last->size)
	{
		if (last->size > 0)
			pfree(last->bytes);
		last->size = 0;
		last->bytes = MemoryContextAlloc(context, length);
		last->size = length;
	}
	memcpy(last->bytes, VARDATA_ANY(document), length);
	last->length = length;
	last->computed = false;
	if (last->hashes != NULL)
		pfree(last->hashes);
	last->hashes = NULL;
}

/*
 * What is known of an argument, which is often the same as in the last call: the
 * document that is looked for.  NULL if nothing is, and nothing should be kept.
 */
static Remembered *
recall(Calls *calls, Remembered *last, const struct varlena *document)
{
	Size		length = VARSIZE_ANY_EXHDR(document);

	last->again = is_remembered(last, document);
	if (last->again)
		return last;
	if (length == 0 || length > MAX_REMEMBERED)
		return NULL;
	remember(last, calls->context, document);
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
 * A consumer of hashes: keeps them.
 */
static void
keep_hashes(void *state, const uint64 *hashes, int nhashes)
{
	Remembered *last = state;

	if (last->nhashes + nhashes > last->max_hashes)
	{
		last->max_hashes = 2 * (last->nhashes + nhashes);
		last->hashes = repalloc(last->hashes, last->max_hashes * sizeof(uint64));
	}
	memcpy(last->hashes + last->nhashes, hashes, nhashes * sizeof(uint64));
	last->nhashes += nhashes;
}

/*
 * The features of an argument.
 */
static ShTextFeatures
get_features(MemoryContext context, Remembered *last, const Form *form,
			 const struct varlena *document)
{
	ShTextFeatures features = form->for_jaccard(document);

	if (last == NULL || !last->again)
		return features;
	if (last->hashes == NULL)
	{
		last->nhashes = 0;
		last->max_hashes = FIRST_HASHES;
		last->hashes = MemoryContextAlloc(context, last->max_hashes * sizeof(uint64));
		PG_TRY();
		{
			features.read(&features, keep_hashes, last);
		}
		PG_CATCH();
		{
			pfree(last->hashes);
			last->hashes = NULL;
			PG_RE_THROW();
		}
		PG_END_TRY();
	}
	return shtext_features_of_hashes(last->hashes, last->nhashes);
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
	MemoryContext context = pair->calls != NULL ? pair->calls->context : NULL;
	ShTextFeatures of_a = get_features(context, pair->last_a, pair->form, pair->a);
	ShTextFeatures of_b = get_features(context, pair->last_b, pair->form, pair->b);
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
	pair->last_a = recall(calls, &calls->a, pair->a);
	pair->last_b = recall(calls, &calls->b, pair->b);
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
	DocumentPair		pair = {form, calls_of(fcinfo), a, b};
	bool		result = are_similar(&pair);

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
 * Whether the simhash_minhash of both differ in at most 8 bits and their
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
