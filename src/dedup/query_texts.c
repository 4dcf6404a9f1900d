/*-------------------------------------------------------------------------
 *
 * query_texts.c
 *	  Texts of an array that are searched for in an index of bands.
 *
 * Their bands are computed by the operator class of the index, and each different text is an
 * element.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/call.h"
#include "index/index.h"

/* by their bytes, in any order */
static int
compare_texts(Datum a, Datum b)
{
	const text *x = (const text *) DatumGetPointer(a);
	const text *y = (const text *) DatumGetPointer(b);
	Size		x_length = VARSIZE_ANY_EXHDR(x);
	Size		y_length = VARSIZE_ANY_EXHDR(y);

	if (x_length != y_length)
		return x_length < y_length ? -1 : 1;
	return memcmp(VARDATA_ANY(x), VARDATA_ANY(y), x_length);
}

#define ST_SORT sort_texts
#define ST_ELEMENT_TYPE Datum
#define ST_COMPARE(a, b) compare_texts(*(a), *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * The different texts of an array, and how many.  Nulls are ignored.
 */
static Datum *
different_texts(ArrayType *array, size_t *count)
{
	Datum	   *texts;
	bool	   *nulls;
	int			nelements;
	size_t		nkept = 0;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &nelements);
	for (int i = 0; i < nelements; i++)
	{
		if (!nulls[i])
			texts[nkept++] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(texts[i]));
	}
	sort_texts(texts, nkept);
	*count = 0;
	for (size_t i = 0; i < nkept; i++)
	{
		if (*count == 0 || compare_texts(texts[*count - 1], texts[i]) != 0)
			texts[(*count)++] = texts[i];
	}
	pfree(nulls);
	return texts;
}

/*
 * Let an input be the first bands of the texts of an array, by the operator class of an index:
 * each different text that has bands is an element.  Returns them.
 *
 * Runs the function of the operator class.
 */
Datum *
shdup_query_texts(const ShDupHeaps *heaps, int nbands, ArrayType *array, ShPairsInput *input)
{
	ShIdxFingerprinter fingerprinter;
	size_t		count;
	size_t		nkept = 0;
	Datum	   *texts = different_texts(array, &count);
	uint64	   *words = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(count * nbands, 1) * sizeof(uint64));

	/* without a partition there are no rows */
	if (heaps->count == 0)
		count = 0;
	else
		shidx_fingerprinter_begin(&fingerprinter, heaps->heaps[0].index,
								  shidx_get_geometry(heaps->heaps[0].index));
	for (size_t i = 0; i < count; i++)
	{
		ShFingerprint parts[SHBITS_MAX_PARTS];

		CHECK_FOR_INTERRUPTS();
		if (!shidx_fingerprint(&fingerprinter, texts[i], false, parts))
			continue;
		memcpy(words + nkept * nbands, parts, nbands * sizeof(uint64));
		texts[nkept++] = texts[i];
	}
	if (heaps->count > 0)
		shidx_fingerprinter_end(&fingerprinter);
	shpairs_input_bands(input, words, nkept, nbands);
	return texts;
}
