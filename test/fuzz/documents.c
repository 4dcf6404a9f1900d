/*-------------------------------------------------------------------------
 *
 * documents.c
 *	  Fuzzing of src/text: what two texts have in common, by passages, keys and shares of
 *	  shingles, with much memory and with little, against sorted lists of hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

#include "text/jaccard.h"
#include "text/normalize.h"

extern Datum simhash_passages(PG_FUNCTION_ARGS);
extern Datum simhash_shares_passage(PG_FUNCTION_ARGS);
extern Datum simhash_passage_extract_value(PG_FUNCTION_ARGS);

static text *a;
static text *b;

/* the rows of simhash_passages are checked one by one */
static ShTextHashes runs_a;
static ShTextHashes runs_b;
static int	min_words;
static int	last_end;
static int	npassages;

void
InitMaterializedSRF(FunctionCallInfo fcinfo, bits32 flags)
{
}

text *
cstring_to_text_with_len(const char *s, int len)
{
	return (text *) make_varlena(s, len);
}

/* the server's declaration depends on its version */
extern __typeof__(tuplestore_putvalues) tuplestore_putvalues __attribute__((alias("check_row")));

void
check_row(Tuplestorestate *state, TupleDesc tdesc, const Datum *values, const bool *isnull)
{
	int			in_a = DatumGetInt32(values[0]) - 1;
	int			in_b = DatumGetInt32(values[1]) - 1;
	int			words = DatumGetInt32(values[2]);
	text	   *passage = DatumGetTextPP(values[3]);
	int			nruns = words - min_words + 1;

	require(words >= min_words && in_a >= 0 && in_b >= 0 && in_a + nruns <= runs_a.length &&
			in_b + nruns <= runs_b.length && in_a + words > last_end);
	for (int i = 0; i < nruns; i++)
		require(runs_a.hashes[in_a + i] == runs_b.hashes[in_b + i]);
	require(shtext_word_places(VARDATA(passage), VARSIZE_ANY_EXHDR(passage), PG_UTF8).length > 0);
	last_end = in_a + words;
	npassages++;
}

static int
compare_hashes(const void *x, const void *y)
{
	uint64		first = *(const uint64 *) x;
	uint64		second = *(const uint64 *) y;

	return (first > second) - (first < second);
}

/* as a set; the functions also compare no more than 62 bits */
static ShTextHashes
distinct(const ShTextFeatures *features)
{
	ShTextHashes all = {0};
	Size		n = 0;

	features->read(features, shtext_keep_hashes, &all);
	if (all.length > 0)
		qsort(all.hashes, all.length, sizeof(uint64), compare_hashes);
	for (Size i = 0; i < all.length; i++)
	{
		if (n == 0 || all.hashes[n - 1] != all.hashes[i])
			all.hashes[n++] = all.hashes[i];
	}
	all.length = n;
	return all;
}

static Size
count_common(const ShTextHashes *x, const ShTextHashes *y)
{
	Size		result = 0;

	for (Size i = 0, j = 0; i < x->length && j < y->length;)
	{
		int			compared = compare_hashes(&x->hashes[i], &y->hashes[j]);

		result += compared == 0;
		i += compared <= 0;
		j += compared >= 0;
	}
	return result;
}

static void
compare(const ShTextFeatures *of_a, const ShTextFeatures *of_b)
{
	ShTextHashes in_a = distinct(of_a);
	ShTextHashes in_b = distinct(of_b);
	Size		in_both = count_common(&in_a, &in_b);

	for (int remembered = 0; remembered < 2; remembered++)
	{
		ShTextOverlap overlap = shtext_overlap(of_a, remembered ? shtext_recall(of_a, 0) : NULL,
											   of_b, remembered ? shtext_recall(of_b, 1) : NULL);

		require(overlap.in_a == in_a.length && overlap.in_b == in_b.length && overlap.in_both == in_both);
	}
	require(shtext_meet(of_a, of_b) == (in_both > 0) && shtext_meet(of_b, of_a) == (in_both > 0));
}

static ShTextHashes
keys_of(text *document)
{
	LOCAL_FCINFO(fcinfo, 2);
	int32		nkeys;
	ShTextHashes keys;

	fcinfo->args[0].value = PointerGetDatum(document);
	fcinfo->args[1].value = PointerGetDatum(&nkeys);
	keys.hashes = (uint64 *) DatumGetPointer(simhash_passage_extract_value(fcinfo));
	keys.length = nkeys;
	/* ascending as signed integers */
	for (int i = 1; i < nkeys; i++)
		require((int64) keys.hashes[i - 1] < (int64) keys.hashes[i]);
	if (nkeys > 0)
		qsort(keys.hashes, nkeys, sizeof(uint64), compare_hashes);
	return keys;
}

/* texts that share a passage have a key in common */
static void
compare_passages(void)
{
	LOCAL_FCINFO(fcinfo, 3);
	ReturnSetInfo rsinfo = {0};
	ShTextHashes keys_a = keys_of(a);
	ShTextHashes keys_b = keys_of(b);
	ShTextFeatures of_a = shtext_features_of_runs(a, min_words);
	ShTextFeatures of_b = shtext_features_of_runs(b, min_words);
	ShTextHashes in_a = distinct(&of_a);
	ShTextHashes in_b = distinct(&of_b);

	fcinfo->args[0].value = PointerGetDatum(a);
	fcinfo->args[1].value = PointerGetDatum(b);
	fcinfo->args[2].value = Int32GetDatum(min_words);
	fcinfo->resultinfo = (fmNodePtr) &rsinfo;
	if (DatumGetBool(simhash_shares_passage(fcinfo)))
		require(count_common(&keys_a, &keys_b) > 0);

	runs_a = runs_b = (ShTextHashes) {0};
	of_a.read(&of_a, shtext_keep_hashes, &runs_a);
	of_b.read(&of_b, shtext_keep_hashes, &runs_b);
	last_end = npassages = 0;
	simhash_passages(fcinfo);
	require((npassages > 0) == (count_common(&in_a, &in_b) > 0));
}

static void
fuzz_one(void)
{
	static const Size limits[] = {UINT64CONST(1) << 40, 1 << 16, 1 << 13};
	ShTextUnit	unit = take_byte() % 2 ? SHTEXT_WORD : SHTEXT_CHAR;
	int			shingle = 1 + take_byte() % SHTEXT_MAX_SHINGLE;
	ShTextFeatures of_a;
	ShTextFeatures of_b;

	server_memory_limit = limits[take_byte() % lengthof(limits)];
	min_words = 1 + take_byte() % 16;
	a = (text *) take_text(PG_UTF8, true);
	b = (text *) take_text(PG_UTF8, false);
	of_a = shtext_features_of_text(a, shingle, unit);
	of_b = shtext_features_of_text(b, shingle, unit);
	compare(&of_a, &of_b);
	of_a = shtext_features_of_bytes((bytea *) a, shingle);
	of_b = shtext_features_of_bytes((bytea *) b, shingle);
	compare(&of_a, &of_b);
	compare_passages();
}
