/*-------------------------------------------------------------------------
 *
 * documents.c
 *	  Tests of src/text without a server: comparisons of documents that take much
 *	  memory, that can be cancelled, and that end early.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "access/gin.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "text/jaccard.h"

#include "server.h"

extern Datum simhash_passage_extract_value(PG_FUNCTION_ARGS);

/* a text of that many different words of five letters */
static text *
make_document(int first, int nwords)
{
	text	   *document = malloc(VARHDRSZ + nwords * 6);
	char	   *out = VARDATA(document);

	for (int i = first; i < first + nwords; i++)
	{
		int			letters = i;

		for (int c = 0; c < 5; c++)
		{
			*out++ = 'a' + letters % 26;
			letters /= 26;
		}
		*out++ = ' ';
	}
	SET_VARSIZE(document, VARHDRSZ + nwords * 6);
	return document;
}

/* what is remembered of a document may be larger than a piece of memory */
static void
test_large(void)
{
	text	   *document = make_document(0, 200000);
	ShTextFeatures features = shtext_features_of_text(document, 1, SHTEXT_WORD);
	jmp_buf		caught;
	volatile uint64 in_both = 0;

	server_catch = &caught;
	if (setjmp(caught) == 0)
	{
		ShTextRemembered *known = shtext_recall(&features, 0);

		in_both = shtext_overlap(&features, known, &features, known).in_both;
	}
	server_catch = NULL;
	report(in_both == 200000, "remembered documents", "of many features");
	free(document);
}

/* a document of more than a quarter of the memory is the only one, and features are kept if they fit */
static void
test_limits(void)
{
	Size		no_limit = server_memory_limit;
	text	   *document = make_document(600000, 20000);
	ShTextFeatures words = shtext_features_of_text(document, 1, SHTEXT_WORD);
	ShTextFeatures runs = shtext_features_of_runs(document, 13);
	text	   *later = make_document(700000, 20000);
	ShTextFeatures other = shtext_features_of_text(later, 1, SHTEXT_WORD);
	uint64		band = 1;
	ShTextRemembered *known;
	bool		passed;

	server_memory_limit = 4 * 120000 - 1;
	known = shtext_recall(&words, 0);
	shtext_know_bands(known, &band, 1);
	passed = shtext_recall(&words, 0) == known && known->nbands == 1 &&
		shtext_recall(&other, 1) != known && shtext_recall(&words, 0) == known &&
		shtext_overlap(&words, known, &words, known).in_both == 20000;
	(void) shtext_recall(&other, 0);
	report(passed && shtext_recall(&words, 0)->nbands == 0, "remembered documents", "that are long");
	passed = shtext_overlap(&words, NULL, &words, NULL).in_both == 20000;
	server_memory_limit++;
	known = shtext_recall(&words, 0);
	report(passed && known != NULL && shtext_overlap(&words, known, &words, known).in_both == 20000 &&
		   known->features == NULL && shtext_recall(&words, 0) == known, "remembered documents",
		   "without too many features");
	passed = shtext_recall(&runs, 0) != known;
	for (int i = 0; i < 3; i++)
		passed &= shtext_meet(&runs, &runs);
	server_memory_limit = no_limit;
	known = shtext_recall(&runs, 1);
	passed &= known->compared && known->features == NULL;
	report(passed, "remembered documents", "without too many runs");
	free(document);
	free(later);
}

/* some documents, and what is remembered of them */
#define NDOCUMENTS	5
static text *documents[NDOCUMENTS];
static ShTextRemembered *kept[NDOCUMENTS];

static ShTextRemembered *
recall(int i, int argument)
{
	ShTextFeatures features = shtext_features_of_text(documents[i], 1, SHTEXT_WORD);

	return shtext_recall(&features, argument);
}

/* in any order, and as either argument, the same is remembered of a document */
static bool
all_are_kept(void)
{
	static const int orders[][NDOCUMENTS] = {{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 2, 0, 2, 4}};
	bool		same = true;

	for (int order = 0; order < (int) lengthof(orders); order++)
	{
		for (int i = 0; i < NDOCUMENTS; i++)
		{
			int			d = orders[order][i];

			same &= recall(0, 0) == kept[0] && recall(d, 1) == kept[d];
		}
	}
	return same;
}

static void
test_order(void)
{
	ShTextRemembered *old;

	for (int i = 0; i < NDOCUMENTS; i++)
	{
		documents[i] = make_document(400000 + i, 10);
		kept[i] = recall(i, 1);
		shtext_know_bands(kept[i], &(uint64)
						  {
							  i
						  }, 1);
	}
	report(all_are_kept(), "remembered documents", "in any order");

	/* another generation begins with what is used */
	server_allocated = server_memory_limit;
	documents[0] = make_document(500000, 10);
	kept[0] = recall(0, 0);
	server_allocated = 0;
	old = kept[1];
	for (int i = 1; i < NDOCUMENTS; i++)
		kept[i] = recall(i, 1);
	report(kept[1] != old && kept[1]->bands[0] == 1 && all_are_kept(), "remembered documents",
		   "in the next generation");
}

/* the first words of a long text are found without reading it to its end */
static void
test_meeting(void)
{
	text	   *document = make_document(0, 200000);
	text	   *start = make_document(0, 20);
	text	   *end = make_document(199980, 20);
	text	   *other = make_document(300000, 20);
	ShTextFeatures features = shtext_features_of_runs(document, 13);
	ShTextFeatures of_start = shtext_features_of_runs(start, 13);
	ShTextFeatures of_end = shtext_features_of_runs(end, 13);
	ShTextFeatures of_other = shtext_features_of_runs(other, 13);
	int			whole;

	report(shtext_meet(&features, &of_end) && shtext_meet(&of_end, &features) &&
		   !shtext_meet(&features, &of_other), "common features", "are found");
	InterruptPending = true;
	server_checks = 0;
	shtext_meet(&features, &of_other);
	whole = server_checks;
	server_checks = 0;
	report(shtext_meet(&features, &of_start) && server_checks < whole / 10, "common features",
		   "end the search");
	InterruptPending = false;
	free(document);
	free(start);
	free(end);
	free(other);
}

/* checks for interrupts while a text is compared with itself, in as little memory */
static int
checks_of_overlap(int nwords, ShTextOverlap *overlap)
{
	Size		no_limit = server_memory_limit;
	text	   *document = make_document(0, nwords);
	text	   *other = make_document(nwords / 2, nwords);
	ShTextFeatures features = shtext_features_of_text(document, 1, SHTEXT_WORD);
	ShTextFeatures of_other = shtext_features_of_text(other, 1, SHTEXT_WORD);

	server_memory_limit = 1 << 16;
	InterruptPending = true;
	server_checks = 0;
	*overlap = shtext_overlap(&features, NULL, &of_other, NULL);
	InterruptPending = false;
	server_memory_limit = no_limit;
	free(document);
	free(other);
	return server_checks;
}

/* beyond the memory, twice as long documents take twice as many steps, and a few more */
static void
test_steps(void)
{
	ShTextOverlap one;
	ShTextOverlap two;
	int			of_one = checks_of_overlap(100000, &one);
	int			of_two = checks_of_overlap(200000, &two);

	report(one.in_a == 100000 && one.in_b == 100000 && one.in_both == 50000 && two.in_a == 200000 &&
		   two.in_both == 100000, "documents beyond the memory", "are compared");
	report(of_one > 100000 / 4096 && of_two < 5 * of_one / 2, "documents beyond the memory",
		   "in time that grows as they do");
}

/* a query is not read again for each text that it is compared with */
static void
test_query(void)
{
	text	   *query = make_document(0, 200000);
	ShTextFeatures features = shtext_features_of_runs(query, 13);
	int			checks[2] = {0};
	bool		right = true;

	InterruptPending = true;
	for (int side = 0; side < 2; side++)
	{
		for (int i = 0; i < 20; i++)
		{
			text	   *other = make_document(i % 2 == 0 ? 300000 + i : 1000 * i, 20);
			ShTextFeatures of_other = shtext_features_of_runs(other, 13);
			const ShTextFeatures *a = side == 0 ? &features : &of_other;
			const ShTextFeatures *b = side == 0 ? &of_other : &features;

			if (i == 4)
				server_checks = 0;
			right &= shtext_meet(a, b) == (i % 2 == 1);
			free(other);
		}
		checks[side] = server_checks;
	}
	InterruptPending = false;
	report(right, "a long query", "meets others");
	report(checks[0] < 200 && checks[1] < 200, "a long query", "is read once");
	free(query);
}

/* the sort of the keys for an index checks for interrupts at each comparison */
static void
test_keys(void)
{
	LOCAL_FCINFO(fcinfo, 2);
	text	   *document = make_document(0, 200000);
	int32		nkeys;
	int64	   *keys;
	bool		sorted = true;

	fcinfo->args[0].value = PointerGetDatum(document);
	fcinfo->args[1].value = PointerGetDatum(&nkeys);
	InterruptPending = true;
	server_checks = 0;
	keys = (int64 *) DatumGetPointer(simhash_passage_extract_value(fcinfo));
	InterruptPending = false;
	for (int i = 1; i < nkeys; i++)
		sorted &= keys[i - 1] < keys[i];
	report(sorted && nkeys > 40000, "keys of passages", "are sorted");
	report(server_checks > nkeys, "keys of passages", "can be cancelled");
	free(keys);
	free(document);
}

static void
ignore_hashes(void *state, const uint64 *hashes, int nhashes)
{
}

/* checks for interrupts while a text is read */
static int
count_checks(const text *document, int shingle)
{
	ShTextFeatures features = shtext_features_of_text(document, shingle, SHTEXT_WORD);

	InterruptPending = true;
	server_checks = 0;
	features.read(&features, ignore_hashes, NULL);
	InterruptPending = false;
	return server_checks;
}

/*
 * A window of many long words ends with each of the short words behind them.  All of
 * these are read together, but hashed one by one.
 */
static void
test_long_words(void)
{
	int			nlong = 63;
	int			length = 50000;
	int			nshort = 64;
	Size		size = VARHDRSZ + nlong * length + nshort * 2;
	text	   *document = malloc(size);
	char	   *out = VARDATA(document);

	memset(out, 'x', size - VARHDRSZ);
	for (int i = 1; i <= nlong; i++)
		out[i * length - 1] = ' ';
	out += nlong * length;
	for (int i = 0; i < nshort; i++)
		out[2 * i + 1] = ' ';
	SET_VARSIZE(document, size);
	report(count_checks(document, 64) >= count_checks(document, 1) + nlong - 5, "windows of long words",
		   "can be cancelled");
	free(document);
}

int
main(void)
{
	server_max_piece = 1 << 20;
	test_large();
	test_order();
	test_limits();
	test_meeting();
	test_query();
	test_steps();
	test_keys();
	test_long_words();
	return finish();
}
