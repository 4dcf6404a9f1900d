/*-------------------------------------------------------------------------
 *
 * passages.c
 *	  The passages that two texts share.
 *
 * A passage is found by its first run of some words, at the first place where b
 * has that run, and reaches as far as the texts are equal there.  The search goes
 * on behind it.  So there are no more passages than a has words, however often
 * either repeats itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "text/document.h"

PG_FUNCTION_INFO_V1(simhash_passages);

/* the longest of runs by which passages are found, in words */
#define MAX_MIN_WORDS		SHTEXT_MAX_SHINGLE

#define FIRST_PASSAGES		16

#define NO_RUN				PG_UINT32_MAX

/* Where each run is first, with open addressing. */
typedef struct Places
{
	const ShTextHashes *runs;
	uint64		key;			/* a factor of the hashes */
	int			slot_bits;
	uint32	   *slots;			/* numbers of runs, or NO_RUN */
} Places;

/* A passage: runs a..a + nruns - 1 of one text and b..b + nruns - 1 of the other. */
typedef struct Passage
{
	uint32		a;
	uint32		b;
	uint32		nruns;
} Passage;

/*
 * The hashes of all runs of a text, in order.  One of 1 GB has fewer than 2^30.
 */
static ShTextHashes
runs_of(const text *document, int min_words)
{
	ShTextFeatures features = shtext_features_of_runs(document, min_words);
	ShTextHashes runs = {0};

	features.read(&features, shtext_keep_hashes, &runs);
	return runs;
}

/*
 * The slot of a run: the one with the first place of an equal run or, if there is
 * none, an empty one.
 */
static uint32 *
find_slot(const Places *places, uint64 hash)
{
	uint64		last = (UINT64CONST(1) << places->slot_bits) - 1;
	uint64		slot = hash * places->key >> (64 - places->slot_bits);

	while (places->slots[slot] != NO_RUN && places->runs->hashes[places->slots[slot]] != hash)
		slot = (slot + 1) & last;
	return &places->slots[slot];
}

/*
 * Find the first places of all runs.  A random key decides about the slots, so that
 * nobody can write texts for which this is slow.
 */
static Places
places_of(const ShTextHashes *runs)
{
	Places		places = {runs};
	Size		size;

	places.key = pg_prng_uint64(&pg_global_prng_state) | 1;
	places.slot_bits = pg_leftmost_one_pos32(runs->length | 1) + 2;
	size = sizeof(uint32) << places.slot_bits;
	places.slots = MemoryContextAllocHuge(CurrentMemoryContext, size);
	memset(places.slots, 0xFF, size);
	for (uint32 i = 0; i < runs->length; i++)
	{
		uint32	   *slot = find_slot(&places, runs->hashes[i]);

		shcompat_check_at(i);
		if (*slot == NO_RUN)
			*slot = i;
	}
	return places;
}

/*
 * The passage with the given run of both texts, as long as it can be.
 */
static Passage
extend(const ShTextHashes *a, const ShTextHashes *b, uint32 in_a, uint32 in_b)
{
	Passage		passage = {in_a, in_b, 1};

	while (passage.a > 0 && passage.b > 0 && a->hashes[passage.a - 1] == b->hashes[passage.b - 1])
	{
		shcompat_check_at(passage.nruns);
		passage.a--;
		passage.b--;
		passage.nruns++;
	}
	while (passage.a + passage.nruns < a->length && passage.b + passage.nruns < b->length &&
		   a->hashes[passage.a + passage.nruns] == b->hashes[passage.b + passage.nruns])
	{
		shcompat_check_at(passage.nruns);
		passage.nruns++;
	}
	return passage;
}

/*
 * Find all passages, of which none is within another, in the order of both their first
 * and their last words.  Returns how many.
 */
static uint32
find_passages(const ShTextHashes *a, const ShTextHashes *b, Passage **passages)
{
	Places		places = places_of(b);
	uint32		max = FIRST_PASSAGES;
	uint32		count = 0;

	*passages = palloc(max * sizeof(Passage));
	for (uint32 i = 0; i < a->length; i++)
	{
		uint32		place = *find_slot(&places, a->hashes[i]);
		Passage		passage;

		CHECK_FOR_INTERRUPTS();
		if (place == NO_RUN)
			continue;
		passage = extend(a, b, i, place);
		i = passage.a + passage.nruns - 1;

		/* it ends behind all others, but may contain some of them */
		while (count > 0 && (*passages)[count - 1].a >= passage.a)
			count--;
		if (count == max)
		{
			max *= 2;
			*passages = repalloc_huge(*passages, max * sizeof(Passage));
		}
		(*passages)[count++] = passage;
	}
	return count;
}

/*
 * simhash_passages(a text, b text, min_words int) -> setof (a_word int, b_word int,
 * words int, passage text)
 *
 * The passages of at least so many words that both texts have, in the order of a:
 * the numbers of their first words in both, from 1; how many words they are; and
 * that part of a.  Raises ERRCODE_INVALID_PARAMETER_VALUE if min_words is out of range.
 */
Datum
simhash_passages(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	text	   *a = PG_GETARG_TEXT_PP(0);
	text	   *b = PG_GETARG_TEXT_PP(1);
	int32		min_words = PG_GETARG_INT32(2);
	ShTextHashes runs_a;
	ShTextHashes runs_b;
	Passage    *passages;
	uint32		npassages;
	ShTextPlaces words = {0};

	if (min_words < 1 || min_words > MAX_MIN_WORDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("minimum length %d is out of range", min_words),
				 errdetail("The minimum length of a passage must be between 1 and %d words.", MAX_MIN_WORDS)));
	InitMaterializedSRF(fcinfo, 0);

	runs_a = runs_of(a, min_words);
	runs_b = runs_of(b, min_words);
	npassages = find_passages(&runs_a, &runs_b, &passages);

	if (npassages > 0)
		words = shtext_word_places(VARDATA_ANY(a), VARSIZE_ANY_EXHDR(a), GetDatabaseEncoding());
	for (uint32 i = 0; i < npassages; i++)
	{
		Passage    *passage = &passages[i];
		uint32		nwords = passage->nruns + min_words - 1;
		Size		start = words.places[passage->a].start;
		Size		end = words.places[passage->a + nwords - 1].end;
		Datum		values[4];
		bool		nulls[4] = {false};

		CHECK_FOR_INTERRUPTS();
		values[0] = Int32GetDatum(passage->a + 1);
		values[1] = Int32GetDatum(passage->b + 1);
		values[2] = Int32GetDatum(nwords);
		values[3] = PointerGetDatum(cstring_to_text_with_len(VARDATA_ANY(a) + start, end - start));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		pfree(DatumGetPointer(values[3]));
	}
	PG_RETURN_NULL();
}
