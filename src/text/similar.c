/*-------------------------------------------------------------------------
 *
 * similar.c
 *	  Similar documents: the operator =~=, and the same with another threshold.
 *
 * Two documents are similar if they share as many of their features as is asked for,
 * and if their MinHash fingerprints are as near as those of such documents are, so that
 * an index of fingerprints finds them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/float.h"

#include "bits/hamming_ball.h"
#include "compat.h"
#include "text/jaccard.h"
#include "text/similar.h"
#include "text/sketch.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_similar_text);
PG_FUNCTION_INFO_V1(simhash_similar_bytea);
PG_FUNCTION_INFO_V1(simhash_similar_ball_text);
PG_FUNCTION_INFO_V1(simhash_similar_ball_bytea);
PG_FUNCTION_INFO_V1(simhash_similar_in_ball_text);
PG_FUNCTION_INFO_V1(simhash_similar_in_ball_bytea);
PG_FUNCTION_INFO_V1(simhash_similar_fingerprint_text);
PG_FUNCTION_INFO_V1(simhash_similar_fingerprint_bytea);

/*
 * Which features count.  Indexes and constraints rely on it, so it cannot change.  The
 * shingles are the defaults of simhash_minhash and simhash_jaccard.
 */
#define FINGERPRINT_WORDS		2
#define JACCARD_WORDS			3
#define BYTES_SHINGLE			8

/* how often few common features decide until the fingerprints are asked first again */
#define NEAR_CALLS				8

/* which features count: units of one for the fingerprint, and for the coefficient */
typedef struct Form
{
	ShTextUnit	unit;
	int			for_fingerprint;
	int			for_jaccard;
} Form;

static const Form form_of_text = {SHTEXT_WORD, FINGERPRINT_WORDS, JACCARD_WORDS};
static const Form form_of_bytea = {SHTEXT_BYTE, BYTES_SHINGLE, BYTES_SHINGLE};

static ShTextFeatures
features_of(const Form *form, const struct varlena *document, int shingle)
{
	return form->unit == SHTEXT_BYTE ? shtext_features_of_bytes(document, shingle) :
		shtext_features_of_text(document, shingle, form->unit);
}

/*
 * Compute the fingerprint of a document.  Returns false if it has no feature.
 */
static bool
compute_fingerprint(const Form *form, const struct varlena *document, ShFingerprint *fp)
{
	ShTextFeatures features = features_of(form, document, form->for_fingerprint);
	ShTextSketch sketch;

	shtext_sketch_init(&sketch, SHBITS_WIDTH, 0);
	features.read(&features, shtext_sketch_add, &sketch);
	return shtext_sketch_result(&sketch, fp);
}

/* one of the documents of a call */
typedef struct Document
{
	ShTextFeatures features;
	ShTextRemembered *known;	/* NULL if nothing is kept */
} Document;

static void
read_document(Document *document, const Form *form, const struct varlena *value, int argument)
{
	document->features = features_of(form, value, form->for_jaccard);
	document->known = shtext_recall(&document->features, argument);
}

/*
 * Get the fingerprint of a document.  Returns false if it has none.
 */
static bool
get_fingerprint(const Form *form, const Document *document, ShFingerprint *fp)
{
	ShTextRemembered *known = document->known;

	if (known == NULL)
		return compute_fingerprint(form, document->features.document, fp);
	if (!known->computed)
		known->found = compute_fingerprint(form, document->features.document, &known->fp);
	known->computed = true;
	*fp = known->fp;
	return known->found;
}

/* the arguments of a call */
typedef struct DocumentPair
{
	const Form *form;
	Document	a;
	Document	b;
	double		similarity;		/* that is asked for */
	int			radius;			/* of fingerprints */
	bool		known;			/* both have features, as far as was seen */
} DocumentPair;

static bool
are_near(DocumentPair *pair)
{
	ShFingerprint fp_a;
	ShFingerprint fp_b;

	pair->known = get_fingerprint(pair->form, &pair->a, &fp_a) &&
		get_fingerprint(pair->form, &pair->b, &fp_b);
	return pair->known && shbits_distance(fp_a, fp_b) <= pair->radius;
}

/*
 * Do they share as many features?  A product with the threshold could be rounded up: 55
 * of 100 are .55.
 */
static bool
share_enough(DocumentPair *pair)
{
	ShTextOverlap overlap = shtext_overlap(&pair->a.features, pair->a.known,
										   &pair->b.features, pair->b.known);

	pair->known = overlap.in_a > 0 && overlap.in_b > 0;
	return pair->known &&
		(double) overlap.in_both / (overlap.in_a + overlap.in_b - overlap.in_both) >=
		pair->similarity;
}

/* are the fingerprints of both documents known, which were compared before? */
static bool
are_computed(const DocumentPair *pair)
{
	return pair->a.known != NULL && pair->a.known->computed &&
		pair->b.known != NULL && pair->b.known->computed;
}

/*
 * Are the documents similar?
 *
 * The rows of a table are hardly ever near the document that is looked for, and
 * fingerprints show that faster than sets of features.  Candidates of an index are
 * always near, so that only the sets can decide: after a pair that is near, these
 * are compared first some times.
 */
static bool
are_similar(DocumentPair *pair)
{
	static int	near = 0;
	bool		result;

	if (near == 0 || are_computed(pair))
	{
		if (!are_near(pair))
			return false;
		near = NEAR_CALLS;
		return share_enough(pair);
	}
	near--;
	result = share_enough(pair) && are_near(pair);
	if (result)
		near = NEAR_CALLS;
	return result;
}

/*
 * The radius of the fingerprints of documents that share so much.  Raises
 * ERRCODE_INVALID_PARAMETER_VALUE if that is no share, or nothing.
 */
int
shtext_similar_radius(double similarity)
{
	/* this also rejects NaN */
	if (!(similarity > 0 && similarity <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("similarity %s is out of range", float8out_internal(similarity)),
				 errdetail("A similarity is greater than 0 and at most 1.")));
	return shbits_similar_radius(similarity);
}

/*
 * The operator =~= calls this with two arguments.
 */
static Datum
similar(FunctionCallInfo fcinfo, const Form *form)
{
	double		similarity = PG_NARGS() > 2 ? PG_GETARG_FLOAT8(2) : SHBITS_SIMILAR_SHARE;
	int			radius = shtext_similar_radius(similarity);
	struct varlena *a = PG_GETARG_VARLENA_PP(0);
	struct varlena *b = PG_GETARG_VARLENA_PP(1);
	DocumentPair pair;
	bool		result;

	pair.form = form;
	pair.similarity = shbits_similar_share(similarity);
	pair.radius = radius;
	read_document(&pair.a, form, a, 0);
	read_document(&pair.b, form, b, 1);
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
 * The ball in which the fingerprints lie of documents that are similar to one.
 */
static Datum
similar_ball(FunctionCallInfo fcinfo, const Form *form)
{
	struct varlena *document = PG_GETARG_VARLENA_PP(0);
	int			radius = shtext_similar_radius(PG_GETARG_FLOAT8(1));
	ShFingerprint fp;
	bool		found = compute_fingerprint(form, document, &fp);

	PG_FREE_IF_COPY(document, 0);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(simhash_new_ball(fp, radius));
}

static Datum
similar_in_ball(FunctionCallInfo fcinfo, const Form *form)
{
	struct varlena *document = PG_GETARG_VARLENA_PP(0);
	SimhashBall *ball = PG_GETARG_SIMHASH_BALL(1);
	ShFingerprint fp;
	bool		found = compute_fingerprint(form, document, &fp);

	PG_FREE_IF_COPY(document, 0);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(shbits_distance(fp, ball->center) <= ball->radius);
}

/*
 * simhash_similar(a text, b text, similarity float8) -> boolean
 *
 * Whether the simhash_jaccard of both is at least so much, and their simhash_minhash
 * differ in no more bits than those of such texts do: see shbits_similar_radius.  Null
 * if either has no letter, mark or number.
 */
Datum
simhash_similar_text(PG_FUNCTION_ARGS)
{
	return similar(fcinfo, &form_of_text);
}

/*
 * simhash_similar(a bytea, b bytea, similarity float8) -> boolean
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

/*
 * simhash_similar_ball(document text, similarity float8) -> simhash_ball, of the
 * fingerprints of texts that are so similar.  Null if the document has none.
 */
Datum
simhash_similar_ball_text(PG_FUNCTION_ARGS)
{
	return similar_ball(fcinfo, &form_of_text);
}

/*
 * The same for byte strings.
 */
Datum
simhash_similar_ball_bytea(PG_FUNCTION_ARGS)
{
	return similar_ball(fcinfo, &form_of_bytea);
}

/*
 * simhash_similar_in_ball(document text, ball simhash_ball) -> boolean, whether the
 * fingerprint of the text lies in the ball.  Null if it has none.
 */
Datum
simhash_similar_in_ball_text(PG_FUNCTION_ARGS)
{
	return similar_in_ball(fcinfo, &form_of_text);
}

/*
 * The same for byte strings.
 */
Datum
simhash_similar_in_ball_bytea(PG_FUNCTION_ARGS)
{
	return similar_in_ball(fcinfo, &form_of_bytea);
}
