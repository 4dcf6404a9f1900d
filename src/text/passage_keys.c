/*-------------------------------------------------------------------------
 *
 * passage_keys.c
 *	  The operator ~& of two texts that share a passage, and its keys in a GIN
 *	  index.
 *
 * The keys of a text are found by winnowing (Schleimer, Wilkerson, Aiken 2003):
 * of each WINDOW_RUNS consecutive runs of RUN_WORDS words, the smallest hash is
 * kept.  Texts that share a passage have all hashes of a window in common, and
 * thus a key.  The server asks the operator about each row with a common key.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/gin.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "compat.h"
#include "text/jaccard.h"

PG_FUNCTION_INFO_V1(simhash_shares_passage);
PG_FUNCTION_INFO_V1(simhash_passage_keys);
PG_FUNCTION_INFO_V1(simhash_passage_extract_value);
PG_FUNCTION_INFO_V1(simhash_passage_extract_query);
PG_FUNCTION_INFO_V1(simhash_passage_triconsistent);

/* Indexes rely on these, so they cannot change. */
#define RUN_WORDS			6
#define WINDOW_RUNS			8
#define PASSAGE_WORDS		(RUN_WORDS + WINDOW_RUNS - 1)

/* keys for which there is room at first */
#define FIRST_KEYS			256

/* the server needs 16 bytes for each in one piece of memory */
#define MAX_KEYS			((int) (MaxAllocSize / 16))

typedef struct Winnower
{
	uint64		nruns;			/* read */
	uint64		recent[WINDOW_RUNS];	/* the hash of run i at i %
										 * WINDOW_RUNS */
	uint64		key;			/* of the last window */
	int			nkeys;
	int			max_keys;
	Datum	   *keys;
} Winnower;

static void
add_key(Winnower *winnower)
{
	if (winnower->nkeys == winnower->max_keys)
	{
		if (winnower->max_keys == MAX_KEYS)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("document is too long")));
		winnower->max_keys = Min(2 * winnower->max_keys, MAX_KEYS);
		winnower->keys = repalloc(winnower->keys, winnower->max_keys * sizeof(Datum));
	}
	winnower->keys[winnower->nkeys++] = UInt64GetDatum(winnower->key);
}

static uint64
smallest(const uint64 *hashes)
{
	uint64		result = hashes[0];

	for (int i = 1; i < WINDOW_RUNS; i++)
		result = Min(result, hashes[i]);
	return result;
}

/*
 * A consumer of the hashes of runs: keeps the smallest of each window, once for
 * windows in a row.
 */
static void
winnow(void *state, const uint64 *hashes, int nhashes)
{
	Winnower   *winnower = state;

	for (int i = 0; i < nhashes; i++)
	{
		uint64	   *oldest = &winnower->recent[winnower->nruns % WINDOW_RUNS];
		uint64		departing = *oldest;
		uint64		key = winnower->key;
		bool		first = winnower->nruns == WINDOW_RUNS - 1;

		*oldest = hashes[i];
		if (++winnower->nruns < WINDOW_RUNS)
			continue;
		winnower->key = first || departing == key ? smallest(winnower->recent) : Min(key, hashes[i]);
		if (first || winnower->key != key)
			add_key(winnower);
	}
}

/*
 * The keys of a text; NULL, and 0 keys, if it has no passage.
 */
static Datum *
keys_of_text(const text *document, int32 *nkeys)
{
	ShTextFeatures features = shtext_features_of_runs(document, RUN_WORDS);
	Winnower	winnower = {0};

	winnower.max_keys = FIRST_KEYS;
	winnower.keys = palloc(FIRST_KEYS * sizeof(Datum));
	features.read(&features, winnow, &winnower);
	*nkeys = winnower.nkeys;
	return winnower.nkeys > 0 ? winnower.keys : NULL;
}

/*
 * simhash_shares_passage(a text, b text) -> boolean
 *
 * Whether both have the same run of PASSAGE_WORDS words.
 */
Datum
simhash_shares_passage(PG_FUNCTION_ARGS)
{
	text	   *a = PG_GETARG_TEXT_PP(0);
	text	   *b = PG_GETARG_TEXT_PP(1);
	ShTextFeatures of_a = shtext_features_of_runs(a, PASSAGE_WORDS);
	ShTextFeatures of_b = shtext_features_of_runs(b, PASSAGE_WORDS);
	bool		result = shtext_meet(&of_a, &of_b);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	PG_RETURN_BOOL(result);
}

/*
 * A long text has millions of keys, so their sort checks for interrupts.
 */
static int
compare_keys(const void *a, const void *b)
{
	int64		x = DatumGetInt64(*(const Datum *) a);
	int64		y = DatumGetInt64(*(const Datum *) b);

	CHECK_FOR_INTERRUPTS();
	return (x > y) - (x < y);
}

/*
 * The keys of a text, ascending, each once.
 */
static Datum *
distinct_keys_of(const text *document, int32 *nkeys)
{
	Datum	   *keys = keys_of_text(document, nkeys);

	if (keys != NULL)
	{
		qsort(keys, *nkeys, sizeof(Datum), compare_keys);
		*nkeys = qunique(keys, *nkeys, sizeof(Datum), compare_keys);
	}
	return keys;
}

/*
 * simhash_passage_extract_value(text, internal) -> internal
 *
 * GIN's extractValue.  The server sorts the keys without a check for interrupts, which
 * takes it one pass over keys that are sorted.
 */
Datum
simhash_passage_extract_value(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	int32	   *nkeys = (int32 *) PG_GETARG_POINTER(1);
	Datum	   *keys = distinct_keys_of(document, nkeys);

	PG_FREE_IF_COPY(document, 0);
	PG_RETURN_POINTER(keys);
}

/*
 * simhash_passage_keys(document text) -> bigint[]
 */
Datum
simhash_passage_keys(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	int32		nkeys;
	Datum	   *keys = distinct_keys_of(document, &nkeys);

	PG_FREE_IF_COPY(document, 0);
	PG_RETURN_ARRAYTYPE_P(construct_array(keys, nkeys, INT8OID, sizeof(int64), true, TYPALIGN_DOUBLE));
}

/*
 * simhash_passage_extract_query(text, internal, smallint, internal, internal, internal,
 * internal) -> internal
 *
 * GIN's extractQuery.  A text without keys shares nothing, which is what the
 * default search mode does.
 */
Datum
simhash_passage_extract_query(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	int32	   *nkeys = (int32 *) PG_GETARG_POINTER(1);
	Pointer   **extra = (Pointer **) PG_GETARG_POINTER(4);
	Datum	   *keys = distinct_keys_of(document, nkeys);

	PG_FREE_IF_COPY(document, 0);

	/*
	 * The server looks for each key among those before it, unless it comes
	 * with something of ours.
	 */
	if (keys != NULL)
	{
		*extra = palloc(*nkeys * sizeof(Pointer));
		for (int i = 0; i < *nkeys; i++)
			(*extra)[i] = (Pointer) keys;
	}
	PG_RETURN_POINTER(keys);
}

/*
 * simhash_passage_triconsistent(internal, smallint, text, integer, internal, internal,
 * internal) -> "char"
 *
 * GIN's triConsistent, which serves as its consistent, too.  The server asks often about
 * long queries of which only the last keys may be there.
 */
Datum
simhash_passage_triconsistent(PG_FUNCTION_ARGS)
{
	const GinTernaryValue *check = (GinTernaryValue *) PG_GETARG_POINTER(0);
	int32		nkeys = PG_GETARG_INT32(3);

	for (int i = nkeys - 1; i >= 0; i--)
	{
		if (check[i] != GIN_FALSE)
			PG_RETURN_GIN_TERNARY_VALUE(GIN_MAYBE);
	}
	PG_RETURN_GIN_TERNARY_VALUE(GIN_FALSE);
}
